import { copyPiece } from '../conversation/copy-transcript.ts'
import { isCopied, readCursor, writeCursor } from '../conversation/copy-cursor.ts'
import { readTracking } from '../conversation/tracking.ts'
import { isConversationId } from '../../history/conversation-id.ts'
import { untilUnlocked } from '../../history/lock.ts'
import { conversationPath } from '../../history/places.ts'
import { namesIn } from '../../journal/look.ts'
import { trackingFolderOf } from '../store/conversation-binding.ts'
import type { Workspace } from '../store/workspace.ts'

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
