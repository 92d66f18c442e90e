// Usage follows the messages of a request, so these are held back until then.
import { join } from 'node:path'
import { homedir } from 'node:os'
import { isConversationId } from '../../history/places.ts'
import type { HistoryItem, Message, Part } from '../../history/items.ts'
import { usageFrom } from '../contract/usage.ts'
import {
  type Json,
  countOf,
  listOf,
  nameOf,
  objectOf,
  parseJson,
  textOf,
} from '../../text/json-fields.ts'
import {
  type FileHistory,
  type HistoryFile,
  type HistoryHead,
  type Translator,
  filesNamed,
  firstObjects,
  pictureAt,
} from '../contract/history.ts'
import { defined } from '../../text/defined.ts'

const HEAD_BYTES = 512 * 1024

export const codexHistory: FileHistory = {
  form: 'files',
  name: 'codex',
  isRepetitive: false,
  files: (env) => rolloutsIn(foldersOf(env)),
  filesAt: (path) => rolloutsIn([path]),
  head: headOf,
  translator: (head, memory) => new RolloutTranslator(head, memory),
}

function foldersOf({ CODEX_HOME: given, HOME: home }: NodeJS.ProcessEnv): readonly string[] {
  const folder = given !== undefined && given !== '' ? given : join(home || homedir(), '.codex')
  return [join(folder, 'sessions'), join(folder, 'archived_sessions')]
}

function* rolloutsIn(paths: readonly string[]): Generator<HistoryFile> {
  for (const path of paths) {
    for (const file of filesNamed(path))
      if (/rollout-[^/\\]*\.jsonl$/.test(file)) yield { path: file, form: 'lines' }
  }
}

function headOf({ path }: HistoryFile): HistoryHead | undefined {
  const [first] = firstObjects(path, HEAD_BYTES)
  const meta = first?.type === 'session_meta' ? objectOf(first.payload) : undefined
  const conversation = nameOf(meta?.id)
  if (!isConversationId(conversation)) return undefined
  return { conversation, ...defined({ cwd: nameOf(meta?.cwd, 4096) }) }
}

const PASSED_OVER = [
  '"type":"world_state"',
  '"type":"item_completed"',
  '"type":"thread_settings_applied"',
].map((mark) => Buffer.from(mark))
const TYPE_WITHIN = 200

class RolloutTranslator implements Translator {
  readonly #head: HistoryHead
  #model: string | undefined
  #context: number | undefined
  #held: Message[] = []
  #heldFrom: number | undefined

  constructor(head: HistoryHead, memory: Json) {
    this.#head = head
    this.#model = nameOf(memory.model)
    this.#context = countOf(memory.context)
  }

  translate(line: Buffer, offset: number): readonly HistoryItem[] | 'damaged' {
    const start = line.subarray(0, TYPE_WITHIN)
    if (PASSED_OVER.some((mark) => start.includes(mark))) return []
    const fields = objectOf(parseJson(line.toString('utf8')))
    const payload = objectOf(fields?.payload)
    if (fields === undefined) return 'damaged'
    if (payload === undefined) return []
    const at = nameOf(fields.timestamp)
    switch (fields.type) {
      case 'session_meta':
        return this.#began(payload, at)
      case 'turn_context':
        this.#model = nameOf(payload.model) ?? this.#model
        return []
      case 'response_item':
        return this.#said(payload, objectOf(fields.metadata), at, offset)
      case 'token_usage_record':
        return this.#used(objectOf(payload.usage), nameOf(payload.response_id))
      case 'compacted':
        return this.#compacted(payload, at, offset)
      case 'event_msg':
        return this.#happened(payload, at, offset)
      default:
        return []
    }
  }

  rest(): readonly HistoryItem[] {
    return this.#release()
  }

  heldFrom(): number | undefined {
    return this.#heldFrom
  }

