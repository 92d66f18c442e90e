import { closeSync, fstatSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  type LogPrefix,
  type LogContents,
  edgeChecksum,
  parseLog,
  readLogFd,
  readLogRange,
} from './read-log.ts'
import {
  JournalMissing,
  NotWritten,
  OutcomeUnknown,
  StintError,
  errnoOf,
  isMissing,
} from './errors.ts'
import {
  appendDurably,
  createFile,
  createFolder,
  withFolder,
  lacksHardLinks,
  linkFile,
  openForAppend,
  openToRead,
  relinkFile,
  removeFile,
  writeOnce,
} from './write-files.ts'
import {
  isNameOf,
  isRunning,
  listFolder,
  readOrUndefined,
  sameFile,
  statOrUndefined,
} from './read-files.ts'
import { isId, mintId, timeOfId } from './ids.ts'
import { type JournalRecord, checksum, encodeRecord } from './record.ts'

export interface RecordDraft {
  readonly kind: string
  readonly data: Readonly<Record<string, unknown>>
  readonly by: string
  readonly id?: string
  readonly at?: string
  readonly once?: string
}

export interface LogPaths {
  readonly path: string
  /** A second name under the git directory, which `git clean` does not reach and no clone carries. */
  readonly link?: string | undefined
  /** A file outside the project, written where a log can have no second name: this machine created the log. */
  readonly ownMark?: string
  /** Whether the user agreed to records that another machine wrote. */
  readonly acceptsForeign?: () => boolean
}

const MAX_ATTEMPTS = 10
const TAIL_BYTES = 64 * 1024

/** An append-only log that processes share without a lock: each append is one `O_APPEND` write, checked afterwards because the file can lose its name. */
export class Log {
  #fd: number | undefined
  #isReadOnly = false
  #isForeign: boolean | undefined
  #read = 0
  #lastRead:
    | { readonly contents: LogContents; readonly lastId: string; readonly edges: number }
    | undefined
  #parsed: { readonly end: number; readonly records: readonly JournalRecord[] } | undefined
  #lastId: string | undefined
  /** The id of a log whose clock was once ahead says nothing about the time. */
  readonly #mintedAt = new Map<string, string>()
  #now: () => number

  constructor(
    readonly paths: LogPaths,
    options: { now?: () => number } = {},
  ) {
    this.#now = options.now ?? Date.now
  }

  get lastId(): string | undefined {
    return this.#lastId
  }

