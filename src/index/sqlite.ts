// Typed here because Node 20 has neither `node:sqlite` nor its types.
import { createRequire } from 'node:module'
import { StintError, errnoOf } from '../journal/errors.ts'

export type SqlValue = string | number | null

export interface Statement {
  run(...values: SqlValue[]): { changes: number | bigint; lastInsertRowid: number | bigint }
  get(...values: SqlValue[]): unknown
  all(...values: SqlValue[]): unknown[]
  iterate(...values: SqlValue[]): IterableIterator<unknown>
}

export interface Database {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
  /** Absent before Node 24. */
  enableDefensive?(isActive: boolean): void
}

interface SqliteModule {
  readonly DatabaseSync: new (path: string, options?: { readonly readOnly?: boolean }) => Database
}

let loaded: SqliteModule | undefined

export function loadSqlite(): SqliteModule {
  loaded ??= builtin() ?? packaged()
  return loaded
}

function builtin() {
  const { emitWarning } = process
  // Node 22 prints an experimental warning for the module.
  process.emitWarning = () => undefined
  try {
    return process.getBuiltinModule('node:sqlite') as SqliteModule | undefined
  } finally {
    process.emitWarning = emitWarning
  }
}

function packaged() {
  try {
    // Not an import: a bundler would include the package without its binary.
    return createRequire(import.meta.url)('@photostructure/sqlite') as SqliteModule
  } catch (cause) {
    throw new StintError(
      'NO_SQLITE',
      'SQLite could not be loaded, and lists and search need it',
      'use Node 22.13 or later, or reinstall without --omit=optional',
      { cause },
    )
  }
}

export class Statements {
  readonly #prepared = new Map<string, Statement>()

  constructor(readonly database: Database) {}

  run(sql: string, ...values: SqlValue[]): { readonly changes: number; readonly key: number } {
    const { changes, lastInsertRowid } = this.#sql(sql).run(...values)
    return { changes: Number(changes), key: Number(lastInsertRowid) }
  }

  get<T>(sql: string, ...values: SqlValue[]): T | undefined {
    return this.#sql(sql).get(...values) as T | undefined
  }

  all<T>(sql: string, ...values: SqlValue[]): readonly T[] {
    return this.#sql(sql).all(...values) as T[]
  }

  fact(name: string): string | undefined {
    return this.get<{ value: string }>('SELECT value FROM facts WHERE name = ?', name)?.value
  }

  setFact(name: string, value: string): void {
    this.run('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)', name, value)
  }

  #sql(sql: string) {
    const statement = this.#prepared.get(sql) ?? this.database.prepare(sql)
    this.#prepared.set(sql, statement)
    return statement
  }
}

export function inTransaction<T>(database: Database, work: () => T): T {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    try {
      database.exec('ROLLBACK')
    } catch {
      // On a full disk or a damaged file SQLite has already rolled back; the cause matters.
    }
    throw error
  }
}

/** Before 3.51.3 two connections that write and checkpoint at once can corrupt the file (the WAL-reset bug). */
export function isWalSafe(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  return major !== 3 ? major > 3 : minor !== 51 ? minor > 51 : patch >= 3
}

const BUSY = new Set([5, 6])
const CORRUPT = new Set([11, 26])
const UNWRITABLE = new Set([3, 8, 10, 13, 14, 23])
const UNWRITABLE_ERRNO = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'EFBIG', 'EIO'])

export function isBusy(error: unknown): boolean {
  return BUSY.has(resultCode(error))
}

export function isCorrupt(error: unknown): boolean {
  return CORRUPT.has(resultCode(error))
}

export function isUnwritable(error: unknown): boolean {
  return UNWRITABLE.has(resultCode(error)) || UNWRITABLE_ERRNO.has(errnoOf(error) ?? '')
}

// The low byte is the primary result code. The package omits the number when stepping through rows
// fails.
function resultCode(error: unknown) {
  if (typeof error !== 'object' || error === null) return -1
  const { code, errcode, message } = error as Record<string, unknown>
  if (typeof errcode === 'number') return errcode & 0xff
  if (code !== 'ERR_SQLITE_ERROR') return -1
  return MESSAGES.find(([words]) => words.test(String(message)))?.[1] ?? -1
}

const MESSAGES: readonly (readonly [RegExp, number])[] = [
  [/malformed|corrupt|fts5: missing row/i, 11],
  [/not a database/i, 26],
  [/locked|busy/i, 5],
  [/disk I\/O error/i, 10],
]
