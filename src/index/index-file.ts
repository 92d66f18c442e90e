import { isMissing } from '../journal/errors.ts'
import { statOrUndefined } from '../journal/look.ts'
import { OtherVersion, openDatabase } from './schema.ts'
import { setAside } from './set-aside.ts'
import { type Database, isBusy, isCorrupt, isUnwritable } from './sqlite.ts'

export interface IndexFileOptions {
  /** Creates the folder that the file is in, if need be: whoever takes the file away may take that, too. */
  prepare(): void
  /** Takes a line for the person. */
  say(line: string): void
}

const REMOVALS = 3

/**
 * The database of an index: in its file, which anybody may damage, replace or take away at any time, or in
 * memory, where a file cannot be had. It holds nothing that cannot be built again, so nothing fails for it.
 */
export class IndexFile {
  readonly #path: string
  readonly #options: IndexFileOptions
  #database: Database
  /** Of the file that is open; undefined while there is none and memory serves. */
  #inode: number | undefined
  #isClosed = false

  constructor(path: string, options: IndexFileOptions) {
    this.#path = path
    this.#options = options
    this.#database = this.#open()
  }

  get database(): Database {
    return this.#database
  }

  get isInMemory(): boolean {
    return this.#inode === undefined
  }

  /** Whether the name means another file than the one that is open, or none. */
  isTakenAway(): boolean {
    return this.#inode !== undefined && statOrUndefined(this.#path)?.ino !== this.#inode
  }

  /** Goes over to the file that has the name now. */
  follow(): void {
    if (this.isTakenAway()) this.#exchange(() => this.#open())
  }

  /**
   * Takes another database after this one failed, or throws what is no failure of a file. One that was taken away is
   * begun again, a damaged one is set aside first; where the disk fails, or at the last try, memory serves.
   */
  recoverFrom(error: unknown, isLastTry: boolean): void {
    if (this.isInMemory || this.#isClosed || !isUnusable(error)) throw error
    if (isLastTry) this.#exchange(() => this.#openInMemory(error))
    else if (this.isTakenAway()) this.#exchange(() => this.#open())
    else if (isCorrupt(error)) this.#exchange(() => this.#openInPlaceOf(this.#inode, error))
    else this.#exchange(() => this.#openInMemory(error))
  }

  close(): void {
    if (!this.#isClosed) this.#database.close()
    this.#isClosed = true
  }

  #exchange(open: () => Database): void {
    this.#database.close()
    this.#database = open()
  }

  #open(): Database {
    for (let removals = 0; ; removals += 1) {
      const before = statOrUndefined(this.#path)
      try {
        this.#options.prepare()
        return this.#openFile(before)
      } catch (error) {
        if (error instanceof OtherVersion || isCorrupt(error))
          return this.#openInPlaceOf(before?.ino, error)
        if (!isUnusable(error)) throw error
        const wasTakenAway = before === undefined || statOrUndefined(this.#path)?.ino !== before.ino
        if (isBusy(error) || !wasTakenAway || removals === REMOVALS)
          return this.#openInMemory(error)
      }
    }
  }

  #openFile(before: { readonly ino: number; readonly size: number } | undefined): Database {
    // SQLite takes a file that is shorter than its smallest page for an empty one and writes over it.
    if (before !== undefined && before.size > 0 && before.size < 512)
      throw new OtherVersion('is cut off')
    const database = openDatabase(this.#path)
    this.#inode = statOrUndefined(this.#path)?.ino
    if (this.#inode !== undefined) return database
    database.close()
    throw Object.assign(new Error('it was taken away'), { code: 'ENOENT' })
  }

  /** Only once: when the new one is of another version, a different Stint is at work here right now. */
  #openInPlaceOf(inode: number | undefined, cause: unknown): Database {
    try {
      const name = setAside(this.#path, inode)
      const what = cause instanceof OtherVersion ? cause.message : `is damaged (${reasonOf(cause)})`
      const where = name === undefined ? '' : `; the old one is ${name}`
      this.#options.say(`the index ${what} and is built again from the journals${where}`)
      return this.#openFile(undefined)
    } catch (error) {
      if (!isUnusable(error)) throw error
      return this.#openInMemory(error)
    }
  }

  #openInMemory(cause: unknown): Database {
    this.#inode = undefined
    this.#options.say(
      `the index cannot be used (${reasonOf(cause)}); reading the journals for this once`,
    )
    return openDatabase(':memory:')
  }
}

function isUnusable(error: unknown): boolean {
  return (
    isUnwritable(error) ||
    isMissing(error) ||
    isBusy(error) ||
    isCorrupt(error) ||
    error instanceof OtherVersion
  )
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
