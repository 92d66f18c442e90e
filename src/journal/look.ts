// Looking at files and folders without changing any: what is not there is an answer and no error.
import { fstatSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { errnoOf, isMissing } from './errors.ts'

export function sameFile(a: string, b: string): boolean {
  const first = statOrUndefined(a)
  const second = statOrUndefined(b)
  return (
    first !== undefined &&
    second !== undefined &&
    first.ino === second.ino &&
    first.dev === second.dev
  )
}

/** Whether `path` is a name of the open file `fd`. */
export function isNameOf(path: string, fd: number): boolean {
  const named = statOrUndefined(path)
  const open = fstatSync(fd)
  return named !== undefined && named.ino === open.ino && named.dev === open.dev
}

/** What a file holds, or undefined when none has this name. A folder is no file. */
export function readOrUndefined(path: string): Buffer | undefined {
  try {
    // To look costs a tenth of what it costs to fail.
    return statOrUndefined(path) === undefined ? undefined : readFileSync(path)
  } catch (error) {
    if (isMissing(error) || errnoOf(error) === 'EISDIR') return undefined
    throw error
  }
}

export function statOrUndefined(path: string) {
  return statSync(path, { throwIfNoEntry: false })
}

/** The permissions of a file, or those of a new one of ours. */
export function modeOf(path: string): number {
  return (statOrUndefined(path)?.mode ?? 0o600) & 0o777
}

/** The names in a folder; none when it is not there. Not looked for first: it may be taken away in between. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
