// A harness deletes its transcripts after some weeks, so they are copied while they grow, in
// bounded chunks and without secrets.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  type FilePosition,
  parseLine,
  readNextChunk,
  completeLines,
} from '../../harness/contract/transcript-lines.ts'
import { Blobs, type ExtractedBlobs, extractBlobs } from '../../history/blobs.ts'
import { lineFromItem } from '../../history/item-lines.ts'
import { tryWithLock } from '../../history/lock.ts'
import { errnoOf } from '../../journal/errors.ts'
import { appendLines, createFolder } from '../../journal/write-files.ts'
import { type Json, asArray, mayBeSpacedJson, asName, asObject } from '../../text/json-fields.ts'
import type { RedactOptions } from '../../text/redact.ts'
import { defined } from '../../text/defined.ts'

export type CopyCursor = FilePosition

export interface CopyRequest {
  readonly transcript: string
  readonly target: string
  readonly conversation: { readonly id: string; readonly harness: string }
  readonly cursor?: CopyCursor
  readonly maxBytes: number
  /** In milliseconds of `process.uptime()`; at least one line is copied. */
  readonly untilMs?: number
  readonly redaction: RedactOptions
  /** Limits the time of the user's patterns; undefined when one ran out of time. */
  readonly bounded?: RunBounded
}

type RunBounded = <T>(work: () => T, bytes: number) => T | undefined

export interface CopyResult {
  readonly cursor: CopyCursor
  readonly copied: number
  /** Only a line that is still being written is left. */
  readonly isCaughtUp: boolean
  /** Why nothing was written; the cursor did not move. */
  readonly cause?: unknown
}

const MAX_LINE = 8 * 1024 * 1024
const TOO_LONG = `a line of more than ${MAX_LINE} bytes`
const TOO_SLOW = 'a line for which a pattern of config.yaml takes too long'

/**
 * Undefined when there is nothing to copy or another process copies. A replaced transcript is
 * copied from its start: readers skip known ids.
 */
export function copyTranscriptChunk(request: CopyRequest): CopyResult | undefined {
  const { transcript, target, cursor, maxBytes } = request
  const chunk = readNextChunk(transcript, cursor, maxBytes, MAX_LINE)
  if (chunk === undefined) return undefined
  const { lines, consumed } = completeLines(chunk.bytes, MAX_LINE)
  const isAtEnd = chunk.from + chunk.bytes.length >= chunk.size
  const at = (offset: number): CopyCursor => ({ offset: chunk.from + offset, inode: chunk.inode })
  if (lines.length === 0) return { cursor: at(consumed), copied: 0, isCaughtUp: isAtEnd }
  if (chunk.from === 0 && !lines.some(isObject)) return undefined
  const targetExists = existsSync(target)
  if (!lines.some((line) => mayBeStored(line) || (targetExists && mayBeLink(line))))
    return { cursor: at(consumed), copied: 0, isCaughtUp: isAtEnd }
  try {
    createFolder(dirname(target))
    return tryWithLock(target, () => {
      const { stored, read } = toStoredLines(lines, request)
      const [first] = stored
      const isNew = first !== undefined && !existsSync(target)
      writeLines(target, isNew ? [firstLine(request.conversation, first.value), ...stored] : stored)
      const isComplete = read === lines.length
      return {
        cursor: at(isComplete ? consumed : startOf(lines[read]!, chunk.bytes)),
        copied: stored.length,
        isCaughtUp: isAtEnd && isComplete,
      }
    })
  } catch (cause) {
    if (errnoOf(cause) === undefined) throw cause
    return { cursor: at(0), copied: 0, isCaughtUp: false, cause }
  }
}

function startOf(line: Buffer, bytes: Buffer): number {
  return line.byteOffset - bytes.byteOffset
}

/** Blobs first, so that every line can be read in full. */
function writeLines(target: string, stored: readonly ExtractedBlobs[]): void {
  if (stored.length === 0) return
  const blobs = new Blobs(join(dirname(target), 'blobs'))
  for (const [hash, text] of stored.flatMap((one) => [...one.blobs])) blobs.put(hash, text, false)
  appendLines(target, Buffer.from(stored.map(({ value }) => `${JSON.stringify(value)}\n`).join('')))
}

function toStoredLines(
  lines: readonly Buffer[],
  { target, untilMs = Infinity, redaction, bounded = (work) => work() }: CopyRequest,
): { readonly stored: readonly StoredLine[]; readonly read: number } {
  const stored: StoredLine[] = []
  const isNew = !existsSync(target)
  for (const [index, line] of lines.entries()) {
    if (index > 0 && process.uptime() * 1000 >= untilMs) return { stored, read: index }
    const found =
      line.length >= MAX_LINE ? placeholder(line, TOO_LONG) : toStoredLine(line, redaction, bounded)
    // A link before the first stored line connects nothing.
    const isConnected = found?.isLink !== true || stored.length > 0 || !isNew
    if (found !== undefined && isConnected) stored.push(found)
  }
  return { stored, read: lines.length }
}

interface StoredLine extends ExtractedBlobs {
  readonly value: Json
  readonly isLink?: boolean
}

