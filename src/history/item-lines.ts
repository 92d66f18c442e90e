import type { Usage } from '../session/entries.ts'
import { type Json, asCount, asArray, asName, asObject, asText } from '../text/json-fields.ts'
import type {
  BeganItem,
  Compaction,
  ContextSize,
  HistoryItem,
  Message,
  NewItem,
  MessagePart,
  MessageAsSent,
} from './items.ts'
import { defined } from '../text/defined.ts'
import { isBase64 } from './blobs.ts'

/** Claude Code puts this between the name of a hook and its output. */
export const HOOK_CONTEXT_LABEL = ' hook additional context: '

/** Accepts lines of several versions and programs. */
export function itemFromLine(line: Json): HistoryItem | undefined {
  switch (line.type) {
    case 'conversation':
      return parseBegan(line)
    case 'user':
    case 'assistant':
      return parseMessage(line, line.type)
    case 'system':
      if (line.subtype === 'compact_boundary') return parseCompaction(line)
      return line.subtype === 'message' ? parseMessage(line, 'system') : undefined
    case 'attachment':
      return parseAttachment(line)
    case 'taken-back': {
      const id = asName(line.uuid)
      const optional = defined({ at: asName(line.timestamp), from: asName(line.from) })
      return id === undefined ? undefined : { type: 'taken back', id, ...optional }
    }
    case 'ended': {
      const [at, reason] = [asName(line.at), asText(line.reason)]
      return at === undefined || reason === undefined ? undefined : { type: 'ended', at, reason }
    }
    default:
      return undefined
  }
}

function parseBegan(line: Json): BeganItem | undefined {
  const [conversation, harness, at] = [line.conversation, line.harness, line.at].map((name) =>
    asName(name),
  )
  if (conversation === undefined || harness === undefined || at === undefined) return undefined
  const optional = {
    cwd: asName(line.cwd, 4096),
    model: asName(line.model),
    forkOf: asName(line.forkOf),
  }
  return { type: 'began', conversation, harness, at, ...defined(optional) }
}

function parseMessage(line: Json, type: Message['role']): Message | undefined {
  const message = asObject(line.message) ?? {}
  const { content } = message
  const omitted = asText(line.leftOut)
  if (omitted === undefined && typeof content !== 'string' && !Array.isArray(content))
    return undefined
  const parts = partsFromBlocks(omitted === undefined ? content : `[left out: ${omitted}]`)
  const role = message.role === 'system' ? 'system' : type
  return {
    ...commonFields(line),
    role,
    parts,
    ...defined({
      // A failed message has a label instead of a model.
      model: line.isApiErrorMessage === true ? undefined : asName(message.model),
      request: asName(message.id) ?? asName(line.requestId),
      usage: parseUsage(asObject(message.usage)),
      context: parseContext(asObject(line.context)),
      asTold: parseAsSent(asObject(line.asTold)),
      isMeta: line.isMeta === true || undefined,
      isSummary: line.isCompactSummary === true || undefined,
      isFailure: line.isApiErrorMessage === true || undefined,
    }),
  }
}

function parseAgent(line: Json): string | undefined {
  return line.isSidechain === true ? (asName(line.agentId) ?? 'agent') : undefined
}

function commonFields(line: Json): Pick<Message, 'type' | 'id' | 'parent' | 'at' | 'agent'> {
  const agent = parseAgent(line)
  return {
    type: 'message',
    id: asName(line.uuid) ?? '',
    ...defined({ parent: asName(line.parentUuid), at: asName(line.timestamp), agent }),
  }
}

/** What a user typed while the agent worked, hook output, and context that the harness added. */
function parseAttachment(line: Json): Message | undefined {
  const attachment = asObject(line.attachment)
  switch (attachment?.type) {
    case 'queued_command': {
      const parts = partsFromBlocks(attachment.prompt)
      const optional = defined({
        asTold: parseRendered(line),
        isMeta: attachment.isMeta === true || undefined,
      })
      return parts.length === 0
        ? undefined
        : { ...commonFields(line), role: 'user', parts, ...optional }
    }
    case 'hook_additional_context': {
      const text = asArray(attachment.content)
        .filter((text) => typeof text === 'string')
        .join('\n')
      const hook = asName(attachment.hookName) ?? asName(attachment.hookEvent)
      const parts = partsFromBlocks(
        hook === undefined ? text : `${hook}${HOOK_CONTEXT_LABEL}${text}`,
      )
      return text === ''
        ? undefined
        : { ...commonFields(line), role: 'system', parts, isMeta: true }
    }
    default: {
      const sent = parseRendered(line)
      return sent === undefined ? undefined : { ...commonFields(line), ...sent, isMeta: true }
    }
  }
}

