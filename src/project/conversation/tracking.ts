import { join } from 'node:path'
import type { Crossed } from '../../context/budget/stages.ts'
import type { Carried } from '../../harness/contract/transcript.ts'
import type { Usage } from '../../session/entries.ts'
import { createFolder, replaceUnsynced } from '../../journal/files.ts'
import { readOrUndefined, statOrUndefined } from '../../journal/look.ts'
import { isMissing } from '../../journal/errors.ts'

/** Injected text, until the transcript shows it. */
export interface Given {
  readonly mark: string
  readonly event: string
  readonly at: string
  readonly level: 'start' | 'full'
  readonly essence: string
  readonly attempts: number
  readonly isProved: boolean
}

/**
 * Conversation state of hooks. Losable: without it the next event starts over. What must last is
 * an entry.
 */
export interface Tracking {
  readonly harness: string
  readonly conversation: string
  readonly session?: string
  readonly transcript?: string
  readonly fired: Readonly<Record<string, string>>
  /** Since the conversation began, was cleared, or was compacted. */
  readonly given?: Given
  readonly looked?: { readonly offset: number; readonly inode: number }
  /**
   * The last compaction's boundary was seen: what was injected after it is there, or was not
   * delivered.
   */
  readonly sawBoundary?: boolean
  /** This client records hook output, so what is missing was not delivered. */
  readonly recordsHookContext?: boolean
  readonly answeredAt?: string
  /** A compaction was announced and is not in the transcript yet. */
  readonly awaitsBoundary?: boolean
  /** An unannounced compaction is in the transcript, and nothing was injected since. */
  readonly isOwed?: boolean
  readonly settled?: Settled
  /** Made before there was a session. */
  readonly requests: readonly PendingRequest[]
  readonly files?: readonly string[]
  /** The session that ended last, and whether anything was asked since. */
  readonly ended?: { readonly session: string; readonly askedSince: boolean }
  readonly largeOutputs?: number
  /** Edits since the last journal entry. */
  readonly edits: number
  readonly nudged: readonly string[]
  readonly nudgedAt?: string
  /** Prompts of subagents by id. */
  readonly agents: Readonly<Record<string, string>>
  /** The latest delegate entry it was notified of. */
  readonly heard?: string
  /** Commands without a result so far. */
  readonly carried?: Carried
  /** A compaction opens another window. */
  readonly windowNumber?: number
  readonly crossed?: Crossed
  readonly handedOverIn?: number
  readonly usage?: Usage & { readonly model?: string | undefined }
}

export interface Settled {
  readonly session: string
  readonly head: string
  readonly config: string
  readonly files: readonly string[]
  readonly hasAsked?: boolean
  readonly hasSwitched?: boolean
  /** Tokens at which the next budget stage is crossed. */
  readonly alertAt?: number
}

export interface PendingRequest {
  readonly text: string
  readonly at: string
  readonly isRuling: boolean
}

/** Under the git directory: safe from `git clean`, and no clutter in a project without sessions. */
export function trackingFolder(sessions: string, gitCommonDir: string | undefined): string {
  return gitCommonDir === undefined
    ? join(sessions, 'conversations')
    : join(gitCommonDir, 'stint', 'conversations')
}

export function trackingPath(folder: string, conversation: string): string {
  return join(folder, `${conversation}.json`)
}

export function newTracking(harness: string, conversation: string): Tracking {
  return { harness, conversation, fired: {}, requests: [], edits: 0, nudged: [], agents: {} }
}

export function readTracking(folder: string, conversation: string): Tracking | undefined {
  const bytes = readOrUndefined(trackingPath(folder, conversation))
  if (bytes === undefined) return undefined
  try {
    const value = JSON.parse(bytes.toString('utf8')) as Partial<Tracking>
    if (typeof value !== 'object' || value === null || value.conversation !== conversation)
      return undefined
    return { ...newTracking(String(value.harness ?? 'unknown'), conversation), ...value }
  } catch {
    // Truncated: forgetting costs a repetition at most.
    return undefined
  }
}

export function stampOf(folder: string, conversation: string): string {
  const stat = statOrUndefined(trackingPath(folder, conversation))
  return stat === undefined ? '' : `${stat.ino}:${stat.mtimeMs}:${stat.ctimeMs}`
}

export function writeTracking(folder: string, tracking: Tracking): void {
  const path = trackingPath(folder, tracking.conversation)
  const text = JSON.stringify(tracking)
  try {
    replaceUnsynced(path, text)
  } catch (error) {
    if (!isMissing(error)) throw error
    createFolder(folder)
    replaceUnsynced(path, text)
  }
}
