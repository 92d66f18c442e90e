// The only code that rewrites a journal. Writers do not wait for it: an append looks afterwards whether
// its file still has the log's name and goes again if not, so all that was acknowledged is either in
// the file read here before its name was given away, or in the one that has it now.
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fstatSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { NotWritten, OutcomeUnknown, errnoOf, isMissing } from '../../journal/errors.ts'
import {
  appendDurably,
  createFolder,
  lacksHardLinks,
  linkFile,
  openForAppend,
  openToRead,
  relinkFile,
  removeFile,
  replaceOpenFile,
} from '../../journal/files.ts'
import { isNameOf, statOrUndefined } from '../../journal/look.ts'
import { type LogPlace, restoreFromLink } from '../../journal/log.ts'
import { readRange } from '../../journal/read.ts'
import type { Needle } from './needle.ts'
import {
  type JournalRecord,
  checksum,
  decodeLine,
  encodeRecord,
  findRecords,
} from '../../journal/record.ts'

const ATTEMPTS = 10
const REPLACED = /^replaced-[0-9a-f]+\.jsonl$/
const NEWLINE = 0x0a
/** A write in progress is over after this long; what is then still torn was left by a killed process. */
const SETTLES_AFTER_MS = 20

/** A file that holds entries of the log under this or another name, read up to `end`. */
interface Source {
  readonly fd: number
  end: number
}

/** Names of old files that a killed purge left: each may hold entries that were not copied yet. */
export function isReplacedLog(name: string): boolean {
  return REPLACED.test(name)
}

/**
 * Takes a text out of a log and out of the file behind its link. Answers how often it was there. A
 * record keeps its id, time and kind and gets a new checksum; what is damaged stays, without the text.
 */
export function rewriteLog(place: LogPlace, needle: Needle, options: { dryRun: boolean }): number {
  if (options.dryRun) return countIn(place, needle)
  const orphans: Source[] = []
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const count = attemptRewrite(place, needle, orphans)
      if (count !== undefined) return count
    }
  } finally {
    for (const { fd } of orphans) closeSync(fd)
  }
  throw new NotWritten(place.path, new Error('the log kept being replaced by another program'))
}

function countIn(place: LogPlace, needle: Needle): number {
  const sources = openSources(place)
  try {
    const lines = new ScrubbedLines(needle)
    for (const { fd } of sources) lines.add(readRange(fd, 0, fstatSync(fd).size))
    return lines.count
  } finally {
    for (const { fd } of sources) closeSync(fd)
  }
}

/** One attempt, or undefined when another program changed what the log's name means meanwhile. */
function attemptRewrite(place: LogPlace, needle: Needle, orphans: Source[]): number | undefined {
  restoreFromLink(place)
  const sources = openSources(place)
  let log: number | undefined
  try {
    const [own] = sources
    if (own === undefined) return 0
    const lines = new ScrubbedLines(needle)
    const parts = [...sources, ...orphans].map((source) => readLines(source, lines))
    const isNewElsewhere = parts.slice(1).some((part) => part.length > 0)
    if (lines.count > 0 || isNewElsewhere || sources.some((source) => isInTail(source, needle))) {
      hold(place.path)
      if (!replaceOpenFile(place.path, own.fd, Buffer.concat(parts))) return undefined
      log = openForAppend(place.path)
      // Before the link is moved: until then it still names the old file, should this process be killed here.
      for (const source of [...sources, ...orphans]) drain(source, log, lines, place.path)
      moveLink(place, log, lines, sources)
      if (!isNameOf(place.path, log)) return undefined
    }
    removeReplaced(place.path, sources)
    return lines.count
  } catch (error) {
    // The name was taken away between two calls, as `git clean` does, and comes back from the link.
    if (isMissing(error)) return undefined
    throw error
  } finally {
    for (const { fd } of sources) closeSync(fd)
    // Another purge may have replaced our file; what was appended to it goes with the next attempt.
    if (log !== undefined && isNameOf(place.path, log)) closeSync(log)
    else if (log !== undefined) orphans.push({ fd: log, end: 0 })
  }
}

/** The log, and every other file that may hold entries of it, each file once. */
function openSources(place: LogPlace): Source[] {
  const folder = dirname(place.path)
  const left = existsSync(folder) ? readdirSync(folder).filter(isReplacedLog).toSorted() : []
  const paths = [
    place.path,
    ...(place.link === undefined ? [] : [place.link]),
    ...left.map((name) => join(folder, name)),
  ]
  const sources: Source[] = []
  for (const path of paths) {
    const fd = openIfThere(path)
    if (fd === undefined) continue
    if (sources.some((source) => isSameFile(source.fd, fd))) closeSync(fd)
    else sources.push({ fd, end: 0 })
  }
  return sources
}

