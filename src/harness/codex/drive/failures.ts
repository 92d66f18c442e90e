import { cleanText, shorten } from '../../../text/clean.ts'
import { type Json, countOf, objectOf, parseJson, textOf } from '../../../text/json-fields.ts'
import { defined } from '../../../text/defined.ts'

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
