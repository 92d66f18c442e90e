// A writer creates an empty file named after its session, so the index knows which logs have grown.
// Hooks use this: it loads no SQLite.
import { join } from 'node:path'
import { errnoOf, isMissing } from '../journal/errors.ts'
import {
  createFolderUnsynced,
  retryIfRemoved,
  moveFile,
  removeFile,
  touchFile,
} from '../journal/write-files.ts'
import { listFolder, statOrUndefined } from '../journal/read-files.ts'
import { isId } from '../journal/ids.ts'

const RENEW_AFTER_MS = 5_000
/** Twice the renewal interval: the writer of an older mark has appended, or renewed it. */
const CLEAR_AFTER_MS = 10_000
const CLAIMED = '.taken'

const lastMarked = new Map<string, number>()

/**
 * Call it before appending and again afterwards, in case the mark was cleared meanwhile. Returns
 * false when it cannot write; the next full sync catches up.
 */
export function markTouched(folder: string, id: string, now = monotonicMs()): boolean {
  const path = join(touchMarkFolder(folder), id)
  const last = lastMarked.get(path)
  if (last !== undefined && now - last < RENEW_AFTER_MS && statOrUndefined(path) !== undefined)
    return true
  try {
    touchOrCreate(path, touchMarkFolder(folder))
  } catch (error) {
    if (UNMARKABLE.has(errnoOf(error) ?? '')) return false
    throw error
  }
  lastMarked.set(path, now)
  return true
}

// The clock may jump, and loading `performance` costs a hook more than all it writes.
function monotonicMs() {
  return process.uptime() * 1000
}

const UNMARKABLE = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EIO'])

export function listTouched(folder: string) {
  return listFolder(touchMarkFolder(folder)).flatMap((name) => {
    // A mark that a killed process renamed but did not remove still counts.
    const id = name.endsWith(CLAIMED) ? name.slice(0, -CLAIMED.length) : name
    const path = join(touchMarkFolder(folder), name)
    const mtimeMs = statOrUndefined(path)?.mtimeMs
    return isId(id) && mtimeMs !== undefined ? [{ id, path, mtimeMs }] : []
  })
}

/** A young mark stays: its writer may not have appended yet. */
export function clearTouched(
  folder: string,
  touched: ReturnType<typeof listTouched>,
  now = Date.now(),
): void {
  for (const mark of touched) {
    if (now - mark.mtimeMs < CLEAR_AFTER_MS) continue
    // Renamed first: a writer may renew the mark between the check and the removal.
    const claimed = join(touchMarkFolder(folder), mark.id + CLAIMED)
    if (mark.path !== claimed && !moveFile(mark.path, claimed, { isDurable: false })) continue
    const mtimeMs = statOrUndefined(claimed)?.mtimeMs
    if (mtimeMs !== undefined && mtimeMs > mark.mtimeMs)
      touchOrCreate(join(touchMarkFolder(folder), mark.id), touchMarkFolder(folder))
    removeFile(claimed)
  }
}

export function touchMarkFolder(folder: string): string {
  return join(folder, 'touched')
}

function touchOrCreate(path: string, folder: string) {
  try {
    touchFile(path)
  } catch (error) {
    if (!isMissing(error)) throw error
    retryIfRemoved(() => {
      createFolderUnsynced(folder)
      touchFile(path)
    })
  }
}
