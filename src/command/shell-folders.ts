import { resolve } from 'node:path'
import { isLiteral } from './hidden-options.ts'
import type { ShellCommand } from './shell-commands.ts'

/** Where a command may be run; undefined among them for a place that cannot be known. */
type Folders = readonly (string | undefined)[]

/**
 * The folders that each command of a line may be run in. Behind `cd a &&` that is `a`. Where a `cd` may have failed, or may not
 * have been come to, it is also where it would be without. Brackets cannot be followed: with these, every folder on the way.
 */
export function foldersThrough(
  commands: readonly ShellCommand[],
  from: Folders,
  hasBrackets: boolean,
): readonly Folders[] {
  let before = from
  let now = from
  return commands.map((command) => {
    const here = now
    if (command.words[0] === 'cd') {
      const reached = here.map((folder) => folderAfter(command, folder))
      const isSure = !hasBrackets && [undefined, '&&', ';'].includes(command.before)
      now = isSure ? reached : union(here, reached)
      before = union(before, reached)
    }
    // Only behind `&&` is it certain that all before has passed.
    if (command.after !== '&&') now = before
    return here
  })
}

function folderAfter(
  { words, written }: ShellCommand,
  folder: string | undefined,
): string | undefined {
  const at = words.findIndex((word, index) => index > 0 && !/^(?:-[LPe@]+|--)$/.test(word))
  const isKnown = at > 0 && at === words.length - 1 && words[at] !== '-' && isLiteral(written[at]!)
  // A folder by its whole name is the same from everywhere.
  return isKnown ? resolved(folder, words[at]!) : undefined
}

function resolved(folder: string | undefined, to: string): string | undefined {
  if (to.startsWith('/')) return resolve(to)
  return folder === undefined ? undefined : resolve(folder, to)
}

function union(a: Folders, b: Folders): Folders {
  return [...new Set([...a, ...b])]
}