function openIfThere(path: string): number | undefined {
  try {
    return openToRead(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

function isSameFile(a: number, b: number): boolean {
  const first = fstatSync(a)
  const second = fstatSync(b)
  return first.ino === second.ino && first.dev === second.dev
}

/** The complete lines of a file; what stands behind the last newline may still be being written, and is left for later. */
function readLines(source: Source, lines: ScrubbedLines): Buffer {
  const bytes = readRange(source.fd, 0, fstatSync(source.fd).size)
  source.end = bytes.lastIndexOf(NEWLINE) + 1
  return lines.add(bytes.subarray(0, source.end))
}

/** Whether the text, or a piece of it, stands in the torn end of a file. */
function isInTail({ fd, end }: Source, needle: Needle): boolean {
  const lines = new ScrubbedLines(needle)
  lines.add(readRange(fd, end, fstatSync(fd).size))
  return lines.count > 0
}

/** Copies what was appended to an old file after it was read. */
function drain(source: Source, log: number, lines: ScrubbedLines, path: string): void {
  let bytes = readRange(source.fd, source.end, fstatSync(source.fd).size)
  if (bytes.length > 0 && bytes.at(-1) !== NEWLINE) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SETTLES_AFTER_MS)
    bytes = readRange(source.fd, source.end, fstatSync(source.fd).size)
  }
  source.end += bytes.length
  const fresh = lines.add(bytes)
  if (fresh.length === 0) return
  const result = appendDurably(log, fresh, fresh.length)
  if (result.outcome === 'not done') throw new NotWritten(path, result.cause)
  if (result.outcome === 'unknown') throw new OutcomeUnknown(path, result.cause)
}

/** Gives the old file a name to be found by, should this process be killed before all of it is copied. */
function hold(path: string): void {
  try {
    linkFile(path, join(dirname(path), `replaced-${randomBytes(6).toString('hex')}.jsonl`))
  } catch (error) {
    if (!lacksHardLinks(error)) throw error
  }
}

/** Removes the names of old files, once everything in them is copied. */
function removeReplaced(path: string, copied: readonly Source[]): void {
  for (const name of readdirSync(dirname(path)).filter(isReplacedLog)) {
    const old = join(dirname(path), name)
    if (copied.some(({ fd }) => isNameOf(old, fd))) removeFile(old)
  }
}

/** Makes the link a name of the new file, copying first what a file under it holds that nobody has read. */
function moveLink(
  place: LogPlace,
  log: number,
  lines: ScrubbedLines,
  sources: readonly Source[],
): void {
  const { path, link } = place
  if (link === undefined) return
  const fd = openIfThere(link)
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
    // The old file must not keep a name. Without hard links it can have had none but by a copy.
    if (statOrUndefined(link) !== undefined) removeFile(link)
  }
}

/**
 * The lines of a log without a text. Those of several files that hold the same log may be added one after
 * the other; a line that is there already is left out, as it is when a killed purge is run again.
 */
class ScrubbedLines {
  /** How often the text was found. */
  count = 0
  readonly #needle: Needle
  readonly #seen = new Set<string>()

  constructor(needle: Needle) {
    this.#needle = needle
  }

  /** What of these bytes is to be written, each line between newlines. */
  add(bytes: Buffer): Buffer {
    const kept: Buffer[] = []
    for (let start = 0; start < bytes.length;) {
      const newline = bytes.indexOf(NEWLINE, start)
      const stop = newline === -1 ? bytes.length : newline
      const line = this.#scrub(bytes.subarray(start, stop))
      start = stop + 1
      const key = line.toString('latin1')
      if (key.trim() === '' || this.#seen.has(key)) continue
      this.#seen.add(key)
      kept.push(FRAME, line, FRAME)
    }
    return Buffer.concat(kept)
  }

  #scrub(line: Buffer): Buffer {
    const decoded = decodeLine(line)
    if (decoded.ok) return this.#record(decoded.record, line)
    if (decoded.reason === 'written by a newer format') return this.#resealed(line)
    const pieces: Buffer[] = []
    let end = 0
    for (const { record, text, start } of findRecords(line)) {
      pieces.push(this.#damage(line.subarray(end, start)), this.#record(record, text))
      end = start + text.length
    }
    return Buffer.concat([...pieces, this.#damage(line.subarray(end))])
  }

  /** A record that does not hold the text keeps its very bytes. */
  #record(record: JournalRecord, text: Buffer): Buffer {
    if (!this.#needle.isIn(text) && !this.#hasName(record)) return text
    const data = this.#needle.scrubData(record.data)
    if (data.count === 0) return text
    this.count += data.count
    return encodeRecord({ ...record, data: data.value }).subarray(1, -1)
  }

  /** A record that only a newer program understands ends in a checksum like ours, which is made to fit again. */
  #resealed(line: Buffer): Buffer {
    const { value, count } = this.#needle.scrubBytes(line)
    if (count === 0) return line
    this.count += count
    const body = value.subarray(0, value.lastIndexOf(SUM))
    return Buffer.concat([body, Buffer.from(`${SUM}${checksum(body)}"}`)])
  }

  #hasName({ data }: JournalRecord): boolean {
    return [data['name'], data['shortname']].some(
      (name) => typeof name === 'string' && this.#needle.scrubName(name).count > 0,
    )
  }

  #damage(bytes: Buffer): Buffer {
    const { value, count } = this.#needle.scrubDamage(bytes)
    this.count += count
    return value
  }
}

const SUM = ',"sum":"'
const FRAME = Buffer.from('\n')
