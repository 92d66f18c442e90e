import { join } from 'node:path'
import { errnoOf } from '../journal/errors.ts'
import { createFolderUnsynced, retryIfRemoved, replaceUnsynced } from '../journal/write-files.ts'
import type { LogPaths } from '../journal/log.ts'
import { readOrUndefined, statOrUndefined } from '../journal/read-files.ts'
import { randomHex } from '../journal/ids.ts'
import { SessionWriter, indexSession, isSameLogFile } from './index-session.ts'
import { type Database, inTransaction, isUnwritable } from './sqlite.ts'
import { clearTouched, listTouched, touchMarkFolder } from './touch-marks.ts'

export interface IndexSource {
  readonly folder: string
  /** A file outside the project's tree, which no clone brings. */
  readonly keyPath: string
  /** Creates that folder: `git clean` may remove it at any time. */
  prepare(): void
  readonly project: string
  sessionIds(): Iterable<string>
  log(id: string): LogPaths
}

interface SyncOptions {
  readonly full: boolean
  readonly keepMarks: boolean
  progress?(done: number, total: number): void
}

/** Well below the five seconds that another process waits for a transaction. */
const TRANSACTION_MS = 2_000
const PROGRESS_EVERY = 200
const BUILT = 'built'
const JOURNAL_TIME = 'journal time'
const WITNESS = 'witness of the marks'

/**
 * Finds what is out of date without a lock and checks again under the lock. Returns a message about
 * unreadable logs.
 */
export function synchronise(
  database: Database,
  source: IndexSource,
  { full, keepMarks, progress }: SyncOptions,
): string | undefined {
  const writer = new SessionWriter(database)
  // Read before the logs: marks and sessions created from here on are for the next sync.
  const witness = keepMarks ? undefined : readWitness(source.folder)
  const touched = listTouched(source.folder)
  const journalTime = stableMtime(join(source.folder, 'journal'))
  const facts = new Map<string, string>()
  if (writer.fact(BUILT) === undefined) facts.set(BUILT, 'yes')
  if (witness !== undefined && writer.fact(WITNESS) !== witness) facts.set(WITNESS, witness)
  const isFull = full || facts.size > 0
  const mayHaveUnmarked =
    isFull || journalTime === undefined || writer.fact(JOURNAL_TIME) !== journalTime
  if (mayHaveUnmarked && journalTime !== undefined) facts.set(JOURNAL_TIME, journalTime)

  const pending = new Set<string>()
  for (const { id } of touched) if (isOutOfDate(writer, source, id)) pending.add(id)
  if (mayHaveUnmarked) for (const id of findUnmarked(writer, source, isFull)) pending.add(id)

  const unread =
    pending.size > 0 || facts.size > 0
      ? update(writer, source, [...pending], isFull ? progress : undefined, facts)
      : new Map<string, Error>()
  if (!keepMarks)
    clearTouched(
      source.folder,
      touched.filter(({ id }) => !unread.has(id)),
    )
  const [first] = unread
  if (first === undefined) return undefined
  const others = unread.size === 1 ? '' : ` and ${unread.size - 1} more`
  return `could not read ${source.log(first[0]).path}${others}: ${first[1].message}`
}

function update(
  writer: SessionWriter,
  source: IndexSource,
  ids: readonly string[],
  progress: SyncOptions['progress'],
  facts: ReadonlyMap<string, string>,
) {
  const unread = new Map<string, Error>()
  let done = 0
  do {
    inTransaction(writer.database, () => {
      const until = performance.now() + TRANSACTION_MS
      for (; done < ids.length && performance.now() < until; done += 1) {
        const id = ids[done]!
        try {
          indexSession(writer, id, source.log(id))
        } catch (cause) {
          if (!(cause instanceof Error) || !UNREADABLE.has(errnoOf(cause) ?? '')) throw cause
          unread.set(id, cause)
        }
        if (done % PROGRESS_EVERY === 0) progress?.(done, ids.length)
      }
      if (done === ids.length) for (const [name, value] of facts) writer.setFact(name, value)
    })
  } while (done < ids.length)
  if (ids.length > 0) progress?.(done, ids.length)
  return unread
}

const UNREADABLE = new Set(['EACCES', 'EPERM', 'EIO', 'EISDIR', 'ELOOP', 'ESTALE'])

function* findUnmarked(writer: SessionWriter, source: IndexSource, isFull: boolean) {
  const ids = new Set(source.sessionIds())
  for (const { id } of writer.all<{ id: string }>('SELECT id FROM sessions')) {
    if (!ids.delete(id) || (isFull && isOutOfDate(writer, source, id))) yield id
  }
  yield* ids
}

function isOutOfDate(writer: SessionWriter, source: IndexSource, id: string) {
  const stored = writer.storedLog(id)
  const { path, link } = source.log(id)
  const stat = statOrUndefined(path) ?? (link === undefined ? undefined : statOrUndefined(link))
  return (
    stored === undefined ||
    stat === undefined ||
    !isSameLogFile(stored, { inode: stat.ino, size: stat.size, mtime: stat.mtimeMs })
  )
}

/**
 * The folder's modification time; undefined while it is so recent that another change could have
 * the same time.
 */
export function stableMtime(folder: string): string | undefined {
  const mtimeMs = statOrUndefined(folder)?.mtimeMs
  if (mtimeMs === undefined) return 'none'
  return Date.now() - mtimeMs < 1_000 ? undefined : String(mtimeMs)
}

/**
 * A random word among the marks, which `git clean` removes with them: if the index remembers
 * another word, it has missed marks.
 */
function readWitness(folder: string) {
  const path = join(touchMarkFolder(folder), 'witness')
  try {
    return retryIfRemoved(() => {
      // Empty after a power cut.
      const found = readOrUndefined(path)?.toString('latin1') ?? ''
      if (found !== '') return found
      const created = randomHex(8)
      createFolderUnsynced(touchMarkFolder(folder))
      replaceUnsynced(path, created)
      return created
    })
  } catch (error) {
    if (isUnwritable(error)) return undefined
    throw error
  }
}
