// A beta of the model's API that Claude Code is to ask for. It takes a list of them, divided by commas, from its
// environment, and sends them beside its own; a header given in any other way is lost.
import type { JsonText } from './json-text.ts'
import { type Settings, isObject } from './settings.ts'

/** Fewer tokens for each call of a tool. Claude Sonnet 3.7 alone needs it: what came later does so by itself. */
export const TOKEN_EFFICIENT_TOOLS = 'token-efficient-tools-2025-02-19'
export const BETAS = 'ANTHROPIC_BETAS'

/** How the member is called among what stood in a settings file before us. */
const MEMBER = `env.${BETAS}`

/** What a settings file says of betas, as it stands there. */
export function betasText({ env }: Settings): string | undefined {
  const value = isObject(env) ? env[BETAS] : undefined
  return typeof value === 'string' ? value : undefined
}

export function hasTokenEfficientTools(settings: Settings): boolean {
  return betasIn(betasText(settings) ?? '').includes(TOKEN_EFFICIENT_TOOLS)
}

export function betasIn(list: string): readonly string[] {
  return list
    .split(',')
    .map((beta) => beta.trim())
    .filter((beta) => beta !== '')
}

/** A list with the beta at its end; what stands there keeps its bytes. */
export function withBeta(list: string): string {
  const isEnded = list.trim() === '' || list.trimEnd().endsWith(',')
  return `${list}${isEnded ? '' : ','}${TOKEN_EFFICIENT_TOOLS}`
}

/** The text with the beta. Where the file names none, it names those that held so far too: they would not any more. */
export function addBeta(json: JsonText, text: string, inherited: string): string {
  const settings = JSON.parse(text) as Settings
  if (!isObject(settings.env))
    return json.addMember(text, [], 'env', { [BETAS]: withBeta(inherited) })
  if (betasText(settings) === undefined)
    return json.addMember(text, ['env'], BETAS, withBeta(inherited))
  return json.editText(text, ['env', BETAS], withBeta)
}

/** What `addBeta` would put into a text, for whoever takes it out again. */
export function addedBetas(settings: Settings, inherited: string): readonly string[] {
  const known = betasText(settings)
  if (known === undefined) return [...betasIn(inherited), TOKEN_EFFICIENT_TOOLS]
  return hasTokenEfficientTools(settings) ? [] : [TOKEN_EFFICIENT_TOOLS]
}

/** The text without these betas. What is empty afterwards goes too, unless it stood there before. */
export function takeOutBetas(
  json: JsonText,
  text: string,
  betas: readonly string[],
  kept: readonly string[],
): string {
  const list = betasText(JSON.parse(text) as Settings)
  if (list === undefined || !betasIn(list).some((beta) => betas.includes(beta))) return text
  const rest = (raw: string) => {
    const parts = raw.split(',')
    return parts.filter((part) => !betas.includes(part.trim())).join(',')
  }
  if (rest(list).trim() !== '' || kept.includes(MEMBER))
    return json.editText(text, ['env', BETAS], rest)
  const without = json.remove(text, ['env', BETAS])
  const isEmpty = Object.keys((JSON.parse(without) as { env: object }).env).length === 0
  return isEmpty && !kept.includes('env') ? json.remove(without, ['env']) : without
}

/** What of it stands in a settings file, for whoever takes ours out again. */
export function betaContainers(settings: Settings): readonly string[] {
  if (!isObject(settings.env)) return []
  return betasText(settings) === undefined ? ['env'] : ['env', MEMBER]
}
