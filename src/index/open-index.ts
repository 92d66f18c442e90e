import { join } from 'node:path'
import { statOrUndefined } from '../journal/look.ts'
import type { LogPlace } from '../journal/log.ts'
import { readLog } from '../journal/read.ts'
import type { RawEntry } from '../session/in-effect.ts'
import type { SessionStatus } from '../session/state.ts'
import { joinWords } from './entry-text.ts'
import { IndexFile } from './index-file.ts'
import {
  ENTRY_TEXT_SQL,
  HANDOFF_SQL,
  IS_SESSION,
  JOINED_SQL,
  NAME_PART_SQL,
  type PagedSql,
  RETRACTION_SQL,
  ROW_SELECT,
  type SearchQuery,
  type SessionFilter,
  TASK_SQL,
  countSql,
  listSql,
  saidSql,
  searchSql,
} from './queries.ts'
import { type SessionRow, type StoredRow, rowFrom } from './rows.ts'
import { type Database, type SqlValue, type Statement, isBusy, isUnwritable } from './sqlite.ts'
import { snippetLine } from './match.ts'
import { type SaidProgress, synchroniseSaid } from './synchronise-said.ts'
import { synchronise } from './synchronise.ts'
import { defined } from '../text/defined.ts'

export interface IndexSource {
  /** `.sessions` */
  readonly folder: string
  /** Creates that folder: `git clean` may remove it at any time. */
  prepare(): void
  readonly project: string
  sessionIds(): Iterable<string>
  log(id: string): LogPlace
}

export interface IndexOptions {
  /** Takes a message for the user: the index was rebuilt, or is behind. */
  say(line: string): void
  /** Called while every session is read. */
  progress?(done: number, total: number): void
}

/** An entry that a search found. */
export interface SearchHit {
  readonly where: 'journal'
  readonly project: string
  readonly session: string
  readonly name: string
  readonly title: string
  readonly status: SessionStatus
  readonly entry: string
  readonly kind: string
  readonly at: string
  /** One line. */
  readonly snippet: string
  /** Larger is better; comparable within one answer only. */
  readonly score: number
}

/** A message that a search found. */
export interface SaidHit {
  readonly where: 'said'
  readonly project: string
  readonly conversation: string
  readonly harness?: string
  /** The number of the item in its conversation, from 0. */
  readonly item: number
  readonly role: 'user' | 'assistant' | 'system'
  readonly at?: string
  /** The session that the conversation joined last. */
  readonly session?: string
  readonly name?: string
  readonly snippet: string
  /** Comparable with other messages of the same answer only. */
  readonly score: number
}

export interface Verification {
  readonly checked: number
  readonly differing: readonly {
    readonly id: string
    readonly indexed: number
    readonly inLog: number
  }[]
  readonly damage: readonly string[]
}

export async function openIndex(source: IndexSource, options: IndexOptions): Promise<SessionIndex> {
  const index = new SessionIndex(source, options)
  index.sync()
  return index
}

type StoredSaid = Pick<SaidHit, 'conversation' | 'item' | 'role' | 'snippet' | 'score'> &
  Readonly<Record<'harness' | 'at' | 'session' | 'name', string | null>>

const TRIES = 4

/** Built from the journals alone: the file may be deleted at any time, and one that is damaged or of another version is quarantined and rebuilt. */
export class SessionIndex {
  readonly #source: IndexSource
  readonly #options: IndexOptions
  readonly #file: IndexFile
  /** Prepared statements not in use. */
  readonly #idle = new WeakMap<Database, Map<string, Statement>>()

