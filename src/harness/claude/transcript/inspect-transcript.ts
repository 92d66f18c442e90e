// Lines are many and long, so a line is parsed only when its bytes show that it matters.
import { defined } from '../../../text/defined.ts'
import {
  type Json,
  asCount,
  asArray,
  asName,
  asObject,
  messageText,
  asText,
} from '../../../text/json-fields.ts'
import {
  LONGEST_LINE,
  withoutJsonSpace,
  isSidechainLine,
  parseLine,
  readBackwards,
  completeLines,
} from '../../contract/transcript-lines.ts'
import type {
  AgentMessage,
  CompactionBoundary,
  PendingCommands,
  CommandResult,
  LastAssistantMessage,
  PendingCommand,
  QueuedPrompt,
  TranscriptFacts,
  LastUsage,
} from '../../contract/transcript.ts'
import type { Usage } from '../../../session/entries.ts'
import { shorten } from '../../../text/clean.ts'
import { ANTHROPIC_USAGE, largerUsage, usageFrom } from '../../contract/usage.ts'
import { truncateMiddle } from '../hooks/tool-facts.ts'

export const BOUNDARY = Buffer.from('"subtype":"compact_boundary"')
const SUMMARY = Buffer.from('"isCompactSummary":true')
const QUEUED = Buffer.from('"type":"queued_command"')
const TYPES = ['assistant', 'user', 'attachment'].map(
  (type) => [type, Buffer.from(`"type":"${type}"`)] as const,
)
const BASH = Buffer.from('"name":"Bash"')
const TEXT = Buffer.from('"type":"text"')
const MARKER = Buffer.from('[stint:')
const MARKERS = /\[stint:([0-9a-f]{4,64})\]/g

const MAX_PROMPT_LENGTH = 20_000

function typeOf(line: Buffer) {
  const found = TYPES.filter(([, bytes]) => line.includes(bytes)).map(([type]) => type)
  // With several, all but one are inside a tool's input or output.
  return found.length > 1 ? parseLine(line)?.type : found[0]
}

export function inspectTranscript(bytes: Buffer, carried: PendingCommands = []): TranscriptFacts {
  const { lines, consumed } = completeLines(bytes)
  const inspector = new TranscriptInspector(carried)
  for (const line of lines)
    inspector.inspect(line.length >= LONGEST_LINE ? line : withoutJsonSpace(line))
  return { consumed, ...inspector.result() }
}

class TranscriptInspector {
  readonly #commands: CommandResults
  readonly #replies: AssistantLine[] = []
  readonly #queued: QueuedPrompt[] = []
  readonly #boundaries: CompactionBoundary[] = []
  #summary: { text: string; boundary?: string } | undefined
  #markers = new Set<string>()
  #recordsHookContext = false

  constructor(carried: PendingCommands) {
    this.#commands = new CommandResults(carried)
  }

