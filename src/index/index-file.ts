import { isMissing } from '../journal/errors.ts'
import { statOrUndefined } from '../journal/look.ts'
import { OtherVersion, openDatabase } from './schema.ts'
import { setAside } from './set-aside.ts'
import { type Database, isBusy, isCorrupt, isUnwritable } from './sqlite.ts'

export interface IndexFileOptions {
  /** Creates the folder of the file, which may have been removed with it. */
  prepare(): void
  say(line: string): void
}

const REMOVALS = 3

/** The index holds nothing that cannot be rebuilt: a damaged file is replaced, and without a usable disk memory serves. */
export class IndexFile {
  readonly #path: string
  readonly #options: IndexFileOptions
  #database: Database
  /** Undefined while memory serves. */
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

  /** Whether the name means another file than the open one, or none. */
  isTakenAway(): boolean {
    return this.#inode !== undefined && statOrUndefined(this.#path)?.ino !== this.#inode
  }

  follow(): void {
    if (this.isTakenAway()) this.#exchange(() => this.#open())
  }

  /** Rethrows errors that are not about the file. A removed file is recreated, a damaged one quarantined; a failing disk, or the last try, falls back to memory. */
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
    // SQLite takes a file shorter than its smallest page for an empty one and overwrites it.
    if (before !== undefined && before.size > 0 && before.size < 512)
      throw new OtherVersion('is cut off')
    const database = openDatabase(this.#path)
    this.#inode = statOrUndefined(this.#path)?.ino
    if (this.#inode !== undefined) return database
    database.close()
    throw Object.assign(new Error('it was taken away'), { code: 'ENOENT' })
  }

  /** Only once: another version in the new file means that a different Stint is running here. */
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
