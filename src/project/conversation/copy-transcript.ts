// A harness deletes its transcripts after some weeks, so they are copied while they grow, in
// bounded pieces and without secrets.
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
import { appendLines, createFolder } from '../../journal/files.ts'
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
  /** Runs user patterns, which may not end; undefined when they did not. */
  readonly bounded?: RunBounded
}

export type RunBounded = <T>(work: () => T, bytes: number) => T | undefined

export interface CopyResult {
  readonly cursor: CopyCursor
  readonly copied: number
  /** Only a line that is still being written is left. */
  readonly isCaughtUp: boolean
  /** Why nothing was written; the cursor did not move. */
  readonly cause?: unknown
}

const LONGEST_LINE = 8 * 1024 * 1024
const TOO_LONG = `a line of more than ${LONGEST_LINE} bytes`
const TOO_SLOW = 'a line for which a pattern of config.yaml takes too long'

/**
 * Undefined when there is nothing to copy or another process copies. A replaced transcript is
 * copied from its start: readers skip known ids.
 */
export function copyTranscriptChunk(request: CopyRequest): CopyResult | undefined {
  const { transcript, target, cursor, maxBytes } = request
  const piece = readNextChunk(transcript, cursor, maxBytes, LONGEST_LINE)
  if (piece === undefined) return undefined
  const { lines, consumed } = completeLines(piece.bytes, LONGEST_LINE)
  const isAtEnd = piece.from + piece.bytes.length >= piece.size
  const at = (offset: number): CopyCursor => ({ offset: piece.from + offset, inode: piece.inode })
  if (lines.length === 0) return { cursor: at(consumed), copied: 0, isCaughtUp: isAtEnd }
  if (piece.from === 0 && !lines.some(isObject)) return undefined
  const isThere = existsSync(target)
  if (!lines.some((line) => mayBeStored(line) || (isThere && mayBeLink(line))))
    return { cursor: at(consumed), copied: 0, isCaughtUp: isAtEnd }
  try {
    createFolder(dirname(target))
    return tryWithLock(target, () => {
      const { kept, read } = keepLines(lines, request)
      const [first] = kept
      const isNew = first !== undefined && !existsSync(target)
      write(target, isNew ? [firstLine(request.conversation, first.value), ...kept] : kept)
      const isWhole = read === lines.length
      return {
        cursor: at(isWhole ? consumed : startOf(lines[read]!, piece.bytes)),
        copied: kept.length,
        isCaughtUp: isAtEnd && isWhole,
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

/** Blobs first, so that every line can be read whole. */
function write(target: string, kept: readonly ExtractedBlobs[]): void {
  if (kept.length === 0) return
  const blobs = new Blobs(join(dirname(target), 'blobs'))
  for (const [hash, text] of kept.flatMap((one) => [...one.blobs])) blobs.put(hash, text, false)
  appendLines(target, Buffer.from(kept.map(({ value }) => `${JSON.stringify(value)}\n`).join('')))
}

function keepLines(
  lines: readonly Buffer[],
  { target, untilMs = Infinity, redaction, bounded = (work) => work() }: CopyRequest,
): { readonly kept: readonly KeptLine[]; readonly read: number } {
  const kept: KeptLine[] = []
  const isNew = !existsSync(target)
  for (const [index, line] of lines.entries()) {
    if (index > 0 && process.uptime() * 1000 >= untilMs) return { kept, read: index }
    const found =
      line.length >= LONGEST_LINE ? standIn(line, TOO_LONG) : keepLine(line, redaction, bounded)
    // A link before the first kept line connects nothing.
    const ties = found?.isLink !== true || kept.length > 0 || !isNew
    if (found !== undefined && ties) kept.push(found)
  }
  return { kept, read: lines.length }
}

interface KeptLine extends ExtractedBlobs {
  readonly value: Json
  readonly isLink?: boolean
}

function firstLine(
  { id, harness }: CopyRequest['conversation'],
  { timestamp, cwd }: Json,
): ExtractedBlobs {
  const at = asName(timestamp) ?? new Date().toISOString()
  const where = asName(cwd, 4096)
  const value = lineFromItem({
    type: 'began',
    conversation: id,
    harness,
    at,
    ...defined({ cwd: where }),
  })
  return { value, blobs: new Map() }
}

function keepLine(
  line: Buffer,
  redaction: RedactOptions,
  bounded: RunBounded,
): KeptLine | undefined {
  if (!mayBeStored(line) && !mayBeLink(line)) return undefined
  const parsed = parseLine(line)
  const kept = parsed === undefined ? undefined : storedFields(parsed)
  if (kept === undefined) return undefined
  const redacted = bounded(() => extractBlobs(kept, redaction), line.length)
  if (redacted === undefined) return standIn(line, TOO_SLOW)
  return { ...redacted, value: redacted.value as Json, isLink: kept['type'] === 'link' }
}

/** A stand-in for a line that cannot be kept. */
function standIn(line: Buffer, leftOut: string): KeptLine | undefined {
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

const MARKS = [
  '"type":"user"',
  '"type":"assistant"',
  '"type":"summary"',
  '"subtype":"compact_boundary"',
  ...Object.keys(ATTACHMENTS).map((type) => `"type":"${type}"`),
  '"rendered":[',
].map((mark) => Buffer.from(mark))

/** Checked without parsing. */
export function mayBeStored(line: Buffer): boolean {
  return MARKS.some((mark) => line.includes(mark)) || mayBeSpacedJson(line)
}

const LINK = Buffer.from('"parentUuid":"')

export function mayBeLink(line: Buffer): boolean {
  return line.includes(LINK)
}

/** What was said, by whom and when; of other lines only their parent. */
export function storedFields(line: Json): Json | undefined {
  return saidIn(line) ?? linkIn(line)
}

function linkIn({ uuid, parentUuid }: Json): Json | undefined {
  return asName(uuid) === undefined || asName(parentUuid) === undefined
    ? undefined
    : { type: 'link', uuid, parentUuid }
}

function saidIn(line: Json): Json | undefined {
  const { type, subtype } = line
  if (type === 'attachment') return keptAttachment(line)
  if (type === 'system' && subtype !== 'compact_boundary') return undefined
  if (type !== 'user' && type !== 'assistant' && type !== 'system' && type !== 'summary')
    return undefined
  const result = line['toolUseResult']
  const isLacking = type === 'user' && result !== undefined && !hasToolResult(line)
  return { ...pick(line, FIELDS), ...(isLacking ? { toolUseResult: result } : {}) }
}

function keptAttachment(line: Json): Json | undefined {
  const attachment = asObject(line['attachment'])
  const type = attachment?.['type']
  if (attachment === undefined || typeof type !== 'string') return undefined
  const isKnown = Object.hasOwn(ATTACHMENTS, type)
  // Only as the model read it; clients that do not record that repeat it every time.
  if (!isKnown && asArray(line['rendered']).length === 0) return undefined
  // For a hook they repeat the content.
  const told = type === 'hook_additional_context' ? [] : RENDERED
  return {
    ...pick(line, [...FIELDS, ...told]),
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
