// Worlds for the index: a project in a temporary folder, with logs written as journals are.
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  utimesSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type IndexSource, type SessionIndex, openIndex } from '../../src/index/open-index.ts'
import { loadSqlite } from '../../src/index/sqlite.ts'
import { markTouched } from '../../src/index/touch-marks.ts'
import { mintId } from '../../src/journal/ids.ts'
import { encodeRecord } from '../../src/journal/record.ts'
import type { EntryData, EntryKind } from '../../src/session/entries.ts'
import type { RawEntry } from '../../src/session/effective-entries.ts'

const START = Date.parse('2026-03-01T10:00:00.000Z')

export interface World extends IndexSource {
  readonly reported: string[]
  /** Starts a session and returns its id. */
  startSession(name: string, data?: Partial<EntryData['session.opened']>): string
  /** Appends an entry as a journal does, marking the session first, and returns its id. */
  add<K extends EntryKind>(
    session: string,
    kind: K,
    data: EntryData[K],
    extra?: { id?: string; once?: string },
  ): string
  write(session: string, entry: RawEntry): void
  /** Appends bytes that need not be a record. */
  scribble(session: string, bytes: string | Buffer): void
  logPath(session: string): string
  open(): Promise<SessionIndex>
  /** Ages every mark by this many seconds. */
  ageMarks(seconds: number): void
  marks(): readonly string[]
  /** Moves the clock used for entries. */
  wait(minutes: number): void
}

export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'stint-index-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export function world(project = temporaryFolder()): World {
  const folder = join(project, '.sessions')
  const journal = join(folder, 'journal')
  mkdirSync(journal, { recursive: true })
  let last: string | undefined
  let now = START
  const marksFolder = join(folder, 'touched')
  const logPath = (id: string) => join(journal, id, 'log.jsonl')
  const marks = () =>
    existsSync(marksFolder) ? readdirSync(marksFolder).filter((name) => name !== 'witness') : []
  const it: World = {
    folder,
    keyPath: join(project, 'index-key'),
    prepare: () => mkdirSync(folder, { recursive: true }),
    project,
    reported: [],
    sessionIds: () => readdirSync(journal),
    log: (id) => ({ path: logPath(id) }),
    logPath,
    startSession(name, data = {}) {
      const id = mintId(last, now)
      last = id
      it.add(id, 'session.opened', { name, ...data })
      return id
    },
    add(session, kind, data, extra = {}) {
      now += 1_000
      const id = extra.id ?? mintId(last, now)
      if (last === undefined || id > last) last = id
      const entry = {
        at: new Date(now).toISOString(),
        kind,
        by: 'library',
        data: data as RawEntry['data'],
        ...extra,
        id,
      }
      it.write(session, entry)
      return id
    },
    write(session, entry) {
      it.scribble(session, encodeRecord(entry))
    },
    scribble(session, bytes) {
      markTouched(folder, session)
      mkdirSync(join(journal, session), { recursive: true })
      appendFileSync(logPath(session), bytes)
    },
    async open() {
      const index = await openIndex(it, { report: (line) => it.reported.push(line) })
      onTestFinished(() => index.close())
      return index
    },
    ageMarks(seconds) {
      const time = new Date(Date.now() - seconds * 1_000)
      for (const name of marks()) utimesSync(join(marksFolder, name), time, time)
    },
    marks,
    wait(minutes) {
      now += minutes * 60_000
    },
  }
  return it
}

/**
 * Everything in an index file that answers come from, without the keys, which depend on the order
 * of reading.
 */
export function dump(folder: string): Record<string, unknown[]> {
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(join(folder, 'index.db'))
  const rows = (sql: string) =>
    database
      .prepare(sql)
      .all()
      .map((row) => ({ ...(row as object) }))
  try {
    return {
      sessions: rows('SELECT * FROM sessions ORDER BY id').map((row) => ({
        ...row,
        key: undefined,
      })),
      tasks: rows(
        'SELECT task, id FROM session_tasks t JOIN sessions s ON s.key = t.session ORDER BY task, id',
      ),
      entries:
        rows(`SELECT s.id AS session, e.id, e.kind, e.at, e.once, e.refers, e.record, text FROM entries e
        JOIN sessions s ON s.key = e.session LEFT JOIN texts ON texts.rowid = e.key ORDER BY s.id, e.id`),
      orphans: rows('SELECT rowid FROM texts WHERE rowid NOT IN (SELECT key FROM entries)'),
    }
  } finally {
    database.close()
  }
}

/** The keys of a session's entries by id: an unchanged row keeps its key. */
export function keysOf(folder: string, session: string): Map<string, number> {
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(join(folder, 'index.db'))
  try {
    const sql =
      'SELECT e.id, e.key FROM entries e JOIN sessions s ON s.key = e.session WHERE s.id = ?'
    return new Map(
      (database.prepare(sql).all(session) as { id: string; key: number }[]).map((row) => [
        row.id,
        row.key,
      ]),
    )
  } finally {
    database.close()
  }
}

/**
 * Replaces the index by a copy without a write-ahead log, so that it can be damaged despite open
 * connections of this process.
 */
export function withoutWriteAheadLog(path: string): void {
  const database = new (loadSqlite().DatabaseSync)(path)
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
  copyFileSync(path, `${path}.copy`)
  for (const companion of ['', '-wal', '-shm']) rmSync(path + companion, { force: true })
  renameSync(`${path}.copy`, path)
}

export const names = (rows: Iterable<{ readonly name: string }>) => [...rows].map((row) => row.name)
