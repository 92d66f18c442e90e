import { basename, dirname, join } from 'node:path'
import { isMissing, reasonOf } from '../journal/errors.ts'
import {
  createFile,
  createFolder,
  moveFile,
  openRegularFile,
  removeFile,
  touchFile,
} from '../journal/write-files.ts'
import { closeSync, fstatSync } from 'node:fs'
import { randomHex } from '../journal/ids.ts'
import { readRange } from '../journal/read-log.ts'
import { timeForFileName } from '../text/times.ts'
import { listFolder, readOrUndefined, refuseLinks, statOrUndefined } from '../journal/read-files.ts'
import { FOLD_VERSION } from '../session/fold.ts'
import {
  type Database,
  Statements,
  inTransaction,
  isBusy,
  isCorrupt,
  isUnwritable,
  isWalSafe,
  loadSqlite,
} from './sqlite.ts'

const MAX_REMOVALS = 3

interface IndexFileOptions {
  /** Creates the folder of the file, which may have been removed with it. */
  prepare(): void
  report(line: string): void
  /** A file of this machine with a random word, which an index built here remembers. */
  readonly keyPath: string
}

/**
 * The index can always be rebuilt: a damaged file is replaced, and without a usable disk it is
 * built in memory.
 */
export class IndexFile {
  readonly #path: string
  readonly #options: IndexFileOptions
  #inode: number | undefined
  #isClosed = false
  database: Database

  constructor(path: string, options: IndexFileOptions) {
    this.#path = path
    this.#options = options
    this.database = this.#open()
  }

  get isInMemory(): boolean {
    return this.#inode === undefined
  }

  isRemoved(): boolean {
    return this.#inode !== undefined && statOrUndefined(this.#path)?.ino !== this.#inode
  }

  reopenIfReplaced(): void {
    if (!this.isRemoved()) return
    this.database.close()
    this.database = this.#open()
  }

