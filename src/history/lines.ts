import type { Usage } from '../session/entries.ts'
import { type Json, countOf, listOf, nameOf, objectOf, textOf } from '../text/json-fields.ts'
import type {
  Began,
  Compaction,
  ContextSize,
  HistoryItem,
  Message,
  NewItem,
  Part,
  Told,
} from './items.ts'
import { defined } from '../text/defined.ts'
import { isBase64 } from './blobs.ts'

/** Claude Code puts this between the name of a hook and its output. */
export const SAID_BY_HOOK = ' hook additional context: '

/** Lines are of several versions and programs. */
export function itemOf(line: Json): HistoryItem | undefined {
  switch (line.type) {
    case 'conversation':
      return beganIn(line)
    case 'user':
    case 'assistant':
      return messageIn(line, line.type)
    case 'system':
      if (line.subtype === 'compact_boundary') return compactionIn(line)
      return line.subtype === 'message' ? messageIn(line, 'system') : undefined
    case 'attachment':
      return attachmentIn(line)
    case 'taken-back': {
      const id = nameOf(line.uuid)
      const more = defined({ at: nameOf(line.timestamp), from: nameOf(line.from) })
      return id === undefined ? undefined : { type: 'taken back', id, ...more }
    }
    case 'ended': {
      const [at, reason] = [nameOf(line.at), textOf(line.reason)]
      return at === undefined || reason === undefined ? undefined : { type: 'ended', at, reason }
    }
    default:
      return undefined
  }
}

function beganIn(line: Json): Began | undefined {
  const [conversation, harness, at] = [line.conversation, line.harness, line.at].map((name) =>
    nameOf(name),
  )
  if (conversation === undefined || harness === undefined || at === undefined) return undefined
  const more = {
    cwd: nameOf(line.cwd, 4096),
    model: nameOf(line.model),
    forkOf: nameOf(line.forkOf),
  }
  return { type: 'began', conversation, harness, at, ...defined(more) }
}

function messageIn(line: Json, type: Message['role']): Message | undefined {
  const message = objectOf(line.message) ?? {}
  const { content } = message
  const leftOut = textOf(line.leftOut)
  if (leftOut === undefined && typeof content !== 'string' && !Array.isArray(content))
    return undefined
  const parts = partsOf(leftOut === undefined ? content : `[left out: ${leftOut}]`)
  const role = message.role === 'system' ? 'system' : type
  return {
    ...common(line),
    role,
    parts,
    ...defined({
      // A failed message has a label in place of a model.
      model: line.isApiErrorMessage === true ? undefined : nameOf(message.model),
      request: nameOf(message.id) ?? nameOf(line.requestId),
      usage: usageIn(objectOf(message.usage)),
      context: contextIn(objectOf(line.context)),
      asTold: toldIn(objectOf(line.asTold)),
      isMeta: line.isMeta === true || undefined,
      isSummary: line.isCompactSummary === true || undefined,
      isFailure: line.isApiErrorMessage === true || undefined,
    }),
  }
}

function agentIn(line: Json): string | undefined {
  return line.isSidechain === true ? (nameOf(line.agentId) ?? 'agent') : undefined
}

function common(line: Json): Pick<Message, 'type' | 'id' | 'parent' | 'at' | 'agent'> {
  const agent = agentIn(line)
  return {
    type: 'message',
    id: nameOf(line.uuid) ?? '',
    ...defined({ parent: nameOf(line.parentUuid), at: nameOf(line.timestamp), agent }),
  }
}

/** What a user typed while the agent worked, hook output, and context that the harness added. */
function attachmentIn(line: Json): Message | undefined {
  const attachment = objectOf(line.attachment)
  switch (attachment?.type) {
    case 'queued_command': {
      const parts = partsOf(attachment.prompt)
      const more = defined({
        asTold: renderedIn(line),
        isMeta: attachment.isMeta === true || undefined,
      })
      return parts.length === 0 ? undefined : { ...common(line), role: 'user', parts, ...more }
    }
    case 'hook_additional_context': {
      const text = listOf(attachment.content)
        .filter((given) => typeof given === 'string')
        .join('\n')
      const hook = nameOf(attachment.hookName) ?? nameOf(attachment.hookEvent)
      const parts = partsOf(hook === undefined ? text : `${hook}${SAID_BY_HOOK}${text}`)
      return text === '' ? undefined : { ...common(line), role: 'system', parts, isMeta: true }
    }
    default: {
      const told = renderedIn(line)
      return told === undefined ? undefined : { ...common(line), ...told, isMeta: true }
    }
  }
}

function renderedIn(line: Json): Told | undefined {
  const role = line.renderedRole === 'system' ? 'system' : 'user'
  const parts = listOf(line.rendered).flatMap((shown) => partsOf(objectOf(shown)?.content))
  if (parts.length === 0) return undefined
  return { role, parts: role === 'system' ? parts.map(unmarked) : parts }
}

