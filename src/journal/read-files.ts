import {
  type Dirent,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { StintError, errnoOf, isMissing } from './errors.ts'

// A clone can bring symbolic links in these folders that lead anywhere.
const UNTRUSTED = /[/\\]\.(?:sessions|tasks|stint-outbox)(?=[/\\]|$)/

/** A branch may be switched under a process that runs for long. */
const REMEMBER_SECONDS = 0.1

const realFolders = new Set<string>()
let isRememberedUntil = 0

/** Throws for a link among the folders that lead to the last name. False outside `.sessions` and `.tasks`, where links are followed. */
export function refuseLinkedFolders(path: string): boolean {
  const start = path.search(UNTRUSTED)
  if (start === -1) return false
  refuseLink(dirname(path), Math.max(start, 1))
  return true
}

/** Also refuses a link under the last name. */
export function refuseLinks(path: string): void {
  if (refuseLinkedFolders(path) && lstatOrUndefined(path)?.isSymbolicLink() === true)
    throw linkRefused(path)
}

function refuseLink(folder: string, start: number) {
  if (folder.length <= start) return
  const now = process.uptime()
  if (now > isRememberedUntil) realFolders.clear()
  if (realFolders.has(folder)) return
  refuseLink(dirname(folder), start)
  const found = lstatOrUndefined(folder)
  if (found?.isSymbolicLink() === true) throw linkRefused(folder)
  if (found === undefined) return
  if (realFolders.size === 0) isRememberedUntil = now + REMEMBER_SECONDS
  realFolders.add(folder)
}

export function linkRefused(path: string): StintError {
  let target = 'another place'
  try {
    target = readlinkSync(path)
  } catch (error) {
    // Removed meanwhile.
    if (errnoOf(error) === undefined) throw error
  }
  return new StintError(
    'LINK_REFUSED',
    `${path} is a symbolic link to ${target}; Stint follows no links in .sessions and .tasks, because a cloned repository can have them lead anywhere`,
    `if you did not make it, remove it: rm '${path}'; if you did, put the real file or folder in its place`,
  )
}

function lstatOrUndefined(path: string) {
  return lstatSync(path, { throwIfNoEntry: false })
}

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

const MEGABYTE = 1024 * 1024
const MAX_FILE_BYTES = 32 * MEGABYTE

/** Regular files only: a pipe blocks, and a device never ends. */
export function readOrUndefined(path: string, maxBytes = MAX_FILE_BYTES): Buffer | undefined {
  try {
    // A stat costs a tenth of a failed read.
    if (statOrUndefined(path)?.isFile() !== true) return undefined
    return readRegularFile(path, maxBytes)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** Cheaper than decoding bytes: Node reads text in one call, which it has used before to load the program. */
export function readTextOrUndefined(path: string, maxBytes = MAX_FILE_BYTES): string | undefined {
  try {
    const stat = statOrUndefined(path)
    if (stat?.isFile() !== true) return undefined
    countRead(path, stat.size, maxBytes)
    return readFileSync(path, { encoding: 'utf8', flag: readingFlags(path) as unknown as string })
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

function readingFlags(path: string) {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
  return O_RDONLY | O_NONBLOCK | (UNTRUSTED.test(path) ? O_NOFOLLOW : 0)
}

function readRegularFile(path: string, maxBytes: number): Buffer | undefined {
  // The path may name another file by now.
  const fd = openSync(path, readingFlags(path))
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile()) return undefined
    countRead(path, stat.size, maxBytes)
    return readFileSync(fd)
  } finally {
    closeSync(fd)
  }
}

const READS = Symbol.for('stint.reads')

// Set by `hook.ts`, and shared by all copies of this module in a process: a slow hook loads a second copy.
const reads = ((globalThis as { [READS]?: { left: number } })[READS] ??= { left: Infinity })

/** Throws where a file is larger than any of its kind, or where a hook, which must end soon, would read more than it may in all. */
export function countRead(path: string, bytes: number, maxBytes: number): void {
  const limit = Math.min(maxBytes, reads.left)
  if (bytes > limit)
    throw new StintError(
      TOO_LARGE,
      `${path} is too large to be read: ${Math.ceil(bytes / MEGABYTE)} MB, where at most ${Math.floor(limit / MEGABYTE)} MB are read`,
      'nothing was changed; move the file away if it is not yours',
    )
  reads.left -= bytes
}

const TOO_LARGE = 'FILE_TOO_LARGE'

/** Not by class: a slow hook loads a second copy of it. */
export function isTooLarge(error: unknown): error is StintError {
  return error instanceof Error && 'code' in error && error.code === TOO_LARGE
}

export function statOrUndefined(path: string) {
  if (!refuseLinkedFolders(path)) return statSync(path, { throwIfNoEntry: false })
  const found = lstatOrUndefined(path)
  if (found?.isSymbolicLink() === true) throw linkRefused(path)
  return found
}

export function modeOf(path: string): number {
  return (statOrUndefined(path)?.mode ?? 0o600) & 0o777
}

export function listFolder(folder: string): readonly string[] {
  return listFolderIfPresent(folder) ?? []
}

export function listFolderIfPresent(folder: string): readonly string[] | undefined {
  refuseLinks(folder)
  return unlessMissing(() => readdirSync(folder))
}

export function listEntries(folder: string): readonly Dirent[] {
  refuseLinks(folder)
  return unlessMissing(() => readdirSync(folder, { withFileTypes: true })) ?? []
}

function unlessMissing<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isMissing(error)) return undefined
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

/** Undefined when the file is missing, was truncated by a power cut or is larger than any of ours. */
export function readJson(path: string, maxBytes = MAX_JSON_BYTES): unknown {
  try {
    const text = readTextOrUndefined(path, maxBytes)
    return text === undefined ? undefined : JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError || isTooLarge(error)) return undefined
    throw error
  }
}

const MAX_JSON_BYTES = 4 * MEGABYTE
