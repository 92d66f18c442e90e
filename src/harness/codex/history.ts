// Usage follows the messages of a request, so they are held back until then.
import { join } from 'node:path'
import { homedir } from 'node:os'
import { isConversationId } from '../../history/paths.ts'
import type { HistoryItem, Message, MessagePart } from '../../history/items.ts'
import { usageFrom } from '../contract/usage.ts'
import {
  type Json,
  asCount,
  asArray,
  asName,
  asObject,
  parseJson,
  asText,
} from '../../text/json-fields.ts'
import {
  type FileHistory,
  type HistoryFile,
  type HistoryHead,
  type HistoryTranslator,
  filesAtPath,
  readFirstObjects,
  partsFromContent,
  imageFromUrl,
} from '../contract/history.ts'
import { defined } from '../../text/defined.ts'

const HEAD_BYTES = 512 * 1024

export const codexHistory: FileHistory = {
  form: 'files',
  name: 'codex',
  repeatsItems: false,
  files: (env) => findRollouts(historyFolders(env)),
  filesAt: (path) => findRollouts([path]),
  head: readHead,
  createTranslator: (head, state) => new RolloutTranslator(head, state),
}

function historyFolders({
  CODEX_HOME: codexHome,
  HOME: home,
}: NodeJS.ProcessEnv): readonly string[] {
  const folder = codexHome || join(home || homedir(), '.codex')
  return [join(folder, 'sessions'), join(folder, 'archived_sessions')]
}

function* findRollouts(paths: readonly string[]): Generator<HistoryFile> {
  for (const path of paths) {
    for (const file of filesAtPath(path))
      if (/rollout-[^/\\]*\.jsonl$/.test(file)) yield { path: file, form: 'lines' }
  }
}

function readHead({ path }: HistoryFile): HistoryHead | undefined {
  const [first] = readFirstObjects(path, HEAD_BYTES)
  const meta = first?.type === 'session_meta' ? asObject(first.payload) : undefined
  const conversation = asName(meta?.id)
  if (!isConversationId(conversation)) return undefined
  return { conversation, ...defined({ cwd: asName(meta?.cwd, 4096) }) }
}

const SKIPPED = [
  '"type":"world_state"',
  '"type":"item_completed"',
  '"type":"thread_settings_applied"',
].map((pattern) => Buffer.from(pattern))
const TYPE_WITHIN = 200

class RolloutTranslator implements HistoryTranslator {
  readonly #head: HistoryHead
  #model: string | undefined
  #context: number | undefined
  #held: Message[] = []
  #heldFrom: number | undefined

  constructor(head: HistoryHead, state: Json) {
    this.#head = head
    this.#model = asName(state.model)
    this.#context = asCount(state.context)
  }

  translate(line: Buffer, offset: number): readonly HistoryItem[] | 'damaged' {
    const start = line.subarray(0, TYPE_WITHIN)
    if (SKIPPED.some((pattern) => start.includes(pattern))) return []
    const fields = asObject(parseJson(line.toString('utf8')))
    const payload = asObject(fields?.payload)
    if (fields === undefined) return 'damaged'
    if (payload === undefined) return []
    const at = asName(fields.timestamp)
    switch (fields.type) {
      case 'session_meta':
        return this.#began(payload, at)
      case 'turn_context':
        this.#model = asName(payload.model) ?? this.#model
        return []
      case 'response_item':
        return this.#readMessage(payload, asObject(fields.metadata), at, offset)
      case 'token_usage_record':
        return this.#applyUsage(asObject(payload.usage), asName(payload.response_id))
      case 'compacted':
        return this.#compacted(payload, at, offset)
      case 'event_msg':
        return this.#readEvent(payload, at, offset)
      default:
        return []
    }
  }

  flush(): readonly HistoryItem[] {
    return this.#release()
  }

  heldFrom(): number | undefined {
    return this.#heldFrom
  }

