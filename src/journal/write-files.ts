// The only module that writes to disk: a crash at any call leaves either the old file or the new one.
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  rmdirSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { StintError, errnoOf, ignoreIoErrors, isMissing } from './errors.ts'
import {
  isNameOf,
  linkRefused,
  listEntries,
  listFolder,
  modeOf,
  readOrUndefined,
  refuseLinkedFolders,
  refuseLinks,
  statOrUndefined,
} from './read-files.ts'
import { randomHex } from './ids.ts'

export type WriteOutcome =
  | { readonly outcome: 'done' }
  | { readonly outcome: 'not done'; readonly cause: unknown }
  | { readonly outcome: 'unknown'; readonly cause: unknown }

const DONE: WriteOutcome = { outcome: 'done' }

const WRITES = Symbol.for('stint.writes')

// Shared by all copies of this module in a process, and readable from outside: a slow hook loads a second copy.
const count = ((globalThis as { [WRITES]?: { made: number } })[WRITES] ??= { made: 0 })

export function writeCount(): number {
  return count.made
}

class ShortWrite extends Error {
  override readonly name = 'ShortWrite'
  readonly code = 'ENOSPC'
  readonly syscall = 'write'
  constructor(written: number, wanted: number) {
    super(`only ${written} of ${wanted} bytes could be written; the disk is probably full`)
  }
}

const { O_RDONLY, O_WRONLY, O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants

/** Follows no link in `.sessions` and `.tasks`. */
function open(path: string | Buffer, flags: number, mode?: number): number {
  const isUntrusted = typeof path === 'string' && refuseLinkedFolders(path)
  try {
    return openSync(path, isUntrusted ? flags | O_NOFOLLOW | O_NONBLOCK : flags, mode)
  } catch (error) {
    throw isUntrusted && errnoOf(error) === 'ELOOP' ? linkRefused(path) : error
  }
}

export function openForAppend(path: string): number {
  return open(path, O_RDWR | O_APPEND | O_NONBLOCK)
}

export function openForOutput(path: string): number {
  return open(path, O_WRONLY | O_APPEND | O_CREAT, 0o600)
}

/** Opens the file, because permissions do not show what a sandbox forbids. */
export function isWriteDenied(path: string): boolean {
  try {
    closeSync(openForAppend(path))
    return false
  } catch (error) {
    return ['EACCES', 'EPERM', 'EROFS'].includes(errnoOf(error) ?? '')
  }
}

export function openToRead(path: string): number {
  return open(path, O_RDONLY | O_NONBLOCK)
}

/** Opens a file another program wrote; never blocks on a pipe and never opens a device. */
export function openRegularFile(path: string | Buffer): number | undefined {
  let fd: number | undefined
  try {
    const stat = typeof path === 'string' ? statOrUndefined(path) : statSync(path)
    if (stat?.isFile() !== true) return undefined
    // The path may name another file by now.
    fd = open(path, O_RDONLY | O_NONBLOCK)
    if (fstatSync(fd).isFile()) return fd
  } catch (error) {
    if (error instanceof StintError || errnoOf(error) === undefined) throw error
  }
  if (fd !== undefined) closeSync(fd)
  return undefined
}

/** A short write is never continued: the rest would land after what another process appended. From `readableFrom` bytes on, a reader accepts the first record. */
export function appendDurably(fd: number, bytes: Buffer, readableFrom: number): WriteOutcome {
  let written: number
  try {
    written = writeSync(fd, bytes, 0, bytes.length, null)
  } catch (cause) {
    return { outcome: 'not done', cause }
  }
  count.made += 1
  if (written < bytes.length) {
    // `writeSync` returns a short count without throwing when the disk fills up.
    return {
      outcome: written >= readableFrom ? 'unknown' : 'not done',
      cause: new ShortWrite(written, bytes.length),
    }
  }
  try {
    fdatasyncSync(fd)
  } catch (cause) {
    // Never retried on this descriptor: the kernel may have dropped the pages and would now say yes.
    return { outcome: 'unknown', cause }
  }
  return DONE
}

function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const fd = open(path, O_RDONLY)
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

const PRIVATE = 0o700
const OWN_FILE = /[/\\]\.sessions[/\\]/

/** For folders that are not only Stint's: the umask decides, but others never write there. */
export const OPEN_TO_OTHERS = 0o755

/** Its missing parents are created as well, with the same mode. */
export function createFolder(path: string, mode: number = PRIVATE): void {
  refuseLinks(path)
  if (!existsSync(path)) withFolder(path, () => undefined, mode)
}

/** Runs `work` before the new folders are synced: syncing is slow, and a program that removes them meanwhile would always win. */
export function withFolder<T>(path: string, work: () => T, mode: number = PRIVATE): T {
  const { result, parents } = retryIfRemoved(() => {
    const opened = openParents(path, createMissingFolders(path, mode))
    try {
      return { result: work(), parents: opened }
    } catch (error) {
      for (const fd of opened) closeSync(fd)
      throw error
    }
  })
  try {
    for (const fd of parents) fsyncSync(fd)
    return result
  } finally {
    for (const fd of parents) closeSync(fd)
  }
}

/** For files that may be lost in a power cut. */
export function createFolderUnsynced(path: string, mode: number = PRIVATE): void {
  retryIfRemoved(() => createMissingFolders(path, mode))
}

function createMissingFolders(path: string, mode: number): number {
  refuseLinks(path)
  if (existsSync(path)) return 0
  const made = createMissingFolders(dirname(path), mode)
  createUnlessTaken(() => mkdirSync(path, mode))
  // Also counts a folder that another process just made, which may not have synced it yet.
  return made + 1
}

function openParents(path: string, count: number): readonly number[] {
  const opened: number[] = []
  if (process.platform === 'win32') return opened
  try {
    for (let folder = path; opened.length < count;) {
      folder = dirname(folder)
      opened.push(openSync(folder, O_RDONLY))
    }
    return opened
  } catch (error) {
    for (const fd of opened) closeSync(fd)
    throw error
  }
}

const MIN_TRIES = 200
const RETRY_SECONDS = 2

/** Retries while `git clean` removes folders on the path, but not forever, and not behind a dangling link. */
export function retryIfRemoved<T>(work: () => T): T {
  // A nested call leaves the retry to the outer one.
  if (isRetrying) return work()
  const until = process.uptime() + RETRY_SECONDS
  isRetrying = true
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        return work()
      } catch (error) {
        const isOver = tries >= MIN_TRIES && process.uptime() > until
        if (errnoOf(error) !== 'ENOENT' || isOver || isBehindDanglingLink(error)) throw error
      }
    }
  } finally {
    isRetrying = false
  }
}

