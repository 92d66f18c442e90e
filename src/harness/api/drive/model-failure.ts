import { oneLine, shorten } from '../../../text/clean.ts'
import { asObject, parseJson, asText } from '../../../text/json-fields.ts'
import { redact } from '../../../text/redact.ts'
import { parseUsageLimit } from '../../contract/usage.ts'
import { defined } from '../../../text/defined.ts'

/** `again`: a retry may help. `no`: a retry fails the same way. */
type FailureKind = 'again' | 'limit' | 'no'

export class ModelFailure extends Error {
  override readonly name = 'ModelFailure'
  constructor(
    readonly kind: FailureKind,
    message: string,
    readonly details: {
      readonly retryAfterMs?: number
      readonly resetsAt?: string
      readonly isThrottled?: boolean
      readonly isUnreachable?: boolean
      readonly isFull?: boolean
    } = {},
  ) {
    // Servers echo what they were sent.
    super(shorten(oneLine(redact(message).text), MAX_MESSAGE_LENGTH))
  }

  withoutKey(key: string | undefined): ModelFailure {
    return new ModelFailure(this.kind, redactKey(this.message, key), this.details)
  }
}

const MAX_MESSAGE_LENGTH = 2000
/** A longer wait is a usage limit. */
const MAX_RETRY_DELAY_MS = 60_000

const OUT_OF_CREDIT = /credit balance|insufficient_quota|exceeded your current quota|billing/i
const CONTEXT_FULL =
  /prompt is too long|maximum context|context[ _](?:length|window|size|limit)|too many tokens|exceeds? the available context/i

interface ErrorResponse {
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
}: ErrorResponse): ModelFailure {
  const message = parseMessage(body)
  const text = `${message === '' ? 'no reason given' : message} (HTTP ${status})`
  if (OUT_OF_CREDIT.test(message) || status === 402) return new ModelFailure('limit', text)
  if (status === 401 || status === 403)
    return new ModelFailure(
      'no',
      `${keyVariable === undefined ? 'a key is wanted, and api.key_env names none' : `the key in ${keyVariable} was refused`}: ${text}`,
    )
  if (status === 404) return new ModelFailure('no', `there is no such model or address: ${text}`)
  if (status >= 300 && status < 400)
    return new ModelFailure(
      'no',
      `the address leads elsewhere, and a key is not sent after it: ${text}; mend base_url`,
    )
  if (CONTEXT_FULL.test(message)) return contextFullFailure(text)
  if (status === 429) return throttledFailure(text, headers, now)
  const isTemporary = status >= 500 || [408, 409, 425].includes(status)
  return new ModelFailure(
    isTemporary ? 'again' : 'no',
    text,
    defined({ retryAfterMs: parseRetryAfter(headers, now) }),
  )
}

export function failureFromStream(error: unknown): ModelFailure {
  const fields = asObject(error)
  const type = asText(fields?.type) ?? asText(fields?.code) ?? ''
  const text = [asText(fields?.message) ?? asText(error) ?? 'no reason given', type]
    .filter((part) => part !== '')
    .join(', ')
  if (OUT_OF_CREDIT.test(text)) return new ModelFailure('limit', text)
  if (CONTEXT_FULL.test(text)) return contextFullFailure(text)
  const isFinal = /invalid_request|authentication|permission|not_found/.test(type)
  return new ModelFailure(isFinal ? 'no' : 'again', text, { isThrottled: /rate_limit/.test(type) })
}

function throttledFailure(text: string, headers: Headers, now: number) {
  const retryAfterMs = parseRetryAfter(headers, now)
  const wait = retryAfterMs === undefined ? undefined : new Date(now + retryAfterMs).toISOString()
  const resetsAt = parseUsageLimit(text)?.resetsAt ?? wait
  const isLong = resetsAt !== undefined && Date.parse(resetsAt) - now > MAX_RETRY_DELAY_MS
  return new ModelFailure(isLong ? 'limit' : 'again', text, {
    isThrottled: true,
    ...defined({ retryAfterMs, resetsAt }),
  })
}

function parseRetryAfter(headers: Headers, now: number) {
  const millis = Number.parseFloat(headers.get('retry-after-ms') ?? '')
  if (millis >= 0) return millis
  const value = headers.get('retry-after')?.trim() ?? ''
  if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value) * 1000
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** Other servers than the two providers put it elsewhere, or send an HTML page. */
function parseMessage(body: string) {
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
const REDACTED_KEY = '[redacted:api-key]'
/** Shorter values are placeholders such as `none`, which occur in ordinary text. */
const MIN_KEY_LENGTH = 8

export function redactKey(text: string, key: string | undefined): string {
  if (key === undefined || key.length < MIN_KEY_LENGTH) return text
  const inJson = escaped(key)
  return [key, inJson, escaped(inJson)].reduce(
    (rest, form) => rest.replaceAll(form, REDACTED_KEY),
    text,
  )
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

  take(delta: string): string {
    const text = redactKey(this.#held + delta, this.#key)
    const from = this.#keyStartIn(text)
    this.#held = text.slice(from)
    return text.slice(0, from)
  }

  #keyStartIn(text: string) {
    const key = this.#key
    if (key === undefined || key.length < MIN_KEY_LENGTH) return text.length
    for (let at = Math.max(0, text.length - key.length + 1); at < text.length; at += 1)
      if (key.startsWith(text.slice(at))) return at
    return text.length
  }
}
