import { FOLD_VERSION } from '../session/fold.ts'
import { type Database, inTransaction, isBusy, isWalSafe, loadSqlite } from './sqlite.ts'

// Raise it when the tables, or what is written into them, change.
const TABLES_VERSION = 3
/** The index keeps folded states, so the fold's version is part of its own. */
export const INDEX_VERSION = TABLES_VERSION * 1000 + FOLD_VERSION
const APPLICATION_ID = 0x53746e74

// `key` is short because every entry and every full-text row carries one.
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
    -- The log as it was when it was read, and how far.
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
    -- The entry that this one takes back or changes, or the conversation that joined with it.
    refers TEXT,
    -- The whole record, for the kinds that are folded across sessions.
    record TEXT
  );
  CREATE UNIQUE INDEX entries_by_session ON entries (session, id);
  CREATE INDEX entries_by_once ON entries (session, once) WHERE once IS NOT NULL;
  CREATE INDEX entries_by_target ON entries (refers) WHERE refers IS NOT NULL;
  CREATE INDEX entries_with_record ON entries (id) WHERE record IS NOT NULL;

  -- The text of the entries in effect; rowid is the entry's key. It keeps its own copy of the text
  -- because snippets need it, and because deleting a row then cannot disagree with what was put in.
  CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = "unicode61 remove_diacritics 2");

  -- The stored conversations, as far as they were read.
  CREATE TABLE conversations (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE, harness TEXT,
    -- How many items there are before the offset.
    items INTEGER NOT NULL,
    inode INTEGER NOT NULL, offset INTEGER NOT NULL, edges INTEGER NOT NULL
  );
  CREATE TABLE said (key INTEGER PRIMARY KEY, conversation INTEGER NOT NULL, id TEXT NOT NULL, number INTEGER NOT NULL, role TEXT NOT NULL, at TEXT);
  CREATE UNIQUE INDEX said_by_conversation ON said (conversation, id);
  -- What was said, apart from the journals' texts: there is far more of it, and they are searched more often.
  CREATE VIRTUAL TABLE said_texts USING fts5 (text, tokenize = "unicode61 remove_diacritics 2");
`

export class OtherVersion extends Error {
  override readonly name = 'OtherVersion'
}

/** Throws `OtherVersion` when the file holds something else. */
export function openDatabase(path: string): Database {
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(path)
  try {
    database.exec('PRAGMA busy_timeout = 5000')
    prepareTables(database)
    const { version } = database.prepare('SELECT sqlite_version() AS version').get() as {
      version: string
    }
    setJournalMode(database, isWalSafe(version) ? 'wal' : 'delete')
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

function setJournalMode(database: Database, wanted: 'wal' | 'delete'): void {
  const { journal_mode: mode } = database.prepare('PRAGMA journal_mode').get() as {
    journal_mode: string
  }
  if (mode === wanted || mode === 'memory') return
  try {
    database.exec(`PRAGMA journal_mode = ${wanted}`)
  } catch (error) {
    // The mode changes only while no other process has the file open; the next to open it tries again.
    if (!isBusy(error)) throw error
  }
}

function prepareTables(database: Database): void {
  if (isReady(database)) return
  // Two processes may find the file empty at once; the second checks again under the lock.
  inTransaction(database, () => {
    if (isReady(database)) return
    database.exec(TABLES)
    database.exec(
      `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${INDEX_VERSION}`,
    )
  })
}

function isReady(database: Database): boolean {
  const version = pragma(database, 'user_version')
  const application = pragma(database, 'application_id')
  if (version === INDEX_VERSION && application === APPLICATION_ID) return true
  const { tables } = database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get() as {
    tables: number
  }
  if (tables === 0 && version === 0) return false
  if (application !== APPLICATION_ID) throw new OtherVersion('is not an index of Stint')
  throw new OtherVersion(`has format ${version}, and this version of Stint reads ${INDEX_VERSION}`)
}

function pragma(database: Database, name: 'user_version' | 'application_id'): number {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() as Record<string, number>)[0] ?? 0
}
