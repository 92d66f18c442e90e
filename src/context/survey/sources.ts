// The few files that are read. Each is read once, up to a limit, and remembered, so that whoever keeps what came of it
// can tell later whether it still holds.
import { createHash } from 'node:crypto'
import { closeSync, fstatSync, lstatSync, readSync, realpathSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { errnoOf } from '../../journal/errors.ts'
import { openRegularFile } from '../../journal/files.ts'
import { MISSED, type SourceFile } from './remembered.ts'

/** More than any manifest a person wrote. What is longer is taken for made by a program and not read. */
const LARGEST = 256 * 1024
/** More than a repository has at the places that are looked at; a listing full of manifests is not read to its end. */
const MOST = 60

export class Sources {
  readonly #root: string
  readonly #texts = new Map<string, string | undefined>()
  readonly #files: SourceFile[] = []
  readonly #sum = createHash('sha256')

  /** `isTracked` says which files are the repository's; no other is opened. */
  constructor(
    root: string,
    readonly isTracked: (path: string) => boolean,
  ) {
    this.#root = root
  }

  /** What a file holds; undefined when there is none, when it is no plain file of this repository, or too large. */
  text(path: string): string | undefined {
    if (!this.isTracked(path)) return undefined
    if (!this.#texts.has(path))
      this.#texts.set(path, this.#files.length < MOST ? this.#read(path) : undefined)
    return this.#texts.get(path)
  }

  /** The object that a JSON file holds, if it does. */
  json(path: string): Readonly<Record<string, unknown>> | undefined {
    try {
      const value: unknown = JSON.parse(this.text(path) ?? 'null')
      return isObject(value) ? value : undefined
    } catch {
      // Somebody is in the middle of an edit, or it is JSON with comments: nothing is known of it.
      return undefined
    }
  }

  /** What was read so far, in the order in which it was read. */
  get files(): readonly SourceFile[] {
    return this.#files
  }

  /** A sum over the contents of what was read so far, and where. */
  sum(): string {
    return this.#sum.copy().digest('hex')
  }

  #read(path: string): string | undefined {
    const fd = this.#open(path)
    if (fd === undefined) return this.#missed(path)
    try {
      const { size, mtimeMs } = fstatSync(fd)
      this.#files.push({ path, size, mtimeMs })
      const bytes = size > LARGEST ? undefined : readUpTo(fd, size)
      this.#sum.update(`${path}\0${bytes?.length ?? 'too large'}\0`).update(bytes ?? '')
      return bytes?.toString('utf8')
    } finally {
      closeSync(fd)
    }
  }

  /** It may be there the next time, and then something else would be found. */
  #missed(path: string): undefined {
    this.#files.push({ path, size: MISSED, mtimeMs: 0 })
    this.#sum.update(`${path}\0missed\0`)
  }

  /** A link is not followed: it may lead out of the repository, to what is nobody's business here. */
  #open(path: string): number | undefined {
    const full = join(this.#root, path)
    try {
      const folder = realpathSync(dirname(full))
      const isInside = folder === this.#root || folder.startsWith(`${this.#root}${sep}`)
      return isInside && lstatSync(full).isFile() ? openRegularFile(full) : undefined
    } catch (error) {
      // Tracked, but not in the worktree, or barred to us.
      if (errnoOf(error) === undefined) throw error
      return undefined
    }
  }
}

function readUpTo(fd: number, size: number): Buffer {
  const bytes = Buffer.alloc(size)
  return bytes.subarray(0, readSync(fd, bytes, 0, size, 0))
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