  state(): Json {
    return defined({ model: this.#model, context: this.#context })
  }

  #began(meta: Json, at: string | undefined): readonly HistoryItem[] {
    const { conversation } = this.#head
    // A fork may start with the first lines of its origin.
    if (asName(meta.id) !== conversation) return []
    const began = asName(meta.timestamp) ?? at
    if (began === undefined) return []
    const more = defined({ cwd: asName(meta.cwd, 4096), forkOf: asName(meta.forked_from_id) })
    return [{ type: 'began', conversation, harness: 'codex', at: began, ...more }]
  }

  #readMessage(
    payload: Json,
    metadata: Json | undefined,
    at: string | undefined,
    offset: number,
  ): readonly HistoryItem[] {
    const message = parseMessage(payload, `line-${offset}`)
    if (message === undefined) return []
    const isReply = message.role === 'assistant'
    const isMeta = message.isMeta === true || metadata?.compaction_output === true
    const complete = {
      ...message,
      ...defined({ at, model: isReply ? this.#model : undefined, isMeta: isMeta || undefined }),
    }
    // A reply after a tool result belongs to the next request.
    const isNext = isReply && this.#held.some(({ role }) => role !== 'assistant')
    const isResult = complete.parts.every((part) => part.type === 'tool result')
    const before = isNext || (!isReply && !isResult) ? this.#release() : []
    if (!isReply && this.#held.length === 0) return [...before, complete]
    this.#heldFrom ??= offset
    this.#held.push(complete)
    return before
  }

  #applyUsage(usageFields: Json | undefined, request: string | undefined): readonly HistoryItem[] {
    if (usageFields === undefined) return []
    const usage = usageFrom(usageFields, USAGE_FIELDS, true)
    // The request that summarises does not measure the context.
    if (!this.#held.some(({ isMeta }) => isMeta === true))
      this.#context = asCount(usageFields.total_tokens) ?? this.#context
    const shared = request ?? this.#held.find(({ role }) => role === 'assistant')?.id
    this.#held = this.#held.map((message) =>
      message.role === 'assistant'
        ? { ...message, usage, ...defined({ request: shared }) }
        : message,
    )
    return this.#release()
  }

  #readEvent(payload: Json, at: string | undefined, offset: number): readonly HistoryItem[] {
    switch (payload.type) {
      case 'token_count':
        // Newer versions report it earlier, for each request.
        if (!this.#held.some(({ role }) => role === 'assistant')) return []
        return this.#applyUsage(asObject(asObject(payload.info)?.last_token_usage), undefined)
      case 'task_complete':
        return [...this.#release(), ...failureMessage(asObject(payload.error)?.message, at, offset)]
      case 'error':
        return [...this.#release(), ...failureMessage(payload.message, at, offset)]
      case 'turn_aborted': {
        const reason = asName(payload.reason) ?? 'interrupted'
        return [
          ...this.#release(),
          ...(at === undefined ? [] : [{ type: 'ended', at, reason } as const]),
        ]
      }
      default:
        return []
    }
  }

  #compacted(payload: Json, at: string | undefined, offset: number): readonly HistoryItem[] {
    const id = `compaction-${offset}`
    const summary = asText(payload.message)
    const more = defined({ at, tokensBefore: this.#context })
    const history = asArray(payload.replacement_history)
    const restated = history.flatMap((item, index): readonly Message[] => {
      const message = parseMessage(asObject(item) ?? {}, '')
      if (message === undefined) return []
      const isSummary = message.parts.some((part) => part.type === 'text' && part.text === summary)
      const { isMeta: _known, ...rest } = message
      const role = isSummary ? { isSummary } : { isMeta: true }
      return [{ ...rest, id: `${id}-${index}`, ...defined({ at }), ...role }]
    })
    const alone: readonly Message[] =
      summary === undefined
        ? []
        : [{ ...textMessage('user', summary, at), id: `${id}-0`, isSummary: true }]
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

function failureMessage(failure: unknown, at: string | undefined, offset: number) {
  const text = asText(failure)
  if (text === undefined) return []
  return [{ ...textMessage('assistant', text, at), id: `failure-${offset}`, isFailure: true }]
}

function textMessage(
  role: Message['role'],
  text: string,
  at: string | undefined,
): Omit<Message, 'id'> {
  return { type: 'message', role, parts: [{ type: 'text', text }], ...defined({ at }) }
}

const USAGE_FIELDS = {
  input: 'input_tokens',
  cacheWritten: 'cache_write_input_tokens',
  cacheRead: 'cached_input_tokens',
  output: 'output_tokens',
}

function parseMessage(item: Json, fallbackId: string): Message | undefined {
  const id = asName(item.id) ?? fallbackId
  const content = parseContent(item, id)
  return content && { type: 'message', id, ...content }
}

type MessageContent = Pick<Message, 'role' | 'parts' | 'isMeta'>

function parseContent(item: Json, id: string): MessageContent | undefined {
  switch (item.type) {
    case 'message': {
      const parts = contentParts(item.content)
      const isAgent = item.role === 'assistant'
      const role = isAgent || item.role === 'user' ? (item.role as 'assistant' | 'user') : 'system'
      return { role, parts, ...(!isAgent && isFromHarness(item, parts) ? { isMeta: true } : {}) }
    }
    case 'reasoning': {
      const texts = [...asArray(item.summary), ...asArray(item.content)].flatMap(
        (block) => asText(asObject(block)?.text) ?? [],
      )
      const data = asText(item.encrypted_content)
      const parts: MessagePart[] = []
      if (texts.length > 0) parts.push({ type: 'thinking', text: texts.join('\n\n') })
      if (data !== undefined) parts.push({ type: 'thinking', text: '', data })
      return { role: 'assistant', parts }
    }
    case 'function_call':
    case 'custom_tool_call':
    case 'local_shell_call':
    case 'web_search_call': {
      const use = asName(item.call_id) ?? id
      const name = asName(item.name, 1000) ?? String(item.type).replace(/_call$/, '')
      const raw = item.arguments ?? item.input ?? item.action
      const parsed = typeof raw === 'string' ? asObject(parseJson(raw)) : asObject(raw)
      const input = parsed ?? { input: raw ?? '' }
      return { role: 'assistant', parts: [{ type: 'tool use', id: use, name, input }] }
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'local_shell_call_output': {
      const use = asName(item.call_id)
      if (use === undefined) return undefined
      const output = asObject(item.output)
      const parts = contentParts(output ? (output.content ?? output.content_items) : item.output)
      const isError =
        output?.success === false ||
        parts.some((part) => part.type === 'text' && hasFailed(part.text))
      return { role: 'user', parts: [{ type: 'tool result', use, parts, isError }] }
    }
    default:
      return undefined
  }
}

const FROM_HARNESS =
  /^\s*(?:<(?:environment_context|user_instructions|turn_aborted|subagent_notification)>|# AGENTS\.md instructions)/

function isFromHarness(item: Json, [first]: readonly MessagePart[]) {
  const about = asObject(item.internal_chat_message_metadata_passthrough)
  const kinds = asArray(about?.content_item_kinds)
  if (kinds.length > 0)
    return !kinds.some((kind) => typeof kind === 'string' && kind.startsWith('user.'))
  return item.role !== 'user' || (first?.type === 'text' && FROM_HARNESS.test(first.text))
}

function contentParts(content: unknown) {
  return partsFromContent(content, (block) => {
    if (typeof block.text === 'string') return [{ type: 'text', text: block.text }]
    return block.type === 'input_image' && typeof block.image_url === 'string'
      ? [imageFromUrl(block.image_url)]
      : [{ type: 'other', block }]
  })
}

// The first lines of a tool's output, in words or, in older versions, in JSON.
const EXIT_CODE = /^(?:[^\n]*\n){0,3}Process exited with code (\d+)$|"exit_code":(\d+)/m
const EXIT_CODE_WITHIN = 300

function hasFailed(text: string) {
  const isJson = text.startsWith('{"output"')
  const found = EXIT_CODE.exec(
    isJson ? text.slice(-EXIT_CODE_WITHIN) : text.slice(0, EXIT_CODE_WITHIN),
  )
  const code = isJson ? found?.[2] : found?.[1]
  return code !== undefined && code !== '0'
}
