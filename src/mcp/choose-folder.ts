import { accessSync, constants, statSync } from 'node:fs'
import { sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { StintError, errnoOf, isMissing } from '../public/projection.ts'

export interface ClientRoot {
  readonly uri: string
}

/** The folder that the client started us in, unless it lies outside the client's open folders: then the first of these. */
export function chooseFolder(startedIn: string, clientRoots: readonly ClientRoot[]): string {
  const roots = clientRoots.flatMap(({ uri }) => localFolder(uri))
  const isInside = roots.some(
    (root) => startedIn === root || startedIn.startsWith(root.endsWith(sep) ? root : root + sep),
  )
  return isInside ? startedIn : (roots[0] ?? startedIn)
}

function localFolder(uri: string): readonly string[] {
  try {
    const path = fileURLToPath(uri)
    return statSync(path).isDirectory() ? [path] : []
  } catch {
    // Not a file URL, or a folder of another machine.
    return []
  }
}

/** Checked before the handshake: afterwards every call would fail in its own way. */
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
