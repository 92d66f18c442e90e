import { crc32, hasValidChecksum, withChecksum } from '../journal/record.ts'
import { readOrUndefined } from '../journal/read-files.ts'
import { replaceFile, replaceUnsynced } from '../journal/write-files.ts'
import type { Log } from '../journal/log.ts'
import { type LogPrefix, readRange } from '../journal/read-log.ts'
import { FOLD_VERSION, NeedsFullFold, abridge, advance, fold } from '../session/fold.ts'
import type { SessionState } from '../session/state.ts'
import { defined } from '../text/defined.ts'

const PREFIX_BYTES = 2048

/** A document with the same size and sum was not edited since Stint wrote it. */
export interface RenderedDocument {
  readonly size: number
  readonly sum: string
}

interface Snapshot {
  /** First, so that it can be read without the rest. */
  readonly document?: RenderedDocument
  readonly fold: number
  readonly inode: number
  readonly offset: number
  readonly prefix: number
  readonly state: SessionState
}

export interface AbridgedState {
  readonly state: SessionState
  readonly end: number
  readonly bytesRead: number
}

/** Reads the snapshot and the tail of the log, so a session of 10,000 entries opens as fast as one of ten. */
export function readAbridgedState(
  sessionId: string,
  log: Log,
  snapshotPath: string,
): AbridgedState {
  const snapshot = readChecked<Snapshot>(snapshotPath)
  if (snapshot !== undefined && matches(snapshot, log)) {
    const { records, end } = log.readSince(snapshot.offset, snapshot.state.lastId)
    if (records.length === 0) return { state: snapshot.state, end, bytesRead: 0 }
    try {
      return {
        state: abridge(advance(snapshot.state, records)),
        end,
        bytesRead: end - snapshot.offset,
      }
    } catch (error) {
      if (!(error instanceof NeedsFullFold)) throw error
    }
  }
  const { records, end } = log.read()
  return { state: abridge(fold(sessionId, records)), end, bytesRead: end }
}

export function writeSnapshot(
  path: string,
  log: Log,
  offset: number,
  state: SessionState,
  { document, isDurable = false }: { document?: RenderedDocument; isDurable?: boolean } = {},
): void {
  const { inode } = log.identity()
  const before = readBytes(path)
  const snapshot: Snapshot = {
    ...defined({ document: document ?? renderedDocumentIn(before) }),
    fold: FOLD_VERSION,
    inode,
    offset,
    prefix: prefixSum(log, offset),
    state: abridge(state),
  }
  const bytes = withChecksum(JSON.stringify(snapshot))
  // Not synced: torn by a power cut it would not match its sum.
  if (before?.equals(bytes) === true) return
  if (isDurable) replaceFile(path, bytes)
  else replaceUnsynced(path, bytes)
}

/** The full state up to a position in the log. Written for long logs, which take longer to fold than this takes to read. */
export interface CachedState {
  readonly fold: number
  /** A clone may bring this file, but cannot know the log's number on this disk. */
  readonly inode: number
  readonly beginning: LogPrefix
  readonly state: SessionState
}

export function readCachedState(path: string): CachedState | undefined {
  const cached = readChecked<Partial<CachedState> & Pick<CachedState, 'fold'>>(path)
  return cached?.beginning === undefined || cached.state === undefined
    ? undefined
    : (cached as CachedState)
}

export function writeCachedState(path: string, cached: Omit<CachedState, 'fold'>): void {
  replaceUnsynced(path, withChecksum(JSON.stringify({ fold: FOLD_VERSION, ...cached })))
}

export function readRenderedDocument(snapshotPath: string): RenderedDocument | undefined {
  return renderedDocumentIn(readBytes(snapshotPath))
}

// No checksum needed: a damaged value does not match any document.
function renderedDocumentIn(snapshot: Buffer | undefined) {
  const found = /^\{"document":\{"size":(\d+),"sum":"([0-9a-f]{8})"\}/.exec(
    snapshot?.toString('latin1', 0, 80) ?? '',
  )
  return found === null ? undefined : { size: Number(found[1]), sum: found[2]! }
}

function matches(snapshot: Snapshot, log: Log) {
  const { inode, size } = log.identity()
  return (
    snapshot.inode === inode &&
    snapshot.offset <= size &&
    snapshot.prefix === prefixSum(log, snapshot.offset)
  )
}

// Both ends catch every change except an edit of the middle in place, which `stint doctor` finds.
function prefixSum(log: Log, offset: number) {
  const fd = log.descriptor()
  const head = crc32(readRange(fd, 0, Math.min(PREFIX_BYTES, offset)))
  return crc32(readRange(fd, Math.max(0, offset - PREFIX_BYTES), offset), head)
}

function readChecked<T extends { readonly fold: number }>(path: string) {
  const bytes = readBytes(path)
  // Without a checksum a changed file would be trusted.
  if (bytes === undefined || !hasValidChecksum(bytes)) return undefined
  const value = JSON.parse(bytes.toString('utf8')) as T
  return value.fold === FOLD_VERSION ? value : undefined
}

function readBytes(path: string) {
  try {
    return readOrUndefined(path)
  } catch {
    // Without it, the log is read.
    return undefined
  }
}
