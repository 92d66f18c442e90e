// Slices of a log by byte offset: a long log is never read in full.
import { closeSync, fstatSync } from 'node:fs'
import { openLog } from '../index/index-session.ts'
import { StintError } from '../journal/errors.ts'
import type { LogPaths } from '../journal/log.ts'
import { parseLog, readRange } from '../journal/read-log.ts'
import type { JournalRecord } from '../journal/record.ts'
import { notFoundError } from './project-pool.ts'

interface LogSlice {
  readonly records: readonly JournalRecord[]
  readonly start: number
  readonly end: number
}

interface LogLine {
  readonly start: number
  readonly records: readonly JournalRecord[]
}

const CHUNK = 256 * 1024
const NEWLINE = 0x0a

/** An incomplete last line is left for the next call. */
export function recordsFrom(paths: LogPaths, from: number, limit: number): LogSlice {
  return withLog(paths, (fd, size) => {
    if (from > size || !isLineStart(fd, from)) throw cursorGone()
    const records = new Map<string, JournalRecord>()
    let end = from
    for (let length = CHUNK; end < size && records.size < limit;) {
      const bytes = readRange(fd, end, Math.min(size, end + length))
      let start = 0
      for (let newline = bytes.indexOf(NEWLINE); newline !== -1 && records.size < limit;) {
        for (const record of parseLog(bytes.subarray(start, newline + 1), '').records)
          if (!records.has(record.id)) records.set(record.id, record)
        start = newline + 1
        newline = bytes.indexOf(NEWLINE, start)
      }
      if (start === 0 && end + bytes.length >= size) break
      // The line is longer than the chunk: read more.
      length = start === 0 ? length * 4 : CHUNK
      end += start
    }
    return { records: [...records.values()], start: from, end }
  })
}

export function recordsBefore(paths: LogPaths, before: number | undefined, limit: number) {
  return withLog(paths, (fd, size) => {
    const end = before === undefined ? lastLineEnd(fd, size) : before
    if (end > size || !isLineStart(fd, end)) throw cursorGone()
    let start = end
    const chunks: LogLine[][] = []
    let count = 0
    for (let length = CHUNK; start > 0 && count < limit;) {
      const from = Math.max(0, start - length)
      const bytes = readRange(fd, from, start)
      // The first line may begin before the chunk.
      const first = from === 0 ? 0 : bytes.indexOf(NEWLINE) + 1
      // The chunk is within one line: read more.
      if (from > 0 && (first === 0 || first === bytes.length)) {
        length *= 4
        continue
      }
      const chunkLines = linesIn(bytes.subarray(first), from + first)
      chunks.push(chunkLines)
      count += countRecords(chunkLines)
      start = from + first
      length = CHUNK
    }
    const lines = chunks.toReversed().flat()
    let surplus = count - limit
    let skip = 0
    while (skip < lines.length && surplus >= lines[skip]!.records.length)
      surplus -= lines[skip++]!.records.length
    const shownLines = lines.slice(skip)
    const records = shownLines.flatMap((line) => line.records)
    return { records, start: skip === 0 ? start : shownLines[0]!.start, end }
  })
}

export function endOfLog(paths: LogPaths): { readonly end: number; readonly inode: number } {
  return withLog(paths, (fd, size) => ({ end: lastLineEnd(fd, size), inode: fstatSync(fd).ino }))
}

function withLog<T>(paths: LogPaths, read: (fd: number, size: number) => T) {
  const fd = openLog(paths)
  if (fd === undefined) throw notFoundError('journal of that session')
  try {
    return read(fd, fstatSync(fd).size)
  } finally {
    closeSync(fd)
  }
}

function cursorGone() {
  return new StintError('CURSOR_GONE', 'the journal was rewritten since', 'ask for it anew')
}

function isLineStart(fd: number, offset: number) {
  return offset === 0 || readRange(fd, offset - 1, offset)[0] === NEWLINE
}

function lastLineEnd(fd: number, size: number) {
  for (let end = size; end > 0;) {
    const from = Math.max(0, end - 4096)
    const newline = readRange(fd, from, end).lastIndexOf(NEWLINE)
    if (newline !== -1) return from + newline + 1
    end = from
  }
  return 0
}

function linesIn(bytes: Buffer, from: number) {
  const lines: LogLine[] = []
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(NEWLINE, start)
    const stop = newline === -1 ? bytes.length : newline + 1
    const { records } = parseLog(bytes.subarray(start, stop), '')
    if (records.length > 0) lines.push({ start: from + start, records })
    start = stop
  }
  return lines
}

function countRecords(lines: readonly LogLine[]) {
  return lines.reduce((sum, { records }) => sum + records.length, 0)
}
