// Our hooks, status line and environment put into the text of a settings file, and taken out of it.
import { addItem, addMember, editText, removeAt } from '../../setup/json-text.ts'
import {
  type HookGroup,
  type Settings,
  eventsOf,
  groupAt,
  hooksOf,
  isObject,
  statusLineOf,
  stintHooks,
} from './settings.ts'
import { STATUS_LINE_COMMAND } from '../../setup/hook-command.ts'
import { MCP_SERVER } from '../../setup/mcp-command.ts'

/** What we want of a settings file. */
export interface Wanted {
  readonly groups: ReadonlyMap<string, HookGroup>
  readonly hasStatusLine: boolean
  /** Whether a beta is asked for, and which ones hold where the file names none. */
  readonly betas?: { readonly inherited: string }
  /** Whether the MCP server is approved there; `false` takes an approval out that a setup put there. */
  readonly approval?: boolean
}

export const STATUS_LINE = { type: 'command', command: STATUS_LINE_COMMAND }

/** The texts from one without anything of ours to the one with it, one edit apart. */
export function addToSettings(text: string, wanted: Wanted): readonly string[] {
  const { groups, hasStatusLine, betas, approval } = wanted
  const texts = text.trim() === '' ? [text, '{}\n'] : [text]
  const edit = (change: (text: string) => string) => texts.push(change(texts.at(-1)!))
  const present = read(texts.at(-1)!)
  const events = new Set(eventsOf(present).map(([event]) => event))
  if (present.hooks === undefined) edit((before) => addMember(before, [], 'hooks', byEvent(groups)))
  else {
    for (const [event, group] of groups) {
      edit((before) =>
        events.has(event)
          ? addItem(before, ['hooks', event], group)
          : addMember(before, ['hooks'], event, [group]),
      )
    }
  }
  if (hasStatusLine) edit((before) => addMember(before, [], 'statusLine', STATUS_LINE))
  if (betas !== undefined && !hasTokenEfficientTools(present))
    edit((before) => addBeta(before, betas.inherited))
  if (approval === true) edit((before) => addApproval(before))
  return texts
}

/** The `hooks` of a settings file, or of a plugin, that has no others. */
export function byEvent(
  groups: ReadonlyMap<string, HookGroup>,
): Readonly<Record<string, readonly HookGroup[]>> {
  return Object.fromEntries([...groups].map(([event, group]) => [event, [group]]))
}

/**
 * The text without anything of ours. A container that is empty afterwards goes too, unless it is among those to keep. Hooks
 * and status line are known by their looks; a beta or an approval may be anybody's, so only what is said to be added by us goes.
 */
export function takeOutOfSettings(
  text: string,
  kept: readonly string[] = [],
  added: readonly string[] = [],
): string {
  if (text.trim() === '') return text
  let rest = takeOutApproval(takeOutBetas(text, added, kept), added, kept)
  for (;;) {
    const settings = read(rest)
    const position = stintHooks(settings)[0]
    if (position === undefined) break
    const { event, group, hook } = position
    const isAlone = hooksOf(groupAt(settings, position)).length === 1
    rest = removeAt(rest, ['hooks', event, group, ...(isAlone ? [] : ['hooks', hook])])
    rest = withoutEmpty(rest, event, kept)
  }
  const isOurs = ['ours', 'outdated'].includes(statusLineOf(read(rest), STATUS_LINE))
  return isOurs ? removeAt(rest, ['statusLine']) : rest
}

function withoutEmpty(text: string, event: string, kept: readonly string[]): string {
  const isEmptied = eventsOf(read(text)).some(
    ([name, groups]) => name === event && groups.length === 0,
  )
  const rest = isEmptied && !kept.includes(event) ? removeAt(text, ['hooks', event]) : text
  const hasEvents = Object.keys(read(rest).hooks as object).length > 0
  return hasEvents || kept.includes('hooks') ? rest : removeAt(rest, ['hooks'])
}

/** The containers that ours stand in, for whoever takes it out again. */
export function containersOf(text: string): readonly string[] {
  const settings = text.trim() === '' ? {} : read(text)
  const hooks =
    settings.hooks === undefined ? [] : ['hooks', ...eventsOf(settings).map(([event]) => event)]
  return [...hooks, ...betaContainers(settings), ...approvalContainers(settings)]
}

