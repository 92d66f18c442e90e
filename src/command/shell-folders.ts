import { isAbsolute, join, normalize, relative, resolve } from 'node:path'
import { isLiteral } from './harmless-commands.ts'
import type { ShellCommand } from './shell-commands.ts'

export interface ProjectFolders {
  /** Where the command started. */
  readonly cwd?: string
  /** Paths are given relative to it; the same as `cwd` if left out. */
  readonly root?: string
}

/**
 * The folder that each command runs in, relative to the start; undefined after a `cd` to an unknown
 * place. Only what a command that succeeded did is derived from it, so each `cd` counts.
 */
export function shellFolders(commands: readonly ShellCommand[]): readonly (string | undefined)[] {
  const folders = new Map<string, string | undefined>([['', '.']])
  return commands.map(({ words, written, subshells = [] }) => {
    const key = subshells.join(' ')
    const known = subshells
      .map((_, index) => subshells.slice(0, subshells.length - index).join(' '))
      .find((each) => folders.has(each))
    const here = folders.get(known ?? '')
    if (words[0] === 'cd' || words[0] === 'pushd') {
      const to = words.find((word, index) => index > 0 && !word.startsWith('-'))
      const isKnown = to !== undefined && isLiteral(written[words.indexOf(to)] ?? '')
      folders.set(key, isKnown ? within(here, to) : undefined)
    }
    return here
  })
}

function within(folder: string | undefined, path: string) {
  if (isAbsolute(path)) return normalize(path)
  return folder === undefined ? undefined : join(folder, path)
}

/** Relative to the project where it is inside; undefined for a path that is not known. */
export function projectPath(
  path: string,
  folder: string | undefined,
  { cwd, root = cwd }: ProjectFolders,
): string | undefined {
  const plain = path.replace(/^file:\/\//, '')
  const found = isAbsolute(plain) ? normalize(plain) : within(folder, plain)
  if (found === undefined) return undefined
  if (root === undefined) return found
  const inside = relative(root, resolve(cwd ?? root, found))
  return isOutside(inside) ? resolve(cwd ?? root, found) : inside
}

export function isOutside(path: string): boolean {
  return path === '..' || path.startsWith('../') || isAbsolute(path)
}
