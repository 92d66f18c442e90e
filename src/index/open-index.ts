import { join } from 'node:path'
import { statOrUndefined } from '../journal/files.ts'
import type { LogPlace } from '../journal/log.ts'
import { readLog } from '../journal/read.ts'
import type { RawEntry } from '../session/in-effect.ts'
import type { SessionStatus } from '../session/state.ts'
import { joinWords } from './entry-text.ts'
import {
  HANDOFF_SQL,
  IS_SESSION,
  NAME_PART_SQL,
  type PagedSql,
  type SearchQuery,
  type SessionFilter,
  TASK_SQL,
  listSql,
  searchSql,
} from './queries.ts'
import { type SessionRow, type StoredRow, rowFrom } from './rows.ts'
import { OtherVersion, openDatabase } from './schema.ts'
import { setAside } from './set-aside.ts'
import { type Database, type SqlValue, type Statement, isBusy, isCorrupt, isUnwritable } from './sqlite.ts'
import { synchronise } from './synchronise.ts'

/** Where the sessions of a project are. */
export interface IndexSource {
  /** The `.sessions` folder, whose `journal` folder changes when a session comes or goes. */
  readonly folder: string
  /** The root of the project. */
  readonly project: string
  /** Every session with a journal. */
  sessionIds(): Iterable<string>
  log(id: string): LogPlace
}

export interface IndexOptions {
  /** Takes a line for the person: the index was rebuilt, or is behind. */
  say(line: string): void
  /** Called while every session is read. */
  progress?(done: number, total: number): void
}

/** An entry that a search found. */
export interface SearchHit {
  readonly project: string
  readonly session: string
  readonly name: string
  readonly title: string
  readonly status: SessionStatus
  readonly entry: string
  readonly kind: string
  readonly at: string
  /** The words found and some around them, on one line. */
  readonly snippet: string
  /** Larger is better; comparable within one answer only. */
  readonly score: number
}

export interface Verification {
  readonly checked: number
  /** Sessions whose number of entries differs from that in their log. */
  readonly differing: readonly { readonly id: string; readonly indexed: number; readonly inLog: number }[]
  /** What SQLite finds wrong with the file. */
  readonly damage: readonly string[]
}

/** Opens the index of a project and brings it up to date, building it when there is none that can be used. */
export async function openIndex(source: IndexSource, options: IndexOptions): Promise<SessionIndex> {
  const index = new SessionIndex(source, options)
  index.sync()
  return index
}

/**
 * Lists and searches sessions. Everything in it comes from the journals: the file may be deleted at
 * any time, and one that is damaged or of another version is set aside and built again.
 */
export class SessionIndex {
  readonly #source: IndexSource
  readonly #options: IndexOptions
  readonly #path: string
  #database: Database
  /** Of the file that is open; undefined while the index lives in memory only. */
  #inode: number | undefined
  /** Prepared statements that nobody is reading from. */
  readonly #idle = new Map<string, Statement>()
  #isClosed = false

  constructor(source: IndexSource, options: IndexOptions) {
    this.#source = source
    this.#options = options
    this.#path = join(source.folder, 'index.db')
    this.#database = this.#open()
  }

  /**
   * Reads what was appended since the last time. `full` also looks at logs that nobody marked as
   * touched, which is needed after something other than Stint changed them.
   */
  sync({ full = false }: { full?: boolean } = {}): void {
    this.#followFile()
    this.#repairing(() => this.#synchronise(full))
  }

