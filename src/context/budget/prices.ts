// List prices in US dollars per million tokens. A model whose price depends on the length of the prompt is not here.
import { type SourcedValue, estimated } from './budget.ts'

export interface BilledTokens {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  /** Kept in the cache for five minutes; `cacheWrittenHour` for an hour. */
  readonly cacheWritten: number
  readonly cacheWrittenHour: number
}

export interface Price {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly cacheWriteHour: number
}

/** A price of the configuration; `*` in the name stands for anything. */
export interface ConfiguredPrice extends Price {
  readonly model: string
}

export const PRICES_DATE = '2026-11-15'

type Prices = Readonly<Record<string, readonly [input: number, output: number, cacheRead: number]>>

const ANTHROPIC: Prices = {
  'claude-fable-5-1': [10, 50, 0.25],
  'claude-fable-5': [10, 50, 1],
  'claude-opus-5-5': [4, 20, 0.2],
  'claude-opus-5': [5, 25, 0.5],
  'claude-opus-4-8': [5, 25, 0.5],
  'claude-opus-4-7': [5, 25, 0.5],
  'claude-opus-4-6': [5, 25, 0.5],
  'claude-opus-4-5': [5, 25, 0.5],
  'claude-opus-4-1': [15, 75, 1.5],
  'claude-opus-4': [15, 75, 1.5],
  'claude-sonnet-5-5': [2, 10, 0.1],
  'claude-sonnet-5': [2, 10, 0.2],
  'claude-sonnet-4-6': [3, 15, 0.3],
  'claude-sonnet-4-5': [3, 15, 0.3],
  'claude-sonnet-4': [3, 15, 0.3],
  'claude-haiku-4-5': [1, 5, 0.1],
  'claude-3-5-haiku': [0.8, 4, 0.08],
}

const OTHERS: Prices = {
  // No model answers in a rehearsal.
  rehearsal: [0, 0, 0],
  'gpt-5.3-codex': [1.75, 14, 0.175],
  'gpt-5.2-codex': [1.75, 14, 0.175],
  'gpt-5.2': [1.75, 14, 0.175],
  'gpt-5.1': [1.25, 10, 0.125],
  'gpt-5-codex': [1.25, 10, 0.125],
  'gpt-5': [1.25, 10, 0.125],
  'gpt-5-mini': [0.25, 2, 0.025],
  'gpt-4.1': [2, 8, 0.5],
  'gemini-2.5-flash': [0.3, 2.5, 0.03],
  'gemini-2.5-flash-lite': [0.1, 0.4, 0.01],
}

function listPrice(name: string) {
  const isAnthropic = Object.hasOwn(ANTHROPIC, name)
  if (!isAnthropic && !Object.hasOwn(OTHERS, name)) return undefined
  const [input, output, cacheRead] = (isAnthropic ? ANTHROPIC : OTHERS)[name]!
  // Anthropic takes a quarter more for writing into the cache, for an hour twice as much; the others nothing extra.
  const [write, writeHour] = isAnthropic ? [1.25, 2] : [1, 1]
  return { input, output, cacheRead, cacheWrite: input * write, cacheWriteHour: input * writeHour }
}

export function findPrice(
  model: string,
  own: readonly ConfiguredPrice[],
): { price: Price; from: string } | undefined {
  const told = own.find((candidate) => fits(candidate.model, model))
  if (told !== undefined) return { price: told, from: 'prices of the configuration' }
  const price = listPrice(plainModelName(model))
  return price === undefined ? undefined : { price, from: `price list of ${PRICES_DATE}` }
}

/** Unknown when the price of any of the models is: a part would look like the whole. */
export function estimateCost(
  spent: Readonly<Record<string, BilledTokens>>,
  own: readonly ConfiguredPrice[],
  at: string,
): SourcedValue | undefined {
  let sum = 0
  const from = new Set<string>()
  for (const [model, used] of Object.entries(spent)) {
    const found = findPrice(model, own)
    if (found === undefined) return undefined
    sum += costAtPrice(used, found.price)
    from.add(found.from)
  }
  return from.size === 0 ? undefined : estimated(sum, [...from].join(', '), at)
}

export function costAtPrice(used: BilledTokens, price: Price): number {
  const millionths =
    used.input * price.input +
    used.output * price.output +
    used.cacheRead * price.cacheRead +
    used.cacheWritten * price.cacheWrite +
    used.cacheWrittenHour * price.cacheWriteHour
  return millionths / 1_000_000
}

// A date, a version, a window size behind the name or a provider before it is no other model; another number is.
const BEHIND = /(?:-\d{8}|@\d{8}|-\d{4}-\d\d-\d\d|-latest)?(?:-v\d+(?::\d+)?)?(?:\[\w+\])?$/

export function plainModelName(model: string): string {
  return model
    .toLowerCase()
    .replace(/^.*[./](?=(?:claude|gpt|gemini)-)/, '')
    .replace(BEHIND, '')
}

function fits(pattern: string, model: string) {
  const name = model.toLowerCase()
  const parts = pattern.toLowerCase().split('*')
  if (parts.length === 1) return [name, plainModelName(name)].includes(parts[0]!)
  const escaped = parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${escaped.join('[^]*')}$`).test(name)
}

const WINDOWS_OF = '2026-11-15'

const MILLION = 1_000_000
const USUAL = 200_000

/** Models that have a million tokens without being asked for them. */
const LARGE = /^claude-(?:(?:opus|sonnet|haiku|fable|mythos)-[5-9]|opus-4-[78])/

/** Transcripts leave out that a larger window was asked for, so more tokens than a window holds mean the large one. */
export function estimateWindow(
  model: string | undefined,
  tokens: number | undefined,
): SourcedValue | undefined {
  if (model === undefined || !/claude/i.test(model)) return undefined
  const isAskedFor = /\[1m\]/i.test(model) || (tokens ?? 0) > USUAL
  return estimated(
    isAskedFor || LARGE.test(plainModelName(model)) ? MILLION : USUAL,
    `table of models (${model})`,
    WINDOWS_OF,
  )
}
