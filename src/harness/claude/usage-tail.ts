// How full a context is, from the end of its transcript, at the same cost however long the transcript has become.
import type { UsageTail } from '../contract/transcript.ts'
import { readBackwards } from '../contract/read-piece.ts'
import { lookAtPiece } from './transcript.ts'
import { defined } from '../../text/defined.ts'

const PIECE = 256 * 1024
const MOST_PIECES = 32

/** What the end of a transcript tells of the context's size. What delegated agents used is theirs. */
export function readUsageTail(
  path: string,
  bounds = { maxBytes: PIECE, pieces: MOST_PIECES },
): UsageTail {
  let tail: UsageTail = {}
  readBackwards(path, bounds, (bytes) => {
    const { usage, usedAt, model, version, boundaries } = lookAtPiece(bytes)
    if (usage !== undefined)
      tail = { call: { usage, ...defined({ at: usedAt }) }, ...defined({ model, version }) }
    else if (boundaries.length > 0) tail = { compacted: boundaries.at(-1)! }
    return usage === undefined && boundaries.length === 0 ? 'more' : 'enough'
  })
  return tail
}