function isBehindDanglingLink(error: unknown): boolean {
  let path =
    error instanceof Error && 'path' in error && typeof error.path === 'string'
      ? error.path
      : undefined
  if (path === undefined) return false
  for (;;) {
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found !== undefined) return found.isSymbolicLink() && statOrUndefined(path) === undefined
    if (dirname(path) === path) return false
    path = dirname(path)
  }
}

let isRetrying = false

export function replaceFile(
  path: string,
  content: string | Buffer,
  { isDurable = true }: Durability = {},
): void {
  const mode = OWN_FILE.test(path) ? modeOf(path) & PRIVATE : modeOf(path)
  replaceWith(path, (temporary) => writeNewFile(temporary, content, mode, isDurable))
  if (isDurable) syncFolder(dirname(path))
}

function replaceWith(path: string, write: (temporary: string) => void): void {
  const temporary = temporaryName(path)
  try {
    write(temporary)
    renameSync(temporary, path)
  } catch (error) {
    // On a read-only disk removing fails too, and must not hide the first error.
    ignoreIoErrors(() => removeFile(temporary))
    throw error
  }
}

/** Not durable: for hook state, which is cheaper to lose than to sync. */
export function replaceUnsynced(path: string, content: string | Uint8Array): void {
  replaceWith(path, (temporary) => writeNewFile(temporary, content, 0o600, false))
}

/** Keeps the permissions of a file in the user's project. Not durable, like anything else written there. */
export function replaceProjectFile(path: string, content: string): void {
  const before = statOrUndefined(path)
  replaceWith(path, (temporary) => {
    writeFileSync(temporary, content, { flag: 'wx' })
    count.made += 1
    if (before !== undefined) chmodSync(temporary, before.mode & 0o7777)
  })
}

