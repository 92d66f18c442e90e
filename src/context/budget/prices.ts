// List prices in US dollars per million tokens. Models whose price depends on the prompt length are
// left out.
import { type SourcedValue, estimated } from './budget.ts'

export interface BilledTokens {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  /** Cached for five minutes; `cacheWrittenHour` for an hour. */
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

/** `*` in the name matches anything. */
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
  // The rehearsal agent calls no model.
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
  // Anthropic charges 1.25 times the input price for cache writes and twice for one hour; others
  // charge nothing extra.
  const [write, writeHour] = isAnthropic ? [1.25, 2] : [1, 1]
  return { input, output, cacheRead, cacheWrite: input * write, cacheWriteHour: input * writeHour }
}

export function findPrice(
  model: string,
  configured: readonly ConfiguredPrice[],
): { price: Price; from: string } | undefined {
  const match = configured.find((candidate) => matchesModel(candidate.model, model))
  if (match !== undefined) return { price: match, from: 'prices of the configuration' }
  const price = listPrice(plainModelName(model))
  return price === undefined ? undefined : { price, from: `price list of ${PRICES_DATE}` }
}

/** Unknown if the price of any model is unknown: a partial sum would look like the total. */
export function estimateCost(
  spent: Readonly<Record<string, BilledTokens>>,
  configured: readonly ConfiguredPrice[],
  at: string,
): SourcedValue | undefined {
  let sum = 0
  const from = new Set<string>()
  for (const [model, used] of Object.entries(spent)) {
    const found = findPrice(model, configured)
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

// A date, version or window suffix or a provider prefix does not make another model; another number
// does.
const SUFFIX = /(?:-\d{8}|@\d{8}|-\d{4}-\d\d-\d\d|-latest)?(?:-v\d+(?::\d+)?)?(?:\[\w+\])?$/

export function plainModelName(model: string): string {
  return model
    .toLowerCase()
    .replace(/^.*[./](?=(?:claude|gpt|gemini)-)/, '')
    .replace(SUFFIX, '')
}

function matchesModel(pattern: string, model: string) {
  const name = model.toLowerCase()
  const parts = pattern.toLowerCase().split('*')
  if (parts.length === 1) return [name, plainModelName(name)].includes(parts[0]!)
  const escaped = parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${escaped.join('[^]*')}$`).test(name)
}

const WINDOWS_DATE = '2026-11-15'

const LARGE_WINDOW = 1_000_000
const USUAL_WINDOW = 200_000

/** Models with a window of a million tokens by default. */
const LARGE_WINDOW_MODELS = /^claude-(?:(?:opus|sonnet|haiku|fable|mythos)-[5-9]|opus-4-[78])/

/**
 * Transcripts do not say which window was requested, so a size above the usual window means the
 * large one.
 */
export function estimateWindow(
  model: string | undefined,
  tokens: number | undefined,
): SourcedValue | undefined {
  if (model === undefined || !/claude/i.test(model)) return undefined
  const isLarge = /\[1m\]/i.test(model) || (tokens ?? 0) > USUAL_WINDOW
  return estimated(
    isLarge || LARGE_WINDOW_MODELS.test(plainModelName(model)) ? LARGE_WINDOW : USUAL_WINDOW,
    `table of models (${model})`,
    WINDOWS_DATE,
  )
}