  sawId(id: string | undefined): void {
    // A larger id in another format cannot be incremented.
    if (id !== undefined && isId(id) && (this.#lastId === undefined || id > this.#lastId))
      this.#lastId = id
  }

  /** For entries that refer to each other before they are written. */
  mint(): string {
    const { id, at } = this.#mintNow()
    this.#mintedAt.set(id, at)
    return id
  }

  #mintNow() {
    const now = this.#now()
    const id = mintId(this.#lastId, now)
    this.sawId(id)
    return { id, at: new Date(now).toISOString() }
  }

  /** Whether another machine wrote it, or a part of it. Known once the log was opened. */
  get isForeign(): boolean {
    this.#isForeign ??= !isOwnLog(this.paths)
    return this.#isForeign
  }

  exists(): boolean {
    return (
      statOrUndefined(this.paths.path) !== undefined ||
      (this.paths.link !== undefined && statOrUndefined(this.paths.link) !== undefined)
    )
  }

  create(drafts: readonly RecordDraft[]): readonly JournalRecord[] {
    const { path } = this.paths
    const records = this.#mint(drafts)
    let isCreated: boolean
    try {
      createFolder(dirname(path))
      isCreated =
        !restoreFromLink(this.paths) &&
        createOwnFile(this.paths, Buffer.concat(records.map(encodeRecord)))
      if (isCreated) this.#open()
    } catch (error) {
      const cause = error instanceof NotWritten ? error.cause : error
      if (this.exists()) throw new OutcomeUnknown(path, cause, records)
      throw new NotWritten(path, cause, records)
    }
    if (!isCreated) throw new NotWritten(path, new Error('the name is taken'), records)
    return records
  }

  /** Throws `NotWritten` or `OutcomeUnknown` with the records; appending those again never duplicates. */
  append(drafts: readonly RecordDraft[]): readonly JournalRecord[] {
    if (drafts.length === 0) return []
    let records: readonly JournalRecord[] | undefined
    let unknowns = 0
    let mayBeWritten = false
    let cause: unknown
    for (let attempt = 0; attempt < MAX_ATTEMPTS && unknowns < 2; attempt += 1) {
      try {
        // An open log is written to at once: the names are checked afterwards.
        const fd = this.#fd === undefined || this.#isReadOnly ? this.#open() : this.#fd
        if (this.isForeign && this.paths.acceptsForeign?.() !== true)
          throw new ForeignJournal(this.paths.path)
        const before = fstatSync(fd)
        if (this.#read !== before.size) this.#catchUp(fd, before)
        records ??= this.#mint(drafts)
        const frames = records.map(encodeRecord)
        const bytes = frames.length === 1 ? frames[0]! : Buffer.concat(frames)
        // A reader accepts a record from its closing brace on, without the newline.
        const result = appendDurably(fd, bytes, frames[0]!.length - 1)
        if (result.outcome !== 'not done') mayBeWritten = true
        if (result.outcome === 'done') {
          if (this.#grewByExactly(bytes.length, before) || this.#isConfirmed(fd, records))
            return records
          cause = new Error('the log kept being changed by another program')
        } else {
          cause = result.cause
        }
        if (result.outcome === 'not done') break
        // Writing the same ids again through a new descriptor resolves it.
        if (result.outcome === 'unknown') unknowns += 1
      } catch (error) {
        if (error instanceof JournalMissing || error instanceof ForeignJournal) throw error
        cause = error instanceof NotWritten ? error.cause : error
        if (!isMissing(error)) break
      }
      this.close()
    }
    this.close()
    if (mayBeWritten) throw new OutcomeUnknown(this.paths.path, cause, records)
    throw new NotWritten(this.paths.path, cause, records)
  }

  read(prefix?: LogPrefix): LogContents {
    const fd = this.#openToRead()
    const contents = this.#readAppended(fd) ?? this.#readAfterPrefix(fd, prefix) ?? this.readFrom(0)
    if (contents !== this.#lastRead?.contents) {
      const { growth, end } = contents
      if (growth === undefined) this.#parsed = { end, records: contents.records }
      const before = growth && (this.#lastRead ?? prefix)
      const lastId = (growth ?? contents).records.reduce(
        (max, { id }) => (id > max ? id : max),
        before?.lastId ?? '',
      )
      this.#lastRead = { contents, lastId, edges: edgeChecksum(fd, end) }
    }
    this.#read = Math.max(this.#read, contents.end)
    return contents
  }

  /** The caller knows the largest id before `offset`, so an append needs no other read. */
  readSince(offset: number, lastId: string): LogContents {
    this.sawId(lastId)
    const contents = this.readFrom(offset)
    this.#read = Math.max(this.#read, contents.end)
    return contents
  }

  readFrom(offset: number): LogContents {
    const contents = readLogFd(this.#openToRead(), this.paths.path, offset)
    for (const record of contents.records) this.sawId(record.id)
    return contents
  }

  identity(): { inode: number; size: number; mtimeMs: number } {
    const { ino: inode, size, mtimeMs } = fstatSync(this.#openToRead())
    return { inode, size, mtimeMs }
  }

  descriptor(): number {
    return this.#openToRead()
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
    this.#isReadOnly = false
    this.#isForeign = undefined
    this.#read = 0
    this.#lastRead = undefined
    this.#parsed = undefined
  }

  #readAppended(fd: number): LogContents | undefined {
    if (this.#lastRead === undefined) return undefined
    const { contents, lastId, edges } = this.#lastRead
    const { end, bytes, damage } = contents
    const { size } = fstatSync(fd)
    if (bytes.length !== end || size < end || edgeChecksum(fd, end) !== edges) return undefined
    if (size === end) return contents
    const grown = Buffer.concat([bytes, readLogRange(fd, this.paths.path, end)])
    return this.#grownContents(end, lastId, damage, grown)
  }

  #readAfterPrefix(fd: number, prefix: LogPrefix | undefined): LogContents | undefined {
    if (prefix === undefined) return undefined
    const bytes = readLogRange(fd, this.paths.path, 0)
    const { end, sum, lastId } = prefix
    if (bytes.length < end || checksum(bytes.subarray(0, end)) !== sum) return undefined
    this.#parsed = undefined
    return this.#grownContents(end, lastId, [], bytes)
  }

  #grownContents(
    from: number,
    lastId: string,
    damage: LogContents['damage'],
    bytes: Buffer,
  ): LogContents | undefined {
    const tail = parseLog(bytes.subarray(from), this.paths.path, from)
    // A late id may repeat an earlier one, and damage is reported by line number in the whole file.
    if (tail.damage.length > 0 || tail.records.some(({ id }) => id <= lastId)) return undefined
    this.sawId(lastId)
    for (const { id } of tail.records) this.sawId(id)
    let records: readonly JournalRecord[] | undefined
    const parse = () => (records ??= this.#parse(bytes))
    const growth = { from, records: tail.records }
    return {
      // Parsed lazily: a command that only appends to a long log never needs it.
      get records() {
        return parse()
      },
      damage,
      end: tail.end,
      bytes,
      growth,
    }
  }

  #parse(bytes: Buffer): readonly JournalRecord[] {
    const known = this.#parsed ?? { end: 0, records: [] }
    const from = known.end <= bytes.length ? known : { end: 0, records: [] }
    const { records, end } = parseLog(bytes.subarray(from.end), this.paths.path, from.end)
    this.#parsed = { end, records: [...from.records, ...records] }
    return this.#parsed.records
  }

  #open(): number {
    const { path } = this.paths
    if (this.#isReadOnly) this.close()
    let cause: unknown
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      try {
        if (this.#fd !== undefined && !isNameOf(path, this.#fd)) this.close()
        if (this.#fd === undefined) restoreFromLink(this.paths)
        this.#fd ??= openForAppend(path)
        this.#ensureLink()
        return this.#fd
      } catch (error) {
        this.close()
        cause = error
        // Another program may remove a name between any two calls; while one is left, a retry finds the log.
        if (!isMissing(error)) break
        if (!this.exists()) throw new JournalMissing(path)
      }
    }
    throw new NotWritten(path, cause)
  }

  /** Reading works on a full or read-only disk. */
  #openToRead(): number {
    try {
      return this.#open()
    } catch (error) {
      if (!(error instanceof NotWritten)) throw error
      const { path, link } = this.paths
      this.#fd = openToRead(link !== undefined && statOrUndefined(path) === undefined ? link : path)
      this.#isReadOnly = true
      return this.#fd
    }
  }

  #ensureLink(): void {
    const { path, link } = this.paths
    if (link === undefined || sameFile(path, link)) return
    try {
      if (!isOwnLog(this.paths)) {
        if (this.paths.acceptsForeign?.() !== true) return
        createFolder(dirname(link))
        writeOnce(foreignMark(link), '')
      }
      reconcileLink(path, link)
      for (const mark of rewriteMarks(link))
        if (!isRunning(Number(mark.slice(mark.lastIndexOf('-') + 1)))) removeFile(mark)
    } catch (error) {
      if (!cannotBeLinked(error)) throw error
    }
  }

  /** After an append the ids must include its own: Node continues a short write by itself, so another record can be in the middle of ours. */
  #catchUp(fd: number, { size }: { size: number }): ReadonlySet<string> {
    if (this.#read === size) return new Set()
    let from = this.#read > 0 && this.#read < size ? this.#read : Math.max(0, size - TAIL_BYTES)
    const { path } = this.paths
    const readOn = () => parseLog(readLogRange(fd, path, from), path, from)
    let contents = readOn()
    // A record longer than the tail hides its own id.
    while (contents.records.length === 0 && this.#read === 0 && from > 0) {
      from = Math.max(0, size - 4 * (size - from))
      contents = readOn()
    }
    for (const record of contents.records) this.sawId(record.id)
    this.#read = contents.end
    return new Set(contents.records.map(({ id }) => id))
  }

  #mint(drafts: readonly RecordDraft[]): readonly JournalRecord[] {
    return drafts.map((draft) => {
      const { id, at } = draft.id === undefined ? this.#mintNow() : this.#stamp(draft.id)
      this.sawId(id)
      const { kind, by, data, once } = draft
      const record = { id, at: draft.at ?? at, kind, by }
      return once === undefined ? { ...record, data } : { ...record, once, data }
    })
  }

  /** A retry with a given id must be the same to the byte. */
  #stamp(id: string) {
    const at = this.#mintedAt.get(id) ?? timeOfId(id) ?? new Date(this.#now()).toISOString()
    return { id, at }
  }

  /** The usual case, decided by one stat: same file, both names, longer by exactly our bytes. */
  #grewByExactly(length: number, before: { ino: number; dev: number; size: number }): boolean {
    const now = statOrUndefined(this.paths.path)
    if (now?.ino !== before.ino || now.dev !== before.dev || now.size !== before.size + length)
      return false
    if (this.paths.link !== undefined && now.nlink < 2) return false
    this.#read = now.size
    return true
  }

  /** The link alone is not enough: a process that reconciles the names copies the link's file before removing it, and would miss this append. */
  #isConfirmed(fd: number, records: readonly JournalRecord[]): boolean {
    const { path, link } = this.paths
    const file = fstatSync(fd)
    const found = this.#catchUp(fd, file)
    if (!records.every(({ id }) => found.has(id))) return false
    const isNamed = isFile(path, file) || (restoreFromLink(this.paths) && isFile(path, file))
    if (isNamed && link !== undefined && file.nlink < 2) this.#ensureLink()
    return isNamed
  }
}

