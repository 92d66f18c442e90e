import { checksum } from '../../journal/record.ts'
import { existsSync, lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { StintError, errnoOf } from '../../journal/errors.ts'
import {
  createFile,
  createFolder,
  createFolderUnsynced,
  moveFile,
  removeFile,
  replaceFile,
} from '../../journal/files.ts'
import { parseLog } from '../../journal/read-log.ts'
import { readOrUndefined, statOrUndefined } from '../../journal/read-files.ts'
import { randomHex, shortId } from '../../journal/ids.ts'
import type { EntryDraft } from '../../session/entries.ts'
import type { RawEntry } from '../../session/effective-entries.ts'
import type { SessionState } from '../../session/state.ts'
import { fileSafe } from '../../text/times.ts'
import { MARKER_PATTERN, type DocumentMarker, markerLine } from '../../document/grammar.ts'
import { type RenderedDocument, readRenderedDocument } from '../../document/snapshot.ts'
import { fold } from '../../session/fold.ts'
import type { LiveSession, SessionReading } from './live-session.ts'

const ROUNDS = 8
const TAKEN_PREFIX = 'taken-'

export interface Absorbed {
  readonly entries: number
  readonly notices: readonly string[]
}

export interface RefreshedDocument extends Absorbed {
  readonly reading: SessionReading
  readonly document: RenderedDocument
}

/**
 * Turns edits of the document into entries and renders it again. The file is moved away, read, and
 * created only where none stands, so no save is overwritten unread; absorbing a file twice adds
 * nothing.
 */
export async function refreshDocument(
  session: LiveSession,
  { isDurable = false } = {},
): Promise<RefreshedDocument> {
  const notices: string[] = []
  let absorbed = 0
  const handled = new Set<string>()
  for (let round = 0; ; round += 1) {
    let reading = session.read()
    const standing = documentsOf(session, reading.state)
    const inPlace = takenFiles(session).length > 0 ? undefined : current(session, reading, standing)
    if (inPlace !== undefined) return { entries: absorbed, notices, reading, document: inPlace }
    for (const document of standing)
      moveFile(document, join(session.folder, takenName(document)), { isDurable })
    const taken = takenFiles(session)
    // Another process may have rendered a newer document; its news is no edit.
    reading = session.read()
    for (const file of taken) {
      readTaken(session, file)
      const content = file.bytes?.toString('latin1')
      if (content === undefined || handled.has(content)) continue
      handled.add(content)
      const entries = await absorbFile(session, reading, file, notices)
      absorbed += entries
      if (entries > 0) reading = session.read()
    }
    const target = session.documentPath(reading.state)
    createFolderUnsynced(dirname(target))
    const bytes = Buffer.from(session.document(reading))
    const isPlaced = createFile(target, bytes, { isDurable })
    const isAllRead = taken.map((file) => letGo(session, file, notices)).every(Boolean)
    if ((isPlaced && isAllRead) || round === ROUNDS)
      return { entries: absorbed, notices, reading, document: sumOf(bytes) }
  }
}

function current(
  session: LiveSession,
  reading: SessionReading,
  standing: readonly string[],
): RenderedDocument | undefined {
  const path = session.documentPath(reading.state)
  if (standing.length !== 1 || standing[0] !== path || !isRegularFile(path)) return undefined
  const bytes = readOrUndefined(path)
  if (bytes === undefined) return undefined
  const isOfThisState = bytes
    .subarray(-100)
    .toString('latin1')
    .endsWith(`${markerLine(reading.marker)}\n`)
  const isCurrent =
    (isOfThisState && isAsRendered(session, bytes)) ||
    bytes.equals(Buffer.from(session.document(reading)))
  return isCurrent ? sumOf(bytes) : undefined
}

function sumOf(bytes: Buffer): RenderedDocument {
  return { size: bytes.length, sum: checksum(bytes) }
}

function isAsRendered(session: LiveSession, bytes: Buffer): boolean {
  const rendered = readRenderedDocument(session.snapshotPath)
  return rendered?.size === bytes.length && rendered.sum === checksum(bytes)
}

/** Also where an older name or status had put it. */
function documentsOf(session: LiveSession, state: SessionState): readonly string[] {
  const suffix = `-${shortId(session.id)}.md`
  const active = join(session.paths.sessions, 'active')
  const open = existsSync(active)
    ? readdirSync(active)
        .filter((name) => name.endsWith(suffix))
        .map((name) => join(active, name))
    : []
  const archived = join(session.paths.sessions, 'archive', session.documentName(state))
  return isStanding(archived) ? [...open, archived] : open
}

interface Taken {
  readonly path: string
  bytes: Buffer | undefined
  oddity: string | undefined
  keep: string | undefined
}

function takenFiles(session: LiveSession): readonly Taken[] {
  if (!existsSync(session.folder)) return []
  return readdirSync(session.folder)
    .filter((name) => name.startsWith(TAKEN_PREFIX))
    .map((name) => ({
      path: join(session.folder, name),
      bytes: undefined,
      oddity: undefined,
      keep: undefined,
    }))
}

/** Follows a symbolic link; never waits at a pipe. */
function readTaken(session: LiveSession, file: Taken): void {
  const stat = lstatSync(file.path, { throwIfNoEntry: false })
  if (stat === undefined) return
  if (stat.isFile()) {
    file.bytes = readOrUndefined(file.path)
  } else if (stat.isSymbolicLink()) {
    // A relative link points from where the document stood.
    const target = resolve(session.paths.sessions, 'active', readlinkSync(file.path))
    file.bytes = readThrough(target)
    const fate =
      file.bytes === undefined ? ', where no file can be read' : '; the file it leads to stays'
    file.oddity = `it is a symbolic link to ${relative(session.paths.root, target) || '.'}${fate}`
  } else {
    file.oddity = stat.isDirectory() ? 'it is a folder' : 'it is not a file'
  }
}

function readThrough(target: string): Buffer | undefined {
  try {
    return statOrUndefined(target)?.isFile() === true ? readOrUndefined(target) : undefined
  } catch (error) {
    // A circular or unreadable link has nothing to absorb.
    if (errnoOf(error) === undefined) throw error
    return undefined
  }
}

/** Returns how many entries were appended. */
async function absorbFile(
  session: LiveSession,
  reading: SessionReading,
  file: Taken,
  notices: string[],
): Promise<number> {
  const bytes = file.bytes ?? Buffer.alloc(0)
  if (isAsRendered(session, bytes)) return 0
  const text = bytes.toString('utf8')
  // Decoding would replace bytes that are not UTF-8 by U+FFFD.
  if (!Buffer.from(text).equals(bytes)) {
    file.keep = 'it is not UTF-8 text'
    return 0
  }
  // A power cut leaves NUL bytes in a document that was not synced.
  if (bytes.includes(0)) {
    file.keep = 'it holds NUL characters'
    return 0
  }
  const base = documentBase(session, reading, text)
  if (base.isUnedited) return 0
  const { parseDocument } = await import('../../document/parse.ts')
  const { editsBetween } = await import('../../document/edits.ts')
  const parsed = isTooLong(text, reading.marker) ? TOO_LONG : parseDocument(text)
  const problem = parsed.ok
    ? misplaced(session, reading, text, parsed.document.fields, base.isSure)
    : parsed.problem
  if (!parsed.ok || problem !== undefined) {
    file.keep = problem
    return 0
  }
  const edits = editsBetween(base.state, parsed.document, {
    mint: () => session.mint(),
    isBaseSure: base.isSure,
  })
  const told = [...encodingOf(text), ...edits.unabsorbed]
  if (told.length > 0) file.keep = told.join('; ')
  try {
    const { drafts, redacted } = session.clean(edits.drafts)
    const known = reading.entries.filter(
      (entry) => entry.by === 'document' && entry.id > base.state.lastId,
    )
    const news = newsAmong(onceEach(drafts, text), known)
    session.append(news)
    if (redacted.length > 0)
      notices.push(
        `what looked like a secret in the document was redacted (${redacted.join(', ')})`,
      )
    return news.length
  } catch (error) {
    if (!(error instanceof StintError) || error.code !== 'ENTRY_TOO_LONG') throw error
    file.keep = error.message
    return 0
  }
}

function encodingOf(text: string): readonly string[] {
  return [
    ...(text.startsWith('\uFEFF')
      ? ['it begins with a byte-order mark, and is written again without']
      : []),
    ...(text.includes('\r\n') ? ['its lines end in CRLF, and are written again with LF'] : []),
  ]
}

const MOST_ADDED = 1024 * 1024
const TOO_LONG = {
  ok: false,
  problem: 'it has grown by more than 1 MB, which is more than a session document can take over',
} as const

/** A document that is so much longer than its log holds something else. */
function isTooLong(text: string, { offset }: DocumentMarker): boolean {
  return text.length > offset + MOST_ADDED
}

function misplaced(
  session: LiveSession,
  reading: SessionReading,
  text: string,
  fields: readonly (readonly [string, string])[],
  isSure: boolean,
): string | undefined {
  if (isSure) return undefined
  const id = fields.find(([key]) => key === 'id')?.[1].replaceAll(/["'\s]/g, '')
  if (id !== undefined && id !== session.id) return `it is the document of another session (${id})`
  // A truncated save must not reword the line it cuts.
  const last = text.slice(text.lastIndexOf('\n') + 1).trimEnd()
  if (last === '') return undefined
  const whole = session.document(reading).split('\n')
  const isCutShort =
    !/^## Next Steps/m.test(text) || whole.some((line) => line !== last && line.startsWith(last))
  return isCutShort ? 'it breaks off in the middle of a line' : undefined
}

/** Two processes that read the same text record it once. */
function onceEach(drafts: readonly EntryDraft[], text: string): readonly EntryDraft[] {
  const bytes = Buffer.from(text)
  const counts = new Map<string, number>()
  return drafts.map((draft) => {
    const number = counts.get(draft.kind) ?? 0
    counts.set(draft.kind, number + 1)
    return { ...draft, once: `document:${checksum(bytes)}:${bytes.length}:${draft.kind}:${number}` }
  })
}

/**
 * An editor that did not reload saves an absorbed edit again; what refers to it then refers to the
 * entry it became.
 */
function newsAmong(
  drafts: readonly EntryDraft[],
  known: readonly RawEntry[],
): readonly EntryDraft[] {
  const waiting = new Map<string, string[]>()
  for (const entry of known)
    waiting.set(signature(entry), [...(waiting.get(signature(entry)) ?? []), entry.id])
  const became = new Map<unknown, string>()
  return drafts.flatMap((draft) => {
    const data = Object.fromEntries(
      Object.entries(draft.data).map(([key, value]) => [key, became.get(value) ?? value]),
    )
    const news = { ...draft, data } as EntryDraft
    const earlier = waiting.get(signature(news))?.shift()
    if (earlier !== undefined && draft.id !== undefined) became.set(draft.id, earlier)
    return earlier === undefined ? [news] : []
  })
}

function signature(entry: { kind: string; data: object }): string {
  const { after: _after, ...data } = entry.data as { after?: string }
  return `${entry.kind} ${JSON.stringify(data)}`
}

/** Returns false for a file that an editor still writes: it is read again. */
function letGo(session: LiveSession, file: Taken, notices: string[]): boolean {
  if (!isStanding(file.path)) return true
  if (file.oddity === undefined && (file.bytes === undefined || !isFileWith(file.path, file.bytes)))
    return false
  const why = [file.oddity, file.keep].filter((reason) => reason !== undefined).join('; ')
  if (why === '') {
    removeFile(file.path)
    return true
  }
  const folder = join(session.folder, 'set-aside')
  createFolder(folder)
  const name = file.path.replace(/^.*taken-[0-9a-f]+-/, '').replace(/\.md$/, '')
  const kept = join(folder, `${name}-${fileSafe(new Date().toISOString())}-${randomHex(2)}.md`)
  if (moveFile(file.path, kept))
    notices.push(`${name}.md was set aside as ${relative(session.paths.root, kept)}: ${why}`)
  return true
}

function takenName(document: string): string {
  return `${TAKEN_PREFIX}${randomHex(6)}-${basename(document)}`
}

/** Also true for a dangling link. */
function isStanding(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function isRegularFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true
}

function isFileWith(path: string, bytes: Buffer): boolean {
  return isRegularFile(path) && readOrUndefined(path)?.equals(bytes) === true
}

/** Unchanged views are not written, so that watchers stay quiet. */
export function writeView(path: string, text: string, { isDurable = false } = {}): void {
  if (readOrUndefined(path)?.equals(Buffer.from(text)) === true) return
  replaceFile(path, text, { isDurable })
}

/** The state at the document's marker, if the log still begins with those bytes. */
export function documentBase(
  session: LiveSession,
  reading: SessionReading,
  text: string,
): { state: SessionState; isSure: boolean; isUnedited: boolean } {
  const marker = markerOf(text)
  const bytes = reading.contents.bytes
  const isOfThisLog = marker !== undefined && marker.offset > 0 && marker.offset <= bytes.length
  if (!isOfThisLog || checksum(bytes.subarray(0, marker.offset)) !== marker.sum) {
    return { state: reading.state, isSure: false, isUnedited: false }
  }
  const isCurrent = marker.offset === reading.marker.offset
  const state = isCurrent
    ? reading.state
    : fold(session.id, parseLog(bytes.subarray(0, marker.offset), '').records)
  return { state, isSure: true, isUnedited: session.document({ state, marker }) === text }
}

function markerOf(text: string): DocumentMarker | undefined {
  const line = text
    .split('\n')
    .findLast((candidate) => candidate.startsWith('<!-- stint: rendered'))
  const found = line === undefined ? null : MARKER_PATTERN.exec(line.trimEnd())
  return found === null ? undefined : { offset: Number(found[1]), sum: found[2]! }
}
