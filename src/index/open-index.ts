import { join } from 'node:path'
import { reasonOf } from '../journal/errors.ts'
import { isTooLarge, statOrUndefined } from '../journal/read-files.ts'
import type { LogPaths } from '../journal/log.ts'
import { readLog } from '../journal/read-log.ts'
import type { RawEntry } from '../session/effective-entries.ts'
import type { SessionStatus } from '../session/state.ts'
import { joinWords } from './entry-text.ts'
import { IndexFile } from './index-file.ts'
import {
  ENTRY_TEXT_SQL,
  HANDOFF_SQL,
  IS_SESSION,
  SESSION_OF_CONVERSATION_SQL,
  SESSIONS_BY_NAME_OR_ID_SQL,
  type PagedSql,
  RETRACTION_SQL,
  ROW_SELECT,
  type SearchQuery,
  type SessionFilter,
  type SessionRow,
  TASK_SQL,
  countSql,
  listSql,
  rowFrom,
  messageSearchSql,
  searchSql,
  snippetLine,
} from './queries.ts'
import { type Database, type SqlValue, type Statement, isBusy, isUnwritable } from './sqlite.ts'
import { synchroniseMessages } from './synchronise-messages.ts'
import { type IndexSource, synchronise } from './synchronise.ts'
import { defined } from '../text/defined.ts'

export type { IndexSource } from './synchronise.ts'

interface IndexOptions {
  report(line: string): void
  progress?(done: number, total: number): void
}

/** A journal entry found by a search. */
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
  readonly snippet: string
  /** Larger is better; comparable only within one search. */
  readonly score: number
  /** Not written on this machine, and the user has not agreed to it. */
  readonly isFromElsewhere?: true
}

/** A stored message found by a search. */
export interface MessageHit {
  readonly where: 'said'
  readonly project: string
  readonly conversation: string
  readonly harness?: string
  readonly item: number
  readonly role: 'user' | 'assistant' | 'system'
  readonly at?: string
  readonly session?: string
  readonly name?: string
  readonly snippet: string
  readonly score: number
  /** Its file came with the repository, or its session did. */
  readonly isFromElsewhere?: true
}

export type IndexVerification = ReturnType<SessionIndex['verify']>

export async function openIndex(source: IndexSource, options: IndexOptions): Promise<SessionIndex> {
  const index = new SessionIndex(source, options)
  index.sync()
  return index
}

const ALL = { values: [], limit: Infinity, offset: 0 }
const MAX_TRIES = 4

/**
 * Built from the journals alone: the file may be deleted at any time, and a damaged one or one of
 * another version is quarantined and rebuilt.
 */
export class SessionIndex {
  readonly #source: IndexSource
  readonly #options: IndexOptions
  readonly #file: IndexFile
  readonly #idle = new WeakMap<Database, Map<string, Statement>>()

