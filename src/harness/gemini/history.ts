// A message is written again when more of it is known, and all of them after a resume or
// compression.
import { basename, dirname, join } from 'node:path'
import { homedir } from 'node:os'
import { isConversationId } from '../../history/places.ts'
import type { HistoryItem, Message, Part } from '../../history/items.ts'
import { readOrUndefined } from '../../journal/look.ts'
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
  beginningOf,
  filesBelow,
  filesNamed,
  firstObjects,
  partsIn,
} from '../contract/history.ts'
import { defined } from '../../text/defined.ts'

const HEAD_BYTES = 16 * 1024

export const geminiHistory: FileHistory = {
  form: 'files',
  name: 'gemini',
  isRepetitive: true,
  files: ({ HOME: home }) => chatsIn(filesBelow(join(home || homedir(), '.gemini', 'tmp'))),
  filesAt: (path) => chatsIn(filesNamed(path)),
  head: headOf,
  translator: (head, memory) => new ChatTranslator(head, memory),
}

function* chatsIn(paths: Iterable<string>): Generator<HistoryFile> {
  for (const path of paths) {
    const [, extension] = /^session-.*\.(jsonl?)$/.exec(basename(path)) ?? []
    if (extension !== undefined) yield { path, form: extension === 'json' ? 'document' : 'lines' }
  }
}

function headOf(file: HistoryFile): HistoryHead | undefined {
  const fields =
    file.form === 'document'
      ? documentHead(file.path)
      : firstObjects(file.path, HEAD_BYTES).next().value
  const conversation = nameOf(fields?.sessionId)
  if (!isConversationId(conversation)) return undefined
  const cwd = readOrUndefined(join(dirname(dirname(file.path)), '.project_root'))
    ?.toString('utf8')
    .trim()
  return {
    conversation,
    ...defined({ cwd: nameOf(cwd, 4096), cwdHash: nameOf(fields?.projectHash) }),
  }
}

// A document may be too long to read whole.
function documentHead(path: string): Json {
  const start = beginningOf(path, HEAD_BYTES)?.toString('utf8') ?? ''
  return Object.fromEntries(
    ['sessionId', 'projectHash'].map((name) => [
      name,
      new RegExp(`"${name}"\\s*:\\s*"([\\w-]{1,128})"`).exec(start)?.[1],
    ]),
  )
}

class ChatTranslator implements Translator {
  readonly #head: HistoryHead
  #hasBegun: boolean
  #window: string

  constructor(head: HistoryHead, memory: Json) {
    this.#head = head
    this.#hasBegun = memory.hasBegun === true
    this.#window = nameOf(memory.window) ?? ''
  }

