import { closeSync, fstatSync } from 'node:fs'
import { crc32 } from '../journal/crc32.ts'
import { isMissing } from '../journal/errors.ts'
import { openToRead } from '../journal/files.ts'
import type { LogPlace } from '../journal/log.ts'
import { type LogContents, parseLog, readRange } from '../journal/read.ts'
import { NeedsFullFold, abridge, advance, fold } from '../session/fold.ts'
import { type RawEntry, inEffect } from '../session/in-effect.ts'
import type { SessionState } from '../session/state.ts'
import { entryText } from './entry-text.ts'
import type { SessionWriter, StoredLog } from './session-writer.ts'

/** Below this, reading the whole log is as quick as continuing. */
const LONG_LOG_BYTES = 64 * 1024
const CHUNK_BYTES = 1024 * 1024

/** Called inside a transaction. Returns false when nothing had changed. */
export function indexSession(writer: SessionWriter, id: string, place: LogPlace): boolean {
  const stored = writer.storedLog(id)
  const fd = openLog(place)
  if (fd === undefined) {
    if (stored !== undefined) writer.drop(stored.key)
    return stored !== undefined
  }
  try {
    const stat = fstatSync(fd)
    const log = { inode: stat.ino, size: stat.size, mtime: stat.mtimeMs }
    if (stored !== undefined && isUnchanged(stored, log)) return false
    const unread = stored === undefined ? undefined : continueLog(writer, fd, stored, log)
    if (unread === undefined) readWhole(writer, fd, id, stored, log)
    return true
  } finally {
    closeSync(fd)
  }
}

export function openLog(place: LogPlace): number | undefined {
  for (const name of [place.path, place.link]) {
    if (name === undefined) continue
    try {
      return openToRead(name)
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  }
  return undefined
}

interface LogIdentity {
  readonly inode: number
  readonly size: number
  readonly mtime: number
}

export function isUnchanged(stored: LogIdentity, log: LogIdentity): boolean {
  return stored.inode === log.inode && stored.size === log.size && stored.mtime === log.mtime
}

/** Undefined when the whole log must be read. */
function continueLog(
  writer: SessionWriter,
  fd: number,
  stored: StoredLog,
  log: LogIdentity,
): true | undefined {
  const state = writer.storedState(stored.key)
  if (state === undefined || stored.inode !== log.inode || log.size < stored.offset)
    return undefined
  if (prefixSum(fd, stored.offset) !== stored.prefix) return undefined
  const tail = readRange(fd, stored.offset, log.size)
  const { records, end } = parseLog(tail, '', stored.offset)
  const fresh = records.filter((record) => record.id !== state.lastId)
  // A state forgets old `once` keys and every retraction; the table does not.
  if (fresh.some((record) => writer.isForeshadowed(stored.key, record))) return undefined
  let next: SessionState
  try {
    next = advance(state, fresh)
  } catch (error) {
    if (error instanceof NeedsFullFold) return undefined
    throw error
  }
  const prefix = crc32(tail.subarray(0, end - stored.offset), stored.prefix)
  writer.putSession(next, { ...log, offset: end, prefix }, stored.key)
  writer.putState(stored.key, abridge(next))
  const inForce = textsInEffect(fresh)
  for (const record of fresh) writer.addEntry(stored.key, record, inForce.get(record.id) ?? '')
  return true
}

function readWhole(
  writer: SessionWriter,
  fd: number,
  id: string,
  stored: StoredLog | undefined,
  log: LogIdentity,
): void {
  const { records, end, bytes } = readAll(fd, log.size)
  const state = fold(id, records)
  const prefix = crc32(bytes.subarray(0, end))
  const key = writer.putSession(state, { ...log, offset: end, prefix }, stored?.key)
  if (log.size > LONG_LOG_BYTES) writer.putState(key, abridge(state))
  else if (stored !== undefined) writer.dropState(key)

  // Compared rather than replaced, so that retracting one of ten thousand writes one row.
  const texts = textsInEffect(records)
  const before = stored === undefined ? undefined : writer.entriesOf(key)
  for (const record of records) {
    const text = texts.get(record.id) ?? ''
    const row = before?.get(record.id)
    before?.delete(record.id)
    if (row === undefined) writer.addEntry(key, record, text)
    else writer.changeEntry(row, key, record, text)
  }
  for (const row of before?.values() ?? []) writer.removeEntry(row.key)
}

function readAll(fd: number, size: number): LogContents {
  const bytes = readRange(fd, 0, size)
  return { ...parseLog(bytes, ''), bytes }
}

function textsInEffect(records: readonly RawEntry[]): ReadonlyMap<string, string> {
  return new Map(inEffect(records).map((entry) => [entry.id, entryText(entry)]))
}

// Over all of it: three megabytes take a few milliseconds, and no rewrite can pass for a continuation.
function prefixSum(fd: number, end: number): number {
  let sum = 0
  for (let from = 0; from < end; from += CHUNK_BYTES) {
    sum = crc32(readRange(fd, from, Math.min(end, from + CHUNK_BYTES)), sum)
  }
  return sum
}
