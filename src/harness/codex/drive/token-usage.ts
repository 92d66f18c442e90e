import type { Usage } from '../../../session/entries.ts'
import { type Json, countOf, objectOf } from '../../../text/json-fields.ts'
import { defined } from '../../../text/defined.ts'

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
  const spent = {
    input: Math.max(0, now.input - before.input),
    cacheWritten: Math.max(0, now.cacheWritten - before.cacheWritten),
    cacheRead: Math.max(0, now.cacheRead - before.cacheRead),
    output: Math.max(0, now.output - before.output),
  }
  return Object.values(spent).some((count) => count > 0) ? spent : undefined
}

export const NOTHING: Usage = { input: 0, cacheWritten: 0, cacheRead: 0, output: 0 }
