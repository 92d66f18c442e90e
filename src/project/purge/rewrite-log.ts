// The only code that rewrites a journal. Writers do not wait: an append checks afterwards whether
// its file still has the log's name, and repeats if not.
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fstatSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { NotWritten, OutcomeUnknown, errnoOf, isMissing } from '../../journal/errors.ts'
import {
  appendDurably,
  createFolder,
  lacksHardLinks,
  linkFile,
  openForAppend,
  relinkFile,
  removeFile,
  replaceOpenFile,
  writeOnce,
} from '../../journal/write-files.ts'
import { isNameOf, listFolder, statOrUndefined } from '../../journal/read-files.ts'
import { type LogPaths, isOwnLog, restoreFromLink, rewriteMark } from '../../journal/log.ts'
import { readRange } from '../../journal/read-log.ts'
import { openIfPresent } from '../store/open-if-present.ts'
import type { PurgeMatcher } from './purge-matcher.ts'
import {
  type JournalRecord,
  checksum,
  decodeLine,
  encodeRecord,
  findRecords,
} from '../../journal/record.ts'

const MAX_ATTEMPTS = 10
const REPLACED = /^replaced-[0-9a-f]+\.jsonl$/
const NEWLINE = 0x0a
/** A line still torn after this long was left by a killed process. */
const TORN_LINE_MS = 20

interface Source {
  readonly fd: number
  end: number
}

/** A killed purge leaves such files; they may hold entries that were not copied. */
export function isReplacedLog(name: string): boolean {
  return REPLACED.test(name)
}

/**
 * A record keeps its id, time and kind and gets a new checksum; damaged lines stay, without the
 * text.
 */
export function rewriteLog(
  paths: LogPaths,
  needle: PurgeMatcher,
  options: { dryRun: boolean },
): number {
  if (options.dryRun) return countIn(paths, needle)
  const orphans: Source[] = []
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const count = attemptRewrite(paths, needle, orphans)
      if (count !== undefined) return count
    }
  } finally {
    for (const { fd } of orphans) closeSync(fd)
  }
  throw new NotWritten(paths.path, new Error('the log kept being replaced by another program'))
}

function countIn(paths: LogPaths, needle: PurgeMatcher) {
  const sources = openSources(paths)
  try {
    const lines = new ScrubbedLines(needle)
    for (const { fd } of sources) lines.add(readRange(fd, 0, fstatSync(fd).size))
    return lines.count
  } finally {
    for (const { fd } of sources) closeSync(fd)
  }
}

/** Undefined when another program replaced the log meanwhile. */
function attemptRewrite(paths: LogPaths, needle: PurgeMatcher, orphans: Source[]) {
  restoreFromLink(paths)
  const sources = openSources(paths)
  let log: number | undefined
  try {
    const [own] = sources
    if (own === undefined) return 0
    const lines = new ScrubbedLines(needle)
    const parts = [...sources, ...orphans].map((source) => readLines(source, lines))
    const isNewElsewhere = parts.slice(1).some((part) => part.length > 0)
    if (
      lines.count > 0 ||
      isNewElsewhere ||
      sources.some((source) => isInUnfinishedLine(source, needle))
    ) {
      linkOldFile(paths.path)
      if (paths.link !== undefined && existsSync(paths.link)) writeOnce(rewriteMark(paths.link), '')
      if (!replaceOpenFile(paths.path, own.fd, Buffer.concat(parts))) {
        if (paths.link !== undefined) removeFile(rewriteMark(paths.link))
        return undefined
      }
      log = openForAppend(paths.path)
      // Before the link moves: until then it still names the old file.
      for (const source of [...sources, ...orphans]) drain(source, log, lines, paths.path)
      moveLink(paths, log, lines, sources)
      if (paths.link !== undefined) removeFile(rewriteMark(paths.link))
      if (!isNameOf(paths.path, log)) return undefined
    }
    removeReplaced(paths.path, sources)
    return lines.count
  } catch (error) {
    // git clean removed the name; it comes back from the link.
    if (isMissing(error)) return undefined
    throw error
  } finally {
    for (const { fd } of sources) closeSync(fd)
    // Another purge replaced our file; its appends go with the next attempt.
    if (log !== undefined && isNameOf(paths.path, log)) closeSync(log)
    else if (log !== undefined) orphans.push({ fd: log, end: 0 })
  }
}

function openSources(paths: LogPaths) {
  const folder = dirname(paths.path)
  const replaced = listFolder(folder).filter(isReplacedLog).toSorted()
  const files = [
    paths.path,
    ...(paths.link === undefined ? [] : [paths.link]),
    ...replaced.map((name) => join(folder, name)),
  ]
  const sources: Source[] = []
  for (const path of files) {
    const fd = openIfPresent(path)
    if (fd === undefined) continue
    if (sources.some((source) => isSameFile(source.fd, fd))) closeSync(fd)
    else sources.push({ fd, end: 0 })
  }
  return sources
}

function isSameFile(a: number, b: number) {
  const first = fstatSync(a)
  const second = fstatSync(b)
  return first.ino === second.ino && first.dev === second.dev
}

/** What follows the last newline may still be being written. */
function readLines(source: Source, lines: ScrubbedLines) {
  const bytes = readRange(source.fd, 0, fstatSync(source.fd).size)
  source.end = bytes.lastIndexOf(NEWLINE) + 1
  return lines.add(bytes.subarray(0, source.end))
}

