import { join } from 'node:path'
import { copyPiece } from '../conversation/copy-transcript.ts'
import type { Config } from '../project/config.ts'
import { trackingFolderOf } from '../project/conversation-binding.ts'
import type { Place } from '../project/place.ts'
import { readCursor, writeCursor } from './copy-cursor.ts'
import { TookTooLong, withinTime } from './within-time.ts'

const PIECE_MS = 600
const LINE_MS = 200

/** Copies the next piece of what was said, before the harness deletes it. Answers whether there is more. */
export function copyConversation(
  place: Place,
  config: Config,
  { conversation, transcript }: { readonly conversation: string; readonly transcript?: string },
  maxBytes: number,
  untilMs = process.uptime() * 1000 + PIECE_MS,
): boolean {
  if (transcript === undefined) return false
  const notes = trackingFolderOf(place)
  const cursor = readCursor(notes, conversation)
  const piece = copyPiece({
    transcript,
    target: copyPath(place.sessions, conversation),
    ...(cursor === undefined ? {} : { cursor }),
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

function bounded<T>(work: () => T): T | undefined {
  try {
    return withinTime(work, LINE_MS)
  } catch (error) {
    if (error instanceof TookTooLong) return undefined
    throw error
  }
}

export function copyPath(sessions: string, conversation: string): string {
  return join(sessions, 'conversations', `${conversation}.jsonl`)
}
