import { closeSync, fstatSync } from 'node:fs'
import { crc32 } from '../journal/record.ts'
import { isMissing } from '../journal/errors.ts'
import { openToRead } from '../journal/write-files.ts'
import type { LogPaths } from '../journal/log.ts'
import { isTooLarge } from '../journal/read-files.ts'
import { parseLog, readLogRange, readRange } from '../journal/read-log.ts'
import { NeedsFullFold, abridge, advance, fold } from '../session/fold.ts'
import { type RawEntry, effectiveEntries } from '../session/effective-entries.ts'
import type { SessionState } from '../session/state.ts'
import { entryText } from './entry-text.ts'
import { ROW_COLUMNS, rowValues } from './queries.ts'
import { Statements } from './sqlite.ts'

const LONG_LOG_BYTES = 64 * 1024
const CHUNK_BYTES = 1024 * 1024

export function indexSession(writer: SessionWriter, id: string, paths: LogPaths): void {
  const stored = writer.storedLog(id)
  const fd = openLog(paths)
  if (fd === undefined) {
    if (stored !== undefined) writer.drop(stored.key)
    return
  }
  try {
    const { ino: inode, size, mtimeMs: mtime } = fstatSync(fd)
    const log = { inode, size, mtime }
    if (stored !== undefined && isSameLogFile(stored, log)) return
    if (stored === undefined || !readAppended(writer, fd, stored, log))
      readFullLog(writer, fd, id, stored, log)
  } catch (error) {
    // It is not listed; stint doctor reports it.
    if (!isTooLarge(error)) throw error
  } finally {
    closeSync(fd)
  }
}

