import { copyPiece } from '../conversation/copy-transcript.ts'
import {
  type Tracking,
  isCopied,
  readCursor,
  readTracking,
  writeCursor,
} from '../conversation/tracking.ts'
import { conversationPath, isConversationId } from '../../history/places.ts'
import type { Config } from '../config/config.ts'
import { trackingFolderOf } from '../store/conversation-binding.ts'
import type { Place } from '../store/place.ts'
import { TookTooLong, withinTime } from '../conversation/within-time.ts'
import { defined } from '../../text/defined.ts'
import { untilUnlocked } from '../../history/lock.ts'
import { namesIn } from '../../journal/look.ts'
import type { Workspace } from '../store/workspace.ts'

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

const PIECE = 4 * 1024 * 1024

interface Whose {
  readonly id: string
  readonly harness: string
}

/** Copies what hooks had no time for; failures are ignored. */
export async function catchUp(workspace: Workspace, conversation?: string): Promise<void> {
  const notes = trackingFolderOf(workspace.place)
  const ids =
    conversation === undefined
      ? namesIn(notes).flatMap((name) => /^(.*)\.json$/.exec(name)?.[1] ?? [])
      : [conversation]
  const followed = ids.flatMap((id) => {
    const tracking = isConversationId(id) ? readTracking(notes, id) : undefined
    // Conversations without a session are not stored.
    return tracking?.session === undefined || isCopied(notes, tracking) ? [] : [tracking]
  })
  for (const { conversation: id, harness, transcript } of followed) {
    if (transcript !== undefined) await copyAll(workspace, { id, harness }, transcript)
  }
}

async function copyAll(
  { place, config }: Workspace,
  conversation: Whose,
  transcript: string,
): Promise<void> {
  const notes = trackingFolderOf(place)
  const target = conversationPath(place.sessions, conversation.id)
  const redaction = { extra: config.redact.patterns, allow: config.redact.allow }
  for (let isMore = true; isMore;) {
    await untilUnlocked(target)
    const cursor = readCursor(notes, conversation.id)
    const from = cursor === undefined ? {} : { cursor }
    const piece = copyPiece({
      transcript,
      target,
      conversation,
      ...from,
      maxBytes: PIECE,
      redaction,
    })
    if (piece === undefined || piece.cause !== undefined) return
    writeCursor(notes, conversation.id, piece.cursor)
    isMore = !piece.isCaughtUp && piece.cursor.offset > (cursor?.offset ?? 0)
  }
}
