// A harness deletes its transcripts after some weeks, and changes what is in them from version to version. What was
// said is therefore copied while it is said, a bounded piece at a time, without the secrets in it.
import { dirname } from 'node:path'
import { parseLine, wholeLines } from '../harness/claude/transcript-lines.ts'
import { type Place, readEveryPiece } from '../harness/claude/read-piece.ts'
import { errnoOf } from '../journal/errors.ts'
import { appendLines, createFolder, removeFile, takeLock } from '../journal/files.ts'
import { type RedactOptions, redactDeep } from '../text/redact.ts'
import { keptOf, mayBeKept } from './copy/kept-line.ts'
import { withoutLongStrings } from './copy/long-strings.ts'

/** How far a transcript has been copied. */
export type CopyCursor = Place

export interface CopyRequest {
  readonly transcript: string
  readonly target: string
  /** Where the last piece ended; none for a transcript that is new. */
  readonly cursor?: CopyCursor
  /** How much is read at most, unless a single line is longer. */
  readonly maxBytes: number
  /** When to stop, in milliseconds of `process.uptime()`; one line is copied all the same. */
  readonly untilMs?: number
  readonly redaction: RedactOptions
  /** Does work that may not end, and answers undefined when it did not; for patterns that are not ours. */
  readonly bounded?: Bounded
}

export type Bounded = <T>(work: () => T) => T | undefined

export interface Copied {
  /** Where to go on. */
  readonly cursor: CopyCursor
  /** How many lines were kept. */
  readonly copied: number
  /** Nothing but a line that is still being written is left. */
  readonly isCaughtUp: boolean
  /** Why nothing could be written; the cursor is where it was. */
  readonly cause?: unknown
}

const LONGEST_LINE = 8 * 1024 * 1024
const TOO_LONG = `a line of more than ${LONGEST_LINE} bytes`
const TOO_SLOW = 'a line for which a pattern of config.yaml takes too long'
const STALE_LOCK_MS = 10_000

/**
 * Copies the next piece. Undefined when there is no transcript that could be copied, or another process is at it.
 * A transcript that was replaced is copied from its start: lines are known by their ids, and readers take each once.
 */
export function copyPiece(request: CopyRequest): Copied | undefined {
  const { transcript, target, cursor, maxBytes } = request
  const piece = readEveryPiece(transcript, cursor, maxBytes, LONGEST_LINE)
  if (piece === undefined) return undefined
  const { lines, consumed } = wholeLines(piece.bytes, LONGEST_LINE)
  const isAtEnd = piece.from + piece.bytes.length >= piece.size
  const at = (offset: number): CopyCursor => ({ offset: piece.from + offset, inode: piece.inode })
  if (lines.length === 0) return { cursor: at(consumed), copied: 0, isCaughtUp: isAtEnd }
  if (piece.from === 0 && !lines.some(isObject)) return undefined
  if (!lines.some(mayBeKept)) return { cursor: at(consumed), copied: 0, isCaughtUp: isAtEnd }
  try {
    createFolder(dirname(target))
    return whileLocked(`${target}.lock`, () => {
      const { kept, read } = keepLines(lines, request)
      if (kept.length > 0) appendLines(target, Buffer.from(kept.map((line) => `${line}\n`).join('')))
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

function whileLocked<T>(lock: string, work: () => T): T | undefined {
  if (!takeLock(lock, STALE_LOCK_MS)) return undefined
  try {
    return work()
  } finally {
    removeFile(lock)
  }
}

/** Brings lines into the form in which they are kept, as long as there is time. */
function keepLines(
  lines: readonly Buffer[],
  { untilMs = Infinity, redaction, bounded = (work) => work() }: CopyRequest,
): { readonly kept: readonly string[]; readonly read: number } {
  const kept: string[] = []
  for (const [index, line] of lines.entries()) {
    if (index > 0 && process.uptime() * 1000 >= untilMs) return { kept, read: index }
    const text = line.length >= LONGEST_LINE ? standIn(line, TOO_LONG) : keepLine(line, redaction, bounded)
    if (text !== undefined) kept.push(text)
  }
  return { kept, read: lines.length }
}

function keepLine(line: Buffer, redaction: RedactOptions, bounded: Bounded): string | undefined {
  if (!mayBeKept(line)) return undefined
  const parsed = parseLine(line)
  const kept = parsed === undefined ? undefined : keptOf(parsed)
  if (kept === undefined) return undefined
  const redacted = bounded(() => redactDeep(withoutLongStrings(kept, redaction), redaction))
  return redacted === undefined ? standIn(line, TOO_SLOW) : JSON.stringify(redacted.value)
}

/** What is left of a line that cannot be kept: that there was one. */
function standIn(line: Buffer, leftOut: string): string | undefined {
  const start = line.subarray(0, 4096).toString('latin1')
  const type = /^\{.*?"type":"(user|assistant)"/.exec(start)?.[1]
  if (type === undefined) return undefined
  const uuid = /"uuid":"([\w-]{1,100})"/.exec(start)?.[1]
  const timestamp = /"timestamp":"([\w.:-]{1,40})"/.exec(start)?.[1]
  return JSON.stringify({ type, uuid, timestamp, leftOut })
}

function isObject(line: Buffer): boolean {
  return line[0] === 0x7b
}
