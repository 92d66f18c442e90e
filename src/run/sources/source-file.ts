// A file that tasks are kept in: where it is in the project, and where its copy is in the working tree of a run.
import { closeSync, fstatSync, readFileSync, realpathSync } from 'node:fs'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { isTracked } from '../../git/status.ts'
import { NotWritten, StintError, errnoOf, isMissing } from '../../journal/errors.ts'
import { openRegularFile, replaceOpenFile } from '../../journal/files.ts'
import type { Place } from '../../project/store/place.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { oneLine } from '../../text/clean.ts'
import { fingerprint } from './foreign.ts'

const MOST_BYTES = 16 * 1024 * 1024
const TRIES = 5

export class SourceFile {
  /** Stands before the ids of its tasks: its path in the project. */
  readonly key: string
  /** The worktree that it lies in, when it lies in the project. */
  readonly #home: string | undefined
  readonly #inRepository: boolean

  constructor(
    readonly path: string,
    place: Place,
  ) {
    const homes = [place.repository?.worktree, place.root].filter((home) => home !== undefined)
    this.#home = homes.find((home) => isWithin(home, path))
    this.#inRepository = place.repository !== undefined
    this.key = oneLine(
      this.#home === undefined ? outsideKey(path) : slashes(relative(this.#home, path)),
    )
  }

  static find(workspace: Workspace, given: string): SourceFile {
    const path = realPath(resolve(workspace.cwd, given))
    if (path === undefined) {
      throw new StintError(
        'BACKLOG_NOT_FOUND',
        `there is no file ${given}`,
        'name a JSONL or Markdown file, or leave --backlog out',
      )
    }
    return new SourceFile(path, workspace.place)
  }

  read(): string {
    const text = textAt(this.path)
    if (text === undefined) {
      throw new StintError(
        'BACKLOG_UNREADABLE',
        `${this.key} cannot be read`,
        'it must be a file of UTF-8 text, of at most 16 MB',
      )
    }
    return text
  }

  /**
   * Changes the copy in the working tree of a run. A file that git does not have is in no such tree and is changed where it
   * is. Answers the path when git tracks it.
   */
  edit(tree: string, change: (text: string) => string | undefined): readonly string[] {
    const target = this.#copyIn(tree) ?? (this.#isCommitted() ? undefined : this.path)
    if (target === undefined || !rewrite(target, change)) return []
    const root = realPath(tree)
    if (root === undefined || !isWithin(root, target)) return []
    const path = slashes(relative(root, target))
    return this.#inRepository && isTracked(root, path) ? [path] : []
  }

  /** A link that leads out of the tree is not followed: an agent may have made it. */
  #copyIn(tree: string): string | undefined {
    const root = realPath(tree)
    if (root === undefined || this.#home === undefined) return undefined
    const copy = realPath(join(root, relative(this.#home, this.path)))
    return copy !== undefined && isWithin(root, copy) ? copy : undefined
  }

  #isCommitted(): boolean {
    return (
      this.#home !== undefined &&
      this.#inRepository &&
      isTracked(this.#home, slashes(relative(this.#home, this.path)))
    )
  }
}

/** Says where no line of a file can be told apart any more. */
export function notThere(file: SourceFile, name: string): string {
  return `${file.key} has no single line for ${name} any more; it was left as it is`
}

function rewrite(path: string, change: (text: string) => string | undefined): boolean {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const fd = openRegularFile(path)
    if (fd === undefined) return false
    try {
      const text = textOf(fd)
      const changed = text === undefined ? undefined : change(text)
      if (changed === undefined || changed === text) return false
      if (replaceOpenFile(path, fd, Buffer.from(changed))) return true
    } catch (cause) {
      if (cause instanceof StintError) throw cause
      throw new NotWritten(path, cause)
    } finally {
      closeSync(fd)
    }
  }
  throw new NotWritten(path, new Error('somebody else is saving it all the time'))
}

function textAt(path: string): string | undefined {
  const fd = openRegularFile(path)
  if (fd === undefined) return undefined
  try {
    return textOf(fd)
  } finally {
    closeSync(fd)
  }
}

function textOf(fd: number): string | undefined {
  if (fstatSync(fd).size > MOST_BYTES) return undefined
  const bytes = readFileSync(fd)
  const text = bytes.toString('utf8')
  // Other bytes would come back changed.
  return Buffer.from(text).equals(bytes) ? text : undefined
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

// Two files of one name outside the project must not share what journals say of their tasks.
function outsideKey(path: string): string {
  return `${slashes(path).split('/').at(-1)}~${fingerprint(path)}`
}

function slashes(path: string): string {
  return path.split(sep).join('/')
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch (error) {
    // What may not be looked at is as good as not there.
    if (isMissing(error) || ['EACCES', 'EPERM', 'ELOOP'].includes(errnoOf(error) ?? ''))
      return undefined
    throw error
  }
}
