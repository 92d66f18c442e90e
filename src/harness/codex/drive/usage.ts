import { subtractUsage, tokensOf } from '../../contract/usage.ts'
import type { Usage } from '../../../session/entries.ts'
import { cleanText, shorten } from '../../../text/clean.ts'
import { defined } from '../../../text/defined.ts'
import { type Json, countOf, objectOf, parseJson, textOf } from '../../../text/json-fields.ts'

/** What Codex says of the tokens of a thread. */
export interface ToldUsage {
  /** Of all its requests so far, those before it was resumed among them. */
  readonly total: Usage
  /** Of the last request. */
  readonly last: Usage
  readonly context?: number
  readonly window?: number
}

/** Undefined when it is not what we know. */
export function toldUsage(params: Json): ToldUsage | undefined {
  const told = objectOf(params['tokenUsage'])
  const total = objectOf(told?.['total'])
  const last = objectOf(told?.['last'])
  if (total === undefined || last === undefined) return undefined
  const context = countOf(last['totalTokens'])
  const window = countOf(told?.['modelContextWindow'])
  return {
    total: usageOf(total),
    last: usageOf(last),
    ...defined({ context, window }),
  }
}

// Its input has what came from the cache in it, and what went there.
function usageOf(told: Json): Usage {
  const cacheRead = countOf(told['cachedInputTokens']) ?? 0
  const cacheWritten = countOf(told['cacheWriteInputTokens']) ?? 0
  const input = Math.max(0, (countOf(told['inputTokens']) ?? 0) - cacheRead - cacheWritten)
  return { input, cacheWritten, cacheRead, output: countOf(told['outputTokens']) ?? 0 }
}

/** Of the model's window, what Codex tells to be there, and where it compacts at the latest. */
const TOLD_SHARE = 0.95
const COMPACTS_AT_SHARE = 0.9

/** Where Codex compacts: where it was told to, but not later than it does by itself. */
export function pointIn(
  window: number | undefined,
  configured: number | undefined,
): number | undefined {
  const usual =
    window === undefined ? undefined : Math.floor((window / TOLD_SHARE) * COMPACTS_AT_SHARE)
  const points = [usual, configured].filter((point) => point !== undefined && point > 0)
  return points.length === 0 ? undefined : Math.min(...(points as number[]))
}

/** What one has more than the other; undefined when that is nothing. A total that shrank counts anew. */
export function difference(now: Usage, before: Usage): Usage | undefined {
  const spent = subtractUsage(now, before)
  return tokensOf(spent) > 0 ? spent : undefined
}

/** What Codex says of a turn that went wrong, in words. */
export function failureOf(error: Json | undefined): string {
  const message = textOf(error?.['message'])
  const details = textOf(error?.['additionalDetails'])
  // What a model's server answered is passed on as it came, which is usually an object around one sentence.
  const told = message === undefined ? undefined : (messageIn(message) ?? message)
  return shorten(cleanText([told ?? 'the turn failed', details].filter(Boolean).join('\n')), 2000)
}

function messageIn(text: string): string | undefined {
  const body = objectOf(parseJson(text))
  return (
    textOf(objectOf(body?.['error'])?.['message']) ??
    textOf(body?.['message']) ??
    textOf(body?.['detail'])
  )
}

/** Whether an error says that the account is used up, or that the model's server takes no more for now. */
export function isLimit(error: Json | undefined): boolean {
  const info = error?.['codexErrorInfo']
  if (info === 'usageLimitExceeded' || info === 'rateLimitExceeded') return true
  const attempts = objectOf(objectOf(info)?.['responseTooManyFailedAttempts'])
  return attempts?.['httpStatusCode'] === 429
}

/** A window of the account's limits: how much of it is used, and when it begins anew. */
interface LimitWindow {
  readonly usedPercent: number
  readonly resetsAt?: string
}

export type Limits = Readonly<Record<string, LimitWindow>>

/** The limits as they stand after an update, which leaves out what it does not know. */
export function withLimits(before: Limits, params: Json): Limits {
  const told = objectOf(params['rateLimits'])
  const windows = ['primary', 'secondary'].flatMap((name) => {
    const window = objectOf(told?.[name])
    const usedPercent = countOf(window?.['usedPercent'])
    if (usedPercent === undefined) return []
    const resetsAt = momentOf(window?.['resetsAt'])
    return [[name, { usedPercent, ...defined({ resetsAt }) }] as const]
  })
  return { ...before, ...Object.fromEntries(windows) }
}

/** When the last of the windows that are used up begins anew. */
export function resetOf(limits: Limits): string | undefined {
  return Object.values(limits)
    .filter(({ usedPercent }) => usedPercent >= 100)
    .flatMap(({ resetsAt }) => resetsAt ?? [])
    .toSorted()
    .at(-1)
}

/** Seconds since 1970, as a moment. */
function momentOf(seconds: unknown): string | undefined {
  const count = countOf(seconds)
  const date = new Date((count ?? Number.NaN) * 1000)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
