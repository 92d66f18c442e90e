import { checksum } from '../../journal/record.ts'
import { lstatSync, readlinkSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { StintError } from '../../journal/errors.ts'
import {
  createFile,
  createFolder,
  createFolderUnsynced,
  moveFile,
  removeFile,
  replaceFile,
} from '../../journal/write-files.ts'
import { parseLog } from '../../journal/read-log.ts'
import { listFolder, readOrUndefined } from '../../journal/read-files.ts'
import { randomHex, shortId } from '../../journal/ids.ts'
import type { EntryDraft } from '../../session/entries.ts'
import type { RawEntry } from '../../session/effective-entries.ts'
import type { SessionState } from '../../session/state.ts'
import { timeForFileName } from '../../text/times.ts'
import { MARKER_PATTERN, type DocumentMarker, markerLine } from '../../document/grammar.ts'
import { type RenderedDocument, readRenderedDocument } from '../../document/snapshot.ts'
import { fold } from '../../session/fold.ts'
import type { LiveSession, SessionReading } from './live-session.ts'

const MAX_ROUNDS = 8
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
 * created only where there is none, so no save is overwritten unread; absorbing a file twice adds
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
    const existing = documentsOf(session, reading.state)
    const unchanged =
      takenFiles(session).length > 0 ? undefined : currentDocument(session, reading, existing)
    if (unchanged !== undefined) return { entries: absorbed, notices, reading, document: unchanged }
    for (const document of existing)
      moveFile(document, join(session.folder, takenName(document)), { isDurable })
    const taken = takenFiles(session)
    // Another process may have rendered a newer document; the difference is no edit.
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
    const isAllRead = taken.map((file) => releaseTaken(session, file, notices)).every(Boolean)
    if ((isPlaced && isAllRead) || round === MAX_ROUNDS)
      return { entries: absorbed, notices, reading, document: checksumOf(bytes) }
  }
}

function currentDocument(
  session: LiveSession,
  reading: SessionReading,
  existing: readonly string[],
): RenderedDocument | undefined {
  const path = session.documentPath(reading.state)
  if (existing.length !== 1 || existing[0] !== path || !isRegularFile(path)) return undefined
  const bytes = readOrUndefined(path)
  if (bytes === undefined) return undefined
  const hasCurrentMarker = bytes
    .subarray(-100)
    .toString('latin1')
    .endsWith(`${markerLine(reading.marker)}\n`)
  const isCurrent =
    (hasCurrentMarker && isAsRendered(session, bytes)) ||
    bytes.equals(Buffer.from(session.document(reading)))
  return isCurrent ? checksumOf(bytes) : undefined
}

function checksumOf(bytes: Buffer): RenderedDocument {
  return { size: bytes.length, sum: checksum(bytes) }
}

function isAsRendered(session: LiveSession, bytes: Buffer): boolean {
  const rendered = readRenderedDocument(session.snapshotPath)
  return rendered?.size === bytes.length && rendered.sum === checksum(bytes)
}

/** Includes those that a killed command left under an older name or status. */
function documentsOf(session: LiveSession, state: SessionState): readonly string[] {
  const suffix = `-${shortId(session.id)}.md`
  const active = join(session.paths.sessions, 'active')
  const open = listFolder(active)
    .filter((name) => name.endsWith(suffix))
    .map((name) => join(active, name))
  const archived = join(session.paths.sessions, 'archive', session.documentName(state))
  return pathExists(archived) ? [...open, archived] : open
}

interface TakenFile {
  readonly path: string
  bytes: Buffer | undefined
  /** Why it is no regular file. */
  typeProblem: string | undefined
  quarantineReason: string | undefined
}

function takenFiles(session: LiveSession): readonly TakenFile[] {
  return listFolder(session.folder)
    .filter((name) => name.startsWith(TAKEN_PREFIX))
    .map((name) => ({
      path: join(session.folder, name),
      bytes: undefined,
      typeProblem: undefined,
      quarantineReason: undefined,
    }))
}

/** Never follows a symbolic link, and never waits at a pipe. */
function readTaken(session: LiveSession, file: TakenFile): void {
  const stat = lstatSync(file.path, { throwIfNoEntry: false })
  if (stat === undefined) return
  if (stat.isFile()) {
    file.bytes = readOrUndefined(file.path)
  } else if (stat.isSymbolicLink()) {
    // A relative link is relative to the document's folder.
    const target = resolve(session.paths.sessions, 'active', readlinkSync(file.path))
    file.typeProblem = `it is a symbolic link to ${relative(session.paths.root, target) || '.'}, which is not read`
  } else {
    file.typeProblem = stat.isDirectory() ? 'it is a folder' : 'it is not a file'
  }
}

