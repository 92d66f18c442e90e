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
import { truncateMiddle } from '../hooks/protocol.ts'

export const BOUNDARY = Buffer.from('"subtype":"compact_boundary"')
const SUMMARY = Buffer.from('"isCompactSummary":true')
const QUEUED = Buffer.from('"type":"queued_command"')
const TYPES = ['assistant', 'user', 'attachment'].map(
  (type) => [type, Buffer.from(`"type":"${type}"`)] as const,
)
const BASH = Buffer.from('"name":"Bash"')
const MARK = Buffer.from('[stint:')
const MARKS = /\[stint:([0-9a-f]{4,64})\]/g

const LONGEST_PROMPT = 20_000

function typeOf(line: Buffer) {
  const found = TYPES.filter(([, bytes]) => line.includes(bytes)).map(([type]) => type)
  // With several, all but one are inside a tool's input or output.
  return found.length > 1 ? parseLine(line)?.type : found[0]
}

export function inspectTranscript(bytes: Buffer, carried: PendingCommands = []): TranscriptFacts {
  const { lines, consumed } = completeLines(bytes)
  const look = new Look(carried)
  for (const line of lines) look.at(line.length >= LONGEST_LINE ? line : withoutJsonSpace(line))
  return { consumed, ...look.result() }
}

class Look {
  readonly #commands: CommandResults
  readonly #answers: AssistantLine[] = []
  readonly #queued: QueuedPrompt[] = []
  readonly #boundaries: CompactionBoundary[] = []
  #summary: { text: string; boundary?: string } | undefined
  #marks = new Set<string>()
  #recordsHookContext = false

  constructor(carried: PendingCommands) {
    this.#commands = new CommandResults(carried)
  }

  at(line: Buffer): void {
    if (line.length >= LONGEST_LINE) return this.#glanceAt(line)
    if (isSidechainLine(line)) return
    const type = typeOf(line)
    if (type === 'assistant') return this.#addAnswer(line)
    if (type === 'attachment') this.#recordsHookContext = true
    if (this.#isWorthParsing(line, type)) this.#read(parseLine(line) ?? {})
  }

  result(): Omit<TranscriptFacts, 'consumed'> {
    return {
      ...lastAssistantMessage(this.#answers),
      boundaries: this.#boundaries,
      ...defined({ summary: this.#summary }),
      deliveryMarkers: [...this.#marks],
      recordsHookContext: this.#recordsHookContext,
      commands: this.#commands.results,
      queued: this.#queued,
      carried: this.#commands.pending,
    }
  }

  #isWorthParsing(line: Buffer, type: unknown) {
    if (type === 'attachment') return line.includes(MARK) || line.includes(QUEUED)
    return (
      line.includes(BOUNDARY) ||
      line.includes(SUMMARY) ||
      line.includes(MARK) ||
      this.#commands.isAnsweredBy(line)
    )
  }

  #addAnswer(line: Buffer) {
    const before = this.#boundaries.length
    const answer = new AssistantLine(line, () => this.#boundaries.length > before)
    this.#answers.push(answer)
    if (line.includes(BASH)) this.#commands.addCommands(asObject(answer.fields?.message))
  }

  #read(line: Json) {
    if (line.type === 'attachment') this.#readAttachment(line)
    if (line.type === 'system') this.#readSystem(line)
    if (line.type === 'user') this.#readUser(line)
  }

  #readSystem(line: Json) {
    const boundary = parseBoundary(line)
    if (boundary === undefined) return this.#addMarks(line.content)
    this.#addBoundary(boundary)
  }

  #addBoundary(boundary: CompactionBoundary) {
    this.#boundaries.push(boundary)
    this.#marks = new Set()
    this.#summary = undefined
  }

  #readUser(line: Json) {
    const message = asObject(line.message)
    this.#commands.addResults(message)
    const text = asText(messageText(message?.content))
    if (text === undefined) return
    // A summary that quotes a marker has not kept the injected text.
    if (line.isCompactSummary !== true) return this.#addMarks(text)
    const boundary = asName(line.parentUuid) ?? this.#boundaries.at(-1)?.uuid
    this.#summary = { text, ...defined({ boundary }) }
  }

