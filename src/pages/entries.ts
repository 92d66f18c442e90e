// Pages of a session's entries, read by byte offset: a long log is never read whole.
import { closeSync, fstatSync } from 'node:fs'
import type { SessionIndex } from '../index/open-index.ts'
import { type PublicEntry, publicEntry } from '../public.ts'
import { openLog } from '../index/index-session.ts'
import type { LogPlace } from '../journal/log.ts'
import { parseLog, readRange } from '../journal/read.ts'
import type { JournalRecord } from '../journal/record.ts'
import type { EntryList } from './contract.ts'
import { StintError } from '../journal/errors.ts'

export interface Slice {
  readonly records: readonly JournalRecord[]
  readonly start: number
  readonly end: number
  readonly size: number
}

interface Line {
  readonly start: number
  readonly records: readonly JournalRecord[]
}

const CHUNK = 256 * 1024
const NEWLINE = 0x0a

/** An incomplete last line is left for the next call. */
export function recordsFrom(place: LogPlace, from: number, limit: number): Slice {
  return withLog(place, (fd, size) => {
    if (from > size || !isLineStart(fd, from)) throw cursorGone()
    const records = new Records()
    let end = from
    for (let length = CHUNK; end < size && records.length < limit;) {
      const bytes = readRange(fd, end, Math.min(size, end + length))
      let start = 0
      for (let newline = bytes.indexOf(NEWLINE); newline !== -1 && records.length < limit;) {
        records.push(bytes.subarray(start, newline + 1))
        start = newline + 1
        newline = bytes.indexOf(NEWLINE, start)
      }
      if (start === 0 && end + bytes.length >= size) break
      // The line is longer than the chunk: read more.
      length = start === 0 ? length * 4 : CHUNK
      end += start
    }
    return { records: records.all, start: from, end, size }
  })
}

export function recordsBefore(place: LogPlace, before: number | undefined, limit: number): Slice {
  return withLog(place, (fd, size) => {
    const end = before === undefined ? lastLineEnd(fd, size) : before
    if (end > size || !isLineStart(fd, end)) throw cursorGone()
    let start = end
    const pieces: Line[][] = []
    let found = 0
    for (let length = CHUNK; start > 0 && found < limit;) {
      const from = Math.max(0, start - length)
      const bytes = readRange(fd, from, start)
      // The first line may begin before the chunk.
      const first = from === 0 ? 0 : bytes.indexOf(NEWLINE) + 1
      // The chunk is within one line: read more.
      if (from > 0 && (first === 0 || first === bytes.length)) {
        length *= 4
        continue
      }
      const piece = linesIn(bytes.subarray(first), from + first)
      pieces.push(piece)
      found += countIn(piece)
      start = from + first
      length = CHUNK
    }
    const lines = pieces.toReversed().flat()
    let surplus = found - limit
    let skip = 0
    while (skip < lines.length && surplus >= lines[skip]!.records.length)
      surplus -= lines[skip++]!.records.length
    const kept = lines.slice(skip)
    const records = kept.flatMap((line) => line.records)
    return { records, start: skip === 0 ? start : kept[0]!.start, end, size }
  })
}

export function endOfLog(place: LogPlace): { readonly end: number; readonly inode: number } {
  return withLog(place, (fd, size) => ({ end: lastLineEnd(fd, size), inode: fstatSync(fd).ino }))
}

export function entryList(slice: Slice, session: string, index: SessionIndex): EntryList {
  const { records, start, end } = slice
  return {
    entries: entryLines(records, session, index),
    cursor: end,
    ...(start > 0 ? { before: start } : {}),
  }
}

export function entryLines(
  records: readonly JournalRecord[],
  session: string,
  index: SessionIndex,
): readonly PublicEntry[] {
  const retracted = index.takenBack(session)
  return records.map((record) =>
    publicEntry(record, retracted.has(record.id), (id) => index.entryText(session, id)),
  )
}

function withLog<T>(place: LogPlace, work: (fd: number, size: number) => T): T {
  const fd = openLog(place)
  if (fd === undefined) throw new StintError('NOT_THERE', 'there is no journal of that session')
  try {
    return work(fd, fstatSync(fd).size)
  } finally {
    closeSync(fd)
  }
}

function cursorGone(): StintError {
  return new StintError('CURSOR_GONE', 'the journal was rewritten since', 'ask for it anew')
}

function isLineStart(fd: number, offset: number): boolean {
  return offset === 0 || readRange(fd, offset - 1, offset)[0] === NEWLINE
}

function lastLineEnd(fd: number, size: number): number {
  for (let end = size; end > 0;) {
    const from = Math.max(0, end - 4096)
    const newline = readRange(fd, from, end).lastIndexOf(NEWLINE)
    if (newline !== -1) return from + newline + 1
    end = from
  }
  return 0
}

function linesIn(bytes: Buffer, from: number): Line[] {
  const lines: Line[] = []
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(NEWLINE, start)
    const stop = newline === -1 ? bytes.length : newline + 1
    const { records } = parseLog(bytes.subarray(start, stop), '')
    if (records.length > 0) lines.push({ start: from + start, records })
    start = stop
  }
  return lines
}

function countIn(lines: readonly Line[]): number {
  return lines.reduce((sum, { records }) => sum + records.length, 0)
}

class Records {
  readonly #seen = new Map<string, JournalRecord>()

  get length(): number {
    return this.#seen.size
  }

  get all(): readonly JournalRecord[] {
    return [...this.#seen.values()]
  }

  push(line: Buffer): void {
    for (const record of parseLog(line, '').records)
      if (!this.#seen.has(record.id)) this.#seen.set(record.id, record)
  }
}
