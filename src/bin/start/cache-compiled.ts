import { basename, dirname, join } from 'node:path'
import { errnoOf } from '../../journal/errors.ts'
import { createFolder, removeFile, replaceUnsynced } from '../../journal/write-files.ts'
import { listFolder, statOrUndefined } from '../../journal/read-files.ts'
import { addChecksum } from './checksummed-code.ts'

/** Enough for the commands in use; each file has at most about a megabyte. */
const MOST_FILES = 100

export function cacheCompiled(path: string, code: Uint8Array): void {
  try {
    createFolder(dirname(path))
    replaceUnsynced(path, addChecksum(code))
    removeOldest(dirname(path), basename(path))
  } catch (error) {
    // Full or read-only disk: compiled again next time.
    if (errnoOf(error) === undefined) throw error
  }
}

/** Removes the cached code of older builds. */
function removeOldest(folder: string, current: string): void {
  const names = listFolder(folder).filter((name) => name !== current)
  if (names.length < MOST_FILES) return
  const ages = names.map((name) => ({
    name,
    at: statOrUndefined(join(folder, name))?.mtimeMs ?? 0,
  }))
  const oldest = ages.toSorted((a, b) => a.at - b.at).slice(0, names.length - MOST_FILES + 1)
  for (const { name } of oldest) removeFile(join(folder, name))
}