  /** Rethrows errors that are not about the file. A removed file is recreated, a damaged one quarantined; a failing disk, or the last try, falls back to memory. */
  recoverFrom(error: unknown, isLastTry: boolean): void {
    if (this.isInMemory || this.#isClosed || !isUnusable(error)) throw error
    this.database.close()
    if (!isLastTry && this.isRemoved()) this.database = this.#open()
    else if (!isLastTry && isCorrupt(error))
      this.database = this.#quarantineAndOpen(this.#inode, error)
    else this.database = this.#openInMemory(error)
  }

  close(): void {
    if (!this.#isClosed) this.database.close()
    this.#isClosed = true
  }

  #open() {
    for (let removals = 0; ; removals += 1) {
      const before = statOrUndefined(this.#path)
      try {
        this.#options.prepare()
        return this.#openFile(before)
      } catch (error) {
        if (error instanceof UnusableIndex || isCorrupt(error))
          return this.#quarantineAndOpen(before?.ino, error)
        if (!isUnusable(error)) throw error
        const wasRemoved = before === undefined || statOrUndefined(this.#path)?.ino !== before.ino
        if (isBusy(error) || !wasRemoved || removals === MAX_REMOVALS)
          return this.#openInMemory(error)
      }
    }
  }

  #openFile(before?: { readonly size: number }) {
    // SQLite treats a file shorter than its smallest page as empty and overwrites it.
    if (before !== undefined && before.size > 0 && before.size < 512)
      throw new UnusableIndex('is cut off')
    const database = openDatabase(this.#path, readKey(this.#options.keyPath))
    this.#inode = statOrUndefined(this.#path)?.ino
    if (this.#inode !== undefined) return database
    database.close()
    throw Object.assign(new Error('it was taken away'), { code: 'ENOENT' })
  }

  /** Only once: another version in the new file means that a different Stint is running here. */
  #quarantineAndOpen(inode: number | undefined, cause: unknown) {
    try {
      const name = quarantineIndex(this.#path, inode)
      const problem =
        cause instanceof UnusableIndex ? cause.message : `is damaged (${reasonOf(cause)})`
      const location = name === undefined ? '' : `; the old one is ${name}`
      this.#options.report(`the index ${problem} and is built again from the journals${location}`)
      return this.#openFile()
    } catch (error) {
      if (!isUnusable(error)) throw error
      return this.#openInMemory(error)
    }
  }

  #openInMemory(cause: unknown) {
    this.#inode = undefined
    this.#options.report(
      `the index cannot be used (${reasonOf(cause)}); reading the journals for this once`,
    )
    return openDatabase(':memory:')
  }
}

class UnusableIndex extends Error {
  override readonly name = 'UnusableIndex'
}

function isUnusable(error: unknown) {
  return (
    isUnwritable(error) ||
    isMissing(error) ||
    isBusy(error) ||
    isCorrupt(error) ||
    error instanceof UnusableIndex
  )
}

const SUFFIXES = ['-wal', '-shm', '-journal', '']
const MAX_QUARANTINED = 3
const QUARANTINE_SUFFIX = '.set-aside-'

export function quarantineIndex(path: string, inode: number | undefined): string | undefined {
  // An exclusively locked empty database: the system releases the lock when a process is killed.
  const lock = openFile(`${path}.lock`)
  try {
    lock.exec('PRAGMA busy_timeout = 5000; BEGIN EXCLUSIVE')
    // Several processes may find the damage at once; the second must not remove what the first built.
    if (inode === undefined || statOrUndefined(path)?.ino !== inode) return undefined
    const name = path + QUARANTINE_SUFFIX + new Date().toISOString().replaceAll(/[:.]/g, '-')
    // The index itself is moved last: while it has its name, no process creates a new one beside
    // the old companions.
    for (const suffix of SUFFIXES) moveFile(path + suffix, name + suffix)
    // Otherwise two alternating versions of Stint would fill the disk.
    const names = listFolder(dirname(path)).filter(
      (other) => other.startsWith(basename(path) + QUARANTINE_SUFFIX) && other.endsWith('Z'),
    )
    for (const old of names.sort().slice(0, -MAX_QUARANTINED))
      for (const suffix of SUFFIXES) removeFile(join(dirname(path), old + suffix))
    return name
  } finally {
    lock.close()
  }
}

// Raise it when the tables, or what is written into them, change.
const TABLES_VERSION = 4
/** The index stores folded states, so its version includes the version of the fold. */
export const INDEX_VERSION = TABLES_VERSION * 1000 + FOLD_VERSION
const APPLICATION_ID = 0x53746e74

const TABLES = `
  CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

  CREATE TABLE sessions (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL, title TEXT NOT NULL, status TEXT NOT NULL, branch TEXT, worktree TEXT,
    goal TEXT NOT NULL, tldr TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, closed_at TEXT,
    compactions INTEGER NOT NULL, steps_done INTEGER NOT NULL, steps_total INTEGER NOT NULL,
    decisions INTEGER NOT NULL, discoveries INTEGER NOT NULL, open_blockers INTEGER NOT NULL,
    entry_count INTEGER NOT NULL, tasks TEXT NOT NULL,
    -- The log file as it was when it was read, and how far.
    inode INTEGER NOT NULL, size INTEGER NOT NULL, mtime REAL NOT NULL, offset INTEGER NOT NULL, prefix INTEGER NOT NULL
  );
  CREATE INDEX sessions_by_update ON sessions (updated_at DESC, id DESC);
  CREATE INDEX sessions_by_creation ON sessions (created_at DESC, id DESC);
  CREATE INDEX sessions_by_name ON sessions (name, id);
  CREATE INDEX sessions_by_status ON sessions (status, updated_at DESC, id DESC);
  CREATE INDEX sessions_by_branch ON sessions (branch, updated_at DESC, id DESC);

  -- The folded state of long sessions, apart so that lists do not page through it.
  CREATE TABLE states (session INTEGER PRIMARY KEY, state TEXT NOT NULL);

  CREATE TABLE session_tasks (task TEXT NOT NULL, session INTEGER NOT NULL, PRIMARY KEY (task, session)) WITHOUT ROWID;
  CREATE INDEX session_tasks_by_session ON session_tasks (session);

  CREATE TABLE entries (
    key INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    id TEXT NOT NULL, kind TEXT NOT NULL, at TEXT NOT NULL,
    once TEXT,
    -- The entry that this one retracts or amends, or the conversation that joined with it.
    refers TEXT,
    -- The complete record, for the kinds that are folded across sessions.
    record TEXT
  );
  CREATE UNIQUE INDEX entries_by_session ON entries (session, id);
  CREATE INDEX entries_by_once ON entries (session, once) WHERE once IS NOT NULL;
  CREATE INDEX entries_by_target ON entries (refers) WHERE refers IS NOT NULL;
  CREATE INDEX entries_with_record ON entries (id) WHERE record IS NOT NULL;

  -- The text of the entries in effect; rowid is the entry's key. It keeps its own copy of the text
  -- because snippets need it, and because deleting a row then always matches what was inserted.
  CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = "unicode61 remove_diacritics 2");

  -- The stored conversations, as far as they were read.
  CREATE TABLE conversations (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE, harness TEXT,
    -- The number of items before the offset.
    items INTEGER NOT NULL,
    inode INTEGER NOT NULL, offset INTEGER NOT NULL, edges INTEGER NOT NULL
  );
  CREATE TABLE said (key INTEGER PRIMARY KEY, conversation INTEGER NOT NULL, id TEXT NOT NULL, number INTEGER NOT NULL, role TEXT NOT NULL, at TEXT);
  CREATE UNIQUE INDEX said_by_conversation ON said (conversation, id);
  -- Messages, apart from the journals' texts: there are far more of them, and journals are searched more often.
  CREATE VIRTUAL TABLE said_texts USING fts5 (text, tokenize = "unicode61 remove_diacritics 2");
`

/** The random word is created with the first index of a project. */
function readKey(path: string) {
  const read = () => readOrUndefined(path)?.toString('latin1') ?? ''
  if (read() === '') {
    createFolder(dirname(path))
    createFile(path, randomHex(16))
  }
  return read()
}

/** A clone may bring any of these files. */
function openFile(path: string): Database {
  for (const suffix of SUFFIXES) refuseLinks(path + suffix)
  const journal = `${path}-journal`
  if (namesAnotherFile(journal))
    moveFile(journal, `${journal}${QUARANTINE_SUFFIX}${timeForFileName(new Date().toISOString())}`)
  // SQLite would let others read it, and gives its companions the same mode.
  if (statOrUndefined(path) === undefined) touchFile(path)
  return new (loadSqlite().DatabaseSync)(path)
}

const JOURNAL_MAGIC = Buffer.from('d9d505f920a163d7', 'hex')

/** SQLite deletes the file that such a journal names. Ours never name one: each transaction is in one database. */
function namesAnotherFile(journal: string) {
  const fd = openRegularFile(journal)
  if (fd === undefined) return false
  try {
    const { size } = fstatSync(fd)
    return readRange(fd, Math.max(0, size - JOURNAL_MAGIC.length), size).equals(JOURNAL_MAGIC)
  } finally {
    closeSync(fd)
  }
}

function openDatabase(path: string, key?: string) {
  const database = key === undefined ? new (loadSqlite().DatabaseSync)(path) : openFile(path)
  try {
    database.enableDefensive?.(true)
    database.exec('PRAGMA trusted_schema = OFF; PRAGMA busy_timeout = 5000')
    // Two processes may find the file empty at once; the second checks again under the lock.
    if (!isReady(database, key))
      inTransaction(database, () => {
        if (isReady(database, key)) return
        database.exec(TABLES)
        if (key !== undefined) new Statements(database).setFact(KEY, key)
        database.exec(
          `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${INDEX_VERSION}`,
        )
      })
    const version = valueOf(database, 'SELECT sqlite_version()')
    setJournalMode(database, isWalSafe(String(version)) ? 'wal' : 'delete')
    // A power cut may lose the last commits, and the sessions' offsets with them; the journals are synced.
    database.exec('PRAGMA synchronous = NORMAL')
    // Otherwise the write-ahead log keeps the length of a full build.
    database.exec(`PRAGMA journal_size_limit = ${8 * 1024 * 1024}`)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

function setJournalMode(database: Database, wanted: string) {
  const mode = valueOf(database, 'PRAGMA journal_mode')
  if (mode === wanted || mode === 'memory') return
  try {
    database.exec(`PRAGMA journal_mode = ${wanted}`)
  } catch (error) {
    // The mode changes only while no other process has the file open; the next to open it tries again.
    if (!isBusy(error)) throw error
  }
}

const KEY = 'key'

function isReady(database: Database, key: string | undefined) {
  const version = valueOf(database, 'PRAGMA user_version')
  const application = valueOf(database, 'PRAGMA application_id')
  if (version === INDEX_VERSION && application === APPLICATION_ID) {
    // A trigger or view would answer for the journals.
    if (schemaOf(database) !== expectedSchema())
      throw new UnusableIndex('has other tables than this version of Stint creates')
    if (key !== undefined && new Statements(database).fact(KEY) !== key)
      throw new UnusableIndex('was not built on this machine')
    return true
  }
  if (version === 0 && valueOf(database, 'SELECT count(*) FROM sqlite_schema') === 0) return false
  if (application !== APPLICATION_ID) throw new UnusableIndex('is not an index of Stint')
  throw new UnusableIndex(`has format ${version}, and this version of Stint reads ${INDEX_VERSION}`)
}

let ownSchema: string | undefined

/** Asked from SQLite, because the tables behind a search index depend on its version. */
function expectedSchema() {
  if (ownSchema !== undefined) return ownSchema
  const empty = new (loadSqlite().DatabaseSync)(':memory:')
  try {
    empty.exec(TABLES)
    return (ownSchema = schemaOf(empty))
  } finally {
    empty.close()
  }
}

function schemaOf(database: Database) {
  const sql = 'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name'
  return JSON.stringify(database.prepare(sql).all())
}

function valueOf(database: Database, sql: string) {
  return Object.values(database.prepare(sql).get() as Record<string, string | number>)[0]
}
