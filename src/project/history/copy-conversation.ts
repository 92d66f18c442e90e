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

const CHUNK_MS = 600
const LINE_MS = 200
/** Slower than any pattern that ends. */
const BYTES_PER_MS = 10_000
const CATCH_UP_BYTES = 4 * 1024 * 1024

type CopiedConversation = Pick<ConversationState, 'conversation' | 'harness' | 'transcript'>

/** Returns whether there is more. */
export function copyConversation(
  paths: ProjectPaths,
  config: Config,
  state: CopiedConversation,
  maxBytes: number,
  untilMs = process.uptime() * 1000 + CHUNK_MS,
): boolean {
  const isBounded = config.redact.patterns.length > 0
  const bounds = { maxBytes, untilMs, ...(isBounded ? { bounded: limitTime } : {}) }
  const chunk = copyNext(paths, config, state, bounds)
  if (chunk?.cause !== undefined) throw chunk.cause
  return chunk !== undefined && !chunk.isCaughtUp
}

function copyNext(
  paths: ProjectPaths,
  config: Config,
  { conversation, harness, transcript }: CopiedConversation,
  bounds: Pick<Parameters<typeof copyTranscriptChunk>[0], 'maxBytes' | 'untilMs' | 'bounded'>,
) {
  if (transcript === undefined) return undefined
  const folder = conversationStateFolder(paths)
  const cursor = readCopyCursor(folder, conversation)
  const chunk = copyTranscriptChunk({
    transcript,
    target: conversationPath(paths.sessions, conversation),
    conversation: { id: conversation, harness },
    redaction: redaction(config),
    ...bounds,
    ...defined({ cursor }),
  })
  if (chunk === undefined) return undefined
  writeCopyCursor(folder, conversation, chunk.cursor)
  return { ...chunk, from: cursor?.offset ?? 0 }
}

function limitTime<T>(work: () => T, bytes: number) {
  try {
    return runWithTimeout(work, LINE_MS + Math.round(bytes / BYTES_PER_MS))
  } catch (error) {
    if (error instanceof PatternTimeout) return undefined
    throw error
  }
}

/** Copies what hooks had no time for; failures are ignored. */
export async function catchUpTranscripts(
  { paths, config }: Workspace,
  conversation?: string,
): Promise<void> {
  const folder = conversationStateFolder(paths)
  const ids =
    conversation === undefined
      ? listFolder(folder).flatMap((name) => /^(.*)\.json$/.exec(name)?.[1] ?? [])
      : [conversation]
  for (const id of ids.filter(isConversationId)) {
    const state = readConversationState(folder, id)
    // Conversations without a session are not stored.
    if (state?.session === undefined || isCopied(folder, state)) continue
    for (let isMore = true; isMore;) {
      await waitForUnlock(conversationPath(paths.sessions, id))
      const chunk = copyNext(paths, config, state, { maxBytes: CATCH_UP_BYTES })
      isMore =
        chunk?.cause === undefined &&
        chunk?.isCaughtUp === false &&
        chunk.cursor.offset > chunk.from
    }
  }
}
