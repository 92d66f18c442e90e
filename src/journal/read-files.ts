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

export function isNameOf(path: string, fd: number): boolean {
  const named = statOrUndefined(path)
  const open = fstatSync(fd)
  return named !== undefined && named.ino === open.ino && named.dev === open.dev
}

export function readOrUndefined(path: string): Buffer | undefined {
  try {
    // A stat costs a tenth of a failed read.
    return statOrUndefined(path) === undefined ? undefined : readFileSync(path)
  } catch (error) {
    if (isMissing(error) || errnoOf(error) === 'EISDIR') return undefined
    throw error
  }
}

export function statOrUndefined(path: string) {
  return statSync(path, { throwIfNoEntry: false })
}

export function modeOf(path: string): number {
  return (statOrUndefined(path)?.mode ?? 0o600) & 0o777
}

export function listFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/** True also for a process of another user. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errnoOf(error) === 'EPERM'
  }
}

/** Undefined when the file is missing or was truncated by a power cut. */
export function readJson(path: string): unknown {
  const bytes = readOrUndefined(path)
  try {
    return bytes === undefined ? undefined : JSON.parse(bytes.toString('utf8'))
  } catch {
    // Not JSON.
    return undefined
  }
}
