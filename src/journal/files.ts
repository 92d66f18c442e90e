// The only module that changes anything on disk. Everything Stint writes goes through here, so
// that counts are checked, new names are made durable, and a crash at any call leaves either the
// old file or the new one.
import {
  appendFileSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { errnoOf, isMissing } from './errors.ts'
import { isNameOf, modeOf, readOrUndefined, statOrUndefined } from './look.ts'
import { randomHex } from './random.ts'

export type WriteOutcome =
  | { readonly outcome: 'done' }
  | { readonly outcome: 'not done'; readonly cause: unknown }
  | { readonly outcome: 'unknown'; readonly cause: unknown }

const DONE: WriteOutcome = { outcome: 'done' }

const WRITES = Symbol.for('stint.writes')

// One for all copies of this module in a process, since a hook that is not served quickly loads a second one; and under a
// name by which it is found from outside of them.
const count = ((globalThis as { [WRITES]?: { made: number } })[WRITES] ??= { made: 0 })

/** How often this process has written: each append, and each file that something was put into. */
export function writesMade(): number {
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

export function openForAppend(path: string): number {
  return openSync(path, constants.O_RDWR | constants.O_APPEND)
}

/** A file for the output of a program that goes on without us. */
export function openForOutput(path: string): number {
  return openSync(path, 'a', 0o600)
}

/** Whether there is a file that we may not append to. Only opening it tells: a sandbox need not show in its permissions. */
export function isOutOfReach(path: string): boolean {
  try {
    closeSync(openForAppend(path))
    return false
  } catch (error) {
    return ['EACCES', 'EPERM', 'EROFS'].includes(errnoOf(error) ?? '')
  }
}

export function openToRead(path: string): number {
  return openSync(path, constants.O_RDONLY)
}

/**
 * Opens what another program wrote, or answers undefined when it is no file or cannot be read. Never waits,
 * as opening a pipe would, and never opens a device.
 */
export function openRegularFile(path: string): number | undefined {
  let fd: number | undefined
  try {
    if (!statSync(path).isFile()) return undefined
    // The name may mean something else by now.
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    if (fstatSync(fd).isFile()) return fd
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
  }
  if (fd !== undefined) closeSync(fd)
  return undefined
}

/**
 * Appends in one write and makes it durable. A short write is never continued: the rest would
 * land behind whatever another process appended in between. (Node may do so all the same; see `Log`.)
 *
 * `wholeAfter` is the number of bytes after which a reader would already accept a record.
 */
export function appendDurably(fd: number, bytes: Buffer, wholeAfter: number): WriteOutcome {
  let written: number
  try {
    written = writeSync(fd, bytes, 0, bytes.length, null)
  } catch (cause) {
    return { outcome: 'not done', cause }
  }
  count.made += 1
  if (written < bytes.length) {
    // fs.writeSync returns a short count without throwing when the disk fills in the middle of a
    // record, so the count decides, not the absence of an exception.
    return {
      outcome: written >= wholeAfter ? 'unknown' : 'not done',
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

/** Makes the names in a folder durable. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const fd = openSync(path, constants.O_RDONLY)
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Creates a folder and its parents, each new name durable. */
export function createFolder(path: string): void {
  if (!existsSync(path)) inFolder(path, () => undefined)
}

/**
 * Does something in a folder that is made for it, and makes each new name durable then: syncing is slow, and somebody who
 * removes all of them meanwhile would win every time.
 */
export function inFolder<T>(path: string, work: () => T): T {
  const { done, parents } = inSpiteOfRemoval(() => {
    const opened = openParents(path, createBelow(path))
    try {
      return { done: work(), parents: opened }
    } catch (error) {
      for (const fd of opened) closeSync(fd)
      throw error
    }
  })
  try {
    for (const fd of parents) fsyncSync(fd)
    return done
  } finally {
    for (const fd of parents) closeSync(fd)
  }
}

/** Creates a folder and its parents, for what may be lost with the power. */
export function createFolderUnsynced(path: string): void {
  inSpiteOfRemoval(() => createBelow(path))
}

/** Answers how many folders were missing. */
function createBelow(path: string): number {
  if (existsSync(path)) return 0
  const made = createBelow(dirname(path))
  unlessTaken(() => mkdirSync(path))
  // Also when somebody else made it just now, who may not have come to sync it.
  return made + 1
}

function openParents(path: string, count: number): readonly number[] {
  const opened: number[] = []
  if (process.platform === 'win32') return opened
  try {
    for (let folder = path; opened.length < count;) {
      folder = dirname(folder)
      opened.push(openSync(folder, constants.O_RDONLY))
    }
    return opened
  } catch (error) {
    for (const fd of opened) closeSync(fd)
    throw error
  }
}

const FEWEST_TRIES = 200
const PATIENCE_SECONDS = 2

/**
 * Does it again when a folder on the way was taken away meanwhile: `git clean` beside us removes what it does not know.
 * Not for ever, and not behind a link into nothing, where nothing can be made.
 */
export function inSpiteOfRemoval<T>(work: () => T): T {
  // Within another one it is the other's to do again.
  if (isTrying) return work()
  const until = process.uptime() + PATIENCE_SECONDS
  isTrying = true
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        return work()
      } catch (error) {
        const isOver = tries >= FEWEST_TRIES && process.uptime() > until
        if (errnoOf(error) !== 'ENOENT' || isOver || isBehindLinkIntoNothing(error)) throw error
      }
    }
  } finally {
    isTrying = false
  }
}

function isBehindLinkIntoNothing(error: unknown): boolean {
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

let isTrying = false

/** Replaces a file by another in one step, or leaves the old one. */
export function replaceFile(
  path: string,
  content: string | Buffer,
  { isDurable = true }: Durability = {},
): void {
  const temporary = temporaryName(path)
  writeNew(temporary, content, modeOf(path), isDurable)
  try {
    renameSync(temporary, path)
  } catch (error) {
    removeFile(temporary)
    throw error
  }
  if (isDurable) syncFolder(dirname(path))
}

/**
 * Replaces a file by another in one step, without making it durable. For what may be lost with the power:
 * notes of a hook, which costs less than the two syncs would.
 */
export function replaceUnsynced(path: string, content: string | Buffer): void {
  const temporary = temporaryName(path)
  try {
    writeFileSync(temporary, content, { mode: 0o600, flag: 'wx' })
    count.made += 1
    renameSync(temporary, path)
  } catch (error) {
    removeFile(temporary)
    throw error
  }
}

/**
 * Replaces a file of the user's project in one step, with the permissions it has. A new one gets those that any program's files
 * get. Not made durable: neither is what anybody else writes there.
 */
export function replaceSource(path: string, content: string): void {
  const temporary = temporaryName(path)
  const before = statOrUndefined(path)
  try {
    writeFileSync(temporary, content, { flag: 'wx' })
    count.made += 1
    if (before !== undefined) chmodSync(temporary, before.mode & 0o7777)
    renameSync(temporary, path)
  } catch (error) {
    removeFile(temporary)
    throw error
  }
}

/** Writes a file where it is, as most programs do. A crash leaves a part of it: for what Stint is compared with, and for nothing else. */
export function overwriteInPlace(path: string, content: string): void {
  writeFileSync(path, content)
  count.made += 1
}

/** A program of a few lines, which everybody may read and run. */
export function createExecutable(path: string, content: string): void {
  createFolderUnsynced(dirname(path))
  const temporary = temporaryName(path)
  writeFileSync(temporary, content, { mode: 0o755, flag: 'wx' })
  count.made += 1
  renameSync(temporary, path)
}

const FULL_PIPE_TRIES = 500

/**
 * Writes all of a text to standard output, also through a pipe that takes only a part at a time. Nobody listening is
 * no error; nor is one who has not read for half a second, for whom nobody is to wait.
 */
export function writeOut(text: string): void {
  const bytes = Buffer.from(text)
  let tries = 0
  for (let written = 0; written < bytes.length;) {
    try {
      written += writeSync(1, bytes, written)
      tries = 0
    } catch (error) {
      if (errnoOf(error) !== 'EAGAIN' || (tries += 1) > FULL_PIPE_TRIES) return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}

/** Appends a line to a file of notes, creating it. Not durable, and not the journal. */
export function appendLine(path: string, line: string): void {
  appendFileSync(path, `${line}\n`, { mode: 0o600 })
  count.made += 1
}

/**
 * Appends to notes that are worth no failure: on a full or read-only disk, or where their folder is gone, nothing happens. In the
 * way of every hook, so not by a function that does more.
 */
export function appendIfPossible(path: string, text: string): void {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
  try {
    const fd = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
    try {
      writeSync(fd, text)
    } finally {
      closeSync(fd)
    }
  } catch {
    // Whoever is served must not be served again for it.
  }
}

const NEWLINE = Buffer.from('\n')

/**
 * Appends whole lines in one write, creating the file. They begin on a line of their own even behind one that
 * was cut off, so what a full disk left of an earlier write costs no other line. Durable only when asked.
 */
export function appendLines(path: string, lines: Buffer, { isDurable = false } = {}): void {
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
  const fd = openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
  try {
    const isNew = fstatSync(fd).size === 0
    const bytes = endsLine(fd) ? lines : Buffer.concat([NEWLINE, lines])
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

function endsLine(fd: number): boolean {
  const stat = fstatSync(fd)
  if (!stat.isFile()) throw Object.assign(new Error('not a file'), { code: 'EINVAL' })
  const { size } = stat
  const last = Buffer.alloc(1)
  return size === 0 || readSync(fd, last, 0, 1, size - 1) === 0 || last.equals(NEWLINE)
}

/**
 * Takes a name for one process, until it removes it. Answers false at once when another has it. One that has had
 * it for longer than `staleMs` is taken to be dead; and one that `isGone` knows by what it left there.
 */
export function takeLock(
  path: string,
  staleMs: number,
  owner = '',
  isGone: (owner: string) => boolean = () => false,
): boolean {
  const take = () => unlessTaken(() => writeLock(path, owner))
  if (take()) return true
  const takenAt = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs
  // A time in the future is that of another clock, and would never pass.
  const isYoung = takenAt !== undefined && Math.abs(Date.now() - takenAt) <= staleMs
  if (isYoung && !isGone(readOrUndefined(path)?.toString('utf8') ?? '')) return false
  removeFile(path)
  return take()
}

function writeLock(path: string, owner: string): void {
  writeFileSync(path, owner, { flag: 'wx', mode: 0o600 })
  count.made += 1
}

/**
 * Replaces the file that is open as `fd` by another in one step. Answers false, changing nothing,
 * when the name no longer means that file: whoever rewrites a file must have read the one it replaces.
 */
export function replaceOpenFile(path: string, fd: number, content: Buffer): boolean {
  const temporary = temporaryName(path)
  writeNew(temporary, content, modeOf(path))
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

/** The process that was writing a file that is not whole, by the file's name. */
export function writerOf(name: string): number | undefined {
  const pid = PART_PATTERN.exec(name)?.[1]
  return pid === undefined ? undefined : Number(pid)
}

/**
 * A file that is written piece by piece, for what is too large to be held. It has its name only once it is whole; until
 * then the name says who is writing it, because nobody can tell by its age whether it is still being written.
 */
export class GrowingFile {
  readonly #path: string
  readonly #fd: number

  constructor(folder: string) {
    this.#path = join(folder, `.${process.pid}-${randomHex(6)}.part`)
    this.#fd = openSync(this.#path, 'wx', 0o600)
  }

  write(bytes: Buffer): void {
    const written = writeSync(this.#fd, bytes, 0, bytes.length, null)
    count.made += 1
    if (written < bytes.length) throw new ShortWrite(written, bytes.length)
  }

  /** Gives it its name. Answers false, and keeps nothing, when the name is taken. */
  keepAs(path: string): boolean {
    return this.#finish(() => {
      let isNew: boolean
      try {
        isNew = unlessTaken(() => linkSync(this.#path, path))
      } catch (error) {
        if (!lacksHardLinks(error)) throw error
        isNew = statOrUndefined(path) === undefined
        if (isNew) renameSync(this.#path, path)
      }
      if (isNew) syncFolder(dirname(path))
      return isNew
    })
  }

  /** Puts it in the place of the file that is open as `fd`. Answers false, changing nothing, when the name means another one by now. */
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
  /** False for views, which can be rendered again: they may be lost with the power. */
  readonly isDurable?: boolean
}

/** Creates a file with its content in one step. Answers false, changing nothing, when the name is taken. */
export function createFile(
  path: string,
  content: string | Buffer,
  { mode, isDurable = true }: Durability & { mode?: number } = {},
): boolean {
  const temporary = temporaryName(path)
  writeNew(temporary, content, mode, isDurable)
  let isNew: boolean
  try {
    isNew = unlessTaken(() => linkSync(temporary, path))
  } catch (error) {
    if (!lacksHardLinks(error)) throw error
    // Without hard links the name can still be taken by one process only, though not in one step.
    isNew = unlessTaken(() => writeNew(path, content, mode, isDurable))
  } finally {
    removeFile(temporary)
  }
  if (isNew && isDurable) syncFolder(dirname(path))
  return isNew
}

/** Whether an error says that this file system has no hard links, or none between these two folders. */
export function lacksHardLinks(error: unknown): boolean {
  return ['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(
    errnoOf(error) ?? '',
  )
}

/** Creates a file with this content unless there is one, whatever it holds. */
export function writeOnce(path: string, content: string): void {
  if (statOrUndefined(path) === undefined) createFile(path, content)
}

/** Gives a file a second name. Answers false, changing nothing, when the name is taken. */
export function linkFile(from: string, to: string): boolean {
  const isNew = unlessTaken(() => linkSync(from, to))
  if (isNew) syncFolder(dirname(to))
  return isNew
}

/**
 * Makes `to` another name of `from`, taking the name from whatever had it. Answers false, changing
 * nothing, when `from` no longer names the open file `fd`.
 */
export function relinkFile(from: string, fd: number, to: string): boolean {
  const temporary = temporaryName(to)
  linkSync(from, temporary)
  try {
    if (!isNameOf(temporary, fd)) return false
    renameSync(temporary, to)
  } finally {
    // Renaming one name of a file onto another of the same file does nothing, and leaves both.
    removeFile(temporary)
  }
  syncFolder(dirname(to))
  return true
}

/** Renames a file. Answers false when it is not there. */
export function moveFile(from: string, to: string, { isDurable = true }: Durability = {}): boolean {
  try {
    renameSync(from, to)
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
  if (isDurable) syncFolder(dirname(to))
  return true
}

/** Removes one name. Answers false when it is not there. */
export function removeFile(path: string): boolean {
  try {
    unlinkSync(path)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

/** Removes a folder of ours with everything in it. */
export function removeTree(path: string): void {
  rmSync(path, { recursive: true, force: true })
}

/** Removes a folder that holds nothing. Answers false when it does, or is not there. */
export function removeEmptyFolder(path: string): boolean {
  try {
    rmdirSync(path)
    return true
  } catch (error) {
    if (isMissing(error) || ['ENOTEMPTY', 'EEXIST'].includes(errnoOf(error) ?? '')) return false
    throw error
  }
}

/** Creates an empty file, or renews its time. */
export function touchFile(path: string): void {
  try {
    const now = new Date()
    utimesSync(path, now, now)
  } catch (error) {
    if (!isMissing(error)) throw error
    closeSync(openSync(path, 'a', 0o600))
  }
}

/** Removes the temporaries that a killed process left in a folder, once nobody can still be writing them. */
export function sweepTemporaries(folder: string, olderThanMs = 60_000): number {
  return staleTemporaries(folder, olderThanMs).filter(removeFile).length
}

/** The temporaries in a folder that nobody can still be writing. Looking is apart from removing for whoever only reports. */
export function staleTemporaries(folder: string, olderThanMs = 60_000): readonly string[] {
  const names = existsSync(folder)
    ? readdirSync(folder).filter((name) => TEMPORARY_PATTERN.test(name))
    : []
  return names
    .map((name) => join(folder, name))
    .filter((path) => {
      // A second name of an old file has that file's old time of writing, but a new time of change.
      const changedAt = lstatSync(path, { throwIfNoEntry: false })?.ctimeMs
      return changedAt !== undefined && Date.now() - changedAt > olderThanMs
    })
}

const TEMPORARY_PATTERN = /^\..+\.[0-9a-f]{12}\.tmp$/

// Hidden and unique: two processes never share one, and no listing of ours takes it for a document.
function temporaryName(path: string): string {
  const folder = dirname(path)
  return join(folder, `.${path.slice(folder.length + 1)}.${randomHex(6)}.tmp`)
}

function unlessTaken(create: () => void): boolean {
  try {
    create()
    return true
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false
    throw error
  }
}

/** Creates a file and makes its content durable, though not yet its name; leaves nothing when it fails. */
function writeNew(path: string, content: string | Buffer, mode = 0o600, isDurable = true): void {
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