  translate(line: Buffer): readonly HistoryItem[] | 'damaged' {
    const fields = objectOf(parseJson(line.toString('utf8')))
    if (fields === undefined) return 'damaged'
    const all = objectOf(fields.$set)
    if (all !== undefined) return this.#restated(listOf(all.messages))
    return [...this.#began(fields), ...messagesOf(fields, this.#window)]
  }

  memory(): Json {
    return { hasBegun: this.#hasBegun, window: this.#window }
  }

  #began(fields: Json): readonly HistoryItem[] {
    const at = nameOf(fields.startTime) ?? nameOf(fields.timestamp)
    if (this.#hasBegun || at === undefined) return []
    this.#hasBegun = true
    const { conversation, cwd } = this.#head
    return [{ type: 'began', conversation, harness: 'gemini', at, ...defined({ cwd }) }]
  }

  /** After a compression all messages get new names, which the model now sees. */
  #restated(messages: readonly unknown[]): readonly HistoryItem[] {
    const items: HistoryItem[] = []
    let isCompressed = false
    for (const value of messages) {
      const fields = objectOf(value)
      if (fields === undefined) continue
      const isSummary = isSnapshot(fields)
      if (isSummary) {
        isCompressed = true
        const id = String(fields.id)
        this.#window = `~${id.slice(0, 8)}`
        const at = nameOf(fields.timestamp)
        items.push({ type: 'compaction', id: `compaction-${id}`, ...defined({ at }) })
      }
      const sign = isSummary ? { isSummary } : isCompressed && { isMeta: true }
      for (const message of messagesOf(fields, this.#window)) items.push({ ...message, ...sign })
    }
    return items
  }
}

/**
 * Tool uses and results become messages named after the call, since both are repeated. `window`
 * separates those after a compression.
 */
export function messagesOf(fields: Json, window: string): readonly Message[] {
  const id = nameOf(fields.id)
  if (id === undefined) return []
  const common = { type: 'message', ...defined({ at: nameOf(fields.timestamp) }) } as const
  switch (fields.type) {
    case 'user':
      return saidByUser(fields, id, common, window)
    case 'gemini':
      return saidByModel(fields, id, common, window)
    case 'error':
      return [{ ...common, id, role: 'system', parts: partsOf(fields.content), isFailure: true }]
    default:
      return []
  }
}

export function isSnapshot(fields: Json): boolean {
  const [first] = partsOf(fields.content)
  return (
    fields.type === 'user' &&
    first?.type === 'text' &&
    first.text.trimStart().startsWith('<state_snapshot>')
  )
}

type Common = Pick<Message, 'type' | 'at'>

function saidByUser(fields: Json, id: string, common: Common, window: string): readonly Message[] {
  const { content } = fields
  const parts = partsOf(content)
  const [first] = parts
  const isMeta = first?.type === 'text' && first.text.startsWith('<session_context>')
  const said: Message[] =
    parts.length === 0
      ? []
      : [{ ...common, id, role: 'user', parts, ...(isMeta ? { isMeta } : {}) }]
  return [
    ...said,
    ...responsesIn(content).map((response) => resultOf(response, id, common, window)),
  ]
}

function saidByModel(fields: Json, id: string, common: Common, window: string): readonly Message[] {
  const { content } = fields
  const shared = {
    ...common,
    role: 'assistant',
    request: id,
    ...defined({ model: nameOf(fields.model) }),
  } as const
  const usage = usageOf(objectOf(fields.tokens))
  const said: Message = {
    ...shared,
    id,
    parts: [...thoughtsOf(fields.thoughts), ...partsOf(content)],
    ...defined({ usage }),
  }
  const calls = [
    ...listOf(fields.toolCalls),
    ...listOf(content).map((part) => objectOf(part)?.functionCall),
  ]
  const uses = calls.flatMap((value): readonly Message[] => {
    const call = objectOf(value)
    const [use, name] = [nameOf(call?.id), nameOf(call?.name, 1000)]
    if (use === undefined || name === undefined) return []
    const part: Part = { type: 'tool use', id: use, name, input: objectOf(call?.args) ?? {} }
    return [{ ...shared, id: `use-${use}${window}`, parts: [part] }]
  })
  const results = listOf(fields.toolCalls).flatMap((value) => {
    const call = objectOf(value)
    const isError = call?.status === 'error' || call?.status === 'cancelled'
    return responsesIn(call?.result).map((response) =>
      resultOf(response, id, common, window, isError),
    )
  })
  return [said, ...uses, ...results]
}

function responsesIn(content: unknown): readonly Json[] {
  return listOf(content).flatMap((part): readonly Json[] => {
    const response = objectOf(objectOf(part)?.functionResponse)
    return response === undefined ? [] : [response]
  })
}

function resultOf(
  told: Json,
  message: string,
  common: Common,
  window: string,
  hasFailed = false,
): Message {
  const use = nameOf(told.id) ?? message
  const response = objectOf(told.response) ?? {}
  const { output, error } = response
  const text = textOf(output) ?? textOf(error) ?? (output === '' ? '' : JSON.stringify(response))
  const parts: readonly Part[] = [
    ...(text === '' ? [] : [{ type: 'text', text } as const]),
    ...partsOf(told.parts),
  ]
  const isError = hasFailed || error !== undefined
  return {
    ...common,
    id: `result-${use}${window}`,
    role: 'user',
    parts: [{ type: 'tool result', use, parts, isError }],
  }
}

function thoughtsOf(thoughts: unknown) {
  return listOf(thoughts).flatMap((value): readonly Part[] => {
    const thought = objectOf(value)
    const text = [textOf(thought?.subject), textOf(thought?.description)]
      .filter((piece) => piece !== undefined)
      .join('\n')
    return text === '' ? [] : [{ type: 'thinking', text }]
  })
}

function partsOf(content: unknown): readonly Part[] {
  return partsIn(content, (block) => {
    if (block.functionCall !== undefined || block.functionResponse !== undefined) return []
    const { text } = block
    if (text === '') return []
    if (typeof text === 'string')
      return [{ type: block.thought === true ? 'thinking' : 'text', text }]
    const inline = objectOf(block.inlineData)
    const [mediaType, data] = [nameOf(inline?.mimeType), textOf(inline?.data)]
    if (mediaType !== undefined && data !== undefined) return [{ type: 'image', mediaType, data }]
    return [{ type: 'other', block }]
  })
}

// Output excludes thoughts, and input includes the cache.
function usageOf(tokens: Json | undefined) {
  const input = countOf(tokens?.input)
  if (tokens === undefined || input === undefined) return undefined
  const cacheRead = countOf(tokens.cached) ?? 0
  const output = (countOf(tokens.output) ?? 0) + (countOf(tokens.thoughts) ?? 0)
  return { input: Math.max(0, input - cacheRead), cacheWritten: 0, cacheRead, output }
}