function isInUnfinishedLine({ fd, end }: Source, needle: PurgeMatcher) {
  const lines = new ScrubbedLines(needle)
  lines.add(readRange(fd, end, fstatSync(fd).size))
  return lines.count > 0
}

function drain(source: Source, log: number, lines: ScrubbedLines, path: string) {
  let bytes = readRange(source.fd, source.end, fstatSync(source.fd).size)
  if (bytes.length > 0 && bytes.at(-1) !== NEWLINE) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, TORN_LINE_MS)
    bytes = readRange(source.fd, source.end, fstatSync(source.fd).size)
  }
  source.end += bytes.length
  const fresh = lines.add(bytes)
  if (fresh.length === 0) return
  const result = appendDurably(log, fresh, fresh.length)
  if (result.outcome === 'not done') throw new NotWritten(path, result.cause)
  if (result.outcome === 'unknown') throw new OutcomeUnknown(path, result.cause)
}

/** Names the old file, so that a later purge finds it if this one is killed. */
function linkOldFile(path: string) {
  try {
    linkFile(path, join(dirname(path), `replaced-${randomBytes(6).toString('hex')}.jsonl`))
  } catch (error) {
    if (!lacksHardLinks(error)) throw error
  }
}

function removeReplaced(path: string, copied: readonly Source[]) {
  for (const name of listFolder(dirname(path)).filter(isReplacedLog)) {
    const old = join(dirname(path), name)
    if (copied.some(({ fd }) => isNameOf(old, fd))) removeFile(old)
  }
}

/** First copies what an unknown file under the link's name holds. */
function moveLink(paths: LogPaths, log: number, lines: ScrubbedLines, sources: readonly Source[]) {
  const { path, link } = paths
  if (link === undefined) return
  const fd = openIfPresent(link)
  // Without a second name it came with the repository, which a purge does not change.
  if (fd === undefined && !isOwnLog(paths)) return
  if (fd !== undefined) {
    try {
      const isKnown = [log, ...sources.map((source) => source.fd)].some((known) =>
        isSameFile(known, fd),
      )
      if (!isKnown) drain({ fd, end: 0 }, log, lines, path)
    } finally {
      closeSync(fd)
    }
  }
  try {
    createFolder(dirname(link))
    relinkFile(path, log, link)
  } catch (error) {
    if (!lacksHardLinks(error) && errnoOf(error) !== 'EACCES') throw error
    // The old file must not keep its name; without hard links it was a copy.
    if (statOrUndefined(link) !== undefined) removeFile(link)
  }
}

/** Lines of several copies of a log may be added; a repeated line is dropped. */
class ScrubbedLines {
  count = 0
  readonly #needle: PurgeMatcher
  readonly #seen = new Set<string>()

  constructor(needle: PurgeMatcher) {
    this.#needle = needle
  }

  add(bytes: Buffer): Buffer {
    const lines: Buffer[] = []
    for (let start = 0; start < bytes.length;) {
      const newline = bytes.indexOf(NEWLINE, start)
      const stop = newline === -1 ? bytes.length : newline
      const line = this.#scrub(bytes.subarray(start, stop))
      start = stop + 1
      const key = line.toString('latin1')
      if (key.trim() === '' || this.#seen.has(key)) continue
      this.#seen.add(key)
      lines.push(NEWLINE_BYTES, line, NEWLINE_BYTES)
    }
    return Buffer.concat(lines)
  }

  #scrub(line: Buffer) {
    const decoded = decodeLine(line)
    if (decoded.ok) return this.#record(decoded.record, line)
    if (decoded.reason === 'written by a newer format') return this.#withNewChecksum(line)
    const pieces: Buffer[] = []
    let end = 0
    for (const { record, text, start } of findRecords(line)) {
      pieces.push(this.#damage(line.subarray(end, start)), this.#record(record, text))
      end = start + text.length
    }
    return Buffer.concat([...pieces, this.#damage(line.subarray(end))])
  }

  /** A record without the text keeps its bytes. */
  #record(record: JournalRecord, text: Buffer) {
    if (!this.#needle.isIn(text) && !this.#hasName(record)) return text
    const data = this.#needle.scrubData(record.data)
    if (data.count === 0) return text
    this.count += data.count
    return encodeRecord({ ...record, data: data.value }).subarray(1, -1)
  }

  /** A record of a newer format ends in a checksum too, which is renewed. */
  #withNewChecksum(line: Buffer) {
    const { value, count } = this.#needle.scrubBytes(line)
    if (count === 0) return line
    this.count += count
    const body = value.subarray(0, value.lastIndexOf(CHECKSUM_FIELD))
    return Buffer.concat([body, Buffer.from(`${CHECKSUM_FIELD}${checksum(body)}"}`)])
  }

  #hasName({ data }: JournalRecord) {
    return [data['name'], data['shortname']].some(
      (name) => typeof name === 'string' && this.#needle.scrubName(name).count > 0,
    )
  }

  #damage(bytes: Buffer) {
    const { value, count } = this.#needle.scrubDamage(bytes)
    this.count += count
    return value
  }
}

const CHECKSUM_FIELD = ',"sum":"'
const NEWLINE_BYTES = Buffer.from('\n')