  /** Valid while the database is unchanged. */
  #counts: { database?: Database; stamp: string; known: Map<string, number> } = {
    stamp: '',
    known: new Map(),
  }

  constructor(source: IndexSource, options: IndexOptions) {
    this.#source = source
    this.#options = options
    this.#file = new IndexFile(join(source.folder, 'index.db'), {
      prepare: () => source.prepare(),
      say: (line) => options.say(line),
    })
  }

  /** `full` also reads logs that were not marked as touched, for changes that Stint did not make. */
  sync({ full = false }: { full?: boolean } = {}): void {
    this.#file.follow()
    this.#repairing(() => this.#synchronise(full))
  }

  *sessions(filter: SessionFilter = {}): IterableIterator<SessionRow> {
    for (const row of this.#stream(listSql(filter))) yield rowFrom(row as StoredRow)
  }

  /** Cached until something is written, since counting visits every session. */
  countSessions(filter: SessionFilter = {}): number {
    const { sql, values } = countSql(filter)
    return this.#repairing(() => {
      const { database } = this.#file
      const [version] = this.#iterate('PRAGMA data_version', []) as IterableIterator<{
        data_version: number
      }>
      const [own] = this.#iterate('SELECT total_changes() AS changes', []) as IterableIterator<{
        changes: number
      }>
      const stamp = `${version!.data_version} ${own!.changes}`
      if (this.#counts.database !== database || this.#counts.stamp !== stamp) {
        this.#counts = { database, stamp, known: new Map() }
      }
      const key = JSON.stringify([sql, values])
      const known = this.#counts.known.get(key)
      if (known !== undefined) return known
      const [counted] = this.#iterate(sql, values) as IterableIterator<{ number: number }>
      this.#counts.known.set(key, counted!.number)
      return counted!.number
    })
  }

  session(id: string): SessionRow | undefined {
    return this.#rows(`${ROW_SELECT} WHERE ${IS_SESSION} AND s.id = ?`, id)[0]
  }

  sessionOfConversation(conversation: string): string | undefined {
    const row = this.#repairing(() => [...this.#iterate(JOINED_SQL, [conversation])][0]) as
      | { id: string }
      | undefined
    return row?.id
  }

  takenBack(session: string): ReadonlySet<string> {
    const rows = this.#repairing(() => [...this.#iterate(RETRACTION_SQL, [session])]) as {
      id: string
      refers: string
    }[]
    const taken = new Set<string>()
    // Newest first, so that a retracted retraction does not count.
    for (const { id, refers } of rows.toReversed()) if (!taken.has(id)) taken.add(refers)
    return taken
  }

  entryText(session: string, entry: string): string | undefined {
    const row = this.#repairing(() => [...this.#iterate(ENTRY_TEXT_SQL, [session, entry])][0]) as
      | { text: string }
      | undefined
    return row === undefined ? undefined : joinWords(row.text)
  }

  byNamePart(text: string): readonly SessionRow[] {
    // For SQLite a text ends at its first NUL.
    return text === '' || text.includes('\0')
      ? []
      : this.#rows(NAME_PART_SQL, text, text.toLowerCase())
  }

  openSessions(): IterableIterator<SessionRow> {
    return this.sessions({ status: ['active', 'paused'] })
  }

  /** Every word must occur; best first. */
  *search(query: SearchQuery): IterableIterator<SearchHit> {
    const sql = searchSql(query)
    if (sql === undefined) return
    const { project } = this.#source
    for (const hit of this.#stream(sql) as IterableIterator<Omit<SearchHit, 'project' | 'where'>>) {
      yield {
        where: 'journal',
        project,
        ...hit,
        snippet: snippetLine(hit.snippet, query.marks),
        score: -hit.score,
      }
    }
  }

  *searchSaid(query: SearchQuery): IterableIterator<SaidHit> {
    const sql = saidSql(query)
    if (sql === undefined) return
    const { project } = this.#source
    for (const row of this.#stream(sql) as IterableIterator<StoredSaid>) {
      const { harness, at, session, name, ...hit } = row
      const known = Object.entries({ harness, at, session, name }).filter(
        ([, value]) => value !== null,
      )
      yield {
        where: 'said',
        project,
        ...hit,
        ...Object.fromEntries(known),
        snippet: snippetLine(hit.snippet, query.marks),
        score: -hit.score,
      }
    }
  }

  syncSaid(budgetMs: number): SaidProgress {
    this.#file.follow()
    return this.#repairing(() => {
      try {
        return synchroniseSaid(this.#file.database, this.#source.folder, budgetMs)
      } catch (error) {
        if (this.#file.isTakenAway() || (!isBusy(error) && !isUnwritable(error))) throw error
        this.#options.say(
          'the newest messages may be missing from this answer; the index cannot be written now',
        )
        return { bytesLeft: 0 }
      }
    })
  }

  counts(): { readonly sessions: number; readonly entries: number } {
    const sql = `SELECT (SELECT count(*) FROM sessions s WHERE ${IS_SESSION}) AS sessions, (SELECT count(*) FROM entries) AS entries`
    return this.#repairing(() => ({
      ...(this.#file.database.prepare(sql).get() as { sessions: number; entries: number }),
    }))
  }

  *taskEntries(): IterableIterator<RawEntry> {
    const rows = this.#stream({ sql: TASK_SQL, values: [], limit: Infinity, offset: 0 })
    for (const row of rows) yield JSON.parse((row as { record: string }).record) as RawEntry
  }

  *handoffEntries(): IterableIterator<{
    readonly session: string
    readonly name: string
    readonly entry: RawEntry
  }> {
    const rows = this.#stream({ sql: HANDOFF_SQL, values: [], limit: Infinity, offset: 0 })
    for (const row of rows as IterableIterator<{ session: string; name: string; record: string }>) {
      yield { session: row.session, name: row.name, entry: JSON.parse(row.record) as RawEntry }
    }
  }

  verify(): Verification {
    return this.#repairing(() => {
      const differing: { id: string; indexed: number; inLog: number }[] = []
      const indexed = new Map<string, number>()
      const sql =
        'SELECT s.id, count(e.key) AS entries FROM sessions s LEFT JOIN entries e ON e.session = s.key GROUP BY s.key'
      for (const row of this.#iterate(sql, []) as IterableIterator<{
        id: string
        entries: number
      }>) {
        indexed.set(row.id, row.entries)
      }
      const ids = new Set([...this.#source.sessionIds(), ...indexed.keys()])
      for (const id of ids) {
        const inLog = entriesInLog(this.#source.log(id))
        if (inLog !== (indexed.get(id) ?? 0))
          differing.push({ id, indexed: indexed.get(id) ?? 0, inLog })
      }
      return { checked: ids.size, differing, damage: this.#damage() }
    })
  }

  close(): void {
    this.#file.close()
  }

  #synchronise(full: boolean): void {
    try {
      const unread = synchronise(this.#file.database, this.#source, {
        // Other processes clear marks for the file, not for this memory.
        full: full || this.#file.isInMemory,
        keepMarks: this.#file.isInMemory,
        ...defined({ progress: this.#options.progress }),
      })
      if (unread !== undefined) this.#options.say(unread)
    } catch (error) {
      if (this.#file.isTakenAway() || (!isBusy(error) && !isUnwritable(error))) throw error
      const why = isBusy(error)
        ? 'another process is bringing the index up to date'
        : `the index cannot be written (${reasonOf(error)})`
      this.#options.say(`${why}; the newest entries may be missing from this answer`)
    }
  }

  #repairing<T>(work: () => T): T {
    for (let tries = 1; ; tries += 1) {
      try {
        if (tries > 1) this.#synchronise(true)
        return work()
      } catch (error) {
        this.#file.recoverFrom(error, tries >= TRIES)
      }
    }
  }

  *#stream({ sql, values, limit, offset }: PagedSql): IterableIterator<unknown> {
    let given = 0
    const rest = () => [...values, Number.isFinite(limit) ? limit - given : -1, offset + given]
    for (let tries = 1; ; tries += 1) {
      const { database } = this.#file
      try {
        if (tries > 1) this.#synchronise(true)
        for (const row of this.#iterate(sql, rest())) {
          given += 1
          yield row
        }
        return
      } catch (error) {
        // Another call may have switched the database meanwhile; the list continues there.
        if (database === this.#file.database) this.#file.recoverFrom(error, tries >= TRIES)
      }
    }
  }

  *#iterate(sql: string, values: readonly SqlValue[]): IterableIterator<unknown> {
    // Reused only when this list is finished. It must be held anyway: an iterator of the package does not keep it alive.
    const { database } = this.#file
    const idle = this.#idle.get(database) ?? new Map<string, Statement>()
    this.#idle.set(database, idle)
    const statement = idle.get(sql) ?? database.prepare(sql)
    idle.delete(sql)
    try {
      yield* statement.iterate(...values)
    } finally {
      idle.set(sql, statement)
    }
  }

  #rows(sql: string, ...values: SqlValue[]): readonly SessionRow[] {
    return this.#repairing(() =>
      Array.from(this.#iterate(sql, values) as IterableIterator<StoredRow>, rowFrom),
    )
  }

  #damage(): readonly string[] {
    const found = (
      this.#file.database.prepare('PRAGMA quick_check').all() as { quick_check: string }[]
    ).map((row) => row.quick_check)
    return found.filter((line) => line !== 'ok')
  }
}

function entriesInLog(place: LogPlace): number {
  const path = [place.path, place.link].find(
    (name) => name !== undefined && statOrUndefined(name) !== undefined,
  )
  return path === undefined ? 0 : readLog(path).records.length
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
