// Gemini CLI writes a message again when more of it is known, and all of them after a resume or
// compression.
import { basename, dirname, join } from 'node:path'
import { homedir } from 'node:os'
import { isConversationId } from '../../history/paths.ts'
import type { HistoryItem, Message, MessagePart } from '../../history/items.ts'
import { readOrUndefined } from '../../journal/read-files.ts'
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
  readFileStart,
  walkFiles,
  filesAtPath,
  readFirstObjects,
  partsFromContent,
} from '../contract/history.ts'
import { defined } from '../../text/defined.ts'

const HEAD_BYTES = 16 * 1024

export const geminiHistory: FileHistory = {
  form: 'files',
  name: 'gemini',
  repeatsItems: true,
  files: ({ HOME: home }) => findChats(walkFiles(join(home || homedir(), '.gemini', 'tmp'))),
  filesAt: (path) => findChats(filesAtPath(path)),
  head: readHead,
  createTranslator: (head, state) => new ChatTranslator(head, state),
}

function* findChats(paths: Iterable<string>): Generator<HistoryFile> {
  for (const path of paths) {
    const [, extension] = /^session-.*\.(jsonl?)$/.exec(basename(path)) ?? []
    if (extension !== undefined) yield { path, form: extension === 'json' ? 'document' : 'lines' }
  }
}

function readHead(file: HistoryFile): HistoryHead | undefined {
  const fields =
    file.form === 'document'
      ? documentHead(file.path)
      : readFirstObjects(file.path, HEAD_BYTES).next().value
  const conversation = asName(fields?.sessionId)
  if (!isConversationId(conversation)) return undefined
  const cwd = readOrUndefined(join(dirname(dirname(file.path)), '.project_root'))
    ?.toString('utf8')
    .trim()
  return {
    conversation,
    ...defined({ cwd: asName(cwd, 4096), cwdHash: asName(fields?.projectHash) }),
  }
}

// A document may be too long to read whole.
function documentHead(path: string): Json {
  const start = readFileStart(path, HEAD_BYTES)?.toString('utf8') ?? ''
  return Object.fromEntries(
    ['sessionId', 'projectHash'].map((name) => [
      name,
      new RegExp(`"${name}"\\s*:\\s*"([\\w-]{1,128})"`).exec(start)?.[1],
    ]),
  )
}

class ChatTranslator implements HistoryTranslator {
  readonly #head: HistoryHead
  #hasBegun: boolean
  #window: string

  constructor(head: HistoryHead, state: Json) {
    this.#head = head
    this.#hasBegun = state.hasBegun === true
    this.#window = asName(state.window) ?? ''
  }