/** The journal came with the repository, and the user has not agreed to it. */
export class ForeignJournal extends StintError {
  override readonly name = 'ForeignJournal'
  constructor(readonly path: string) {
    super(
      'FOREIGN_JOURNAL',
      `${path} was not written on this machine, so nothing is added to it`,
      'stint trust shows what came with this repository and asks whether to use it',
    )
  }
}

/**
 * Whether this machine wrote the log and everything in it. A clone brings no git directory, so it
 * cannot bring the second name.
 */
export function isOwnLog({ path, link, ownMark }: LogPaths): boolean {
  if (link !== undefined && statOrUndefined(link) !== undefined) {
    if (statOrUndefined(foreignMark(link)) !== undefined) return false
    return (
      sameFile(path, link) ||
      statOrUndefined(path) === undefined ||
      rewriteMarks(link).length > 0 ||
      holdsNothingElse(path, link)
    )
  }
  if (ownMark === undefined) return link === undefined
  return readOrUndefined(ownMark)?.toString('utf8') === path
}

/** Beside the second name of a log that the user agreed to: parts of it come from elsewhere. */
function foreignMark(link: string): string {
  return `${link}.foreign`
}

/** Beside the second name while this process rewrites a log: until it moves, the two files differ. */
export function rewriteMark(link: string): string {
  return `${link}.rewriting-${process.pid}`
}