  memory(): Json {
    return defined({ model: this.#model, context: this.#context })
  }

  #began(meta: Json, at: string | undefined): readonly HistoryItem[] {
    const { conversation } = this.#head
    // A fork may start with the beginning of its origin.
    if (nameOf(meta.id) !== conversation) return []
    const began = nameOf(meta.timestamp) ?? at
    if (began === undefined) return []
    const more = defined({ cwd: nameOf(meta.cwd, 4096), forkOf: nameOf(meta.forked_from_id) })
    return [{ type: 'began', conversation, harness: 'codex', at: began, ...more }]
  }

  #said(
    payload: Json,
    metadata: Json | undefined,
    at: string | undefined,
    offset: number,
  ): readonly HistoryItem[] {
    const message = messageOf(payload, `line-${offset}`)
    if (message === undefined) return []
    const isOfModel = message.role === 'assistant'
    const isMeta = message.isMeta === true || metadata?.compaction_output === true
    const whole = {
      ...message,
      ...defined({ at, model: isOfModel ? this.#model : undefined, isMeta: isMeta || undefined }),
    }
    // What the model says after a tool's answer belongs to the next request.
    const isNext = isOfModel && this.#held.some(({ role }) => role !== 'assistant')
    const before = isNext || (!isOfModel && !isToolResult(whole)) ? this.#release() : []
    if (!isOfModel && this.#held.length === 0) return [...before, whole]
    this.#heldFrom ??= offset
    this.#held.push(whole)
    return before
  }

  #used(told: Json | undefined, request: string | undefined): readonly HistoryItem[] {
    if (told === undefined) return []
    const usage = usageFrom(told, NAMES, true)
    // The request that made a summary does not measure the context.
    if (!this.#held.some(({ isMeta }) => isMeta === true))
      this.#context = countOf(told.total_tokens) ?? this.#context
    const shared = request ?? this.#held.find(({ role }) => role === 'assistant')?.id
    this.#held = this.#held.map((message) =>
      message.role === 'assistant'
        ? { ...message, usage, ...defined({ request: shared }) }
        : message,
    )
    return this.#release()
  }

  #happened(payload: Json, at: string | undefined, offset: number): readonly HistoryItem[] {
    switch (payload.type) {
      case 'token_count':
        // Newer versions report it before, for each request.
        if (!this.#held.some(({ role }) => role === 'assistant')) return []
        return this.#used(objectOf(objectOf(payload.info)?.last_token_usage), undefined)
      case 'task_complete': {
        const failure = textOf(objectOf(payload.error)?.message)
        return [...this.#release(), ...(failure === undefined ? [] : [failed(failure, at, offset)])]
      }
      case 'error': {
        const failure = textOf(payload.message)
        return [...this.#release(), ...(failure === undefined ? [] : [failed(failure, at, offset)])]
      }
      case 'turn_aborted':
        return at === undefined
          ? this.#release()
          : [
              ...this.#release(),
              { type: 'ended', at, reason: nameOf(payload.reason) ?? 'interrupted' },
            ]
      default:
        return []
    }
  }

  #compacted(payload: Json, at: string | undefined, offset: number): readonly HistoryItem[] {
    const id = `compaction-${offset}`
    const summary = textOf(payload.message)
    const more = defined({ at, tokensBefore: this.#context })
    const history = listOf(payload.replacement_history)
    const restated = history.flatMap((item, index) => {
      const message = messageOf(objectOf(item) ?? {}, '')
      if (message === undefined) return []
      const isSummary =
        summary !== undefined &&
        message.parts.some((part) => part.type === 'text' && part.text === summary)
      const { isMeta: _known, ...rest } = message
      return [
        {
          ...rest,
          id: `${id}-${index}`,
          ...defined({ at }),
          ...(isSummary ? { isSummary } : { isMeta: true }),
        },
      ]
    })
    const alone: Message[] =
      summary === undefined
        ? []
        : [{ ...text('user', summary), id: `${id}-0`, ...defined({ at }), isSummary: true }]
    return [
      ...this.#release(),
      { type: 'compaction', id, ...more },
      ...(history.length === 0 ? alone : restated),
    ]
  }

  #release(): readonly HistoryItem[] {
    const held = this.#held
    this.#held = []
    this.#heldFrom = undefined
    return held
  }
}

function isToolResult(message: Message): boolean {
  return message.parts.every((part) => part.type === 'tool result')
}

function failed(failure: string, at: string | undefined, offset: number): Message {
  return {
    ...text('assistant', failure),
    id: `failure-${offset}`,
    ...defined({ at }),
    isFailure: true,
  }
}

function text(role: Message['role'], said: string): Omit<Message, 'id'> {
  return { type: 'message', role, parts: [{ type: 'text', text: said }] }
}

const NAMES = {
  input: 'input_tokens',
  cacheWritten: 'cache_write_input_tokens',
  cacheRead: 'cached_input_tokens',
  output: 'output_tokens',
}

type Said = Omit<Message, 'at'>

export function messageOf(item: Json, place: string): Said | undefined {
  const id = nameOf(item.id) ?? place
  switch (item.type) {
    case 'message':
      return said(item, id)
    case 'reasoning':
      return reasoned(item, id)
    case 'function_call':
    case 'custom_tool_call':
    case 'local_shell_call':
    case 'web_search_call':
      return called(item, id)
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'local_shell_call_output':
      return answered(item, id)
    default:
      return undefined
  }
}

function said(item: Json, id: string): Said {
  const parts = partsOf(item.content)
  const role = item.role === 'assistant' ? 'assistant' : item.role === 'user' ? 'user' : 'system'
  return {
    type: 'message',
    id,
    role,
    parts,
    ...(isOfHarness(item, role, parts) ? { isMeta: true } : {}),
  }
}

const OF_HARNESS =
  /^\s*(?:<(?:environment_context|user_instructions|turn_aborted|subagent_notification)>|# AGENTS\.md instructions)/

function isOfHarness(item: Json, role: Message['role'], parts: readonly Part[]): boolean {
  if (role === 'assistant') return false
  const kinds = listOf(
    objectOf(item.internal_chat_message_metadata_passthrough)?.content_item_kinds,
  )
  if (kinds.length > 0)
    return !kinds.some((kind) => typeof kind === 'string' && kind.startsWith('user.'))
  const [first] = parts
  return role === 'system' || (first?.type === 'text' && OF_HARNESS.test(first.text))
}

function partsOf(content: unknown): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return listOf(content).flatMap((value): readonly Part[] => {
    const block = objectOf(value)
    if (block === undefined) return []
    if (typeof block.text === 'string') return [{ type: 'text', text: block.text }]
    if (block.type === 'input_image' && typeof block.image_url === 'string')
      return [pictureAt(block.image_url)]
    return [{ type: 'other', block }]
  })
}

function reasoned(item: Json, id: string): Said {
  const texts = [...listOf(item.summary), ...listOf(item.content)].flatMap(
    (piece) => textOf(objectOf(piece)?.text) ?? [],
  )
  const data = textOf(item.encrypted_content)
  const thinking: Part[] =
    texts.length === 0 ? [] : [{ type: 'thinking', text: texts.join('\n\n') }]
  const encrypted: Part[] = data === undefined ? [] : [{ type: 'thinking', text: '', data }]
  return { type: 'message', id, role: 'assistant', parts: [...thinking, ...encrypted] }
}

function called(item: Json, id: string): Said {
  const use = nameOf(item.call_id) ?? id
  const name = nameOf(item.name, 1000) ?? String(item.type).replace(/_call$/, '')
  return {
    type: 'message',
    id,
    role: 'assistant',
    parts: [{ type: 'tool use', id: use, name, input: inputOf(item) }],
  }
}

function inputOf(item: Json): Json {
  const given = item.arguments ?? item.input ?? item.action
  const parsed = typeof given === 'string' ? objectOf(parseJson(given)) : objectOf(given)
  return parsed ?? { input: given ?? '' }
}

function answered(item: Json, id: string): Said | undefined {
  const use = nameOf(item.call_id)
  if (use === undefined) return undefined
  const output = objectOf(item.output)
  const parts = partsOf(
    output === undefined ? item.output : (output.content ?? output.content_items),
  )
  const isError =
    output?.success === false || parts.some((part) => part.type === 'text' && hasFailed(part.text))
  return {
    type: 'message',
    id,
    role: 'user',
    parts: [{ type: 'tool result', use, parts, isError }],
  }
}

// How the tool begins its answer, in words or, in older versions, in JSON.
const EXIT_CODE = /^(?:[^\n]*\n){0,3}Process exited with code (\d+)$|"exit_code":(\d+)/m
const SAID_WITHIN = 300

function hasFailed(text: string): boolean {
  const isJson = text.startsWith('{"output"')
  const found = EXIT_CODE.exec(isJson ? text.slice(-SAID_WITHIN) : text.slice(0, SAID_WITHIN))
  const code = isJson ? found?.[2] : found?.[1]
  return code !== undefined && code !== '0'
}