const REMINDER = /^<system-reminder>\n([\s\S]*)\n<\/system-reminder>\s*$/

/** A system message needs no system-reminder tags. */
function unmarked(part: Part): Part {
  const text = part.type === 'text' ? REMINDER.exec(part.text)?.[1] : undefined
  return text === undefined ? part : { type: 'text', text }
}

function compactionIn(line: Json): Compaction | undefined {
  const id = nameOf(line.uuid)
  if (id === undefined) return undefined
  const metadata = objectOf(line.compactMetadata) ?? {}
  const kept = listOf(objectOf(metadata.preservedMessages)?.uuids).flatMap(
    (uuid) => nameOf(uuid) ?? [],
  )
  return {
    type: 'compaction',
    id,
    ...defined({
      at: nameOf(line.timestamp),
      trigger: nameOf(metadata.trigger),
      tokensBefore: countOf(metadata.preTokens),
      tokensAfter: countOf(metadata.postTokens),
      kept: kept.length === 0 ? undefined : kept,
    }),
  }
}

function toldIn(told: Json | undefined): Told | undefined {
  return told === undefined
    ? undefined
    : { role: told.role === 'system' ? 'system' : 'user', parts: partsOf(told.content) }
}

function contextIn(context: Json | undefined): ContextSize | undefined {
  const tokens = countOf(context?.tokens)
  if (tokens === undefined) return undefined
  return {
    tokens,
    ...defined({ window: countOf(context?.window), point: countOf(context?.point) }),
  }
}

function usageIn(usage: Json | undefined): Usage | undefined {
  const [input, output] = [countOf(usage?.input_tokens), countOf(usage?.output_tokens)]
  if (input === undefined && output === undefined) return undefined
  return {
    input: input ?? 0,
    cacheWritten: countOf(usage?.cache_creation_input_tokens) ?? 0,
    cacheRead: countOf(usage?.cache_read_input_tokens) ?? 0,
    output: output ?? 0,
  }
}

/** The field names are those of Claude Code's transcripts. */
export function lineOf(item: HistoryItem): Json {
  switch (item.type) {
    case 'began':
      return { ...item, type: 'conversation' }
    case 'message': {
      const { role, parts, model, request, usage } = item
      const fields = { role, id: request, model, content: blocksOf(parts) }
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
    asTold: asTold && { role: asTold.role, content: blocksOf(asTold.parts) },
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

export function partsOf(content: unknown): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return listOf(content).map(partOf)
}

function partOf(value: unknown): Part {
  if (typeof value === 'string') return { type: 'text', text: value }
  const block = objectOf(value) ?? { value }
  return knownPart(block) ?? { type: 'other', block }
}

function knownPart(block: Json): Part | undefined {
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
      return pictureIn(objectOf(block.source))
    case 'tool_use': {
      const [id, name] = [nameOf(block.id), nameOf(block.name, 1000)]
      if (id === undefined || name === undefined) return undefined
      return { type: 'tool use', id, name, input: objectOf(block.input) ?? {} }
    }
    case 'tool_result': {
      const use = nameOf(block.tool_use_id)
      if (use === undefined) return undefined
      const isError = block.is_error === true
      return { type: 'tool result', use, parts: partsOf(block.content), isError }
    }
    default:
      return undefined
  }
}

function pictureIn(source: Json | undefined): Part | undefined {
  const { type, media_type: mediaType, data, url } = source ?? {}
  if (type === 'url' && typeof url === 'string') return { type: 'image link', url }
  if (type !== 'base64' || typeof mediaType !== 'string' || typeof data !== 'string')
    return undefined
  // A text replaces a picture that is missing.
  return isBase64(data) ? { type: 'image', mediaType, data } : { type: 'text', text: data }
}

export function blocksOf(parts: readonly Part[]): readonly Json[] {
  return parts.map(blockOf)
}

function blockOf(part: Part): Json {
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
        content: blocksOf(part.parts),
        ...(part.isError ? { is_error: true } : {}),
      }
    case 'other':
      return part.block
  }
}

/** Parsed only where a field is read. */
class MessageAsWritten {
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
    this.id = nameOf(line.uuid) ?? ''
    this.at = nameOf(line.timestamp)
    this.role = line.type
    this.agent = agentIn(line)
    this.isMeta = line.isMeta === true || undefined
    this.isSummary = line.isCompactSummary === true || undefined
    this.isFailure = line.isApiErrorMessage === true || undefined
  }

  get #whole() {
    return (this.#item ??= itemOf(this.#line) as Message)
  }

  get parts() {
    return this.#whole.parts
  }

  get model() {
    return this.#whole.model
  }

  get request() {
    return this.#whole.request
  }

  get usage() {
    return this.#whole.usage
  }
}

/** Undefined for lines with unusual fields. */
export function messageAsWritten(
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
  // Absent fields are undefined here.
  return new MessageAsWritten(line, parent, source) as unknown as NewItem
}