  translate(line: Buffer): readonly HistoryItem[] | 'damaged' {
    const fields = asObject(parseJson(line.toString('utf8')))
    if (fields === undefined) return 'damaged'
    const all = asObject(fields.$set)
    if (all !== undefined) return this.#readRestated(asArray(all.messages))
    return [...this.#began(fields), ...messagesFromRecord(fields, this.#window)]
  }

  state(): Json {
    return { hasBegun: this.#hasBegun, window: this.#window }
  }

  #began(fields: Json): readonly HistoryItem[] {
    const at = asName(fields.startTime) ?? asName(fields.timestamp)
    if (this.#hasBegun || at === undefined) return []
    this.#hasBegun = true
    const { conversation, cwd } = this.#head
    return [{ type: 'began', conversation, harness: 'gemini', at, ...defined({ cwd }) }]
  }

  /** After a compression all messages get new ids, and only these are in the context. */
  #readRestated(messages: readonly unknown[]): readonly HistoryItem[] {
    const items: HistoryItem[] = []
    let isCompressed = false
    for (const value of messages) {
      const fields = asObject(value)
      if (fields === undefined) continue
      const isSummary = isSnapshot(fields)
      if (isSummary) {
        isCompressed = true
        const id = String(fields.id)
        this.#window = `~${id.slice(0, 8)}`
        const at = asName(fields.timestamp)
        items.push({ type: 'compaction', id: `compaction-${id}`, ...defined({ at }) })
      }
      const flags = isSummary ? { isSummary } : isCompressed && { isMeta: true }
      for (const message of messagesFromRecord(fields, this.#window))
        items.push({ ...message, ...flags })
    }
    return items
  }
}

/**
 * Tool uses and results become messages named after the call, since both are repeated. `window`
 * tells those after a compression apart.
 */
function messagesFromRecord(fields: Json, window: string): readonly Message[] {
  const id = asName(fields.id)
  if (id === undefined) return []
  const common = { type: 'message', ...defined({ at: asName(fields.timestamp) }) } as const
  switch (fields.type) {
    case 'user':
      return userMessages(fields, id, common, window)
    case 'gemini':
      return replyMessages(fields, id, common, window)
    case 'error':
      return [
        { ...common, id, role: 'system', parts: contentParts(fields.content), isFailure: true },
      ]
    default:
      return []
  }
}

function isSnapshot(fields: Json): boolean {
  const [first] = contentParts(fields.content)
  return (
    fields.type === 'user' &&
    first?.type === 'text' &&
    first.text.trimStart().startsWith('<state_snapshot>')
  )
}

type Common = Pick<Message, 'type' | 'at'>

function userMessages(
  fields: Json,
  id: string,
  common: Common,
  window: string,
): readonly Message[] {
  const { content } = fields
  const parts = contentParts(content)
  const [first] = parts
  const isMeta = first?.type === 'text' && first.text.startsWith('<session_context>')
  const message: Message[] =
    parts.length === 0
      ? []
      : [{ ...common, id, role: 'user', parts, ...(isMeta ? { isMeta } : {}) }]
  return [
    ...message,
    ...functionResponses(content).map((fields) => toolResultMessage(fields, id, common, window)),
  ]
}

function replyMessages(
  fields: Json,
  id: string,
  common: Common,
  window: string,
): readonly Message[] {
  const { content } = fields
  const shared = {
    ...common,
    role: 'assistant',
    request: id,
    ...defined({ model: asName(fields.model) }),
  } as const
  const usage = parseUsage(asObject(fields.tokens))
  const message: Message = {
    ...shared,
    id,
    parts: [...thinkingParts(fields.thoughts), ...contentParts(content)],
    ...defined({ usage }),
  }
  const calls = [
    ...asArray(fields.toolCalls),
    ...asArray(content).map((part) => asObject(part)?.functionCall),
  ]
  const uses = calls.flatMap((value): readonly Message[] => {
    const call = asObject(value)
    const [use, name] = [asName(call?.id), asName(call?.name, 1000)]
    if (use === undefined || name === undefined) return []
    const part: MessagePart = { type: 'tool use', id: use, name, input: asObject(call?.args) ?? {} }
    return [{ ...shared, id: `use-${use}${window}`, parts: [part] }]
  })
  const results = asArray(fields.toolCalls).flatMap((value) => {
    const call = asObject(value)
    const isError = call?.status === 'error' || call?.status === 'cancelled'
    return functionResponses(call?.result).map((fields) =>
      toolResultMessage(fields, id, common, window, isError),
    )
  })
  return [message, ...uses, ...results]
}

function functionResponses(content: unknown): readonly Json[] {
  return asArray(content).flatMap((part): readonly Json[] => {
    const fields = asObject(asObject(part)?.functionResponse)
    return fields === undefined ? [] : [fields]
  })
}

function toolResultMessage(
  response: Json,
  message: string,
  common: Common,
  window: string,
  hasFailed = false,
): Message {
  const use = asName(response.id) ?? message
  const fields = asObject(response.response) ?? {}
  const { output, error } = fields
  const text = asText(output) ?? asText(error) ?? (output === '' ? '' : JSON.stringify(fields))
  const parts: readonly MessagePart[] = [
    ...(text === '' ? [] : [{ type: 'text', text } as const]),
    ...contentParts(response.parts),
  ]
  const isError = hasFailed || error !== undefined
  return {
    ...common,
    id: `result-${use}${window}`,
    role: 'user',
    parts: [{ type: 'tool result', use, parts, isError }],
  }
}

function thinkingParts(thoughts: unknown) {
  return asArray(thoughts).flatMap((value): readonly MessagePart[] => {
    const thought = asObject(value)
    const text = [asText(thought?.subject), asText(thought?.description)]
      .filter((text) => text !== undefined)
      .join('\n')
    return text === '' ? [] : [{ type: 'thinking', text }]
  })
}

function contentParts(content: unknown): readonly MessagePart[] {
  return partsFromContent(content, (block) => {
    if (block.functionCall !== undefined || block.functionResponse !== undefined) return []
    const { text } = block
    if (text === '') return []
    if (typeof text === 'string')
      return [{ type: block.thought === true ? 'thinking' : 'text', text }]
    const inline = asObject(block.inlineData)
    const [mediaType, data] = [asName(inline?.mimeType), asText(inline?.data)]
    if (mediaType !== undefined && data !== undefined) return [{ type: 'image', mediaType, data }]
    return [{ type: 'other', block }]
  })
}

// Output excludes thinking, and input includes cache reads.
function parseUsage(tokens: Json | undefined) {
  const input = asCount(tokens?.input)
  if (tokens === undefined || input === undefined) return undefined
  const cacheRead = asCount(tokens.cached) ?? 0
  const output = (asCount(tokens.output) ?? 0) + (asCount(tokens.thoughts) ?? 0)
  return { input: Math.max(0, input - cacheRead), cacheWritten: 0, cacheRead, output }
}
