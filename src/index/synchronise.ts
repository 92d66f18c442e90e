import { join } from 'node:path'
import { errnoOf } from '../journal/errors.ts'
import { createFolderUnsynced, inSpiteOfRemoval, replaceUnsynced } from '../journal/files.ts'
import type { LogPlace } from '../journal/log.ts'
import { readOrUndefined, statOrUndefined } from '../journal/look.ts'
import { randomHex } from '../journal/random.ts'
import { indexSession, isUnchanged } from './index-session.ts'
import { SessionWriter } from './session-writer.ts'
import { type Database, inTransaction, isUnwritable } from './sqlite.ts'
import { clearTouched, listTouched, markerFolder } from './touched.ts'

interface Source {
  readonly folder: string
  sessionIds(): Iterable<string>
  log(id: string): LogPlace
}

interface SyncOptions {
  /** Read every log, marked or not. */
  readonly full: boolean
  /** Leave the marks for an index that lasts. */
  readonly keepMarks: boolean
  progress?(done: number, total: number): void
}

/** Well below the five seconds that another process waits for a transaction. */
const TRANSACTION_MS = 2_000
const PROGRESS_EVERY = 200
const BUILT = 'built'
const JOURNAL_TIME = 'journal time'
const WITNESS = 'witness of the marks'

/** Finds what is out of date without a lock and checks again under it. Returns a message about unreadable logs. */
export function synchronise(
  database: Database,
  source: Source,
  options: SyncOptions,
): string | undefined {
  const writer = new SessionWriter(database)
  // Before the logs are read: what is marked or created from here on is for the next time.
  const witness = options.keepMarks ? undefined : witnessOfMarks(source.folder)
  const touched = listTouched(source.folder)
  const journalTime = timeOfJournal(source.folder)
  const mayLackMarks = witness !== undefined && writer.fact(WITNESS) !== witness
  const isFull = options.full || mayLackMarks || writer.fact(BUILT) === undefined
  const mayHaveOthers =
    isFull || journalTime === undefined || writer.fact(JOURNAL_TIME) !== journalTime

  const pending = new Set<string>()
  for (const { id } of touched) if (isOutOfDate(writer, source, id)) pending.add(id)
  if (mayHaveOthers)
    for (const id of comparedByName(database, writer, source, isFull)) pending.add(id)

  const finish = () => {
    if (writer.fact(BUILT) === undefined) writer.setFact(BUILT, 'yes')
    if (mayHaveOthers && journalTime !== undefined) writer.setFact(JOURNAL_TIME, journalTime)
    if (mayLackMarks) writer.setFact(WITNESS, witness)
  }
  const needsFacts =
    mayLackMarks || writer.fact(BUILT) === undefined || (mayHaveOthers && journalTime !== undefined)
  const unread =
    pending.size > 0 || needsFacts
      ? update(
          database,
          writer,
          source,
          [...pending],
          isFull ? options.progress : undefined,
          finish,
        )
      : []
  const unreadIds = new Set(unread.map(({ id }) => id))
  if (!options.keepMarks)
    clearTouched(
      source.folder,
      touched.filter(({ id }) => !unreadIds.has(id)),
    )
  return describe(unread)
}

interface Unread {
  readonly id: string
  readonly path: string
  readonly cause: Error
}

function update(
  database: Database,
  writer: SessionWriter,
  source: Source,
  ids: readonly string[],
  progress: SyncOptions['progress'],
  finish: () => void,
): readonly Unread[] {
  const unread: Unread[] = []
  let done = 0
  do {
    inTransaction(database, () => {
      const until = performance.now() + TRANSACTION_MS
      for (; done < ids.length && performance.now() < until; done += 1) {
        const id = ids[done]!
        const place = source.log(id)
        try {
          indexSession(writer, id, place)
        } catch (cause) {
          // One unreadable log must not hide the others.
          if (!(cause instanceof Error) || !UNREADABLE.has(errnoOf(cause) ?? '')) throw cause
          unread.push({ id, path: place.path, cause })
        }
        if (done % PROGRESS_EVERY === 0) progress?.(done, ids.length)
      }
      if (done === ids.length) finish()
    })
  } while (done < ids.length)
  if (ids.length > 0) progress?.(done, ids.length)
  return unread
}

const UNREADABLE = new Set(['EACCES', 'EPERM', 'EIO', 'EISDIR', 'ELOOP', 'ESTALE'])

function* comparedByName(
  database: Database,
  writer: SessionWriter,
  source: Source,
  isFull: boolean,
): Iterable<string> {
  const ids = new Set(source.sessionIds())
  const indexed = database.prepare('SELECT id FROM sessions').all() as { id: string }[]
  for (const { id } of indexed) {
    if (!ids.delete(id) || (isFull && isOutOfDate(writer, source, id))) yield id
  }
  yield* ids
}

function isOutOfDate(writer: SessionWriter, source: Source, id: string): boolean {
  const stored = writer.storedLog(id)
  if (stored === undefined) return true
  const { path, link } = source.log(id)
  const stat = statOrUndefined(path) ?? (link === undefined ? undefined : statOrUndefined(link))
  return (
    stat === undefined ||
    !isUnchanged(stored, { inode: stat.ino, size: stat.size, mtime: stat.mtimeMs })
  )
}

/** Undefined while so recent that another change could carry the same time. */
function timeOfJournal(folder: string): string | undefined {
  const mtimeMs = statOrUndefined(join(folder, 'journal'))?.mtimeMs
  if (mtimeMs === undefined) return 'none'
  return Date.now() - mtimeMs < 1_000 ? undefined : String(mtimeMs)
}

function describe(unread: readonly Unread[]): string | undefined {
  const [first] = unread
  if (first === undefined) return undefined
  const others = unread.length === 1 ? '' : ` and ${unread.length - 1} more`
  return `could not read ${first.path}${others}: ${first.cause.message}`
}

/** A word among the marks that `git clean` removes with them: an index that remembers another one has missed marks. */
function witnessOfMarks(folder: string): string | undefined {
  const path = join(markerFolder(folder), 'witness')
  try {
    return inSpiteOfRemoval(() => {
      // Empty after a power cut.
      const found = readOrUndefined(path)?.toString('latin1') ?? ''
      if (found !== '') return found
      const made = randomHex(8)
      createFolderUnsynced(markerFolder(folder))
      replaceUnsynced(path, made)
      return made
    })
  } catch (error) {
    if (isUnwritable(error)) return undefined
    throw error
  }
}
