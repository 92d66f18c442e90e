// The folder that a client works in.
import { accessSync, constants, statSync } from 'node:fs'
import { sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { StintError, errnoOf, isMissing } from '../public.ts'

/** Asks the client which folders it has open; undefined when it cannot be asked, or does not say. */
export type ListRoots = () => Promise<readonly { readonly uri: string }[] | undefined>

/**
 * The folder that was started in, unless the client says that it has others open: then the first of these that is one. A client that
 * starts its servers inside what it has open means just that folder.
 */
export async function chooseFolder(startedIn: string, askRoots: ListRoots): Promise<string> {
  const roots = ((await askRoots()) ?? []).flatMap(({ uri }) => folderOf(uri))
  const isInside = roots.some(
    (root) => startedIn === root || startedIn.startsWith(root.endsWith(sep) ? root : root + sep),
  )
  return isInside ? startedIn : (roots[0] ?? startedIn)
}

function folderOf(uri: string): readonly string[] {
  try {
    const path = fileURLToPath(uri)
    return statSync(path).isDirectory() ? [path] : []
  } catch {
    // Something else than a file, or a folder of another machine: not one that could be worked in.
    return []
  }
}

/** A folder that can be worked in. Said before a client is greeted: afterwards every call would fail, each in its own way. */
export function checkFolder(find: () => string): string {
  try {
    const folder = find()
    accessSync(folder, constants.R_OK | constants.X_OK)
    return folder
  } catch (error) {
    const isGone = isMissing(error)
    if (!isGone && errnoOf(error) !== 'EACCES') throw error
    throw new StintError(
      'NO_FOLDER',
      isGone
        ? 'the folder that this was started in no longer exists'
        : 'the folder that this was started in cannot be read',
      'start it in the folder of a project',
      { cause: error },
    )
  }
}