/** Returns how many entries were appended. */
async function absorbFile(
  session: LiveSession,
  reading: SessionReading,
  file: TakenFile,
  notices: string[],
): Promise<number> {
  const bytes = file.bytes ?? Buffer.alloc(0)
  if (isAsRendered(session, bytes)) return 0
  const text = bytes.toString('utf8')
  // Decoding would replace bytes that are not UTF-8 by U+FFFD.
  if (!Buffer.from(text).equals(bytes)) {
    file.quarantineReason = 'it is not UTF-8 text'
    return 0
  }
  // A power cut leaves NUL bytes in a document that was not synced.
  if (bytes.includes(0)) {
    file.quarantineReason = 'it holds NUL characters'
    return 0
  }
  const base = documentBase(session, reading, text)
  if (base.isUnedited) return 0
  const { parseDocument } = await import('../../document/parse.ts')
  const { editsBetween } = await import('../../document/edits.ts')
  const parsed = isTooLong(text, reading.marker) ? TOO_LONG : parseDocument(text)
  const problem = parsed.ok
    ? mismatchProblem(session, reading, text, parsed.document.fields, base.isSure)
    : parsed.problem
  if (!parsed.ok || problem !== undefined) {
    file.quarantineReason = problem
    return 0
  }
  const edits = editsBetween(base.state, parsed.document, {
    mint: () => session.mint(),
    isBaseSure: base.isSure,
  })
  const warnings = [...encodingWarnings(text), ...edits.unabsorbed]
  if (warnings.length > 0) file.quarantineReason = warnings.join('; ')
  try {
    const { drafts, redacted } = session.clean(edits.drafts)
    const known = reading.entries.filter(
      (entry) => entry.by === 'document' && entry.id > base.state.lastId,
    )
    const newDrafts = withoutAbsorbed(withOnceKeys(drafts, text), known)
    session.append(newDrafts)
    if (redacted.length > 0)
      notices.push(
        `what looked like a secret in the document was redacted (${redacted.join(', ')})`,
      )
    return newDrafts.length
  } catch (error) {
    if (!(error instanceof StintError) || error.code !== 'ENTRY_TOO_LONG') throw error
    file.quarantineReason = error.message
    return 0
  }
}

function encodingWarnings(text: string): readonly string[] {
  return [
    ...(text.startsWith('\uFEFF')
      ? ['it begins with a byte-order mark, and is written again without']
      : []),
    ...(text.includes('\r\n') ? ['its lines end in CRLF, and are written again with LF'] : []),
  ]
}

const MAX_ADDED = 1024 * 1024
const TOO_LONG = {
  ok: false,
  problem: 'it has grown by more than 1 MB, which is more than a session document can take over',
} as const

/** A document this much longer than its log holds something else. */
function isTooLong(text: string, { offset }: DocumentMarker): boolean {
  return text.length > offset + MAX_ADDED
}

function mismatchProblem(
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
  const rendered = session.document(reading).split('\n')
  const isTruncated =
    !/^## Next Steps/m.test(text) || rendered.some((line) => line !== last && line.startsWith(last))
  return isTruncated ? 'it breaks off in the middle of a line' : undefined
}

/** Two processes that read the same text record it once. */
function withOnceKeys(drafts: readonly EntryDraft[], text: string): readonly EntryDraft[] {
  const bytes = Buffer.from(text)
  const counts = new Map<string, number>()
  return drafts.map((draft) => {
    const number = counts.get(draft.kind) ?? 0
    counts.set(draft.kind, number + 1)
    return { ...draft, once: `document:${checksum(bytes)}:${bytes.length}:${draft.kind}:${number}` }
  })
}

/**
 * An editor that did not reload saves an absorbed edit again; references to that edit then point to
 * the entry it became.
 */
function withoutAbsorbed(
  drafts: readonly EntryDraft[],
  known: readonly RawEntry[],
): readonly EntryDraft[] {
  const unmatched = new Map<string, string[]>()
  for (const entry of known)
    unmatched.set(signature(entry), [...(unmatched.get(signature(entry)) ?? []), entry.id])
  const absorbedAs = new Map<unknown, string>()
  return drafts.flatMap((draft) => {
    const data = Object.fromEntries(
      Object.entries(draft.data).map(([key, value]) => [key, absorbedAs.get(value) ?? value]),
    )
    const updated = { ...draft, data } as EntryDraft
    const earlier = unmatched.get(signature(updated))?.shift()
    if (earlier !== undefined && draft.id !== undefined) absorbedAs.set(draft.id, earlier)
    return earlier === undefined ? [updated] : []
  })
}

function signature(entry: { kind: string; data: object }): string {
  const { after: _after, ...data } = entry.data as { after?: string }
  return `${entry.kind} ${JSON.stringify(data)}`
}

/** Returns false for a file that an editor still writes: it is read again. */
function releaseTaken(session: LiveSession, file: TakenFile, notices: string[]): boolean {
  if (!pathExists(file.path)) return true
  if (
    file.typeProblem === undefined &&
    (file.bytes === undefined || !isFileWith(file.path, file.bytes))
  )
    return false
  const why = [file.typeProblem, file.quarantineReason]
    .filter((reason) => reason !== undefined)
    .join('; ')
  if (why === '') {
    removeFile(file.path)
    return true
  }
  const folder = join(session.folder, 'set-aside')
  createFolder(folder)
  const name = file.path.replace(/^.*taken-[0-9a-f]+-/, '').replace(/\.md$/, '')
  const target = join(
    folder,
    `${name}-${timeForFileName(new Date().toISOString())}-${randomHex(2)}.md`,
  )
  if (moveFile(file.path, target))
    notices.push(`${name}.md was set aside as ${relative(session.paths.root, target)}: ${why}`)
  return true
}

function takenName(document: string): string {
  return `${TAKEN_PREFIX}${randomHex(6)}-${basename(document)}`
}

/** Also true for a dangling link. */
function pathExists(path: string): boolean {
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