  *sessions(filter: SessionFilter = {}): IterableIterator<SessionRow> {
    for (const row of this.#stream(listSql(filter))) yield rowFrom(row as StoredRow)
  }

  /** Sessions that a person may mean by a short name or a piece of an id, best first. */
  byNamePart(text: string): readonly SessionRow[] {
    return text === '' ? [] : this.#rows(NAME_PART_SQL, text, text.toLowerCase())
  }

  /** The sessions that are active or paused, the latest first. */
  openSessions(): IterableIterator<SessionRow> {
    return this.sessions({ status: ['active', 'paused'] })
  }

  /** Entries that hold every word asked for, the most telling first. */
  *search(query: SearchQuery): IterableIterator<SearchHit> {
    const sql = searchSql(query)
    if (sql === undefined) return
    const { project } = this.#source
    for (const hit of this.#stream(sql) as IterableIterator<Omit<SearchHit, 'project'>>) {
      yield { project, ...hit, snippet: onOneLine(hit.snippet), score: -hit.score }
    }
  }

  counts(): { readonly sessions: number; readonly entries: number } {
    const sql = `SELECT (SELECT count(*) FROM sessions s WHERE ${IS_SESSION}) AS sessions, (SELECT count(*) FROM entries) AS entries`
    return this.#repairing(() => ({ ...(this.#database.prepare(sql).get() as { sessions: number; entries: number }) }))
  }

  /** Every entry about a task, by id, with those that take back or change one. */
  *taskEntries(): IterableIterator<RawEntry> {
    const rows = this.#stream({ sql: TASK_SQL, values: [], limit: Infinity, offset: 0 })
    for (const row of rows) yield JSON.parse((row as { record: string }).record) as RawEntry
  }

  /** Every entry about a handoff that is for somebody else, by id, with the session it was made in. */
  *handoffEntries(): IterableIterator<{ readonly session: string; readonly name: string; readonly entry: RawEntry }> {
    const rows = this.#stream({ sql: HANDOFF_SQL, values: [], limit: Infinity, offset: 0 })
    for (const row of rows as IterableIterator<{ session: string; name: string; record: string }>) {
      yield { session: row.session, name: row.name, entry: JSON.parse(row.record) as RawEntry }
    }
  }

  /** Compares the index with every log and looks for damage in it. Reads everything. */
  verify(): Verification {
    return this.#repairing(() => {
      const differing: { id: string; indexed: number; inLog: number }[] = []
      const indexed = new Map<string, number>()
      const sql = 'SELECT s.id, count(e.key) AS entries FROM sessions s LEFT JOIN entries e ON e.session = s.key GROUP BY s.key'
      for (const row of this.#iterate(sql, []) as IterableIterator<{ id: string; entries: number }>) {
        indexed.set(row.id, row.entries)
      }
      const ids = new Set([...this.#source.sessionIds(), ...indexed.keys()])
      for (const id of ids) {
        const inLog = entriesInLog(this.#source.log(id))
        if (inLog !== (indexed.get(id) ?? 0)) differing.push({ id, indexed: indexed.get(id) ?? 0, inLog })
      }
      return { checked: ids.size, differing, damage: this.#damage() }
    })
  }

  close(): void {
    if (!this.#isClosed) this.#database.close()
    this.#isClosed = true
  }

  #open(): Database {
    const { ino: inode, size = 0 } = statOrUndefined(this.#path) ?? {}
    try {
      try {
        // SQLite takes a file that is shorter than its smallest page for an empty one and writes over it.
        if (size > 0 && size < 512) throw new OtherVersion('is cut off')
        return this.#opened(openDatabase(this.#path))
      } catch (error) {
        if (!(error instanceof OtherVersion) && !isCorrupt(error)) throw error
        this.#setAside(inode, error)
        return this.#opened(openDatabase(this.#path))
      }
    } catch (error) {
      // Still of another version: a different Stint is at work here right now.
      if (isUnwritable(error) || isBusy(error) || error instanceof OtherVersion) return this.#openInMemory(error)
      throw error
    }
  }

  #opened(database: Database): Database {
    this.#inode = statOrUndefined(this.#path)?.ino
    return database
  }

  #openInMemory(cause: unknown): Database {
    this.#inode = undefined
    this.#options.say(`the index cannot be used (${reasonOf(cause)}); reading the journals for this once`)
    return openDatabase(':memory:')
  }

  #setAside(inode: number | undefined, cause: unknown): void {
    const what = cause instanceof OtherVersion ? cause.message : `is damaged (${reasonOf(cause)})`
    const name = setAside(this.#path, inode)
    const where = name === undefined ? '' : `; the old one is ${name}`
    this.#options.say(`the index ${what} and is built again from the journals${where}`)
  }

  /** Goes over to the file that has the name now: another process may have deleted or replaced ours. */
  #followFile(): void {
    if (this.#inode === undefined || statOrUndefined(this.#path)?.ino === this.#inode) return
    this.#reopen()
  }

  #reopen(): void {
    this.#idle.clear()
    this.#database.close()
    this.#database = this.#open()
  }

  #synchronise(full: boolean): void {
    try {
      const unread = synchronise(this.#database, this.#source, {
        full,
        keepMarks: this.#inode === undefined,
        ...(this.#options.progress === undefined ? {} : { progress: this.#options.progress }),
      })
      if (unread !== undefined) this.#options.say(unread)
    } catch (error) {
      if (!isBusy(error) && !isUnwritable(error)) throw error
      const why = isBusy(error)
        ? 'another process is bringing the index up to date'
        : `the index cannot be written (${reasonOf(error)})`
      this.#options.say(`${why}; the newest entries may be missing from this answer`)
    }
  }

  /** Does the work, and once more on another index when this one turns out to be unusable. */
  #repairing<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      this.#recoverFrom(error)
      return work()
    }
  }

  /** A damaged file is set aside and built again; one whose disk fails is left alone, and memory serves this once. */
  #recoverFrom(error: unknown): void {
    if (isCorrupt(error)) {
      this.#setAside(this.#inode, error)
      this.#reopen()
    } else if (isUnwritable(error) && this.#inode !== undefined) {
      this.#idle.clear()
      this.#database = this.#openInMemory(error)
    } else throw error
    this.#synchronise(true)
  }

  *#stream({ sql, values, limit, offset }: PagedSql): IterableIterator<unknown> {
    let given = 0
    const rest = () => [...values, Number.isFinite(limit) ? limit - given : -1, offset + given]
    for (let isRepaired = false; ; isRepaired = true) {
      try {
        for (const row of this.#iterate(sql, rest())) {
          given += 1
          yield row
        }
        return
      } catch (error) {
        if (isRepaired) throw error
        this.#recoverFrom(error)
      }
    }
  }

  *#iterate(sql: string, values: readonly SqlValue[]): IterableIterator<unknown> {
    // Two lists may be read at once, so a statement is kept for the next only when this is through
    // with it. It must be held on to anyway: an iterator of the package does not keep it alive.
    const database = this.#database
    const statement = this.#idle.get(sql) ?? database.prepare(sql)
    this.#idle.delete(sql)
    try {
      yield* statement.iterate(...values)
    } finally {
      if (database === this.#database) this.#idle.set(sql, statement)
    }
  }

  #rows(sql: string, ...values: SqlValue[]): readonly SessionRow[] {
    return this.#repairing(() => Array.from(this.#iterate(sql, values) as IterableIterator<StoredRow>, rowFrom))
  }

  #damage(): readonly string[] {
    const found = (this.#database.prepare('PRAGMA quick_check').all() as { quick_check: string }[]).map((row) => row.quick_check)
    return found.filter((line) => line !== 'ok')
  }
}

function entriesInLog(place: LogPlace): number {
  const path = [place.path, place.link].find((name) => name !== undefined && statOrUndefined(name) !== undefined)
  return path === undefined ? 0 : readLog(path).records.length
}

function onOneLine(snippet: string): string {
  return joinWords(snippet).replaceAll(/\s+/g, ' ').trim()
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