export function openLog(paths: LogPaths): number | undefined {
  for (const name of [paths.path, paths.link]) {
    if (name === undefined) continue
    try {
      return openToRead(name)
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  }
  return undefined
}

type LogIdentity = Pick<StoredLog, 'inode' | 'size' | 'mtime'>

export function isSameLogFile(stored: LogIdentity, log: LogIdentity): boolean {
  return stored.inode === log.inode && stored.size === log.size && stored.mtime === log.mtime
}

function readAppended(writer: SessionWriter, fd: number, stored: StoredLog, log: LogIdentity) {
  const { key, offset } = stored
  const state = writer.storedState(key)
  if (state === undefined || stored.inode !== log.inode || log.size < offset) return false
  if (prefixSum(fd, offset) !== stored.prefix) return false
  const tail = readLogRange(fd, '', offset).subarray(0, log.size - offset)
  const { records, end } = parseLog(tail, '', offset)
  const fresh = records.filter((record) => record.id !== state.lastId)
  // A state forgets old `once` keys and every retraction; the table does not.
  if (fresh.some((record) => writer.affectsEarlierEntries(key, record))) return false
  let next: SessionState
  try {
    next = advance(state, fresh)
  } catch (error) {
    if (error instanceof NeedsFullFold) return false
    throw error
  }
  const prefix = crc32(tail.subarray(0, end - offset), stored.prefix)
  writer.putSession(next, { ...log, offset: end, prefix }, key)
  writer.putState(key, abridge(next))
  const texts = textsInEffect(fresh)
  for (const record of fresh) writer.addEntry(key, record, texts.get(record.id) ?? '')
  return true
}

function readFullLog(
  writer: SessionWriter,
  fd: number,
  id: string,
  stored: StoredLog | undefined,
  log: LogIdentity,
) {
  const bytes = readLogRange(fd, '', 0).subarray(0, log.size)
  const { records, end } = parseLog(bytes, '')
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

function textsInEffect(records: readonly RawEntry[]) {
  return new Map(effectiveEntries(records).map((entry) => [entry.id, entryText(entry)]))
}

// Over the whole prefix: three megabytes take a few milliseconds, and no rewrite can pass for an
// append.
function prefixSum(fd: number, end: number) {
  let sum = 0
  for (let from = 0; from < end; from += CHUNK_BYTES)
    sum = crc32(readRange(fd, from, Math.min(end, from + CHUNK_BYTES)), sum)
  return sum
}

interface StoredLog {
  readonly key: number
  readonly inode: number
  readonly size: number
  readonly mtime: number
  readonly offset: number
  readonly prefix: number
}

type StoredEntry = Readonly<
  Record<'id' | 'kind' | 'at', string> &
    Record<'once' | 'record' | 'text', string | null> & { key: number }
>

const COLUMNS = [...ROW_COLUMNS, 'inode', 'size', 'mtime', 'offset', 'prefix']
const INSERT_SESSION = `INSERT INTO sessions (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')})`
const UPDATE_SESSION = `UPDATE sessions SET ${COLUMNS.map((column) => `${column} = ?`).join(', ')} WHERE key = ?`

export class SessionWriter extends Statements {
  storedLog(id: string): StoredLog | undefined {
    return this.get('SELECT key, inode, size, mtime, offset, prefix FROM sessions WHERE id = ?', id)
  }

  storedState(key: number): SessionState | undefined {
    const row = this.get<{ state: string }>('SELECT state FROM states WHERE session = ?', key)
    return row === undefined ? undefined : (JSON.parse(row.state) as SessionState)
  }

  putState(key: number, state: SessionState): void {
    const sql = 'INSERT OR REPLACE INTO states (session, state) VALUES (?, ?)'
    this.run(sql, key, JSON.stringify(state))
  }

  dropState(key: number): void {
    this.run('DELETE FROM states WHERE session = ?', key)
  }

  putSession(state: SessionState, log: Omit<StoredLog, 'key'>, known?: number): number {
    const values = [...rowValues(state), log.inode, log.size, log.mtime, log.offset, log.prefix]
    const key = known ?? this.run(INSERT_SESSION, ...values).key
    if (known !== undefined) {
      this.run(UPDATE_SESSION, ...values, key)
      this.run('DELETE FROM session_tasks WHERE session = ?', key)
    }
    for (const task of state.tasks)
      this.run('INSERT OR IGNORE INTO session_tasks (task, session) VALUES (?, ?)', task, key)
    return key
  }

  entriesOf(session: number): Map<string, StoredEntry> {
    const sql = `SELECT key, id, kind, at, once, record, text FROM entries LEFT JOIN texts ON texts.rowid = key WHERE session = ?`
    return new Map(this.all<StoredEntry>(sql, session).map((row) => [row.id, row]))
  }

  addEntry(session: number, entry: RawEntry, text: string): void {
    const { id, kind, at, once = null } = entry
    const sql =
      'INSERT OR IGNORE INTO entries (session, id, kind, at, once, refers, record) VALUES (?, ?, ?, ?, ?, ?, ?)'
    const added = this.run(
      sql,
      session,
      id,
      kind,
      at,
      once,
      referredId(entry),
      recordToStore(entry),
    )
    if (added.changes > 0) this.#addText(added.key, text)
  }

  changeEntry(row: StoredEntry, session: number, entry: RawEntry, text: string): void {
    const isSameRecord =
      row.kind === entry.kind &&
      row.at === entry.at &&
      row.once === (entry.once ?? null) &&
      row.record === recordToStore(entry)
    if (!isSameRecord) {
      this.removeEntry(row.key)
      this.addEntry(session, entry, text)
    } else if ((row.text ?? '') !== text) {
      this.#removeText(row.key)
      this.#addText(row.key, text)
    }
  }

  removeEntry(key: number): void {
    this.#removeText(key)
    this.run('DELETE FROM entries WHERE key = ?', key)
  }

  drop(session: number): void {
    const entries = 'SELECT key FROM entries WHERE session = ?'
    this.run(`DELETE FROM texts WHERE rowid IN (${entries})`, session)
    this.run('DELETE FROM entries WHERE session = ?', session)
    this.run('DELETE FROM session_tasks WHERE session = ?', session)
    this.dropState(session)
    this.run('DELETE FROM sessions WHERE key = ?', session)
  }

  affectsEarlierEntries(session: number, { id, once, data }: RawEntry): boolean {
    const isRepeat = 'SELECT 1 FROM entries WHERE session = ? AND once = ?'
    if (once !== undefined && this.get(isRepeat, session, once) !== undefined) return true
    const isTarget = 'SELECT 1 FROM entries WHERE refers = ? AND session = ?'
    return [id, data.from].some(
      (target) => typeof target === 'string' && this.get(isTarget, target, session) !== undefined,
    )
  }

  #addText(key: number, text: string) {
    if (text !== '') this.run('INSERT INTO texts (rowid, text) VALUES (?, ?)', key, text)
  }

  #removeText(key: number) {
    this.run('DELETE FROM texts WHERE rowid = ?', key)
  }
}

const REACHING_BACK = new Set(['entry.retracted', 'entry.amended'])

function referredId({ kind, data }: RawEntry) {
  const target = kind === 'conversation.joined' ? data['conversation'] : data.entry
  const isStored = kind === 'conversation.joined' || REACHING_BACK.has(kind)
  return isStored && typeof target === 'string' ? target : null
}

/** Only for the kinds that the backlog and waiting handoffs are folded from. */
function recordToStore(entry: RawEntry) {
  const { kind } = entry
  if (kind.startsWith('task.') || REACHING_BACK.has(kind)) return JSON.stringify(entry)
  // Most handoffs have no target, and their text is long.
  const { document: _text, moved: _moved, files: _files, ...data } = entry.data
  const isStored = kind === 'handoff.accepted' || (kind === 'handoff.made' && data.to !== undefined)
  return isStored ? JSON.stringify({ ...entry, data }) : null
}