function firstLine(
  { id, harness }: CopyRequest['conversation'],
  { timestamp, cwd }: Json,
): ExtractedBlobs {
  const at = asName(timestamp) ?? new Date().toISOString()
  const value = lineFromItem({
    type: 'began',
    conversation: id,
    harness,
    at,
    ...defined({ cwd: asName(cwd, 4096) }),
  })
  return { value, blobs: new Map() }
}

function toStoredLine(
  line: Buffer,
  redaction: RedactOptions,
  bounded: RunBounded,
): StoredLine | undefined {
  if (!mayBeStored(line) && !mayBeLink(line)) return undefined
  const parsed = parseLine(line)
  const fields = parsed === undefined ? undefined : storedFields(parsed)
  if (fields === undefined) return undefined
  const redacted = bounded(() => extractBlobs(fields, redaction), line.length)
  if (redacted === undefined) return placeholder(line, TOO_SLOW)
  return { ...redacted, value: redacted.value as Json, isLink: fields['type'] === 'link' }
}

function placeholder(line: Buffer, leftOut: string): StoredLine | undefined {
  const start = line.subarray(0, 4096).toString('latin1')
  const type = /^\{.*?"type":\s*"(user|assistant)"/.exec(start)?.[1]
  if (type === undefined) return undefined
  const uuid = /"uuid":\s*"([\w-]{1,100})"/.exec(start)?.[1]
  const timestamp = /"timestamp":\s*"([\w.:-]{1,40})"/.exec(start)?.[1]
  const parentUuid = /"parentUuid":\s*"([\w-]{1,100})"/.exec(start)?.[1]
  return { value: { type, uuid, parentUuid, timestamp, leftOut }, blobs: new Map() }
}

function isObject(line: Buffer): boolean {
  return line[0] === 0x7b
}

/** In the order written. The rest repeats, or is internal to the harness. */
const FIELDS = [
  'type',
  'subtype',
  'uuid',
  'parentUuid',
  'logicalParentUuid',
  'timestamp',
  'isSidechain',
  'agentId',
  'isMeta',
  'isCompactSummary',
  'isApiErrorMessage',
  'requestId',
  'cwd',
  'gitBranch',
  'version',
  'message',
  'compactMetadata',
  'summary',
  'leafUuid',
]

/** Typed while the agent worked, or injected by a hook. */
const ATTACHMENTS: Readonly<Record<string, readonly string[]>> = {
  queued_command: ['type', 'prompt', 'commandMode', 'origin', 'isMeta'],
  hook_additional_context: ['type', 'content', 'hookEvent', 'hookName'],
}

const RENDERED = ['rendered', 'renderedRole']

const STORED_TYPES = [
  '"type":"user"',
  '"type":"assistant"',
  '"type":"summary"',
  '"subtype":"compact_boundary"',
  ...Object.keys(ATTACHMENTS).map((type) => `"type":"${type}"`),
  '"rendered":[',
].map((pattern) => Buffer.from(pattern))

function mayBeStored(line: Buffer): boolean {
  return STORED_TYPES.some((pattern) => line.includes(pattern)) || mayBeSpacedJson(line)
}

const LINK = Buffer.from('"parentUuid":"')

function mayBeLink(line: Buffer): boolean {
  return line.includes(LINK)
}

/** A message's own fields; of other lines only their parent. */
function storedFields(line: Json): Json | undefined {
  return messageIn(line) ?? linkIn(line)
}

function linkIn({ uuid, parentUuid }: Json): Json | undefined {
  return asName(uuid) === undefined || asName(parentUuid) === undefined
    ? undefined
    : { type: 'link', uuid, parentUuid }
}

function messageIn(line: Json): Json | undefined {
  const { type, subtype } = line
  if (type === 'attachment') return attachmentIn(line)
  if (type === 'system' && subtype !== 'compact_boundary') return undefined
  if (type !== 'user' && type !== 'assistant' && type !== 'system' && type !== 'summary')
    return undefined
  const result = line['toolUseResult']
  const lacksToolResult = type === 'user' && result !== undefined && !hasToolResult(line)
  return { ...pick(line, FIELDS), ...(lacksToolResult ? { toolUseResult: result } : {}) }
}

function attachmentIn(line: Json): Json | undefined {
  const attachment = asObject(line['attachment'])
  const type = attachment?.['type']
  if (attachment === undefined || typeof type !== 'string') return undefined
  const isKnown = Object.hasOwn(ATTACHMENTS, type)
  // Clients that do not record how the model read an attachment repeat it every time.
  if (!isKnown && asArray(line['rendered']).length === 0) return undefined
  // A hook's rendered fields repeat its content.
  const renderedFields = type === 'hook_additional_context' ? [] : RENDERED
  return {
    ...pick(line, [...FIELDS, ...renderedFields]),
    attachment: pick(attachment, isKnown ? ATTACHMENTS[type]! : ['type', 'filename']),
  }
}

/** The harness records a tool's outcome twice; the model's version is enough. */
function hasToolResult(line: Json): boolean {
  return asArray(asObject(line['message'])?.['content']).some(
    (block) => asObject(block)?.['type'] === 'tool_result',
  )
}

function pick(fields: Json, names: readonly string[]): Json {
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(fields, name)).map((name) => [name, fields[name]]),
  )
}
