import { readFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { replaceFile } from '../journal/files.ts'
import type { Log } from '../journal/log.ts'
import { readRange } from '../journal/read.ts'
import { abridge } from '../session/abridge.ts'
import { FOLD_VERSION, NeedsFullFold, advance, fold } from '../session/fold.ts'
import type { SessionState } from '../session/state.ts'

const PREFIX_BYTES = 4096

interface Snapshot {
  readonly fold: number
  readonly inode: number
  readonly offset: number
  /** A sum over the first and the last bytes before `offset`. */
  readonly prefix: number
  readonly state: SessionState
  /** A sum over the state, because a changed snapshot would otherwise be believed. */
  readonly sum: number
}

/**
 * The recent state of a session, read from its snapshot and the tail of its log. Everything is
 * read only when there is no snapshot, when it does not match the file, or when a later entry
 * reaches behind it; so a session of 10,000 entries opens as fast as one of ten.
 */
export function openAbridged(sessionId: string, log: Log, snapshotPath: string): SessionState {
  const snapshot = readSnapshot(snapshotPath)
  if (snapshot !== undefined && matches(snapshot, log)) {
    log.sawId(snapshot.state.lastId)
    try {
      return abridge(advance(snapshot.state, log.readFrom(snapshot.offset).records))
    } catch (error) {
      if (!(error instanceof NeedsFullFold)) throw error
    }
  }
  return abridge(fold(sessionId, log.read().records))
}

export function writeSnapshot(path: string, log: Log, offset: number, state: SessionState): void {
  const { inode } = log.identity()
  const kept = abridge(state)
  const prefix = prefixSum(log, offset)
  const snapshot: Snapshot = { fold: FOLD_VERSION, inode, offset, prefix, state: kept, sum: crc32(JSON.stringify(kept)) }
  const text = JSON.stringify(snapshot)
  if (textOf(path) !== text) replaceFile(path, text)
}

function matches(snapshot: Snapshot, log: Log): boolean {
  const { inode, size } = log.identity()
  return snapshot.inode === inode && snapshot.offset <= size && snapshot.prefix === prefixSum(log, snapshot.offset)
}

// The whole prefix would have to be read to hash all of it, which is what a snapshot is there to
// avoid. Both ends catch every way a log changes except an edit of its middle in place, which no
// program of ours does and `stint doctor` finds.
function prefixSum(log: Log, offset: number): number {
  const fd = log.descriptor()
  const head = crc32(readRange(fd, 0, Math.min(PREFIX_BYTES, offset)))
  return crc32(readRange(fd, Math.max(0, offset - PREFIX_BYTES), offset), head)
}

function readSnapshot(path: string): Snapshot | undefined {
  try {
    const value = JSON.parse(textOf(path) ?? '{}') as Partial<Snapshot>
    const isWhole = value.fold === FOLD_VERSION && typeof value.inode === 'number' && typeof value.offset === 'number'
    return isWhole && value.sum === crc32(JSON.stringify(value.state)) ? (value as Snapshot) : undefined
  } catch {
    // Half-written or foreign: it is only a shortcut, and the long way is always open.
    return undefined
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // Missing, or not to be read: the same as none.
    return undefined
  }
}