function rewriteMarks(link: string): readonly string[] {
  const folder = dirname(link)
  return listFolder(folder)
    .map((name) => join(folder, name))
    .filter((path) => path.startsWith(`${link}.rewriting-`))
}

/** By content, because ids alone can be forged. */
function holdsNothingElse(path: string, link: string): boolean {
  const framesIn = (file: string) => {
    const fd = openToRead(file)
    try {
      return readLogFd(fd, file).records.map((record) => encodeRecord(record).toString('latin1'))
    } finally {
      closeSync(fd)
    }
  }
  // In this order: another process may merge the two and append meanwhile, and the second name only ever gains records.
  const held = framesIn(path)
  const known = new Set(framesIn(link))
  return held.every((frame) => known.has(frame)) || sameFile(path, link)
}

/** Proof that the log is ours comes before its name in the project, which would not count as ours without it. */
function createOwnFile({ path, link, ownMark }: LogPaths, content: Buffer): boolean {
  if (statOrUndefined(path) !== undefined) return false
  if (ownMark !== undefined) {
    createFolder(dirname(ownMark))
    writeOnce(ownMark, path)
  }
  if (link === undefined) return createFile(path, content)
  try {
    createFolder(dirname(link))
    if (!createFile(link, content)) return false
    // Another process that sees the second name first gives our log its name in the project.
    return withFolder(dirname(path), () => linkFile(link, path) || sameFile(path, link))
  } catch (error) {
    // With both names only a sync failed, and the outcome is unknown.
    if (!cannotBeLinked(error) || statOrUndefined(path) !== undefined) throw error
    // A copy would grow old.
    removeFile(link)
    return createFile(path, content)
  }
}