  #readAttachment(line: Json) {
    const attachment = asObject(line.attachment)
    if (attachment?.type === 'hook_additional_context') this.#addMarks(attachment.content)
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
      text: text.slice(0, LONGEST_PROMPT),
      ...defined({ at: normalizedTime(line.timestamp) }),
    })
  }

  #addMarks(content: unknown) {
    const texts =
      typeof content === 'string'
        ? [content]
        : asArray(content).filter((text) => typeof text === 'string')
    for (const text of texts) for (const [, mark] of text.matchAll(MARKS)) this.#marks.add(mark!)
  }

  /** A boundary is recognisable at the start of its line, even in a line too long to parse. */
  #glanceAt(line: Buffer) {
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

const PIECE = 256 * 1024
const MOST_PIECES = 32

export function readLastUsage(
  path: string,
  bounds = { maxBytes: PIECE, pieces: MOST_PIECES },
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

const LONGEST_TEXT = 4000
const LONGEST_FAILURE = 400

export class AssistantLine {
  #parsed: Json | undefined | null = null

  constructor(
    readonly bytes: Buffer,
    readonly isCompacted: () => boolean,
  ) {}

  get fields(): Json | undefined {
    if (this.#parsed === null) this.#parsed = parseLine(this.bytes)
    return this.#parsed?.type === 'assistant' ? this.#parsed : undefined
  }
}

export function lastAssistantMessage(lines: readonly AssistantLine[]): LastAssistantMessage {
  let lastAssistantAt: string | undefined
  let lastText: string | undefined
  let failure: string | undefined
  let call: Call | undefined
  let hasAnswered = false
  let version: string | undefined
  for (const line of lines.toReversed()) {
    if (call !== undefined && lastText !== undefined && !call.continuesIn(line.bytes)) break
    const { fields } = line
    if (fields === undefined) continue
    const message = asObject(fields.message)
    const said = asText(messageText(message?.content))
    lastAssistantAt ??= normalizedTime(fields.timestamp)
    version ??= asName(fields.version)
    if (fields.isApiErrorMessage === true) {
      if (!hasAnswered)
        failure ??= shorten(said ?? 'the model could not be reached', LONGEST_FAILURE)
      continue
    }
    hasAnswered = true
    lastText ??= said === undefined ? undefined : shorten(said, LONGEST_TEXT)
    // The size of a discarded context says nothing about the next one.
    if (!line.isCompacted())
      call = call === undefined ? callIn(message, fields.timestamp) : call.with(message)
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
class Call {
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

  with(message: Json | undefined): Call {
    const usage = message?.id === this.id ? messageUsage(message) : undefined
    if (usage === undefined) return this
    return new Call(largerUsage(this.usage, usage), this.id, this.model, this.at)
  }
}

function callIn(message: Json | undefined, at: unknown) {
  const usage = messageUsage(message)
  // While a reply streams in, its token counts are 0 or 1; cache reads are right even then.
  if (usage === undefined || usage.input + usage.cacheWritten + usage.cacheRead <= 1)
    return undefined
  return new Call(usage, asName(message?.id), asName(message?.model), normalizedTime(at))
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

const MOST_PENDING = 20
const LONGEST_PENDING = 300
const LONGEST_COMMAND = 4000
export class CommandResults {
  readonly #pending: Map<string, { readonly id: Buffer; readonly command: string }>
  readonly #results: CommandResult[] = []

  constructor(carried: readonly PendingCommand[] = []) {
    this.#pending = new Map(
      pendingIn(carried).map(({ toolUseId, command }) => [
        toolUseId,
        { id: quoted(toolUseId), command },
      ]),
    )
  }

  get results(): readonly CommandResult[] {
    return this.#results
  }

  get pending(): readonly PendingCommand[] {
    return [...this.#pending].slice(-MOST_PENDING).map(([toolUseId, { command }]) => ({
      toolUseId,
      command: shorten(command, LONGEST_PENDING),
    }))
  }

  isAnsweredBy(line: Buffer): boolean {
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
        id: quoted(toolUseId),
        command: command.slice(0, LONGEST_COMMAND),
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

function quoted(id: string) {
  return Buffer.from(JSON.stringify(id))
}

// It comes from a file and may hold anything.
function pendingIn(carried: unknown) {
  return asArray(carried).flatMap((entry) => {
    const fields = asObject(entry)
    const toolUseId = asName(fields?.toolUseId)
    const command = asText(fields?.command)
    return toolUseId === undefined || command === undefined ? [] : [{ toolUseId, command }]
  })
}
