import { closeSync, fstatSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { JournalMissing, NotWritten, OutcomeUnknown, errnoOf, isMissing } from './errors.ts'
import {
  type WriteOutcome,
  appendDurably,
  createFolder,
  createForAppend,
  linkFile,
  moveFile,
  openForAppend,
  relinkFile,
  sameFile,
  statOrUndefined,
  syncFolder,
} from './files.ts'
import { mintId } from './ids.ts'
import { type LogContents, readLogFd } from './read.ts'
import { type JournalRecord, encodeRecord } from './record.ts'

/** A record that has not been given its id or time yet. Giving an `id` makes a retry safe. */
export interface RecordDraft {
  readonly kind: string
  readonly data: Readonly<Record<string, unknown>>
  readonly by: string
  readonly id?: string
  readonly at?: string
  readonly once?: string
}

/** Where a log is, and its second name under the git directory that `git clean` does not reach. */
export interface LogPlace {
  readonly path: string
  readonly link?: string | undefined
}

const ATTEMPTS = 5
const TAIL_BYTES = 64 * 1024

/**
 * One append-only log, shared by any number of processes without a lock.
 *
 * Appending is one `O_APPEND` write, so records of different processes do not mix; what can go
 * wrong is that the name is taken away meanwhile (`git clean`, a branch switch, a purge), and so
 * every append looks afterwards whether its file still has a name of ours and goes again if not.
 */
export class Log {
  #fd: number | undefined
  #read = 0
  #lastId: string | undefined
  #now: () => number

  constructor(
    readonly place: LogPlace,
    options: { now?: () => number } = {},
  ) {
    this.#now = options.now ?? Date.now
  }

  /** The largest id seen; the next one minted is larger. */
  get lastId(): string | undefined {
    return this.#lastId
  }

  /** Takes note of an id from elsewhere (a snapshot, another log). */
  sawId(id: string | undefined): void {
    if (id !== undefined && (this.#lastId === undefined || id > this.#lastId)) this.#lastId = id
  }

  exists(): boolean {
    return (
      statOrUndefined(this.place.path) !== undefined ||
      (this.place.link !== undefined && statOrUndefined(this.place.link) !== undefined)
    )
  }

  /** Creates the log with its first records. Fails if the name is taken. */
  create(drafts: readonly RecordDraft[]): readonly JournalRecord[] {
    const { path } = this.place
    try {
      createFolder(dirname(path))
      this.#fd = createForAppend(path)
      syncFolder(dirname(path))
    } catch (cause) {
      this.close()
      throw new NotWritten(path, cause)
    }
    return this.append(drafts)
  }

  /**
   * Appends records and returns them once they are durable.
   *
   * Throws `NotWritten` when they are certainly absent and `OutcomeUnknown` when they may be
   * there; after either, appending the same drafts with the same ids never duplicates.
   */
  append(drafts: readonly RecordDraft[]): readonly JournalRecord[] {
    let records: readonly JournalRecord[] | undefined
    let last: WriteOutcome = { outcome: 'not done', cause: new Error('the log kept being replaced by another program') }
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const fd = this.#open()
      this.#catchUp(fd)
      records ??= this.#mint(drafts)
      last = appendRecords(fd, records)
      if (last.outcome !== 'done') break
      if (this.#stillNamed(fd)) return records
      this.close()
    }
    this.close()
    if (last.outcome === 'unknown') throw new OutcomeUnknown(this.place.path, last.cause)
    throw new NotWritten(this.place.path, last.outcome === 'done' ? new Error('the log was replaced while writing') : last.cause)
  }

  /** Every good record, and the damage. */
  read(): LogContents {
    const fd = this.#open()
    const contents = readLogFd(fd, this.place.path)
    for (const record of contents.records) this.sawId(record.id)
    this.#read = Math.max(this.#read, contents.end)
    return contents
  }

  /** What was appended at or after `offset`. */
  readFrom(offset: number): LogContents {
    const contents = readLogFd(this.#open(), this.place.path, offset)
    for (const record of contents.records) this.sawId(record.id)
    return contents
  }

  /** The file behind the name now: what a snapshot must match. */
  identity(): { inode: number; size: number } {
    const stat = fstatSync(this.#open())
    return { inode: stat.ino, size: stat.size }
  }

  descriptor(): number {
    return this.#open()
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
    this.#read = 0
  }

  #open(): number {
    if (this.#fd !== undefined) {
      const named = statOrUndefined(this.place.path)
      const open = fstatSync(this.#fd)
      if (named?.ino === open.ino && named.dev === open.dev) {
        this.#holdLink()
        return this.#fd
      }
      this.close()
    }
    restoreFromLink(this.place)
    try {
      this.#fd = openForAppend(this.place.path)
    } catch (cause) {
      if (isMissing(cause)) throw new JournalMissing(this.place.path)
      throw new NotWritten(this.place.path, cause)
    }
    this.#holdLink()
    return this.#fd
  }

  #holdLink(): void {
    const { path, link } = this.place
    if (link === undefined || sameFile(path, link)) return
    try {
      reconcileLink(path, link)
    } catch (error) {
      // Another file system, or one without hard links: the log works, only without its second name.
      if (!['EXDEV', 'EPERM', 'ENOTSUP', 'EMLINK', 'EROFS', 'EACCES'].includes(errnoOf(error) ?? '')) {
        throw new NotWritten(link, error)
      }
    }
  }

  #catchUp(fd: number): void {
    const size = fstatSync(fd).size
    if (this.#read === size) return
    const from = this.#read > 0 && this.#read < size ? this.#read : Math.max(0, size - TAIL_BYTES)
    const contents = readLogFd(fd, this.place.path, from)
    for (const record of contents.records) this.sawId(record.id)
    this.#read = contents.end
  }

  #mint(drafts: readonly RecordDraft[]): readonly JournalRecord[] {
    return drafts.map((draft) => {
      const id = draft.id ?? mintId(this.#lastId, this.#now())
      this.sawId(id)
      const at = draft.at ?? new Date(this.#now()).toISOString()
      const { kind, by, data, once } = draft
      return once === undefined ? { id, at, kind, by, data } : { id, at, kind, by, once, data }
    })
  }

  #stillNamed(fd: number): boolean {
    const open = fstatSync(fd)
    if (open.nlink === 0) return false
    const { path, link } = this.place
    return [path, link].some((name) => {
      const stat = name === undefined ? undefined : statOrUndefined(name)
      return stat?.ino === open.ino && stat.dev === open.dev
    })
  }
}

function appendRecords(fd: number, records: readonly JournalRecord[]): WriteOutcome {
  const frames = records.map(encodeRecord)
  // A reader accepts a record as soon as its closing brace is there, with or without the newline.
  const firstWhole = (frames[0]?.length ?? 1) - 1
  return appendDurably(fd, Buffer.concat(frames), firstWhole)
}

/** Brings a log back under its own name from its link, when only that name was taken away. */
export function restoreFromLink(place: LogPlace): boolean {
  const { path, link } = place
  if (link === undefined || statOrUndefined(path) !== undefined || statOrUndefined(link) === undefined) return false
  createFolder(dirname(path))
  return linkFile(link, path)
}

/**
 * Makes the link name the log's file again. When both exist and differ (a branch switch replaced
 * one of them), what only the old one holds is appended first, so the names agree and nothing is lost.
 */
function reconcileLink(path: string, link: string): void {
  createFolder(dirname(link))
  if (linkFile(path, link)) return
  const old = openForAppend(link)
  try {
    const log = openForAppend(path)
    try {
      if (fstatSync(log).ino === fstatSync(old).ino) return
      const before = readLogFd(old, link)
      const damaged = before.damage.length > 0
      copyMissing(before.records, log, path)
      if (damaged) moveFile(link, `${link}.damaged-${basename(path)}-${Date.now()}`)
      relinkFile(path, link)
      // A writer may have finished on the old file between our reading it and taking its name.
      copyMissing(readLogFd(old, link, before.end).records, log, path)
    } finally {
      closeSync(log)
    }
  } finally {
    closeSync(old)
  }
}

/** Appends the records that the log does not hold yet. */
export function copyMissing(records: readonly JournalRecord[], fd: number, path: string): number {
  const held = new Set(readLogFd(fd, path).records.map((record) => record.id))
  const missing = records.filter((record) => !held.has(record.id))
  if (missing.length === 0) return 0
  const result = appendRecords(fd, missing)
  if (result.outcome === 'not done') throw new NotWritten(path, result.cause)
  if (result.outcome === 'unknown') throw new OutcomeUnknown(path, result.cause)
  return missing.length
}
