import { ModelFailure, failureInStream } from './model-failure.ts'
import { type ModelRequest, type Reply, type ReplyReader, type Stop, inputFrom } from './reply.ts'
import type { ServerSentEvent } from './server-sent-events.ts'
import { openAiMessages } from '../../../history/formats/openai.ts'
import type { Part } from '../../../history/items.ts'
import { randomHex } from '../../../journal/random.ts'
import type { Usage } from '../../../session/entries.ts'
import { defined } from '../../../text/defined.ts'
import {
  type Json,
  countOf,
  listOf,
  nameOf,
  objectOf,
  parseJson,
} from '../../../text/json-fields.ts'

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

interface Call {
  id: string
  name: string
  input: string
}

const STOPS: Readonly<Record<string, Stop>> = {
  stop: 'end',
  tool_calls: 'tools',
  function_call: 'tools',
  length: 'length',
  content_filter: 'refused',
}

export class OpenAiReply implements ReplyReader {
  #text = ''
  #thinking = ''
  readonly #calls: { readonly index: number | undefined; readonly call: Call }[] = []
  #usage: Usage | undefined
  #stop: string | undefined
  #model: string | undefined
  #request: string | undefined

  /** Some end with `[DONE]`, and some just end. */
  get isWhole(): boolean {
    return this.#stop !== undefined
  }

  take({ data }: ServerSentEvent): string | undefined {
    if (data.trim() === '[DONE]') return undefined
    const chunk = objectOf(parseJson(data))
    if (chunk === undefined)
      throw new ModelFailure('again', 'the answer is not in the form of a stream of events')
    if (chunk['error'] !== undefined && chunk['error'] !== null)
      throw failureInStream(chunk['error'])
    this.#model ??= nameOf(chunk['model'])
    this.#request ??= nameOf(chunk['id'])
    this.#usage = usageIn(objectOf(chunk['usage'])) ?? this.#usage
    const choice = objectOf(listOf(chunk['choices'])[0])
    if (choice === undefined) return undefined
    this.#stop = nameOf(choice['finish_reason']) ?? this.#stop
    const delta = objectOf(choice['delta']) ?? {}
    for (const call of listOf(delta['tool_calls'])) this.#callWith(objectOf(call) ?? {})
    // Servers differ in the name.
    this.#thinking += stringIn(delta, 'reasoning_content') || stringIn(delta, 'reasoning')
    const text = stringIn(delta, 'content') + stringIn(delta, 'refusal')
    this.#text += text
    return text === '' ? undefined : text
  }

  reply(): Reply {
    const parts: Part[] = []
    if (this.#thinking.trim() !== '') parts.push({ type: 'thinking', text: this.#thinking })
    if (this.#text.trim() !== '') parts.push({ type: 'text', text: this.#text })
    if (this.isWhole) {
      for (const { call } of this.#calls) {
        parts.push({ type: 'tool use', id: call.id, name: call.name, input: inputFrom(call.input) })
      }
    }
    return {
      parts,
      stop: this.#end(),
      ...defined({ usage: this.#usage, model: this.#model, request: this.#request }),
    }
  }

  #end(): Stop {
    if (this.#stop === undefined) return 'cut'
    const stop = STOPS[this.#stop] ?? 'end'
    // Some say `stop` where tools are to be called.
    return stop === 'end' && this.#calls.length > 0 ? 'tools' : stop
  }

  /** Pieces of a call share an index; servers that send it whole may leave the index out. */
  #callWith(piece: Json): void {
    const index = countOf(piece['index'])
    const id = nameOf(piece['id'])
    const made = objectOf(piece['function']) ?? {}
    const isSame = (one: { index: number | undefined; call: Call }) =>
      index === undefined ? id === undefined || one.call.id === id : one.index === index
    let call = this.#calls.findLast(isSame)?.call
    if (call === undefined) {
      call = { id: id ?? `call_${randomHex(12)}`, name: '', input: '' }
      this.#calls.push({ index, call })
    }
    call.name ||= nameOf(made['name']) ?? ''
    call.input += stringIn(made, 'arguments')
  }
}

function stringIn(fields: Json, name: string): string {
  const value = fields[name]
  return typeof value === 'string' ? value : ''
}

function usageIn(usage: Json | undefined): Usage | undefined {
  const prompt = countOf(usage?.['prompt_tokens'])
  if (usage === undefined || prompt === undefined) return undefined
  const details = objectOf(usage['prompt_tokens_details'])
  const cacheRead = Math.min(
    prompt,
    countOf(details?.['cached_tokens']) ?? countOf(usage['prompt_cache_hit_tokens']) ?? 0,
  )
  const cacheWritten = Math.min(prompt - cacheRead, countOf(details?.['cache_write_tokens']) ?? 0)
  return {
    input: prompt - cacheRead - cacheWritten,
    cacheWritten,
    cacheRead,
    output: countOf(usage['completion_tokens']) ?? 0,
  }
}
