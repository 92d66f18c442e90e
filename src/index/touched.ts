// How the index learns which logs have grown without looking at each of them: whoever appends to a
// session first leaves an empty file named after it. Used by hooks, so nothing here loads SQLite.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { errnoOf, isMissing } from '../journal/errors.ts'
import {
  createFolderUnsynced,
  inSpiteOfRemoval,
  moveFile,
  removeFile,
  touchFile,
} from '../journal/files.ts'
import { statOrUndefined } from '../journal/look.ts'
import { isId } from '../journal/ids.ts'

const RENEW_AFTER_MS = 5_000
/** Twice the renewal: whoever marked earlier than this has appended, or has marked again. */
const SETTLED_AFTER_MS = 10_000
const TAKEN = '.taken'

export interface Touched {
  readonly id: string
  readonly path: string
  readonly mtimeMs: number
}

const marked = new Map<string, number>()

/**
 * Notes that a session's log is about to grow. Call it before appending, and again afterwards: that costs one look
 * unless the append took so long that the mark may already have been cleared, or somebody took it away.
 *
 * Answers false when the mark cannot be made (a full or read-only disk); the append must not fail
 * for it, and the index catches up at its next full comparison.
 */
export function markTouched(folder: string, id: string, now: number = monotonicMs()): boolean {
  const path = join(markerFolder(folder), id)
  const last = marked.get(path)
  // Looked for, because it may have been taken away, and not by whoever has read the log.
  if (last !== undefined && now - last < RENEW_AFTER_MS && statOrUndefined(path) !== undefined)
    return true
  try {
    touchOrCreate(path, markerFolder(folder))
  } catch (error) {
    if (UNMARKABLE.has(errnoOf(error) ?? '')) return false
    throw error
  }
  marked.set(path, now)
  return true
}

// The clock may jump. `performance.now()` does not either, but loading it costs a hook more than all it writes.
function monotonicMs(): number {
  return process.uptime() * 1000
}

const UNMARKABLE = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EIO'])

/** The marks that are there now. */
export function listTouched(folder: string): readonly Touched[] {
  return markerNames(folder).flatMap((name) => {
    // A mark that a killed process took but did not clear still counts.
    const id = name.endsWith(TAKEN) ? name.slice(0, -TAKEN.length) : name
    const path = join(markerFolder(folder), name)
    const mtimeMs = statOrUndefined(path)?.mtimeMs
    return isId(id) && mtimeMs !== undefined ? [{ id, path, mtimeMs }] : []
  })
}

/**
 * Removes marks whose logs have been read since they were listed. A young one stays, because its
 * writer may not have appended yet.
 */
export function clearTouched(
  folder: string,
  touched: readonly Touched[],
  now: number = Date.now(),
): void {
  for (const mark of touched) {
    if (now - mark.mtimeMs < SETTLED_AFTER_MS) continue
    // Taken away under another name first: a writer that renews the mark between our last look
    // and its removal would otherwise lose it, and its entry would not be found.
    const taken = join(markerFolder(folder), mark.id + TAKEN)
    if (mark.path !== taken && !moveFile(mark.path, taken, { isDurable: false })) continue
    const mtimeMs = statOrUndefined(taken)?.mtimeMs
    if (mtimeMs !== undefined && mtimeMs > mark.mtimeMs)
      touchOrCreate(join(markerFolder(folder), mark.id), markerFolder(folder))
    removeFile(taken)
  }
}

export function markerFolder(folder: string): string {
  return join(folder, 'touched')
}

function markerNames(folder: string): readonly string[] {
  try {
    return readdirSync(markerFolder(folder))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

function touchOrCreate(path: string, folder: string): void {
  try {
    touchFile(path)
  } catch (error) {
    if (!isMissing(error)) throw error
    inSpiteOfRemoval(() => {
      createFolderUnsynced(folder)
      touchFile(path)
    })
  }
}
