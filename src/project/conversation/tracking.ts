import { join } from 'node:path'
import type { Crossed } from '../../context/budget/stages.ts'
import type { Carried } from '../../harness/contract/transcript.ts'
import type { Usage } from '../../session/entries.ts'
import { createFolder, replaceUnsynced } from '../../journal/files.ts'
import { readOrUndefined, statOrUndefined } from '../../journal/look.ts'
import { isMissing } from '../../journal/errors.ts'

/** A text of ours that was put before the model, until the transcript shows that it arrived. */
export interface Given {
  readonly mark: string
  readonly event: string
  readonly at: string
  readonly level: 'start' | 'full'
  /** A sum over what people had written then. */
  readonly essence: string
  /** How often it has been given in this window. */
  readonly attempts: number
  readonly isProved: boolean
}

/**
 * What hooks remember of one conversation from one event to the next. Notes, not truth: without them the
 * next event begins anew. Whatever has to last is an entry.
 */
export interface Tracking {
  readonly harness: string
  readonly conversation: string
  /** The session it works on. */
  readonly session?: string
  readonly transcript?: string
  /** When each event last came. */
  readonly fired: Readonly<Record<string, string>>
  /** What was given since the conversation began, was cleared, or was compacted. */
  readonly given?: Given
  /** How far the transcript has been looked at, and in which file. */
  readonly looked?: { readonly offset: number; readonly inode: number }
  /** The boundary of the last compaction has been seen: what was given after it is there now, or did not arrive. */
  readonly sawBoundary?: boolean
  /** This client writes down what hooks give, so that what is missing there did not arrive. */
  readonly recordsHookContext?: boolean
  /** When the model last answered, as far as the transcript has been looked at. */
  readonly answeredAt?: string
  /** The harness said that it compacted, and the transcript does not show it yet. */
  readonly awaitsBoundary?: boolean
  /** The transcript showed a compaction that nobody announced, and nothing was given since. */
  readonly isOwed?: boolean
  /** Everything is recorded as it stood then: what HEAD said, and which files. */
  readonly settled?: Settled
  /** Requests made before there was a session. */
  readonly requests: readonly PendingRequest[]
  /** Files edited before there was a session. */
  readonly files?: readonly string[]
  /** The session that ended last while the conversation worked on it, and whether anything was asked for since. */
  readonly ended?: { readonly session: string; readonly askedSince: boolean }
  /** How many commands printed very much. */
  readonly largeOutputs?: number
  /** Edits since somebody last wrote into the journal. */
  readonly edits: number
  /** Which nudges were given in this window, and when the last one was. */
  readonly nudged: readonly string[]
  readonly nudgedAt?: string
  /** What delegated agents were asked for, by their id. */
  readonly agents: Readonly<Record<string, string>>
  /** The latest entry about a delegate that it was told of, or had no need to be. */
  readonly heard?: string
  /** Commands whose results the transcript had not shown when it was last looked at. */
  readonly carried?: Carried
  /** Which window of the conversation this is: a compaction opens another. */
  readonly windowNumber?: number
  /** The lines of the budget that were crossed in it. */
  readonly crossed?: Crossed
  /** The window in which a handoff was made because a compaction came first. */
  readonly handedOverIn?: number
  /** The latest usage that the transcript showed. */
  readonly usage?: Usage & { readonly model?: string | undefined }
}

export interface Settled {
  /** The session in which everything is recorded. */
  readonly session: string
  readonly head: string
  readonly config: string
  readonly files: readonly string[]
  /** What the agent said last ended in a question. */
  readonly hasAsked?: boolean
  /** The branch is not the session's. */
  readonly hasSwitched?: boolean
  /** How many tokens there are when the next line of the budget is crossed. */
  readonly alertAt?: number
}

export interface PendingRequest {
  readonly text: string
  readonly at: string
  readonly isRuling: boolean
}

/**
 * Where the notes are: under the git directory, so that a project is not littered with them before it has a
 * session, and `git clean` does not take them.
 */
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

/** The notes, or undefined when there are none that can be read. */
export function readTracking(folder: string, conversation: string): Tracking | undefined {
  const bytes = readOrUndefined(trackingPath(folder, conversation))
  if (bytes === undefined) return undefined
  try {
    const value = JSON.parse(bytes.toString('utf8')) as Partial<Tracking>
    if (typeof value !== 'object' || value === null || value.conversation !== conversation)
      return undefined
    return { ...newTracking(String(value.harness ?? 'unknown'), conversation), ...value }
  } catch {
    // Half-written when the power failed. What they said is forgotten, which costs a repetition at most.
    return undefined
  }
}

/** Tells the notes apart from what is written over them. */
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
