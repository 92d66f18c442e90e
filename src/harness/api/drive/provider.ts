import {
  type Json,
  asCount,
  asArray,
  asName,
  asObject,
  parseJson,
  asText,
} from '../../../text/json-fields.ts'
import type { ApiSettings } from '../../contract/drive.ts'
import { ANTHROPIC_USAGE, usageFrom } from '../../contract/usage.ts'
import { ModelFailure, failureFromStream } from './model-failure.ts'
import { anthropicMessages } from '../../../history/formats/anthropic.ts'
import type { HistoryItem, MessagePart } from '../../../history/items.ts'
import type { Usage } from '../../../session/entries.ts'
import { defined } from '../../../text/defined.ts'
import { openAiMessages } from '../../../history/formats/openai.ts'
import { randomHex } from '../../../journal/ids.ts'
import type { ToolDefinition } from './tools/tool-program.ts'

interface ProviderProtocol {
  readonly body: (request: ModelRequest) => Json
  readonly reader: () => ReplyReader
  readonly headers: (key: string | undefined) => Readonly<Record<string, string>>
  readonly path: string
}

const PROTOCOLS: Readonly<Record<ApiSettings['provider'], ProviderProtocol>> = {
  anthropic: {
    body: anthropicBody,
    reader: () => new AnthropicReplyReader(),
    headers: (key) => ({
      'anthropic-version': '2023-06-01',
      ...(key === undefined ? {} : { 'x-api-key': key }),
    }),
    path: 'messages',
  },
  openai: {
    body: openAiBody,
    reader: () => new OpenAiReplyReader(),
    headers: (key): Readonly<Record<string, string>> =>
      key === undefined ? {} : { authorization: `Bearer ${key}` },
    path: 'chat/completions',
  },
}

export function protocolFor({ provider }: ApiSettings): ProviderProtocol {
  return PROTOCOLS[provider]
}

/** Users configure the base URL with `/v1` or without. */
export function endpointUrl({ provider, baseUrl }: ApiSettings, path: string): string {
  const base = baseUrl.replace(/\/+$/, '')
  const needsVersion = provider === 'anthropic' && !/\/v\d+$/.test(base)
  return `${base}${needsVersion ? '/v1' : ''}/${path}`
}

type RequestBlock = Record<string, unknown>

export function anthropicBody({
  settings,
  model,
  maxOutput,
  system,
  items,
  tools,
}: ModelRequest): Json {
  const messages = anthropicMessages(items, { isSystemSaidByUser: true }).map(
    ({ role, content }) => ({
      role,
      content: content.filter(isUnredacted).map((block): RequestBlock => ({ ...block })),
    }),
  )
  const systemBlocks = system.map((text): RequestBlock => ({ type: 'text', text }))
  const users = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
  // The API allows four cache marks: instructions, opening files, and the last two user messages.
  const opening = users[0]?.slice(0, 1) ?? []
  const marked = [
    ...systemBlocks.slice(-1),
    ...opening,
    ...users.slice(-2).flatMap((content) => content.slice(-1)),
  ]
  for (const block of new Set(marked)) block.cache_control = { type: 'ephemeral' }
  return {
    model,
    max_tokens: maxOutput,
    stream: true,
    system: systemBlocks,
    tools: tools.map(({ name, description, input }) => ({
      name,
      description,
      input_schema: input,
    })),
    messages,
    ...defined({ thinking: thinkingParam(settings.thinking) }),
    ...(settings.effort === undefined ? {} : { output_config: { effort: settings.effort } }),
  }
}

/** Thinking that was redacted when stored no longer matches its signature. */
function isUnredacted({ type, thinking }: Json): boolean {
  return type !== 'thinking' || typeof thinking !== 'string' || !thinking.includes('[redacted:')
}

function thinkingParam(thinking: number | 'adaptive' | undefined): Json | undefined {
  if (thinking === undefined) return undefined
  return thinking === 'adaptive'
    ? { type: 'adaptive' }
    : { type: 'enabled', budget_tokens: thinking }
}

interface StreamedBlock {
  readonly start: Json
  text: string
  signature: string
}

const ANTHROPIC_STOPS: Readonly<Record<string, StopReason>> = {
  end_turn: 'end',
  stop_sequence: 'end',
  pause_turn: 'end',
  tool_use: 'tools',
  max_tokens: 'length',
  model_context_window_exceeded: 'full',
  refusal: 'refused',
}

export class AnthropicReplyReader implements ReplyReader {
  isComplete = false
  readonly #blocks = new Map<number, StreamedBlock>()
  #usage: Json | undefined
  #stop: string | undefined
  #model: string | undefined
  #request: string | undefined

