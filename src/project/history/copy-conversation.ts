import { copyPiece } from '../conversation/copy-transcript.ts'
import {
  type Tracking,
  isCopied,
  readCursor,
  readTracking,
  writeCursor,
} from '../conversation/tracking.ts'
import { TookTooLong, withinTime } from '../conversation/within-time.ts'
import { isConversationId } from '../../history/places.ts'
import { untilUnlocked } from '../../history/lock.ts'
import { conversationPath } from '../../history/places.ts'
import { namesIn } from '../../journal/look.ts'
import { defined } from '../../text/defined.ts'
import type { Config } from '../config/config.ts'
import { redaction } from '../store/clean-draft.ts'
import { trackingFolderOf } from '../store/conversation-binding.ts'
import type { Place } from '../store/place.ts'
import type { Workspace } from '../store/workspace.ts'

const PIECE_MS = 600
const LINE_MS = 200
/** Slower than any pattern that ends. */
const BYTES_PER_MS = 10_000
const CATCH_UP_BYTES = 4 * 1024 * 1024

type Copying = Pick<Tracking, 'conversation' | 'harness' | 'transcript'>

/** Returns whether there is more. */
export function copyConversation(
  place: Place,
  config: Config,
  tracking: Copying,
  maxBytes: number,
  untilMs = process.uptime() * 1000 + PIECE_MS,
): boolean {
  const isBounded = config.redact.patterns.length > 0
  const bounds = { maxBytes, untilMs, ...(isBounded ? { bounded } : {}) }
  const piece = copyNext(place, config, tracking, bounds)
  if (piece?.cause !== undefined) throw piece.cause
  return piece !== undefined && !piece.isCaughtUp
}

function copyNext(
  place: Place,
  config: Config,
  { conversation, harness, transcript }: Copying,
  bounds: Pick<Parameters<typeof copyPiece>[0], 'maxBytes' | 'untilMs' | 'bounded'>,
) {
  if (transcript === undefined) return undefined
  const notes = trackingFolderOf(place)
  const cursor = readCursor(notes, conversation)
  const piece = copyPiece({
    transcript,
    target: conversationPath(place.sessions, conversation),
    conversation: { id: conversation, harness },
    redaction: redaction(config),
    ...bounds,
    ...defined({ cursor }),
  })
  if (piece === undefined) return undefined
  writeCursor(notes, conversation, piece.cursor)
  return { ...piece, from: cursor?.offset ?? 0 }
}

function bounded<T>(work: () => T, bytes: number) {
  try {
    return withinTime(work, LINE_MS + Math.round(bytes / BYTES_PER_MS))
  } catch (error) {
    if (error instanceof TookTooLong) return undefined
    throw error
  }
}

/** Copies what hooks had no time for; failures are ignored. */
export async function catchUp({ place, config }: Workspace, conversation?: string): Promise<void> {
  const notes = trackingFolderOf(place)
  const ids =
    conversation === undefined
      ? namesIn(notes).flatMap((name) => /^(.*)\.json$/.exec(name)?.[1] ?? [])
      : [conversation]
  for (const id of ids.filter(isConversationId)) {
    const tracking = readTracking(notes, id)
    // Conversations without a session are not stored.
    if (tracking?.session === undefined || isCopied(notes, tracking)) continue
    for (let isMore = true; isMore;) {
      await untilUnlocked(conversationPath(place.sessions, id))
      const piece = copyNext(place, config, tracking, { maxBytes: CATCH_UP_BYTES })
      isMore =
        piece?.cause === undefined &&
        piece?.isCaughtUp === false &&
        piece.cursor.offset > piece.from
    }
  }
}
