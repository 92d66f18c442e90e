import { closeSync, fstatSync, readSync } from 'node:fs'
import { countRead } from './read-files.ts'
import { type DamageReason, type JournalRecord, crc32, decodeLine, findRecords } from './record.ts'
import { openToRead } from './write-files.ts'

/** A line that is not a record. It stays in the file as evidence. */
export interface Damage {
  readonly file: string
  readonly line: number
  readonly offset: number
  readonly reason: DamageReason
  readonly preview: string
}

export interface LogContents {
  /** Each id once, in file order. */
  readonly records: readonly JournalRecord[]
  readonly damage: readonly Damage[]
  readonly end: number
  readonly bytes: Buffer
  /** How far the log had been read before, and the records appended since; absent when all of it was read. */
  readonly growth?: { readonly from: number; readonly records: readonly JournalRecord[] }
}

/** An undamaged start of a log that was read earlier and need not be parsed again. */
export interface LogPrefix {
  readonly end: number
  readonly sum: string
  readonly lastId: string
}

const NEWLINE = 0x0a

export function readLog(path: string): LogContents {
  const fd = openToRead(path)
  try {
    return readLogFd(fd, path)
  } finally {
    closeSync(fd)
  }
}

export function readLogFd(fd: number, path: string, from = 0): LogContents {
  const bytes = readLogRange(fd, path, from)
  return { ...parseLog(bytes, path, from), bytes }
}

/** A log of a million entries takes a minute and more than a gigabyte. */
const MAX_LOG_BYTES = 128 * 1024 * 1024

/** To the end, unless that is more than can be folded. */
export function readLogRange(fd: number, path: string, from: number): Buffer {
  const { size } = fstatSync(fd)
  countRead(path, Math.max(0, size - from), MAX_LOG_BYTES)
  return readRange(fd, from, size)
}

export function readRange(fd: number, from: number, to: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.max(0, to - from))
  let filled = 0
  while (filled < bytes.length) {
    const count = readSync(fd, bytes, filled, bytes.length - filled, from + filled)
    if (count === 0) break
    filled += count
  }
  return bytes.subarray(0, filled)
}

export function parseLog(bytes: Buffer, path: string, from = 0): Omit<LogContents, 'bytes'> {
  const records: JournalRecord[] = []
  const damage: Damage[] = []
  const seen = new Map<string, string>()
  let line = 0
  let end = from

  const addRecord = (record: JournalRecord, text: Buffer, offset: number) => {
    const content = text.toString('latin1')
    const earlier = seen.get(record.id)
    if (earlier === undefined) {
      seen.set(record.id, content)
      records.push(record)
    } else if (earlier !== content) {
      damage.push({
        file: path,
        line,
        offset,
        reason: 'id used twice with different content',
        preview: preview(text),
      })
    }
  }

  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(NEWLINE, start)
    const stop = newline === -1 ? bytes.length : newline
    line += 1
    const text = trimmed(bytes, start, stop)
    if (text.length > 0) {
      const offset = from + start
      const decoded = decodeLine(text)
      if (decoded.ok) {
        addRecord(decoded.record, text, offset)
      } else {
        const inner = findRecords(text)
        const reason = inner.length > 0 ? 'other bytes around a good record' : decoded.reason
        damage.push({ file: path, line, offset, reason, preview: preview(text) })
        for (const found of inner) addRecord(found.record, found.text, offset + found.start)
      }
    }
    if (newline === -1) break
    end = from + newline + 1
    start = newline + 1
  }
  return { records, damage, end }
}

function trimmed(bytes: Buffer, start: number, stop: number) {
  let last = stop
  while (last > start && (bytes[last - 1] === 0x0d || bytes[last - 1] === 0x20)) last -= 1
  return bytes.subarray(start, last)
}

function preview(text: Buffer) {
  return JSON.stringify(text.subarray(0, 60).toString('utf8')).slice(1, -1)
}

const EDGE_BYTES = 4096

/** Identifies a file that has only grown since. */
export function edgeChecksum(fd: number, offset: number): number {
  const start = readRange(fd, 0, Math.min(EDGE_BYTES, offset))
  return crc32(readRange(fd, Math.max(0, offset - EDGE_BYTES), offset), crc32(start))
}
