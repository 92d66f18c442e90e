import { setTimeout as pause } from 'node:timers/promises'
import { errnoOf } from '../../../journal/errors.ts'
import {
  ModelFailure,
  StreamKeyRedactor,
  failureFromResponse,
  redactKey,
  redactKeyDeep,
} from './model-failure.ts'
import {
  type ModelRequest,
  type ModelReply,
  type ReplyReader,
  endpointUrl,
  protocolFor,
} from './provider.ts'
import type { ApiSettings } from '../../contract/drive.ts'
import { LONGEST_SILENCE_SECONDS, keyVariable } from './settings.ts'

interface AskOptions {
  readonly key: string | undefined
  readonly retryDelays?: readonly number[]
  readonly delta: (text: string) => void
  readonly restarted: () => void
  readonly trace: (direction: 'to' | 'from', line: string) => void
  readonly signal: AbortSignal
}

const RETRY_DELAYS_MS: readonly number[] = [1000, 3000, 8000, 20_000]

export async function askModel(request: ModelRequest, options: AskOptions): Promise<ModelReply> {
  const { key, retryDelays = RETRY_DELAYS_MS, signal } = options
  for (let tries = 0; ; tries += 1) {
    const reader = protocolFor(request.settings).reader()
    let hasEmitted = false
    const delta = (text: string) => {
      hasEmitted = true
      options.delta(text)
    }
    try {
      await askOnce(request, reader, { ...options, delta })
      return redactKeyDeep(reader.reply(), key)
    } catch (error) {
      if (signal.aborted) return redactKeyDeep(reader.reply(), key)
      if (!(error instanceof ModelFailure)) throw error
      // An unreachable server is not just busy, so fewer retries are enough.
      const delay =
        error.details.isUnreachable === true && tries >= 2 ? undefined : retryDelays[tries]
      if (error.kind !== 'again') throw error.withoutKey(key)
      if (delay === undefined) throw retriesExhausted(error, tries).withoutKey(key)
      if (hasEmitted) options.restarted()
      const ms = Math.max(delay, error.details.retryAfterMs ?? 0)
      await pause(ms, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return protocolFor(request.settings).reader().reply()
    }
  }
}

function retriesExhausted({ message, details }: ModelFailure, tries: number) {
  const text = tries === 0 ? message : `${message}; asked ${tries + 1} times`
  return new ModelFailure(details.isThrottled === true ? 'limit' : 'no', text, details)
}

async function askOnce(request: ModelRequest, reader: ReplyReader, options: AskOptions) {
  const seconds = request.settings.silenceSeconds ?? LONGEST_SILENCE_SECONDS
  const stalled = new AbortController()
  const timer = setTimeout(() => stalled.abort(), seconds * 1000)
  const signal = AbortSignal.any([options.signal, stalled.signal])
  try {
    await streamReply(request, reader, { ...options, signal }, () => timer.refresh())
  } catch (error) {
    if (options.signal.aborted || !stalled.signal.aborted) throw error
    throw new ModelFailure(
      'no',
      `the server said nothing for ${seconds} seconds; api.silence_seconds is how long it may`,
    )
  } finally {
    clearTimeout(timer)
  }
}

async function streamReply(
  request: ModelRequest,
  reader: ReplyReader,
  { key, delta, trace, signal }: AskOptions,
  onBytes: () => void,
) {
  const { settings } = request
  const protocol = protocolFor(settings)
  const body = JSON.stringify(protocol.body(request))
  trace('to', redactKey(body, key))
  const headers = {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    'user-agent': 'stint',
    ...settings.headers,
    ...protocol.headers(key),
  }
  // A redirect would carry the key to another host.
  const init = { method: 'POST', headers, body, redirect: 'manual', signal } as const
  const response = await fetchModel(endpointUrl(settings, protocol.path), init)
  onBytes()
  if (response.status !== 200) throw await readRefusal(response, settings, key)
  const redactor = new StreamKeyRedactor(key)
  try {
    for await (const data of serverSentEvents(response.body ?? noBytes(), onBytes)) {
      trace('from', redactKey(data, key).replaceAll('\n', ' '))
      const text = redactor.take(reader.take(data) ?? '')
      if (text !== '') delta(text)
    }
  } catch (error) {
    if (error instanceof ModelFailure || signal.aborted) throw error
    throw new ModelFailure('again', `the answer broke off: ${reasonOf(error)}`)
  }
  if (!reader.isComplete) throw new ModelFailure('again', 'the answer broke off in the middle')
}

export async function fetchModel(address: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address, init)
  } catch (error) {
    if (
      init.signal?.aborted === true &&
      !(init.signal.reason instanceof DOMException && init.signal.reason.name === 'TimeoutError')
    )
      throw error
    throw new ModelFailure(
      'again',
      `${new URL(address).origin} cannot be reached: ${reasonOf(error)}`,
      { isUnreachable: true },
    )
  }
}

export async function readRefusal(
  response: Response,
  settings: ApiSettings,
  key: string | undefined,
): Promise<ModelFailure> {
  const { status, headers } = response
  const body = redactKey(await readStart(response), key)
  const variable = keyVariable(settings)
  return failureFromResponse({
    status,
    headers,
    body,
    keyVariable: variable,
    now: Date.now(),
  }).withoutKey(key)
}

const MAX_REFUSAL_BYTES = 64 * 1024

async function readStart(response: Response) {
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of response.body ?? noBytes()) {
      chunks.push(chunk)
      length += chunk.length
      if (length > MAX_REFUSAL_BYTES) break
    }
  } catch {
    // The status alone is enough for an error message.
  }
  return Buffer.concat(chunks).subarray(0, MAX_REFUSAL_BYTES).toString('utf8')
}

async function* noBytes() {}

/** `fetch failed` says nothing; its cause does. */
function reasonOf(error: unknown) {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  return errnoOf(cause) ?? (cause instanceof Error ? cause.message : String(cause))
}

const MAX_LINE_LENGTH = 16 * 1024 * 1024

/** An event that was cut off is dropped: half of it may look complete. */
export async function* serverSentEvents(
  bytes: AsyncIterable<Uint8Array>,
  onBytes = () => {},
  maxLength = MAX_LINE_LENGTH,
): AsyncGenerator<string> {
  let data: string[] = []
  for await (const line of sseLines(bytes, onBytes, maxLength)) {
    if (line === '') {
      if (data.length > 0) yield data.join('\n')
      data = []
      continue
    }
    const [, name = '', value = ''] = /^([^:]*)(?:: ?)?([^]*)$/.exec(line) ?? []
    if (name === 'data') data.push(value)
  }
}

async function* sseLines(bytes: AsyncIterable<Uint8Array>, onBytes: () => void, maxLength: number) {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of bytes) {
    onBytes()
    rest += decoder.decode(chunk, { stream: true })
    // A CR at the end may be half of a CRLF.
    const lines = rest.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop()!
    yield* lines
    if (rest.length > maxLength)
      throw new Error(`a line of the stream is longer than ${maxLength} characters`)
  }
  if (rest.endsWith('\r')) yield rest.slice(0, -1)
}
