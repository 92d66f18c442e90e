import { subtractUsage, tokensOf } from '../../contract/usage.ts'
import type { Usage } from '../../../session/entries.ts'
import { cleanText, shorten } from '../../../text/clean.ts'
import { defined } from '../../../text/defined.ts'
import { type Json, countOf, objectOf, parseJson, textOf } from '../../../text/json-fields.ts'

export interface ToldUsage {
  readonly total: Usage
  readonly last: Usage
  readonly context?: number
  readonly window?: number
}

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

// Its input includes what was read from and written to the cache.
function usageOf(told: Json): Usage {
  const cacheRead = countOf(told['cachedInputTokens']) ?? 0
  const cacheWritten = countOf(told['cacheWriteInputTokens']) ?? 0
  const input = Math.max(0, (countOf(told['inputTokens']) ?? 0) - cacheRead - cacheWritten)
  return { input, cacheWritten, cacheRead, output: countOf(told['outputTokens']) ?? 0 }
}

/** Codex reports 95 % of the model's window, and compacts at 90 % at the latest. */
const TOLD_SHARE = 0.95
const COMPACTS_AT_SHARE = 0.9

export function pointIn(
  window: number | undefined,
  configured: number | undefined,
): number | undefined {
  const usual =
    window === undefined ? undefined : Math.floor((window / TOLD_SHARE) * COMPACTS_AT_SHARE)
  const points = [usual, configured].filter((point) => point !== undefined && point > 0)
  return points.length === 0 ? undefined : Math.min(...(points as number[]))
}

/** A total that shrank counts anew. */
export function difference(now: Usage, before: Usage): Usage | undefined {
  const spent = subtractUsage(now, before)
  return tokensOf(spent) > 0 ? spent : undefined
}

export function failureOf(error: Json | undefined): string {
  const message = textOf(error?.['message'])
  const details = textOf(error?.['additionalDetails'])
  // The server's answer is usually an object around one sentence.
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

export function isLimit(error: Json | undefined): boolean {
  const info = error?.['codexErrorInfo']
  if (info === 'usageLimitExceeded' || info === 'rateLimitExceeded') return true
  const attempts = objectOf(objectOf(info)?.['responseTooManyFailedAttempts'])
  return attempts?.['httpStatusCode'] === 429
}

interface LimitWindow {
  readonly usedPercent: number
  readonly resetsAt?: string
}

export type Limits = Readonly<Record<string, LimitWindow>>

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

export function resetOf(limits: Limits): string | undefined {
  return Object.values(limits)
    .filter(({ usedPercent }) => usedPercent >= 100)
    .flatMap(({ resetsAt }) => resetsAt ?? [])
    .toSorted()
    .at(-1)
}

function momentOf(seconds: unknown): string | undefined {
  const count = countOf(seconds)
  const date = new Date((count ?? Number.NaN) * 1000)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
