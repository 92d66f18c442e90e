import { copyTranscriptChunk } from '../conversation/copy-transcript.ts'
import {
  type ConversationState,
  isCopied,
  readCopyCursor,
  readConversationState,
  writeCopyCursor,
} from '../conversation/conversation-state.ts'
import { PatternTimeout, runWithTimeout } from '../conversation/run-with-timeout.ts'
import { isConversationId } from '../../history/paths.ts'
import { waitForUnlock } from '../../history/lock.ts'
import { conversationPath } from '../../history/paths.ts'
import { listFolder } from '../../journal/read-files.ts'
import { defined } from '../../text/defined.ts'
import type { Config } from '../config/config.ts'
import { redaction } from '../store/clean-draft.ts'
import { conversationStateFolder } from '../store/conversation-binding.ts'
import type { ProjectPaths } from '../store/project-paths.ts'
import type { Workspace } from '../store/workspace.ts'

const PIECE_MS = 600
const LINE_MS = 200
/** Slower than any pattern that ends. */
const BYTES_PER_MS = 10_000
const CATCH_UP_BYTES = 4 * 1024 * 1024

type Copying = Pick<ConversationState, 'conversation' | 'harness' | 'transcript'>

/** Returns whether there is more. */
export function copyConversation(
  place: ProjectPaths,
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
  place: ProjectPaths,
  config: Config,
  { conversation, harness, transcript }: Copying,
  bounds: Pick<Parameters<typeof copyTranscriptChunk>[0], 'maxBytes' | 'untilMs' | 'bounded'>,
) {
  if (transcript === undefined) return undefined
  const notes = conversationStateFolder(place)
  const cursor = readCopyCursor(notes, conversation)
  const piece = copyTranscriptChunk({
    transcript,
    target: conversationPath(place.sessions, conversation),
    conversation: { id: conversation, harness },
    redaction: redaction(config),
    ...bounds,
    ...defined({ cursor }),
  })
  if (piece === undefined) return undefined
  writeCopyCursor(notes, conversation, piece.cursor)
  return { ...piece, from: cursor?.offset ?? 0 }
}

function bounded<T>(work: () => T, bytes: number) {
  try {
    return runWithTimeout(work, LINE_MS + Math.round(bytes / BYTES_PER_MS))
  } catch (error) {
    if (error instanceof PatternTimeout) return undefined
    throw error
  }
}

/** Copies what hooks had no time for; failures are ignored. */
export async function catchUpTranscripts(
  { paths: place, config }: Workspace,
  conversation?: string,
): Promise<void> {
  const notes = conversationStateFolder(place)
  const ids =
    conversation === undefined
      ? listFolder(notes).flatMap((name) => /^(.*)\.json$/.exec(name)?.[1] ?? [])
      : [conversation]
  for (const id of ids.filter(isConversationId)) {
    const tracking = readConversationState(notes, id)
    // Conversations without a session are not stored.
    if (tracking?.session === undefined || isCopied(notes, tracking)) continue
    for (let isMore = true; isMore;) {
      await waitForUnlock(conversationPath(place.sessions, id))
      const piece = copyNext(place, config, tracking, { maxBytes: CATCH_UP_BYTES })
      isMore =
        piece?.cause === undefined &&
        piece?.isCaughtUp === false &&
        piece.cursor.offset > piece.from
    }
  }
}
