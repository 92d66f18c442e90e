import { oneLine, shorten } from '../../../text/clean.ts'
import { asObject, parseJson, asText } from '../../../text/json-fields.ts'
import { redact } from '../../../text/redact.ts'
import { parseUsageLimit } from '../../contract/usage.ts'
import { defined } from '../../../text/defined.ts'

/** `again`: a retry may help. `no`: a retry fails the same way. */
export type FailureKind = 'again' | 'limit' | 'no'

export class ModelFailure extends Error {
  override readonly name = 'ModelFailure'
  constructor(
    readonly kind: FailureKind,
    message: string,
    readonly at: {
      readonly retryAfterMs?: number
      readonly resetsAt?: string
      readonly isThrottled?: boolean
      readonly isUnreachable?: boolean
      readonly isFull?: boolean
    } = {},
  ) {
    // Servers echo what they were sent.
    super(shorten(oneLine(redact(message).text), LONGEST))
  }

  without(key: string | undefined): ModelFailure {
    return new ModelFailure(this.kind, redactKey(this.message, key), this.at)
  }
}

const LONGEST = 2000
/** A longer wait is a usage limit. */
const LONGEST_WAIT_MS = 60_000

const USED_UP = /credit balance|insufficient_quota|exceeded your current quota|billing/i
const TOO_LONG =
  /prompt is too long|maximum context|context[ _](?:length|window|size|limit)|too many tokens|exceeds? the available context/i

interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly body: string
  readonly keyVariable: string | undefined
  readonly now: number
}

export function contextFullFailure(reason: string): ModelFailure {
  return new ModelFailure('no', `the context is full: ${reason}`, { isFull: true })
}

export function failureFromResponse({
  status,
  headers,
  body,
  keyVariable,
  now,
}: Answered): ModelFailure {
  const said = messageIn(body)
  const told = `${said === '' ? 'no reason given' : said} (HTTP ${status})`
  if (USED_UP.test(said) || status === 402) return new ModelFailure('limit', told)
  if (status === 401 || status === 403)
    return new ModelFailure(
      'no',
      `${keyVariable === undefined ? 'a key is wanted, and api.key_env names none' : `the key in ${keyVariable} was refused`}: ${told}`,
    )
  if (status === 404) return new ModelFailure('no', `there is no such model or address: ${told}`)
  if (status >= 300 && status < 400)
    return new ModelFailure(
      'no',
      `the address leads elsewhere, and a key is not sent after it: ${told}; mend base_url`,
    )
  if (TOO_LONG.test(said)) return contextFullFailure(told)
  if (status === 429) return throttled(told, headers, now)
  const isPassing = status >= 500 || [408, 409, 425].includes(status)
  return new ModelFailure(
    isPassing ? 'again' : 'no',
    told,
    defined({ retryAfterMs: waitIn(headers, now) }),
  )
}

export function failureFromStream(error: unknown): ModelFailure {
  const fields = asObject(error)
  const type = asText(fields?.type) ?? asText(fields?.code) ?? ''
  const told = [asText(fields?.message) ?? asText(error) ?? 'no reason given', type]
    .filter((part) => part !== '')
    .join(', ')
  if (USED_UP.test(told)) return new ModelFailure('limit', told)
  if (TOO_LONG.test(told)) return contextFullFailure(told)
  const isFinal = /invalid_request|authentication|permission|not_found/.test(type)
  return new ModelFailure(isFinal ? 'no' : 'again', told, { isThrottled: /rate_limit/.test(type) })
}

function throttled(told: string, headers: Headers, now: number) {
  const retryAfterMs = waitIn(headers, now)
  const wait = retryAfterMs === undefined ? undefined : new Date(now + retryAfterMs).toISOString()
  const resetsAt = parseUsageLimit(told)?.resetsAt ?? wait
  const isFar = resetsAt !== undefined && Date.parse(resetsAt) - now > LONGEST_WAIT_MS
  return new ModelFailure(isFar ? 'limit' : 'again', told, {
    isThrottled: true,
    ...defined({ retryAfterMs, resetsAt }),
  })
}

function waitIn(headers: Headers, now: number) {
  const millis = Number.parseFloat(headers.get('retry-after-ms') ?? '')
  if (millis >= 0) return millis
  const value = headers.get('retry-after')?.trim() ?? ''
  if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value) * 1000
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** Other servers than the two providers put it elsewhere, or send an HTML page. */
function messageIn(body: string) {
  const fields = asObject(parseJson(body))
  const error = fields?.error
  const inner = asObject(error)
  const message =
    asText(inner?.message) ?? asText(error) ?? asText(fields?.message) ?? asText(fields?.detail)
  const code = asText(inner?.code)
  if (message === undefined) return oneLine(body.replaceAll(/<[^>]*>/g, ' ')).slice(0, 300)
  return code === undefined || message.includes(code) ? message : `${message}, ${code}`
}

// A key can only be recognised by its value; servers echo what they were sent.
const MARK = '[redacted:api-key]'
/** Shorter values are placeholders such as `none`, which occur in ordinary text. */
const SHORTEST = 8

export function redactKey(text: string, key: string | undefined): string {
  if (key === undefined || key.length < SHORTEST) return text
  const inJson = escaped(key)
  return [key, inJson, escaped(inJson)].reduce((rest, form) => rest.replaceAll(form, MARK), text)
}

function escaped(text: string) {
  return JSON.stringify(text).slice(1, -1)
}

export function redactKeyDeep<T>(value: T, key: string | undefined): T {
  const clean = (inner: unknown): unknown => {
    if (typeof inner === 'string') return redactKey(inner, key)
    if (Array.isArray(inner)) return inner.map(clean)
    if (typeof inner !== 'object' || inner === null) return inner
    return Object.fromEntries(
      Object.entries(inner).map(([name, field]) => [redactKey(name, key), clean(field)]),
    )
  }
  return clean(value) as T
}

/** Holds back a possible start of the key until more text arrives. */
export class StreamKeyRedactor {
  readonly #key: string | undefined
  #held = ''

  constructor(key: string | undefined) {
    this.#key = key
  }

  take(piece: string): string {
    const text = redactKey(this.#held + piece, this.#key)
    const from = this.#beginningIn(text)
    this.#held = text.slice(from)
    return text.slice(0, from)
  }

  #beginningIn(text: string) {
    const key = this.#key
    if (key === undefined || key.length < SHORTEST) return text.length
    for (let at = Math.max(0, text.length - key.length + 1); at < text.length; at += 1)
      if (key.startsWith(text.slice(at))) return at
    return text.length
  }
}
