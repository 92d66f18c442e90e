import { realpathSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { isMissing } from '../journal/errors.ts'

/** Whether a file is in the working tree, wherever links lead, and not in what git keeps for itself. */
export function isInside(tree: string, path: string): boolean {
  const way = wayTo(tree, path)
  return way !== '' && staysInside(way)
}

/** Whether a folder is the working tree or in it. One that is not known is not. */
export function isFolderInside(tree: string, folder: string | undefined): boolean {
  return folder !== undefined && staysInside(wayTo(tree, folder))
}

function wayTo(tree: string, path: string): string {
  return relative(realPath(tree), realPath(resolve(tree, path)))
}

function staysInside(way: string): boolean {
  const steps = way.split(sep)
  return steps[0] !== '..' && !steps.includes('.git')
}

/** What does not exist yet is where its folder is. */
function realPath(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    const parent = dirname(path)
    if (!isMissing(error) || parent === path) return path
    return join(realPath(parent), basename(path))
  }
}