  inspect(line: Buffer): void {
    if (line.length >= LONGEST_LINE) return this.#scanLongLine(line)
    if (isSidechainLine(line)) return
    const type = typeOf(line)
    if (type === 'assistant') return this.#addReply(line)
    if (type === 'attachment') this.#recordsHookContext = true
    if (this.#isWorthParsing(line, type)) this.#read(parseLine(line) ?? {})
  }

  result(): Omit<TranscriptFacts, 'consumed'> {
    return {
      ...lastAssistantMessage(this.#replies),
      boundaries: this.#boundaries,
      ...defined({ summary: this.#summary }),
      deliveryMarkers: [...this.#markers],
      recordsHookContext: this.#recordsHookContext,
      commands: this.#commands.results,
      queued: this.#queued,
      carried: this.#commands.pending,
      messages: () => this.#replies.flatMap((reply) => reply.message ?? []),
    }
  }

  #isWorthParsing(line: Buffer, type: unknown) {
    if (type === 'attachment') return line.includes(MARKER) || line.includes(QUEUED)
    return (
      line.includes(BOUNDARY) ||
      line.includes(SUMMARY) ||
      line.includes(MARKER) ||
      this.#commands.hasResultIn(line)
    )
  }

  #addReply(line: Buffer) {
    const before = this.#boundaries.length
    const reply = new AssistantLine(line, () => this.#boundaries.length > before)
    this.#replies.push(reply)
    if (line.includes(BASH)) this.#commands.addCommands(asObject(reply.fields?.message))
  }

  #read(line: Json) {
    if (line.type === 'attachment') this.#readAttachment(line)
    if (line.type === 'system') this.#readSystem(line)
    if (line.type === 'user') this.#readUser(line)
  }

  #readSystem(line: Json) {
    const boundary = parseBoundary(line)
    if (boundary === undefined) return this.#addMarkers(line.content)
    this.#addBoundary(boundary)
  }

  #addBoundary(boundary: CompactionBoundary) {
    this.#boundaries.push(boundary)
    this.#markers = new Set()
    this.#summary = undefined
  }

  #readUser(line: Json) {
    const message = asObject(line.message)
    this.#commands.addResults(message)
    const text = asText(messageText(message?.content))
    if (text === undefined) return
    // A summary that quotes a marker has not kept the injected text.
    if (line.isCompactSummary !== true) return this.#addMarkers(text)
    const boundary = asName(line.parentUuid) ?? this.#boundaries.at(-1)?.uuid
    this.#summary = { text, ...defined({ boundary }) }
  }

  #readAttachment(line: Json) {
    const attachment = asObject(line.attachment)
    if (attachment?.type === 'hook_additional_context') this.#addMarkers(attachment.content)
    if (attachment?.type !== 'queued_command') return
    const text = asText(messageText(attachment.prompt))
    const uuid = asName(line.uuid)
    const by = asName(asObject(attachment.origin)?.kind) ?? 'human'
    const isTyped =
      (asName(attachment.commandMode) ?? 'prompt') === 'prompt' &&
      by === 'human' &&
      attachment.isMeta !== true
    if (!isTyped || text === undefined || uuid === undefined) return
    this.#queued.push({
      uuid,
      text: text.slice(0, MAX_PROMPT_LENGTH),
      ...defined({ at: normalizedTime(line.timestamp) }),
    })
  }

  #addMarkers(content: unknown) {
    const texts =
      typeof content === 'string'
        ? [content]
        : asArray(content).filter((text) => typeof text === 'string')
    for (const text of texts)
      for (const [, marker] of text.matchAll(MARKERS)) this.#markers.add(marker!)
  }

  /** A boundary is recognisable at the start of its line, even in a line too long to parse. */
  #scanLongLine(line: Buffer) {
    const start = line.subarray(0, 2048)
    const text = start.toString('latin1')
    if (!/"subtype":\s*"compact_boundary"/.test(text)) return
    const uuid = /"uuid":\s*"([\w-]{1,100})"/.exec(text)?.[1]
    const at = normalizedTime(/"timestamp":\s*"([^"]{1,40})"/.exec(text)?.[1])
    const trigger = /"trigger":\s*"(\w{1,40})"/.exec(text)?.[1]
    if (uuid !== undefined) this.#addBoundary({ uuid, ...defined({ trigger, at }) })
  }
}

export function parseBoundary(line: Json): CompactionBoundary | undefined {
  const uuid = asName(line.uuid)
  if (line.type !== 'system' || line.subtype !== 'compact_boundary' || uuid === undefined)
    return undefined
  const metadata = asObject(line.compactMetadata) ?? asObject(line.compact_metadata)
  const trigger = asName(metadata?.trigger)
  const tokensBefore = asCount(metadata?.preTokens) ?? asCount(metadata?.pre_tokens)
  const tokensAfter = asCount(metadata?.postTokens) ?? asCount(metadata?.post_tokens)
  return {
    uuid,
    ...defined({ trigger, tokensBefore, tokensAfter, at: normalizedTime(line.timestamp) }),
  }
}