  #counts: { database?: Database; stamp: string; known: Map<string, number> } = {
    stamp: '',
    known: new Map(),
  }

  constructor(source: IndexSource, options: IndexOptions) {
    this.#source = source
    this.#options = options
    const path = join(source.folder, 'index.db')
    this.#file = new IndexFile(path, {
      prepare: () => source.prepare(),
      report: (line) => options.report(line),
      keyPath: source.keyPath,
    })
  }

  /** `full` also reads logs without a touch mark, for changes that Stint did not make. */
  sync({ full = false }: { full?: boolean } = {}): void {
    this.#file.reopenIfReplaced()
    this.#withRecovery(() => this.#synchronise(full))
  }

  *sessions(filter: SessionFilter = {}): IterableIterator<SessionRow> {
    for (const row of this.#stream(listSql(filter))) yield rowFrom(row)
  }

  countSessions(filter: SessionFilter = {}): number {
    const { sql, values } = countSql(filter)
    const key = JSON.stringify([sql, values])
    return this.#withRecovery(() => {
      const { database } = this.#file
      const [version] = this.#iterate<{ data_version: number }>('PRAGMA data_version')
      const [own] = this.#iterate<{ changes: number }>('SELECT total_changes() AS changes')
      const stamp = `${version!.data_version} ${own!.changes}`
      if (this.#counts.database !== database || this.#counts.stamp !== stamp)
        this.#counts = { database, stamp, known: new Map() }
      const { known } = this.#counts
      if (!known.has(key))
        for (const { number } of this.#iterate<{ number: number }>(sql, values))
          known.set(key, number)
      return known.get(key)!
    })
  }

  session(id: string): SessionRow | undefined {
    return this.#all(`${ROW_SELECT} WHERE ${IS_SESSION} AND s.id = ?`, id).map(rowFrom)[0]
  }

  sessionOfConversation(conversation: string): string | undefined {
    return this.#all<{ id: string }>(SESSION_OF_CONVERSATION_SQL, conversation)[0]?.id
  }

  retractedEntries(session: string): ReadonlySet<string> {
    const rows = this.#all<{ id: string; refers: string }>(RETRACTION_SQL, session)
    const retracted = new Set<string>()
    // Newest first, so that a retracted retraction does not count.
    for (const { id, refers } of rows.toReversed()) if (!retracted.has(id)) retracted.add(refers)
    return retracted
  }

  entryText(session: string, entry: string): string | undefined {
    const [row] = this.#all<{ text: string }>(ENTRY_TEXT_SQL, session, entry)
    return row === undefined ? undefined : joinWords(row.text)
  }

  findByNameOrId(text: string): readonly SessionRow[] {
    // SQLite ends a text at its first NUL.
    return text === '' || text.includes('\0')
      ? []
      : this.#all(SESSIONS_BY_NAME_OR_ID_SQL, text, text.toLowerCase()).map(rowFrom)
  }

  openSessions(): IterableIterator<SessionRow> {
    return this.sessions({ status: ['active', 'paused'] })
  }

  *search(query: SearchQuery): IterableIterator<SearchHit> {
    yield* this.#hits<SearchHit>('journal', searchSql(query), query)
  }

  *searchMessages(query: SearchQuery): IterableIterator<MessageHit> {
    yield* this.#hits<MessageHit>('said', messageSearchSql(query), query)
  }

  *#hits<H extends SearchHit | MessageHit>(
    where: H['where'],
    sql: PagedSql | undefined,
    { marks }: SearchQuery,
  ) {
    if (sql === undefined) return
    const { project } = this.#source
    for (const row of this.#stream<H>(sql)) {
      const hit = Object.entries(row).filter(([, value]) => value !== null)
      const snippet = snippetLine(row.snippet, marks)
      yield { where, project, ...Object.fromEntries(hit), snippet, score: -row.score } as H
    }
  }

  syncMessages(budgetMs: number): ReturnType<typeof synchroniseMessages> {
    this.#file.reopenIfReplaced()
    return this.#withRecovery(() => {
      try {
        return synchroniseMessages(this.#file.database, this.#source.folder, budgetMs)
      } catch (error) {
        this.#throwUnlessStale(error)
        this.#options.report(
          'the newest messages may be missing from this answer; the index cannot be written now',
        )
        return { bytesLeft: 0 }
      }
    })
  }

  counts(): { readonly sessions: number; readonly entries: number } {
    const sql = `SELECT (SELECT count(*) FROM sessions s WHERE ${IS_SESSION}) AS sessions, (SELECT count(*) FROM entries) AS entries`
    const [counts] = this.#all<{ sessions: number; entries: number }>(sql)
    return { ...counts! }
  }

  *taskEntries(): IterableIterator<RawEntry> {
    for (const { entry } of this.taskEntriesBySession()) yield entry
  }

  *taskEntriesBySession() {
    const rows = this.#stream<Record<'session' | 'record', string>>({ sql: TASK_SQL, ...ALL })
    for (const { session, record } of rows) yield { session, entry: JSON.parse(record) as RawEntry }
  }

  *handoffEntries() {
    const rows = this.#stream<Record<'session' | 'name' | 'record', string>>({
      sql: HANDOFF_SQL,
      ...ALL,
    })
    for (const { session, name, record } of rows)
      yield { session, name, entry: JSON.parse(record) as RawEntry }
  }

  verify() {
    return this.#withRecovery(() => {
      const sql =
        'SELECT s.id, count(e.key) AS entries FROM sessions s LEFT JOIN entries e ON e.session = s.key GROUP BY s.key'
      const rows = this.#iterate<{ id: string; entries: number }>(sql)
      const indexed = new Map(Array.from(rows, ({ id, entries }) => [id, entries]))
      const ids = [...new Set([...this.#source.sessionIds(), ...indexed.keys()])]
      const compared = ids.map((id) => ({
        id,
        indexed: indexed.get(id) ?? 0,
        inLog: entriesInLog(this.#source.log(id)),
      }))
      const found = [...this.#iterate<{ quick_check: string }>('PRAGMA quick_check')]
      return {
        checked: ids.length,
        differing: compared.filter((session) => session.indexed !== session.inLog),
        damage: found.map((row) => row.quick_check).filter((line) => line !== 'ok'),
      }
    })
  }

  close(): void {
    this.#file.close()
  }

  #synchronise(full: boolean) {
    try {
      const unread = synchronise(this.#file.database, this.#source, {
        // Other processes clear marks for the file, not for this index in memory.
        full: full || this.#file.isInMemory,
        keepMarks: this.#file.isInMemory,
        ...defined({ progress: this.#options.progress }),
      })
      if (unread !== undefined) this.#options.report(unread)
    } catch (error) {
      this.#throwUnlessStale(error)
      const reason = isBusy(error)
        ? 'another process is bringing the index up to date'
        : `the index cannot be written (${reasonOf(error)})`
      this.#options.report(`${reason}; the newest entries may be missing from this answer`)
    }
  }

  #throwUnlessStale(error: unknown) {
    if (this.#file.isRemoved() || (!isBusy(error) && !isUnwritable(error))) throw error
  }

  #withRecovery<T>(work: () => T) {
    for (let tries = 1; ; tries += 1) {
      try {
        if (tries > 1) this.#synchronise(true)
        return work()
      } catch (error) {
        this.#file.recoverFrom(error, tries >= MAX_TRIES)
      }
    }
  }

  *#stream<T>({ sql, values, limit, offset }: PagedSql) {
    let yielded = 0
    const rest = () => [...values, Number.isFinite(limit) ? limit - yielded : -1, offset + yielded]
    for (let tries = 1; ; tries += 1) {
      const { database } = this.#file
      try {
        if (tries > 1) this.#synchronise(true)
        for (const row of this.#iterate<T>(sql, rest())) {
          yielded += 1
          yield row
        }
        return
      } catch (error) {
        // Another call may have replaced the database meanwhile; the list continues there.
        if (database === this.#file.database) this.#file.recoverFrom(error, tries >= MAX_TRIES)
      }
    }
  }

  *#iterate<T>(sql: string, values: readonly SqlValue[] = []) {
    // Reused only when this list is finished. Held in any case: the package's iterator does not
    // keep it alive.
    const { database } = this.#file
    const idle = this.#idle.get(database) ?? new Map<string, Statement>()
    this.#idle.set(database, idle)
    const statement = idle.get(sql) ?? database.prepare(sql)
    idle.delete(sql)
    try {
      yield* statement.iterate(...values) as IterableIterator<T>
    } finally {
      idle.set(sql, statement)
    }
  }

  #all<T>(sql: string, ...values: SqlValue[]) {
    return this.#withRecovery(() => [...this.#iterate<T>(sql, values)])
  }
}

function entriesInLog(paths: LogPaths) {
  const path = [paths.path, paths.link].find(
    (name) => name !== undefined && statOrUndefined(name) !== undefined,
  )
  try {
    return path === undefined ? 0 : readLog(path).records.length
  } catch (error) {
    // It is not indexed either.
    if (!isTooLarge(error)) throw error
    return 0
  }
}
