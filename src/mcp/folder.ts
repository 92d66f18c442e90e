// The folder that a client works in.
import { statSync } from 'node:fs'
import { sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Asks the client which folders it has open; undefined when it cannot be asked, or does not say. */
export type AskRoots = () => Promise<readonly { readonly uri: string }[] | undefined>

/**
 * The folder that was started in, unless the client says that it has others open: then the first of these that is one. A client that
 * starts its servers inside what it has open means just that folder.
 */
export async function chooseFolder(startedIn: string, askRoots: AskRoots): Promise<string> {
  const roots = ((await askRoots()) ?? []).flatMap(({ uri }) => folderOf(uri))
  const isInside = roots.some((root) => startedIn === root || startedIn.startsWith(root.endsWith(sep) ? root : root + sep))
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
