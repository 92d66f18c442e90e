import { ModelFailure, failureInStream } from './model-failure.ts'
import { type ModelRequest, type Reply, type ReplyReader, type Stop, inputFrom } from './reply.ts'
import type { ServerSentEvent } from './server-sent-events.ts'
import { anthropicMessages } from '../../../history/formats/anthropic.ts'
import type { Part } from '../../../history/items.ts'
import type { Usage } from '../../../session/entries.ts'
import { defined } from '../../../text/defined.ts'
import {
  type Json,
  countOf,
  nameOf,
  objectOf,
  parseJson,
  textOf,
} from '../../../text/json-fields.ts'

type SentBlock = Record<string, unknown>

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
      content: content.filter(isAsSigned).map((block): SentBlock => ({ ...block })),
    }),
  )
  const standing = system.map((text): SentBlock => ({ type: 'text', text }))
  const users = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
  // The provider takes four cache marks: instructions, opening files, and the last two user
  // messages.
  const opening = users[0]?.slice(0, 1) ?? []
  const marked = [
    ...standing.slice(-1),
    ...opening,
    ...users.slice(-2).flatMap((content) => content.slice(-1)),
  ]
  for (const block of new Set(marked)) block['cache_control'] = { type: 'ephemeral' }
  return {
    model,
    max_tokens: maxOutput,
    stream: true,
    system: standing,
    tools: tools.map(({ name, description, input }) => ({
      name,
      description,
      input_schema: input,
    })),
    messages,
    ...defined({ thinking: thinkingFor(settings.thinking) }),
    ...(settings.effort === undefined ? {} : { output_config: { effort: settings.effort } }),
  }
}

/** A thought that was redacted when stored no longer matches its signature. */
function isAsSigned({ type, thinking }: Json): boolean {
  return type !== 'thinking' || typeof thinking !== 'string' || !thinking.includes('[redacted:')
}

function thinkingFor(thinking: number | 'adaptive' | undefined): Json | undefined {
  if (thinking === undefined) return undefined
  return thinking === 'adaptive'
    ? { type: 'adaptive' }
    : { type: 'enabled', budget_tokens: thinking }
}

interface Block {
  readonly start: Json
  text: string
  signature: string
}

const STOPS: Readonly<Record<string, Stop>> = {
  end_turn: 'end',
  stop_sequence: 'end',
  pause_turn: 'end',
  tool_use: 'tools',
  max_tokens: 'length',
  model_context_window_exceeded: 'full',
  refusal: 'refused',
}

export class AnthropicReply implements ReplyReader {
  isWhole = false
  readonly #blocks = new Map<number, Block>()
  #usage: Json | undefined
  #stop: string | undefined
  #model: string | undefined
  #request: string | undefined

  take({ data }: ServerSentEvent): string | undefined {
    const event = objectOf(parseJson(data))
    if (event === undefined)
      throw new ModelFailure('again', 'the answer is not in the form of a stream of events')
    switch (event['type']) {
      case 'message_start':
        return this.#begin(objectOf(event['message']) ?? {})
      case 'content_block_start':
        return this.#open(countOf(event['index']) ?? 0, objectOf(event['content_block']) ?? {})
      case 'content_block_delta':
        return this.#grow(
          this.#blocks.get(countOf(event['index']) ?? 0),
          objectOf(event['delta']) ?? {},
        )
      case 'message_delta':
        this.#stop = nameOf(objectOf(event['delta'])?.['stop_reason']) ?? this.#stop
        // These are sums over the whole answer, and some may be missing.
        this.#usage = { ...this.#usage, ...objectOf(event['usage']) }
        return undefined
      case 'message_stop':
        this.isWhole = true
        return undefined
      case 'error':
        throw failureInStream(event['error'])
      default:
        return undefined
    }
  }

  reply(): Reply {
    const parts = [...this.#blocks.values()].flatMap((block) => partOf(block, this.isWhole) ?? [])
    const stop = this.isWhole ? (STOPS[this.#stop ?? ''] ?? 'end') : 'cut'
    return {
      parts,
      stop,
      ...defined({ usage: usageIn(this.#usage), model: this.#model, request: this.#request }),
    }
  }

  #begin(message: Json): undefined {
    this.#usage = objectOf(message['usage'])
    this.#model = nameOf(message['model'])
    this.#request = nameOf(message['id'])
  }

  #open(index: number, start: Json): string | undefined {
    const text = textOf(start['text']) ?? textOf(start['thinking']) ?? ''
    this.#blocks.set(index, { start, text, signature: textOf(start['signature']) ?? '' })
    return start['type'] === 'text' && text !== '' ? text : undefined
  }

  #grow(block: Block | undefined, delta: Json): string | undefined {
    if (block === undefined) return undefined
    const piece = (name: string) => (typeof delta[name] === 'string' ? delta[name] : '')
    block.text += piece('text') + piece('thinking') + piece('partial_json')
    block.signature += piece('signature')
    return delta['type'] === 'text_delta' && piece('text') !== '' ? piece('text') : undefined
  }
}

function partOf({ start, text, signature }: Block, isWhole: boolean): Part | undefined {
  switch (start['type']) {
    case 'text':
      return text.trim() === '' ? undefined : { type: 'text', text }
    case 'thinking':
      // The provider refuses a thought without its signature.
      return signature === '' ? undefined : { type: 'thinking', text, signature }
    case 'redacted_thinking':
      return { type: 'thinking', text: '', ...defined({ data: textOf(start['data']) }) }
    case 'tool_use': {
      const [id, name] = [nameOf(start['id']), nameOf(start['name'])]
      if (!isWhole || id === undefined || name === undefined) return undefined
      const whole = objectOf(start['input']) ?? {}
      return { type: 'tool use', id, name, input: text === '' ? whole : inputFrom(text) }
    }
    default:
      return undefined
  }
}

function usageIn(usage: Json | undefined): Usage | undefined {
  if (usage === undefined) return undefined
  const count = (name: string) => countOf(usage[name]) ?? 0
  return {
    input: count('input_tokens'),
    cacheWritten: count('cache_creation_input_tokens'),
    cacheRead: count('cache_read_input_tokens'),
    output: count('output_tokens'),
  }
}
