import { join } from 'node:path'
import { createFolderUnsynced, inSpiteOfRemoval, replaceUnsynced } from '../journal/files.ts'
import { readOrUndefined } from '../journal/look.ts'
import { randomHex } from '../journal/random.ts'
import { isUnwritable } from './sqlite.ts'
import { markerFolder } from './touched.ts'

/**
 * A word that lies among the marks and is lost with them, as `git clean` takes all. Whoever remembers it and finds
 * another has not heard of every log that grew. Undefined where it cannot be written, as marks cannot be there either.
 */
export function witnessOfMarks(folder: string): string | undefined {
  const path = join(markerFolder(folder), 'witness')
  try {
    return inSpiteOfRemoval(() => {
      // Empty when a power cut emptied it.
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