const CHUNK_BYTES = 256 * 1024
const MAX_CHUNKS = 32

export function readLastUsage(
  path: string,
  bounds = { maxBytes: CHUNK_BYTES, pieces: MAX_CHUNKS },
): LastUsage {
  let tail: LastUsage = {}
  readBackwards(path, bounds, (bytes) => {
    const { usage, usedAt, model, version, boundaries } = inspectTranscript(bytes)
    if (usage !== undefined)
      tail = { call: { usage, ...defined({ at: usedAt }) }, ...defined({ model, version }) }
    else if (boundaries.length > 0) tail = { compacted: boundaries.at(-1)! }
    return usage === undefined && boundaries.length === 0 ? 'more' : 'enough'
  })
  return tail
}

const MAX_TEXT_LENGTH = 4000
const MAX_FAILURE_LENGTH = 400

class AssistantLine {
  #parsed: Json | undefined | null = null

  constructor(
    readonly bytes: Buffer,
    readonly isCompacted: () => boolean,
  ) {}

  get fields(): Json | undefined {
    if (this.#parsed === null) this.#parsed = parseLine(this.bytes)
    return this.#parsed?.type === 'assistant' ? this.#parsed : undefined
  }

  /** Undefined without text, and for what the client itself wrote. */
  get message(): AgentMessage | undefined {
    if (!this.bytes.includes(TEXT)) return undefined
    const { uuid, message, isApiErrorMessage } = this.fields ?? {}
    const text = asText(messageText(asObject(message)?.content))
    const id = asName(uuid)
    if (id === undefined || text === undefined || isApiErrorMessage === true) return undefined
    return { uuid: id, text: text.slice(0, MAX_PROMPT_LENGTH) }
  }
}

function lastAssistantMessage(lines: readonly AssistantLine[]): LastAssistantMessage {
  let lastAssistantAt: string | undefined
  let lastText: string | undefined
  let failure: string | undefined
  let call: ReplyUsage | undefined
  let hasReplied = false
  let version: string | undefined
  for (const line of lines.toReversed()) {
    if (call !== undefined && lastText !== undefined && !call.continuesIn(line.bytes)) break
    const { fields } = line
    if (fields === undefined) continue
    const message = asObject(fields.message)
    const text = asText(messageText(message?.content))
    lastAssistantAt ??= normalizedTime(fields.timestamp)
    version ??= asName(fields.version)
    if (fields.isApiErrorMessage === true) {
      if (!hasReplied)
        failure ??= shorten(text ?? 'the model could not be reached', MAX_FAILURE_LENGTH)
      continue
    }
    hasReplied = true
    lastText ??= text === undefined ? undefined : shorten(text, MAX_TEXT_LENGTH)
    // The size of a discarded context says nothing about the next one.
    if (!line.isCompacted())
      call = call === undefined ? parseReplyUsage(message, fields.timestamp) : call.merge(message)
  }
  return defined({
    lastAssistantAt,
    lastText,
    failure,
    usage: call?.usage,
    usedAt: call?.at,
    model: call?.model,
    version,
  })
}

/** A reply spans several lines with the same id; the usage of earlier lines is a placeholder. */
class ReplyUsage {
  readonly #id: Buffer | undefined
  constructor(
    readonly usage: Usage,
    readonly id: string | undefined,
    readonly model: string | undefined,
    readonly at: string | undefined,
  ) {
    this.#id = id === undefined ? undefined : Buffer.from(JSON.stringify(id))
  }

  continuesIn(line: Buffer): boolean {
    return this.#id !== undefined && line.includes(this.#id)
  }

