import { type Json, isCompact, asObject, parseJson } from '../../text/json-fields.ts'
import { closeSync, fstatSync } from 'node:fs'
import { errnoOf } from '../../journal/errors.ts'
import { openRegularFile } from '../../journal/write-files.ts'
import { readRange } from '../../journal/read-log.ts'

const NEWLINE = 0x0a

export function completeLines(
  bytes: Buffer,
  maxLength = LONGEST_LINE,
): { readonly lines: readonly Buffer[]; readonly consumed: number } {
  const lines: Buffer[] = []
  let start = 0
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
    if (end > start) lines.push(bytes.subarray(start, end))
    start = end + 1
  }
  // A line too long to read is skipped, or it would be read forever.
  if (start === 0 && bytes.length >= maxLength) return { lines: [bytes], consumed: bytes.length }
  return { lines, consumed: start }
}

export function parseLine(line: Buffer): Json | undefined {
  return asObject(parseJson(line.toString('utf8')))
}

/** Without white space between tokens, so that its bytes can be searched. */
export function withoutJsonSpace(line: Buffer): Buffer {
  if (isCompact(line)) return line
  const fields = parseLine(line)
  return fields === undefined ? line : Buffer.from(JSON.stringify(fields))
}

// Quotes inside strings are escaped, so these are real keys.
const SIDECHAIN = Buffer.from('"isSidechain":true')
const MAIN_CHAIN = Buffer.from('"isSidechain":false')

/** Older clients write sub-agents into the same transcript. */
export function isSidechainLine(line: Buffer): boolean {
  if (!line.includes(SIDECHAIN)) return false
  // With both, one is inside a tool's input.
  return !line.includes(MAIN_CHAIN) || parseLine(line)?.isSidechain === true
}

export interface FilePosition {
  readonly offset: number
  readonly inode: number
}

export interface TranscriptChunk {
  readonly bytes: Buffer
  readonly from: number
  readonly size: number
  readonly inode: number
}

/** Longer lines are skipped; none of interest is that long. */
export const LONGEST_LINE = 1024 * 1024

const SCAN_BYTES = 16_384

/**
 * Continues after `last`, or starts at a line near the end. Lines are complete unless longer than
 * `LONGEST_LINE` or unfinished.
 */
export function readTailChunk(
  path: string,
  last: FilePosition | undefined,
  maxBytes: number,
): TranscriptChunk | undefined {
  return withTranscript(path, (fd, size, inode) => {
    const from = isPositionIn(last, size, inode)
      ? last.offset
      : lineStartNearEnd(fd, size, maxBytes)
    return { bytes: readLines(fd, from, size, maxBytes, LONGEST_LINE), from, size, inode }
  })
}

/** Starts at the beginning when `last` is not in this file. */
export function readNextChunk(
  path: string,
  last: FilePosition | undefined,
  maxBytes: number,
  maxLineBytes: number,
): TranscriptChunk | undefined {
  return withTranscript(path, (fd, size, inode) => {
    const from = isPositionIn(last, size, inode) ? last.offset : 0
    return { bytes: readLines(fd, from, size, maxBytes, maxLineBytes), from, size, inode }
  })
}

/**
 * Reads lines in chunks from the end until `inspect` has enough; a line longer than a chunk is
 * skipped.
 */
export function readBackwards(
  path: string,
  { maxBytes, pieces }: { readonly maxBytes: number; readonly pieces: number },
  inspect: (bytes: Buffer) => 'more' | 'enough',
): void {
  withTranscript(path, (fd, size) => {
    let rest: Buffer = Buffer.alloc(0)
    let isSkipping = false
    for (let to = size, read = 0; to > 0 && read < pieces; read += 1) {
      const from = Math.max(0, to - maxBytes)
      const bytes = readRange(fd, from, to)
      to = from
      if (from > 0 && !bytes.includes(NEWLINE)) {
        isSkipping = true
        continue
      }
      const first = from === 0 ? 0 : bytes.indexOf(NEWLINE) + 1
      const complete = isSkipping
        ? bytes.subarray(first, bytes.lastIndexOf(NEWLINE) + 1)
        : Buffer.concat([bytes.subarray(first), rest])
      isSkipping = false
      rest = bytes.subarray(0, first)
      if (inspect(complete) === 'enough') return
    }
  })
}

function withTranscript<T>(path: string, work: (fd: number, size: number, inode: number) => T) {
  const fd = openRegularFile(path)
  if (fd === undefined) return undefined
  try {
    const { size, ino } = fstatSync(fd)
    return work(fd, size, ino)
  } catch (error) {
    // A failing disk or a lost network share counts as nothing to read.
    if (errnoOf(error) === undefined) throw error
    return undefined
  } finally {
    closeSync(fd)
  }
}

function isPositionIn(
  position: FilePosition | undefined,
  size: number,
  inode: number,
): position is FilePosition {
  if (position === undefined || position.inode !== inode) return false
  return Number.isInteger(position.offset) && position.offset >= 0 && position.offset <= size
}

function lineStartNearEnd(fd: number, size: number, maxBytes: number) {
  const window = size - maxBytes
  if (window <= 0) return 0
  // From the byte before, since a line may begin exactly there.
  for (let from = window - 1; from < size; from += SCAN_BYTES) {
    const newline = readRange(fd, from, Math.min(size, from + SCAN_BYTES)).indexOf(NEWLINE)
    if (newline !== -1) return from + newline + 1
  }
  return size
}

// Reads on to the end of a line, so that a long line does not stop all reading.
function readLines(fd: number, from: number, size: number, maxBytes: number, maxLineBytes: number) {
  let bytes = readRange(fd, from, Math.min(size, from + maxBytes))
  while (!bytes.includes(NEWLINE) && bytes.length < maxLineBytes && from + bytes.length < size) {
    const to = Math.min(size, from + Math.min(maxLineBytes, Math.max(2 * bytes.length, 4096)))
    const more = readRange(fd, from + bytes.length, to)
    // The file shrank while it was read.
    if (more.length === 0) break
    bytes = Buffer.concat([bytes, more])
  }
  return bytes
}
