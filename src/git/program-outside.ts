// Programs are found by name only outside the project: npm puts its node_modules/.bin first on the PATH.
import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, relative, sep } from 'node:path'

const paths = new Map<string, string>()

/** The PATH without relative folders and those of the projects. Computed once per process for the same folders. */
export function pathOutside(path: string | undefined, roots: readonly string[]): string {
  // Windows has other rules for names.
  if (path === undefined || process.platform === 'win32') return path ?? ''
  const key = [path, ...roots].join('\0')
  const known = paths.get(key)
  if (known !== undefined) return known
  const home = process.getBuiltinModule('node:os').homedir()
  // A home folder under version control holds the user's own programs.
  const projects = roots.filter((root) => !isInside(root, home))
  const outside = path
    .split(':')
    .filter((folder) => isAbsolute(folder) && !projects.some((root) => isInside(root, folder)))
    .join(':')
  paths.set(key, outside)
  return outside
}

export function programIn(command: string, path: string): string | undefined {
  if (process.platform === 'win32') return command
  const folders = path === '' ? [] : path.split(':')
  return folders.map((folder) => join(folder, command)).find(isProgram)
}

export function programOutside(
  command: string,
  path: string | undefined,
  roots: readonly string[],
): string | undefined {
  return programIn(command, pathOutside(path, roots))
}

function isInside(root: string, path: string) {
  const route = relative(realPath(root), realPath(path))
  return route !== '..' && !route.startsWith(`..${sep}`) && !isAbsolute(route)
}

function realPath(path: string) {
  try {
    return realpathSync(path)
  } catch {
    // Missing, so nothing in it can be run.
    return path
  }
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    // Missing, or not executable.
    return false
  }
}
