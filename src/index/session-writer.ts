import type { RawEntry } from '../session/in-effect.ts'
import type { SessionState } from '../session/state.ts'
import { ROW_COLUMNS, rowValues } from './rows.ts'
import type { Database, Statement } from './sqlite.ts'

export interface StoredLog {
  readonly key: number
  readonly inode: number
  readonly size: number
  readonly mtime: number
  readonly offset: number
  /** CRC-32 of the bytes before `offset`. */
  readonly prefix: number
}

export interface StoredEntry {
  readonly key: number
  readonly id: string
  readonly kind: string
  readonly at: string
  readonly once: string | null
  readonly record: string | null
  readonly text: string | null
}

const COLUMNS = [...ROW_COLUMNS, 'inode', 'size', 'mtime', 'offset', 'prefix']
const INSERT_SESSION = `INSERT INTO sessions (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')})`
const UPDATE_SESSION = `UPDATE sessions SET ${COLUMNS.map((column) => `${column} = ?`).join(', ')} WHERE key = ?`

export class SessionWriter {
  readonly #statements = new Map<string, Statement>()
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  storedLog(id: string): StoredLog | undefined {
    const sql = 'SELECT key, inode, size, mtime, offset, prefix FROM sessions WHERE id = ?'
    return this.#sql(sql).get(id) as StoredLog | undefined
  }

  storedState(key: number): SessionState | undefined {
    const row = this.#sql('SELECT state FROM states WHERE session = ?').get(key) as
      | { state: string }
      | undefined
    return row === undefined ? undefined : (JSON.parse(row.state) as SessionState)
  }

  putState(key: number, state: SessionState): void {
    this.#sql('INSERT OR REPLACE INTO states (session, state) VALUES (?, ?)').run(
      key,
      JSON.stringify(state),
    )
  }

  dropState(key: number): void {
    this.#sql('DELETE FROM states WHERE session = ?').run(key)
  }

  putSession(state: SessionState, log: Omit<StoredLog, 'key'>, key?: number): number {
    const values = [...rowValues(state), log.inode, log.size, log.mtime, log.offset, log.prefix]
    if (key !== undefined) {
      this.#sql(UPDATE_SESSION).run(...values, key)
      this.#sql('DELETE FROM session_tasks WHERE session = ?').run(key)
    } else {
      key = Number(this.#sql(INSERT_SESSION).run(...values).lastInsertRowid)
    }
    for (const task of state.tasks)
      this.#sql('INSERT OR IGNORE INTO session_tasks (task, session) VALUES (?, ?)').run(task, key)
    return key
  }

  entriesOf(session: number): Map<string, StoredEntry> {
    const sql = `SELECT key, id, kind, at, once, record, text FROM entries LEFT JOIN texts ON texts.rowid = key WHERE session = ?`
    return new Map((this.#sql(sql).all(session) as StoredEntry[]).map((row) => [row.id, row]))
  }

  addEntry(session: number, entry: RawEntry, text: string): void {
    const insert =
      'INSERT OR IGNORE INTO entries (session, id, kind, at, once, refers, record) VALUES (?, ?, ?, ?, ?, ?, ?)'
    const { changes, lastInsertRowid } = this.#sql(insert).run(
      session,
      entry.id,
      entry.kind,
      entry.at,
      entry.once ?? null,
      targetOf(entry),
      keptRecord(entry),
    )
    if (Number(changes) > 0 && text !== '') this.#addText(Number(lastInsertRowid), text)
  }

  changeEntry(row: StoredEntry, session: number, entry: RawEntry, text: string): void {
    const isSameRecord =
      row.kind === entry.kind &&
      row.at === entry.at &&
      row.once === (entry.once ?? null) &&
      row.record === keptRecord(entry)
    if (!isSameRecord) {
      this.removeEntry(row.key)
      this.addEntry(session, entry, text)
    } else if ((row.text ?? '') !== text) {
      this.#removeText(row.key)
      if (text !== '') this.#addText(row.key, text)
    }
  }

  removeEntry(key: number): void {
    this.#removeText(key)
    this.#sql('DELETE FROM entries WHERE key = ?').run(key)
  }

  drop(session: number): void {
    this.#sql('DELETE FROM texts WHERE rowid IN (SELECT key FROM entries WHERE session = ?)').run(
      session,
    )
    this.#sql('DELETE FROM entries WHERE session = ?').run(session)
    this.#sql('DELETE FROM session_tasks WHERE session = ?').run(session)
    this.dropState(session)
    this.#sql('DELETE FROM sessions WHERE key = ?').run(session)
  }

  /** Whether an earlier entry already decides about this one: a repeat, or retracted. */
  isForeshadowed(session: number, entry: RawEntry): boolean {
    const isRepeat = 'SELECT 1 FROM entries WHERE session = ? AND once = ?'
    if (entry.once !== undefined && this.#sql(isRepeat).get(session, entry.once) !== undefined)
      return true
    const isTarget = 'SELECT 1 FROM entries WHERE refers = ? AND session = ?'
    return [entry.id, entry.data['from']].some(
      (id) => typeof id === 'string' && this.#sql(isTarget).get(id, session) !== undefined,
    )
  }

  fact(name: string): string | undefined {
    return (
      this.#sql('SELECT value FROM facts WHERE name = ?').get(name) as { value: string } | undefined
    )?.value
  }

  setFact(name: string, value: string): void {
    this.#sql('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)').run(name, value)
  }

  #addText(key: number, text: string): void {
    this.#sql('INSERT INTO texts (rowid, text) VALUES (?, ?)').run(key, text)
  }

  #removeText(key: number): void {
    this.#sql('DELETE FROM texts WHERE rowid = ?').run(key)
  }

  #sql(sql: string): Statement {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#database.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }
}

const REACHING_BACK = new Set(['entry.retracted', 'entry.amended'])

function targetOf(entry: RawEntry): string | null {
  if (entry.kind === 'conversation.joined')
    return typeof entry.data['conversation'] === 'string' ? entry.data['conversation'] : null
  return REACHING_BACK.has(entry.kind) && typeof entry.data['entry'] === 'string'
    ? entry.data['entry']
    : null
}

/** Only for the kinds that the backlog and waiting handoffs are folded from. */
function keptRecord(entry: RawEntry): string | null {
  if (entry.kind === 'handoff.made' || entry.kind === 'handoff.accepted') return keptHandoff(entry)
  return entry.kind.startsWith('task.') || REACHING_BACK.has(entry.kind)
    ? JSON.stringify(entry)
    : null
}

// Most handoffs have no target, and their text is long.
function keptHandoff(entry: RawEntry): string | null {
  const { document: _text, moved: _moved, files: _files, ...data } = entry.data
  return entry.kind === 'handoff.accepted' || data['to'] !== undefined
    ? JSON.stringify({ ...entry, data })
    : null
}
