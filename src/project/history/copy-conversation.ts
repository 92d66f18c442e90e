import { copyPiece } from '../conversation/copy-transcript.ts'
import type { Tracking } from '../conversation/tracking.ts'
import { conversationPath } from '../../history/places.ts'
import type { Config } from '../config/config.ts'
import { trackingFolderOf } from '../store/conversation-binding.ts'
import type { Place } from '../store/place.ts'
import { readCursor, writeCursor } from '../conversation/copy-cursor.ts'
import { TookTooLong, withinTime } from '../conversation/within-time.ts'
import { defined } from '../../text/defined.ts'

const PIECE_MS = 600
const LINE_MS = 200
/** Slower than any pattern that ends. */
const BYTES_PER_MS = 10_000

/** Returns whether there is more. */
export function copyConversation(
  place: Place,
  config: Config,
  { conversation, harness, transcript }: Pick<Tracking, 'conversation' | 'harness' | 'transcript'>,
  maxBytes: number,
  untilMs = process.uptime() * 1000 + PIECE_MS,
): boolean {
  if (transcript === undefined) return false
  const notes = trackingFolderOf(place)
  const cursor = readCursor(notes, conversation)
  const piece = copyPiece({
    transcript,
    target: conversationPath(place.sessions, conversation),
    conversation: { id: conversation, harness },
    ...defined({ cursor }),
    maxBytes,
    untilMs,
    redaction: { extra: [...config.redact.patterns], allow: [...config.redact.allow] },
    ...(config.redact.patterns.length === 0 ? {} : { bounded }),
  })
  if (piece === undefined) return false
  writeCursor(notes, conversation, piece.cursor)
  if (piece.cause !== undefined) throw piece.cause
  return !piece.isCaughtUp
}

function bounded<T>(work: () => T, bytes: number): T | undefined {
  try {
    return withinTime(work, LINE_MS + Math.round(bytes / BYTES_PER_MS))
  } catch (error) {
    if (error instanceof TookTooLong) return undefined
    throw error
  }
}