function parseRendered(line: Json): MessageAsSent | undefined {
  const role = line.renderedRole === 'system' ? 'system' : 'user'
  const parts = asArray(line.rendered).flatMap((shown) => partsFromBlocks(asObject(shown)?.content))
  if (parts.length === 0) return undefined
  return { role, parts: role === 'system' ? parts.map(withoutReminderTags) : parts }
}

const REMINDER = /^<system-reminder>\n([\s\S]*)\n<\/system-reminder>\s*$/

/** A system message needs no system-reminder tags. */
function withoutReminderTags(part: MessagePart): MessagePart {
  const text = part.type === 'text' ? REMINDER.exec(part.text)?.[1] : undefined
  return text === undefined ? part : { type: 'text', text }
}

function parseCompaction(line: Json): Compaction | undefined {
  const id = asName(line.uuid)
  if (id === undefined) return undefined
  const metadata = asObject(line.compactMetadata) ?? {}
  const kept = asArray(asObject(metadata.preservedMessages)?.uuids).flatMap(
    (uuid) => asName(uuid) ?? [],
  )
  return {
    type: 'compaction',
    id,
    ...defined({
      at: asName(line.timestamp),
      trigger: asName(metadata.trigger),
      tokensBefore: asCount(metadata.preTokens),
      tokensAfter: asCount(metadata.postTokens),
      kept: kept.length === 0 ? undefined : kept,
    }),
  }
}

function parseAsSent(sent: Json | undefined): MessageAsSent | undefined {
  return sent === undefined
    ? undefined
    : { role: sent.role === 'system' ? 'system' : 'user', parts: partsFromBlocks(sent.content) }
}

function parseContext(context: Json | undefined): ContextSize | undefined {
  const tokens = asCount(context?.tokens)
  if (tokens === undefined) return undefined
  return {
    tokens,
    ...defined({ window: asCount(context?.window), point: asCount(context?.point) }),
  }
}

function parseUsage(usage: Json | undefined): Usage | undefined {
  const [input, output] = [asCount(usage?.input_tokens), asCount(usage?.output_tokens)]
  if (input === undefined && output === undefined) return undefined
  return {
    input: input ?? 0,
    cacheWritten: asCount(usage?.cache_creation_input_tokens) ?? 0,
    cacheRead: asCount(usage?.cache_read_input_tokens) ?? 0,
    output: output ?? 0,
  }
}

/** The field names are those of Claude Code's transcripts. */
export function lineFromItem(item: HistoryItem): Json {
  switch (item.type) {
    case 'began':
      return { ...item, type: 'conversation' }
    case 'message': {
      const { role, parts, model, request, usage } = item
      const fields = { role, id: request, model, content: blocksFromParts(parts) }
      return messageLine(item, defined({ ...fields, usage: usage && usageFields(usage) }))
    }
    case 'compaction': {
      const { id, at, trigger, tokensBefore, tokensAfter, kept } = item
      return defined({
        type: 'system',
        subtype: 'compact_boundary',
        uuid: id,
        timestamp: at,
        compactMetadata: defined({
          trigger,
          preTokens: tokensBefore,
          postTokens: tokensAfter,
          preservedMessages: kept && { uuids: kept },
        }),
      })
    }
    case 'taken back':
      return defined({ type: 'taken-back', uuid: item.id, timestamp: item.at, from: item.from })
    case 'ended':
      return { ...item }
  }
}

export function messageLine(item: Message, message: Json): Json {
  const { id, parent, at, role, asTold, context, agent } = item
  return defined({
    type: role,
    subtype: role === 'system' ? 'message' : undefined,
    uuid: id,
    parentUuid: parent,
    timestamp: at,
    isSidechain: agent === undefined ? undefined : true,
    agentId: agent,
    isMeta: item.isMeta,
    isCompactSummary: item.isSummary,
    isApiErrorMessage: item.isFailure,
    context,
    asTold: asTold && { role: asTold.role, content: blocksFromParts(asTold.parts) },
    message,
  })
}

function usageFields({ input, cacheWritten, cacheRead, output }: Usage) {
  return {
    input_tokens: input,
    cache_creation_input_tokens: cacheWritten,
    cache_read_input_tokens: cacheRead,
    output_tokens: output,
  }
}