  take(data: string): string | undefined {
    const event = asObject(parseJson(data))
    if (event === undefined)
      throw new ModelFailure('again', 'the answer is not in the form of a stream of events')
    switch (event.type) {
      case 'message_start':
        return this.#begin(asObject(event.message) ?? {})
      case 'content_block_start':
        return this.#open(asCount(event.index) ?? 0, asObject(event.content_block) ?? {})
      case 'content_block_delta':
        return this.#append(
          this.#blocks.get(asCount(event.index) ?? 0),
          asObject(event.delta) ?? {},
        )
      case 'message_delta':
        this.#stop = asName(asObject(event.delta)?.stop_reason) ?? this.#stop
        // These are totals of the whole reply, and some may be missing.
        this.#usage = { ...this.#usage, ...asObject(event.usage) }
        return undefined
      case 'message_stop':
        this.isComplete = true
        return undefined
      case 'error':
        throw failureFromStream(event.error)
      default:
        return undefined
    }
  }

  reply(): ModelReply {
    const parts = [...this.#blocks.values()].flatMap(
      (block) => finishedPart(block, this.isComplete) ?? [],
    )
    const stop = this.isComplete ? (ANTHROPIC_STOPS[this.#stop ?? ''] ?? 'end') : 'cut'
    return {
      parts,
      stop,
      ...defined({
        usage: this.#usage && usageFrom(this.#usage, ANTHROPIC_USAGE),
        model: this.#model,
        request: this.#request,
      }),
    }
  }

  #begin(message: Json): undefined {
    this.#usage = asObject(message.usage)
    this.#model = asName(message.model)
    this.#request = asName(message.id)
  }

  #open(index: number, start: Json): string | undefined {
    const text = asText(start.text) ?? asText(start.thinking) ?? ''
    this.#blocks.set(index, { start, text, signature: asText(start.signature) ?? '' })
    return start.type === 'text' && text !== '' ? text : undefined
  }

  #append(block: StreamedBlock | undefined, delta: Json): string | undefined {
    if (block === undefined) return undefined
    const text = stringField(delta, 'text')
    block.text += text + stringField(delta, 'thinking') + stringField(delta, 'partial_json')
    block.signature += stringField(delta, 'signature')
    return delta.type === 'text_delta' && text !== '' ? text : undefined
  }
}

function finishedPart(
  { start, text, signature }: StreamedBlock,
  isComplete: boolean,
): MessagePart | undefined {
  switch (start.type) {
    case 'text':
      return text.trim() === '' ? undefined : { type: 'text', text }
    case 'thinking':
      // The API rejects thinking without its signature.
      return signature === '' ? undefined : { type: 'thinking', text, signature }
    case 'redacted_thinking':
      return { type: 'thinking', text: '', ...defined({ data: asText(start.data) }) }
    case 'tool_use': {
      const [id, name] = [asName(start.id), asName(start.name)]
      if (!isComplete || id === undefined || name === undefined) return undefined
      const input = asObject(start.input) ?? {}
      return { type: 'tool use', id, name, input: text === '' ? input : parseToolInput(text) }
    }
    default:
      return undefined
  }
}

export function openAiBody({
  settings,
  model,
  maxOutput,
  system,
  items,
  tools,
}: ModelRequest): Json {
  return {
    model,
    // OpenAI's own models accept only the new name, most other servers only the old one.
    [isOpenAi(settings.baseUrl) ? 'max_completion_tokens' : 'max_tokens']: maxOutput,
    stream: true,
    stream_options: { include_usage: true },
    messages: [...system.map((content) => ({ role: 'system', content })), ...openAiMessages(items)],
    tools: tools.map(({ name, description, input }) => ({
      type: 'function',
      function: { name, description, parameters: input },
    })),
    ...defined({ reasoning_effort: settings.effort }),
  }
}

function isOpenAi(baseUrl: string): boolean {
  return /(?:^|\.)openai\.(?:com|azure\.com)$/.test(new URL(baseUrl).hostname)
}

interface StreamedCall {
  id: string
  name: string
  input: string
}

const OPENAI_STOPS: Readonly<Record<string, StopReason>> = {
  stop: 'end',
  tool_calls: 'tools',
  function_call: 'tools',
  length: 'length',
  content_filter: 'refused',
}

export class OpenAiReplyReader implements ReplyReader {
  #text = ''
  #thinking = ''
  readonly #calls: { readonly index: number | undefined; readonly call: StreamedCall }[] = []
  #usage: Usage | undefined
  #stop: string | undefined
  #model: string | undefined
  #request: string | undefined

  /** Some servers end with `[DONE]`, others just end. */
  get isComplete(): boolean {
    return this.#stop !== undefined
  }

