import type { Usage } from '../../session/entries.ts'
import { defined } from '../../text/defined.ts'
import { type Json, asCount } from '../../text/json-fields.ts'

export const NO_USAGE: Usage = { input: 0, cacheWritten: 0, cacheRead: 0, output: 0 }

/** `inputIncludesCache`: the input count includes cache reads and writes. */
export function usageFrom(
  fields: Json,
  names: Partial<Record<keyof Usage, string>>,
  inputIncludesCache = false,
): Usage {
  const count = (name: keyof Usage) => asCount(fields[names[name] ?? '']) ?? 0
  const cacheWritten = count('cacheWritten')
  const cacheRead = count('cacheRead')
  const cached = inputIncludesCache ? cacheWritten + cacheRead : 0
  const input = Math.max(0, count('input') - cached)
  return { input, cacheWritten, cacheRead, output: count('output') }
}

/** The field names of the Messages API, which Claude Code also uses. */
export const ANTHROPIC_USAGE = {
  input: 'input_tokens',
  cacheWritten: 'cache_creation_input_tokens',
  cacheRead: 'cache_read_input_tokens',
  output: 'output_tokens',
} as const

export function combineCounts<T extends object>(
  one: T,
  other: T,
  combine: (a: number, b: number) => number,
): T {
  const [left, right] = [one, other] as unknown as Readonly<Record<string, number>>[]
  const names = Object.keys(one)
  return Object.fromEntries(names.map((name) => [name, combine(left![name]!, right![name]!)])) as T
}

export function addUsage(one: Usage, other: Usage): Usage {
  return combineCounts(one, other, (a, b) => a + b)
}

export function subtractUsage(one: Usage, other: Usage): Usage {
  return combineCounts(one, other, (a, b) => Math.max(0, a - b))
}

/** Placeholder counts of the same reply are smaller. */
export function largerUsage(one: Usage, other: Usage): Usage {
  return combineCounts(one, other, Math.max)
}

export function usageTotal({ input, cacheWritten, cacheRead, output }: Usage): number {
  return input + cacheWritten + cacheRead + output
}

const LIMIT_TEXT =
  /usage limit|rate.?limit|hit your (?:\w+ )?limit|limit (?:reached|exceeded)|too many requests|quota (?:exceeded|exhausted)|resource.?exhausted|insufficient_quota|\b429\b/i
const ISO_TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)/
const UNIX_SECONDS = /\|(\d{10})\b/

export interface LimitReached {
  readonly message: string
  readonly resetsAt?: string
}

/** Undefined for a failure that is no usage limit. */
export function parseUsageLimit(text: string): LimitReached | undefined {
  if (!LIMIT_TEXT.test(text)) return undefined
  const seconds = UNIX_SECONDS.exec(text)?.[1]
  const moment = Date.parse(ISO_TIME.exec(text)?.[0] ?? '') / 1000
  const resetsAt = isoFromSeconds(seconds === undefined ? moment : Number(seconds))
  return { message: text, ...defined({ resetsAt }) }
}

/** Seconds since 1970 as an ISO time. */
export function isoFromSeconds(seconds: unknown): string | undefined {
  const moment = new Date((asCount(seconds) ?? Number.NaN) * 1000)
  return Number.isNaN(moment.getTime()) ? undefined : moment.toISOString()
}