  merge(message: Json | undefined): ReplyUsage {
    const usage = message?.id === this.id ? messageUsage(message) : undefined
    if (usage === undefined) return this
    return new ReplyUsage(largerUsage(this.usage, usage), this.id, this.model, this.at)
  }
}

function parseReplyUsage(message: Json | undefined, at: unknown) {
  const usage = messageUsage(message)
  // While a reply streams in, its token counts are 0 or 1; cache reads are right even then.
  if (usage === undefined || usage.input + usage.cacheWritten + usage.cacheRead <= 1)
    return undefined
  return new ReplyUsage(usage, asName(message?.id), asName(message?.model), normalizedTime(at))
}

export function messageUsage(message: Json | undefined): Usage | undefined {
  const usage = asObject(message?.usage)
  return usage === undefined ? undefined : usageFrom(usage, ANTHROPIC_USAGE)
}

/** In the journal's format, so that times compare as strings. */
export function normalizedTime(value: unknown): string | undefined {
  const text = asName(value, 40)
  const time = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}

const MAX_PENDING = 20
const MAX_PENDING_LENGTH = 300
const MAX_COMMAND_LENGTH = 4000
class CommandResults {
  readonly #pending: Map<string, { readonly id: Buffer; readonly command: string }>
  readonly #results: CommandResult[] = []

  constructor(carried: readonly PendingCommand[] = []) {
    this.#pending = new Map(
      parsePending(carried).map(({ toolUseId, command }) => [
        toolUseId,
        { id: quotedBytes(toolUseId), command },
      ]),
    )
  }

  get results(): readonly CommandResult[] {
    return this.#results
  }

  get pending(): readonly PendingCommand[] {
    return [...this.#pending].slice(-MAX_PENDING).map(([toolUseId, { command }]) => ({
      toolUseId,
      command: shorten(command, MAX_PENDING_LENGTH),
    }))
  }

  hasResultIn(line: Buffer): boolean {
    for (const { id } of this.#pending.values()) if (line.includes(id)) return true
    return false
  }

  addCommands(message: Json | undefined): void {
    for (const block of asArray(message?.content)) {
      const { type, name, id, input } = asObject(block) ?? {}
      const toolUseId = asName(id)
      const command = asText(asObject(input)?.command)
      if (
        type !== 'tool_use' ||
        name !== 'Bash' ||
        toolUseId === undefined ||
        command === undefined
      )
        continue
      this.#pending.set(toolUseId, {
        id: quotedBytes(toolUseId),
        command: command.slice(0, MAX_COMMAND_LENGTH),
      })
    }
  }

  addResults(message: Json | undefined): void {
    for (const block of asArray(message?.content)) {
      const { type, tool_use_id: id, is_error: isError, content } = asObject(block) ?? {}
      const toolUseId = asName(id)
      const pending = toolUseId === undefined ? undefined : this.#pending.get(toolUseId)
      if (type !== 'tool_result' || toolUseId === undefined || pending === undefined) continue
      this.#pending.delete(toolUseId)
      const output = messageText(content)
      if (NOT_RUN.test(output)) continue
      this.#results.push({
        toolUseId,
        command: pending.command,
        isError: isError === true,
        output: truncateMiddle(output),
      })
    }
  }
}

// What Claude Code writes in place of a result: refused, interrupted or moved to the background.
const NOT_RUN =
  /^\s*(?:<tool_use_error>|The user doesn't want to|\[Request interrupted|\[Tool call interrupted|Permission to use|Claude requested permission|This command requires approval|PreToolUse:|Bash operation blocked|Command running in background|Command was manually backgrounded)/

function quotedBytes(id: string) {
  return Buffer.from(JSON.stringify(id))
}

// It comes from a file and may hold anything.
function parsePending(carried: unknown) {
  return asArray(carried).flatMap((entry) => {
    const fields = asObject(entry)
    const toolUseId = asName(fields?.toolUseId)
    const command = asText(fields?.command)
    return toolUseId === undefined || command === undefined ? [] : [{ toolUseId, command }]
  })
}
