import { realpathSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { isMissing } from '../journal/errors.ts'

/** After resolving symbolic links; `.git` does not count. */
export function isInsideTree(tree: string, path: string): boolean {
  const inside = pathInside(tree, path)
  return inside !== '' && staysInside(inside)
}

export function isEditable(tree: string, path: string): boolean {
  return isInsideTree(tree, path) && !leadsToProtected(pathInside(tree, path))
}

/** An unknown folder is not inside. */
export function isFolderInside(tree: string, folder: string | undefined): boolean {
  if (folder === undefined) return false
  const inside = pathInside(tree, folder)
  return staysInside(inside) && !leadsToProtected(inside)
}

/** Permissions, hooks and MCP servers of agents, and our own journals. */
export const PROTECTED_NAMES: readonly string[] = ['.sessions', '.claude', '.codex', '.mcp.json']

/** File systems may be case-insensitive. */
export function leadsToProtected(path: string): boolean {
  return path.split(/[/\\]/).some((step) => PROTECTED_NAMES.includes(step.toLowerCase()))
}

function pathInside(tree: string, path: string) {
  return relative(realPath(tree), realPath(resolve(tree, path)))
}

function staysInside(path: string) {
  const steps = path.split(sep)
  return steps[0] !== '..' && !steps.some((step) => step.toLowerCase() === '.git')
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    const parent = dirname(path)
    if (!isMissing(error) || parent === path) return path
    return join(realPath(parent), basename(path))
  }
}