/** Without hard links, or where the link may not be written, the log works without it. */
function cannotBeLinked(error: unknown): boolean {
  return lacksHardLinks(error) || errnoOf(error) === 'EROFS' || errnoOf(error) === 'EACCES'
}

function isFile(path: string, file: { ino: number; dev: number }): boolean {
  const named = statOrUndefined(path)
  return named?.ino === file.ino && named.dev === file.dev
}

export function restoreFromLink(paths: LogPaths): boolean {
  const { path, link } = paths
  if (
    link === undefined ||
    statOrUndefined(path) !== undefined ||
    statOrUndefined(link) === undefined
  )
    return false
  return withFolder(dirname(path), () => linkFile(link, path))
}

/** When both names exist and differ, records only the old file holds are appended first, so nothing is lost. */
function reconcileLink(path: string, link: string): void {
  createFolder(dirname(link))
  if (linkFile(path, link)) return
  const old = openToRead(link)
  try {
    const log = openForAppend(path)
    try {
      if (isNameOf(link, log)) return
      const { records, damage } = readLogFd(old, link)
      copyMissing(records, log, path)
      if (damage.length > 0) linkFile(link, `${link}.damaged-${Date.now()}`)
      relinkFile(path, log, link)
    } finally {
      closeSync(log)
    }
  } finally {
    closeSync(old)
  }
}

function copyMissing(records: readonly JournalRecord[], fd: number, path: string): number {
  const missing = recordsNotIn(records, fd, path)
  if (missing.length === 0) return 0
  const frames = missing.map(encodeRecord)
  const result = appendDurably(fd, Buffer.concat(frames), frames[0]!.length - 1)
  if (result.outcome === 'not done') throw new NotWritten(path, result.cause)
  if (result.outcome === 'unknown') throw new OutcomeUnknown(path, result.cause)
  if (recordsNotIn(missing, fd, path).length > 0)
    throw new OutcomeUnknown(path, new Error('another program wrote in between'))
  return missing.length
}

function recordsNotIn(
  records: readonly JournalRecord[],
  fd: number,
  path: string,
): readonly JournalRecord[] {
  const known = new Set(readLogFd(fd, path).records.map(({ id }) => id))
  return records.filter(({ id }) => !known.has(id))
}
