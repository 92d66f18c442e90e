import { join } from 'node:path'
import { copyPiece, type CopyCursor } from '../conversation/copy-transcript.ts'
import { errnoOf } from '../journal/errors.ts'
import { readOrUndefined, replaceUnsynced } from '../journal/files.ts'
import type { Config } from '../project/config.ts'
import { trackingFolderOf } from '../project/conversation-binding.ts'
import type { Place } from '../project/place.ts'
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
  const cursorPath = join(trackingFolderOf(place), `${conversation}.copied`)
  const cursor = readCursor(cursorPath)
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
  replaceUnsynced(cursorPath, JSON.stringify(piece.cursor))
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

// Apart from the other notes: whoever copies is not always the hook that keeps those.
function readCursor(path: string): CopyCursor | undefined {
  try {
    const bytes = readOrUndefined(path)
    return bytes === undefined ? undefined : (JSON.parse(bytes.toString('utf8')) as CopyCursor)
  } catch (error) {
    if (errnoOf(error) !== undefined) throw error
    // Cut off by a power cut: copied again from the start, and read without repetitions.
    return undefined
  }
}