export function partsFromBlocks(content: unknown): readonly MessagePart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return asArray(content).map(partFromBlock)
}

function partFromBlock(value: unknown): MessagePart {
  if (typeof value === 'string') return { type: 'text', text: value }
  const block = asObject(value) ?? { value }
  return parseKnownPart(block) ?? { type: 'other', block }
}

function parseKnownPart(block: Json): MessagePart | undefined {
  const { type, text, thinking, signature, data } = block
  switch (type) {
    case 'text':
      return typeof text === 'string' ? { type, text } : undefined
    case 'thinking':
      if (typeof thinking !== 'string') return undefined
      return { type, text: thinking, ...(typeof signature === 'string' ? { signature } : {}) }
    case 'redacted_thinking':
      return typeof data === 'string' ? { type: 'thinking', text: '', data } : undefined
    case 'image':
      return parseImage(asObject(block.source))
    case 'tool_use': {
      const [id, name] = [asName(block.id), asName(block.name, 1000)]
      if (id === undefined || name === undefined) return undefined
      return { type: 'tool use', id, name, input: asObject(block.input) ?? {} }
    }
    case 'tool_result': {
      const use = asName(block.tool_use_id)
      if (use === undefined) return undefined
      const isError = block.is_error === true
      return { type: 'tool result', use, parts: partsFromBlocks(block.content), isError }
    }
    default:
      return undefined
  }
}

function parseImage(source: Json | undefined): MessagePart | undefined {
  const { type, media_type: mediaType, data, url } = source ?? {}
  if (type === 'url' && typeof url === 'string') return { type: 'image link', url }
  if (type !== 'base64' || typeof mediaType !== 'string' || typeof data !== 'string')
    return undefined
  // A missing image is replaced by a text.
  return isBase64(data) ? { type: 'image', mediaType, data } : { type: 'text', text: data }
}

export function blocksFromParts(parts: readonly MessagePart[]): readonly Json[] {
  return parts.map(blockFromPart)
}

function blockFromPart(part: MessagePart): Json {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'thinking':
      if (part.data !== undefined) return { type: 'redacted_thinking', data: part.data }
      return { type: 'thinking', thinking: part.text, ...defined({ signature: part.signature }) }
    case 'image':
      return {
        type: 'image',
        source: { type: 'base64', media_type: part.mediaType, data: part.data },
      }
    case 'image link':
      return { type: 'image', source: { type: 'url', url: part.url } }
    case 'tool use':
      return { type: 'tool_use', id: part.id, name: part.name, input: part.input }
    case 'tool result':
      return {
        type: 'tool_result',
        tool_use_id: part.use,
        content: blocksFromParts(part.parts),
        ...(part.isError ? { is_error: true } : {}),
      }
    case 'other':
      return part.block
  }
}

/** Parses the message only when one of its fields is read. */
class LazyMessage {
  readonly type = 'message'
  readonly id
  readonly at
  readonly role
  readonly agent
  readonly isMeta
  readonly isSummary
  readonly isFailure
  readonly #line: Json
  #item: Message | undefined

  constructor(
    line: Json,
    readonly parent: string | undefined,
    readonly source: string,
  ) {
    this.#line = line
    this.id = asName(line.uuid) ?? ''
    this.at = asName(line.timestamp)
    this.role = line.type
    this.agent = parseAgent(line)
    this.isMeta = line.isMeta === true || undefined
    this.isSummary = line.isCompactSummary === true || undefined
    this.isFailure = line.isApiErrorMessage === true || undefined
  }

  get #message() {
    return (this.#item ??= itemFromLine(this.#line) as Message)
  }

  get parts() {
    return this.#message.parts
  }

  get model() {
    return this.#message.model
  }

  get request() {
    return this.#message.request
  }

  get usage() {
    return this.#message.usage
  }
}

/** Undefined for lines with unusual fields. */
export function messageFromSource(
  line: Json,
  source: string,
  parent: string | undefined,
): NewItem | undefined {
  const { type, message } = line
  const { content, role } = message as Json
  if ((type !== 'user' && type !== 'assistant') || role === 'system') return undefined
  if ((typeof content !== 'string' && !Array.isArray(content)) || line.leftOut !== undefined)
    return undefined
  if (line.context !== undefined || line.asTold !== undefined) return undefined
  // Absent fields are undefined here, which the type does not allow.
  return new LazyMessage(line, parent, source) as unknown as NewItem
}