function read(text: string): Settings {
  return JSON.parse(text) as Settings
}

// A beta of the model's API that Claude Code is to ask for. It takes a list of them, divided by commas, from its
// environment, and sends them beside its own; a header given in any other way is lost.

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
export function addBeta(text: string, inherited: string): string {
  const settings = JSON.parse(text) as Settings
  if (!isObject(settings.env)) return addMember(text, [], 'env', { [BETAS]: withBeta(inherited) })
  if (betasText(settings) === undefined) return addMember(text, ['env'], BETAS, withBeta(inherited))
  return editText(text, ['env', BETAS], withBeta)
}

/** What `addBeta` would put into a text, for whoever takes it out again. */
export function addedBetas(settings: Settings, inherited: string): readonly string[] {
  const known = betasText(settings)
  if (known === undefined) return [...betasIn(inherited), TOKEN_EFFICIENT_TOOLS]
  return hasTokenEfficientTools(settings) ? [] : [TOKEN_EFFICIENT_TOOLS]
}

/** The text without these betas. What is empty afterwards goes too, unless it stood there before. */
export function takeOutBetas(
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
  if (rest(list).trim() !== '' || kept.includes(MEMBER)) return editText(text, ['env', BETAS], rest)
  const without = removeAt(text, ['env', BETAS])
  const isEmpty = Object.keys((JSON.parse(without) as { env: object }).env).length === 0
  return isEmpty && !kept.includes('env') ? removeAt(without, ['env']) : without
}

/** What of it stands in a settings file, for whoever takes ours out again. */
export function betaContainers(settings: Settings): readonly string[] {
  if (!isObject(settings.env)) return []
  return betasText(settings) === undefined ? ['env'] : ['env', MEMBER]
}

// Claude Code asks a person once whether they want a server of `.mcp.json`, unless their settings say so. Whoever ran the setup has said so.

const ENABLED = 'enabledMcpjsonServers'
const DISABLED = 'disabledMcpjsonServers'
const ALL = 'enableAllProjectMcpServers'

/** How ours is called among what setup put into a settings file. */
export const APPROVAL = `${ENABLED}.${MCP_SERVER}`

/** What settings say of our server: a no holds before every yes. */
export function approvalIn(settings: Settings): 'approved' | 'refused' | undefined {
  if (isListed(settings[DISABLED])) return 'refused'
  return isListed(settings[ENABLED]) || settings[ALL] === true ? 'approved' : undefined
}

export function isApprovedByName(settings: Settings): boolean {
  return isListed(settings[ENABLED])
}

/** Whether a person has decided for themselves: about this server, or how they want to be asked about all of them. */
export function hasDecided(settings: Settings): boolean {
  const list = settings[ENABLED]
  const isOdd = list !== undefined && !Array.isArray(list)
  return isOdd || isListed(settings[DISABLED]) || settings[ALL] !== undefined
}

/** The text with the server approved; as it is where it is so already. */
export function addApproval(text: string): string {
  const settings = JSON.parse(text) as Settings
  if (isApprovedByName(settings)) return text
  if (settings[ENABLED] === undefined) return addMember(text, [], ENABLED, [MCP_SERVER])
  return addItem(text, [ENABLED], MCP_SERVER)
}

/** What `addApproval` would put into a text, for whoever takes it out again. */
export function addedApproval(settings: Settings): readonly string[] {
  return isApprovedByName(settings) ? [] : [APPROVAL]
}

/** The text without the approval, if it is among what setup put there. The list goes with its last item, unless it stood there before. */
export function takeOutApproval(
  text: string,
  added: readonly string[],
  kept: readonly string[],
): string {
  const list = (JSON.parse(text) as Settings)[ENABLED]
  const index = Array.isArray(list) ? list.indexOf(MCP_SERVER) : -1
  if (index === -1 || !added.includes(APPROVAL)) return text
  const isAlone = (list as readonly unknown[]).length === 1
  return removeAt(text, isAlone && !kept.includes(ENABLED) ? [ENABLED] : [ENABLED, index])
}

/** What of it stands in a settings file, for whoever takes ours out again. */
export function approvalContainers(settings: Settings): readonly string[] {
  return settings[ENABLED] === undefined ? [] : [ENABLED]
}

function isListed(list: unknown): boolean {
  return Array.isArray(list) && list.includes(MCP_SERVER)
}