export function createExecutable(path: string, content: string): void {
  createFolderUnsynced(dirname(path))
  replaceWith(path, (temporary) => {
    writeFileSync(temporary, content, { mode: PRIVATE, flag: 'wx' })
    count.made += 1
  })
}

const MAX_PIPE_TRIES = 500

/** Handles pipes that accept a part at a time. A closed pipe, or one not read for half a second, is not an error. */
export function writeStdout(text: string): void {
  const bytes = Buffer.from(text)
  let tries = 0
  for (let written = 0; written < bytes.length;) {
    try {
      written += writeSync(1, bytes, written)
      tries = 0
    } catch (error) {
      if (errnoOf(error) !== 'EAGAIN' || (tries += 1) > MAX_PIPE_TRIES) return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}

export function appendLine(path: string, line: string): void {
  const fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0o600)
  try {
    writeFileSync(fd, `${line}\n`)
    count.made += 1
  } finally {
    closeSync(fd)
  }
}

/** On the path of every hook, so as few calls as possible. */
export function tryAppend(path: string, text: string): void {
  try {
    const fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
    try {
      writeSync(fd, text)
    } finally {
      closeSync(fd)
    }
  } catch {
    // A hook must not fail because its state could not be written.
  }
}

const NEWLINE = Buffer.from('\n')

/** Starts a new line even after a torn one, so a full disk costs no other line. */
export function appendLines(path: string, lines: Buffer, { isDurable = false } = {}): void {
  const fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
  try {
    const isNew = fstatSync(fd).size === 0
    const bytes = endsWithNewline(fd) ? lines : Buffer.concat([NEWLINE, lines])
    const written = writeSync(fd, bytes, 0, bytes.length, null)
    count.made += 1
    if (written < bytes.length) throw new ShortWrite(written, bytes.length)
    if (!isDurable) return
    fdatasyncSync(fd)
    if (isNew) syncFolder(dirname(path))
  } finally {
    closeSync(fd)
  }
}

function endsWithNewline(fd: number): boolean {
  const stat = fstatSync(fd)
  if (!stat.isFile()) throw Object.assign(new Error('not a file'), { code: 'EINVAL' })
  const { size } = stat
  const last = Buffer.alloc(1)
  return size === 0 || readSync(fd, last, 0, 1, size - 1) === 0 || last.equals(NEWLINE)
}

/** Returns false at once when another process holds it, unless that is older than `staleMs` or `isGone` knows it is dead. */
export function takeLock(
  path: string,
  staleMs: number,
  owner = '',
  isOwnerDead: (owner: string) => boolean = () => false,
): boolean {
  refuseLinkedFolders(path)
  const take = () => createUnlessTaken(() => writeLock(path, owner))
  if (take()) return true
  const lockedAt = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs
  // A time in the future comes from another clock and would never pass.
  const isYoung = lockedAt !== undefined && Math.abs(Date.now() - lockedAt) <= staleMs
  if (isYoung && !isOwnerDead(readOrUndefined(path)?.toString('utf8') ?? '')) return false
  removeFile(path)
  return take()
}

function writeLock(path: string, owner: string): void {
  writeFileSync(path, owner, { flag: 'wx', mode: 0o600 })
  count.made += 1
}

/** Returns false and changes nothing when `path` no longer names the file open as `fd`. */
export function replaceOpenFile(path: string, fd: number, content: Buffer): boolean {
  const temporary = temporaryName(path)
  writeNewFile(temporary, content, modeOf(path))
  try {
    if (!isNameOf(path, fd)) return false
    renameSync(temporary, path)
  } finally {
    removeFile(temporary)
  }
  syncFolder(dirname(path))
  return true
}

const PART_PATTERN = /^\.(\d+)-[0-9a-f]{12}\.part$/

export function writerPid(name: string): number | undefined {
  const pid = PART_PATTERN.exec(name)?.[1]
  return pid === undefined ? undefined : Number(pid)
}

/** A file written in chunks. Until it is complete its name holds the writer's pid, because its age does not show whether it is still being written. */
export class PartialFile {
  readonly #path: string
  readonly #fd: number

  constructor(folder: string) {
    this.#path = join(folder, `.${process.pid}-${randomHex(6)}.part`)
    refuseLinkedFolders(this.#path)
    this.#fd = openSync(this.#path, 'wx', 0o600)
  }

  write(bytes: Buffer): void {
    const written = writeSync(this.#fd, bytes, 0, bytes.length, null)
    count.made += 1
    if (written < bytes.length) throw new ShortWrite(written, bytes.length)
  }

  commitAs(path: string): boolean {
    return this.#finish(() => {
      refuseLinkedFolders(path)
      let isNew: boolean
      try {
        isNew = createUnlessTaken(() => linkSync(this.#path, path))
      } catch (error) {
        if (!lacksHardLinks(error)) throw error
        isNew = statOrUndefined(path) === undefined
        if (isNew) renameSync(this.#path, path)
      }
      if (isNew) syncFolder(dirname(path))
      return isNew
    })
  }

  /** Returns false, changing nothing, when the name no longer means the file open as `fd`. */
  replace(path: string, fd: number): boolean {
    return this.#finish(() => {
      if (!isNameOf(path, fd)) return false
      renameSync(this.#path, path)
      syncFolder(dirname(path))
      return true
    })
  }

  discard(): void {
    closeSync(this.#fd)
    removeFile(this.#path)
  }

  #finish(name: () => boolean): boolean {
    try {
      fsyncSync(this.#fd)
      if (!isNameOf(this.#path, this.#fd))
        throw Object.assign(new Error(`${this.#path} was taken away`), {
          code: 'ENOENT',
          syscall: 'link',
        })
      return name()
    } finally {
      this.discard()
    }
  }
}

interface Durability {
  /** False for views, which can be rendered again after a power cut. */
  readonly isDurable?: boolean
}

/** Returns false and changes nothing when the name is taken. */
export function createFile(
  path: string,
  content: string | Buffer,
  { mode, isDurable = true }: Durability & { mode?: number } = {},
): boolean {
  const temporary = temporaryName(path)
  writeNewFile(temporary, content, mode, isDurable)
  let isNew: boolean
  try {
    isNew = createUnlessTaken(() => linkSync(temporary, path))
  } catch (error) {
    if (!lacksHardLinks(error)) throw error
    // Without hard links still only one process gets the name, but not atomically.
    isNew = createUnlessTaken(() => writeNewFile(path, content, mode, isDurable))
  } finally {
    removeFile(temporary)
  }
  if (isNew && isDurable) syncFolder(dirname(path))
  return isNew
}

export function lacksHardLinks(error: unknown): boolean {
  return ['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(
    errnoOf(error) ?? '',
  )
}

export function writeOnce(path: string, content: string): void {
  if (statOrUndefined(path) === undefined) createFile(path, content)
}

/** Returns false and changes nothing when the name is taken. */
export function linkFile(from: string, to: string): boolean {
  // Otherwise the second name would be a link too, where none is looked for.
  refuseLinks(from)
  refuseLinkedFolders(to)
  const isNew = createUnlessTaken(() => linkSync(from, to))
  if (isNew) syncFolder(dirname(to))
  return isNew
}

/** Returns false and changes nothing when `from` no longer names the file open as `fd`. */
export function relinkFile(from: string, fd: number, to: string): boolean {
  refuseLinks(from)
  const temporary = temporaryName(to)
  linkSync(from, temporary)
  try {
    if (!isNameOf(temporary, fd)) return false
    renameSync(temporary, to)
  } finally {
    // Renaming a hard link onto another of the same file does nothing and leaves both.
    removeFile(temporary)
  }
  syncFolder(dirname(to))
  return true
}

export function moveFile(from: string, to: string, { isDurable = true }: Durability = {}): boolean {
  refuseLinkedFolders(from)
  refuseLinkedFolders(to)
  try {
    renameSync(from, to)
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
  if (isDurable) syncFolder(dirname(to))
  return true
}

export function removeFile(path: string): boolean {
  refuseLinkedFolders(path)
  try {
    unlinkSync(path)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

export function removeTree(path: string): void {
  refuseLinkedFolders(path)
  rmSync(path, { recursive: true, force: true })
}

export function removeEmptyFolder(path: string): boolean {
  refuseLinkedFolders(path)
  try {
    rmdirSync(path)
    return true
  } catch (error) {
    if (isMissing(error) || ['ENOTEMPTY', 'EEXIST'].includes(errnoOf(error) ?? '')) return false
    throw error
  }
}

export function touchFile(path: string): void {
  refuseLinkedFolders(path)
  try {
    const now = new Date()
    lutimesSync(path, now, now)
  } catch (error) {
    if (!isMissing(error)) throw error
    closeSync(open(path, O_WRONLY | O_APPEND | O_CREAT, 0o600))
  }
}

/** Denies other users a folder and all that is in it, except below `spared`. A private folder needs no second look inside, unless `isThorough`. Returns how many modes it changed. */
export function restrictFolder(
  folder: string,
  { isThorough, spared }: { readonly isThorough: boolean; readonly spared: string },
): number {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  if (found?.isDirectory() !== true || process.platform === 'win32') return 0
  // Many users share a sticky folder, such as /tmp.
  if ((found.mode & 0o1000) !== 0) return 0
  const isPrivate = (found.mode & ~PRIVATE & 0o777) === 0
  if (isPrivate && !isThorough) return 0
  let changed = 0
  const entries = folder === spared ? [] : ignoreIoErrors(() => listEntries(folder))
  for (const entry of entries ?? []) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) changed += restrictFolder(path, { isThorough: true, spared })
    else if (entry.isFile()) changed += restrict(path, lstatSync(path, { throwIfNoEntry: false }))
  }
  // Last, so that an interrupted pass is repeated.
  return changed + restrict(folder, found)
}

function restrict(path: string, found: { readonly mode: number } | undefined) {
  if (found === undefined || (found.mode & 0o077) === 0) return 0
  // A file of another user, or on a read-only disk, stays as it is.
  return ignoreIoErrors(() => (chmodSync(path, found.mode & PRIVATE), 1)) ?? 0
}

/** Gives a folder the permissions of another one. */
export function copyMode(from: string, to: string): void {
  const mode = statOrUndefined(from)?.mode
  if (mode !== undefined) ignoreIoErrors(() => chmodSync(to, mode & 0o7777))
}

export function sweepTemporaries(folder: string, olderThanMs = 60_000): number {
  return staleTemporaries(folder, olderThanMs).filter(removeFile).length
}

export function staleTemporaries(folder: string, olderThanMs = 60_000): readonly string[] {
  return listFolder(folder)
    .filter(isTemporaryName)
    .map((name) => join(folder, name))
    .filter((path) => {
      // A second name of an old file keeps its old mtime, but gets a new ctime.
      const changedAt = lstatSync(path, { throwIfNoEntry: false })?.ctimeMs
      return changedAt !== undefined && Date.now() - changedAt > olderThanMs
    })
}

export function isTemporaryName(name: string): boolean {
  return TEMPORARY_PATTERN.test(name)
}

const TEMPORARY_PATTERN = /^\..+\.[0-9a-f]{12}\.tmp$/

// Hidden and unique, so no listing takes it for a document.
function temporaryName(path: string): string {
  refuseLinkedFolders(path)
  const folder = dirname(path)
  return join(folder, `.${path.slice(folder.length + 1)}.${randomHex(6)}.tmp`)
}

function createUnlessTaken(create: () => void): boolean {
  try {
    create()
    return true
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false
    throw error
  }
}

function writeNewFile(
  path: string,
  content: string | Uint8Array,
  mode = 0o600,
  isDurable = true,
): void {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const fd = openSync(path, 'wx', mode)
  try {
    const written = writeSync(fd, bytes, 0, bytes.length, null)
    count.made += 1
    if (written < bytes.length) throw new ShortWrite(written, bytes.length)
    if (isDurable) fsyncSync(fd)
  } catch (error) {
    closeSync(fd)
    removeFile(path)
    throw error
  }
  closeSync(fd)
}