  take(data: string): string | undefined {
    if (data.trim() === '[DONE]') return undefined
    const chunk = asObject(parseJson(data))
    if (chunk === undefined)
      throw new ModelFailure('again', 'the answer is not in the form of a stream of events')
    if (chunk.error !== undefined && chunk.error !== null) throw failureFromStream(chunk.error)
    this.#model ??= asName(chunk.model)
    this.#request ??= asName(chunk.id)
    this.#usage = openAiUsage(asObject(chunk.usage)) ?? this.#usage
    const choice = asObject(asArray(chunk.choices)[0])
    if (choice === undefined) return undefined
    this.#stop = asName(choice.finish_reason) ?? this.#stop
    const delta = asObject(choice.delta) ?? {}
    for (const call of asArray(delta.tool_calls)) this.#addCallDelta(asObject(call) ?? {})
    // Servers use different names.
    this.#thinking += stringField(delta, 'reasoning_content') || stringField(delta, 'reasoning')
    const text = stringField(delta, 'content') + stringField(delta, 'refusal')
    this.#text += text
    return text === '' ? undefined : text
  }

  reply(): ModelReply {
    const parts: MessagePart[] = []
    if (this.#thinking.trim() !== '') parts.push({ type: 'thinking', text: this.#thinking })
    if (this.#text.trim() !== '') parts.push({ type: 'text', text: this.#text })
    if (this.isComplete) {
      for (const { call } of this.#calls) {
        parts.push({
          type: 'tool use',
          id: call.id,
          name: call.name,
          input: parseToolInput(call.input),
        })
      }
    }
    return {
      parts,
      stop: this.#end(),
      ...defined({ usage: this.#usage, model: this.#model, request: this.#request }),
    }
  }

  #end(): StopReason {
    if (this.#stop === undefined) return 'cut'
    const stop = OPENAI_STOPS[this.#stop] ?? 'end'
    // Some servers finish with `stop` despite tool calls.
    return stop === 'end' && this.#calls.length > 0 ? 'tools' : stop
  }

  /** Deltas of a call share an index; servers that send a call at once may omit it. */
  #addCallDelta(delta: Json): void {
    const index = asCount(delta.index)
    const id = asName(delta.id)
    const fields = asObject(delta.function) ?? {}
    const isSame = (one: { index: number | undefined; call: StreamedCall }) =>
      index === undefined ? id === undefined || one.call.id === id : one.index === index
    let call = this.#calls.findLast(isSame)?.call
    if (call === undefined) {
      call = { id: id ?? `call_${randomHex(12)}`, name: '', input: '' }
      this.#calls.push({ index, call })
    }
    call.name ||= asName(fields.name) ?? ''
    call.input += stringField(fields, 'arguments')
  }
}

function stringField(fields: Json, name: string): string {
  const value = fields[name]
  return typeof value === 'string' ? value : ''
}

function openAiUsage(usage: Json | undefined): Usage | undefined {
  const prompt = asCount(usage?.prompt_tokens)
  if (usage === undefined || prompt === undefined) return undefined
  const details = asObject(usage.prompt_tokens_details)
  const cacheRead = Math.min(
    prompt,
    asCount(details?.cached_tokens) ?? asCount(usage.prompt_cache_hit_tokens) ?? 0,
  )
  const cacheWritten = Math.min(prompt - cacheRead, asCount(details?.cache_write_tokens) ?? 0)
  return {
    input: prompt - cacheRead - cacheWritten,
    cacheWritten,
    cacheRead,
    output: asCount(usage.completion_tokens) ?? 0,
  }
}

export interface ModelRequest {
  readonly settings: ApiSettings
  readonly model: string
  readonly maxOutput: number
  readonly system: readonly string[]
  readonly items: readonly HistoryItem[]
  readonly tools: readonly ToolDefinition[]
}

export interface ModelReply {
  readonly parts: readonly MessagePart[]
  readonly stop: StopReason
  readonly usage?: Usage
  readonly model?: string
  readonly request?: string
}

/** `full`: the context is full. `cut`: the stream broke off. */
export type StopReason = 'end' | 'tools' | 'length' | 'full' | 'refused' | 'cut'

export interface ReplyReader {
  take(data: string): string | undefined
  readonly isComplete: boolean
  reply(): ModelReply
}

/** Holds input that is not JSON, so that the model sees what it wrote. */
export const UNPARSED_INPUT = 'unreadable'

function parseToolInput(text: string): Readonly<Record<string, unknown>> {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Readonly<Record<string, unknown>>
  } catch {
    // The tool's result reports it to the model.
  }
  return { [UNPARSED_INPUT]: text }
}
