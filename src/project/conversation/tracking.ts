import { join } from 'node:path'
import type { Crossed } from '../../context/budget/stages.ts'
import type { Carried } from '../../harness/contract/transcript.ts'
import type { Usage } from '../../session/entries.ts'
import { appendLine, createFolder, replaceUnsynced } from '../../journal/files.ts'
import { readJson, readOrUndefined, statOrUndefined } from '../../journal/look.ts'
import { isMissing } from '../../journal/errors.ts'
import type { CopyCursor } from './copy-transcript.ts'
import type { StatusFigures } from '../../harness/contract/hooks.ts'
import { defined } from '../../text/defined.ts'
import { type Json, countOf, nameOf, objectOf, parseJson } from '../../text/json-fields.ts'

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
  const value = objectOf(readJson(trackingPath(folder, conversation)))
  if (value?.['conversation'] !== conversation) return undefined
  return { ...newTracking(String(value['harness'] ?? 'unknown'), conversation), ...value }
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

// How far a transcript was copied. Not part of Tracking: others than hooks copy too.

export function readCursor(notes: string, conversation: string): CopyCursor | undefined {
  return readJson(cursorPath(notes, conversation)) as CopyCursor | undefined
}

export function writeCursor(notes: string, conversation: string, cursor: CopyCursor): void {
  replaceUnsynced(cursorPath(notes, conversation), JSON.stringify(cursor))
}

export function isCopied(
  notes: string,
  { conversation, transcript }: Pick<Tracking, 'conversation' | 'transcript'>,
): boolean {
  const stat = transcript === undefined ? undefined : statOrUndefined(transcript)
  if (stat === undefined) return true
  const cursor = readCursor(notes, conversation)
  return cursor?.inode === stat.ino && cursor.offset === stat.size
}

function cursorPath(notes: string, conversation: string) {
  return join(notes, `${conversation}.copied`)
}

// Hook errors, shown by `stint doctor`.

export interface Trouble {
  readonly at: string
  readonly event: string
  readonly conversation: string
  readonly message: string
}

const LARGEST = 64 * 1024
const KEPT = 20

export function noteTrouble(folder: string, trouble: Trouble): void {
  const path = troublesPath(folder)
  try {
    createFolder(folder)
    if ((statOrUndefined(path)?.size ?? 0) > LARGEST) {
      replaceUnsynced(
        path,
        readTroubles(folder)
          .slice(-KEPT)
          .map((kept) => `${JSON.stringify(kept)}\n`)
          .join(''),
      )
    }
    appendLine(path, JSON.stringify(trouble))
  } catch {
    // Most hook errors are about a full or read-only disk.
  }
}

export function readTroubles(folder: string): readonly Trouble[] {
  const text = readOrUndefined(troublesPath(folder))?.toString('utf8') ?? ''
  // Two hooks may have written a line at once.
  return text.split('\n').flatMap((line) => (parseJson(line) as Trouble | undefined) ?? [])
}

function troublesPath(folder: string) {
  return join(folder, 'troubles.jsonl')
}

// How full the context window is. Only the status line learns it, so it leaves a file for the
// hooks.

export interface Window extends StatusFigures {
  readonly at: string
}

export function writeWindow(folder: string, conversation: string, window: Window): void {
  createFolder(folder)
  replaceUnsynced(windowPath(folder, conversation), JSON.stringify(window))
}

export function readWindow(folder: string, conversation: string): Window | undefined {
  const fields = objectOf(readJson(windowPath(folder, conversation)))
  const at = nameOf(fields?.['at'])
  return fields === undefined || at === undefined ? undefined : { at, ...statusFigures(fields) }
}

export function windowPath(folder: string, conversation: string): string {
  return join(folder, `${conversation}.window`)
}

export function statusFigures(fields: Json): StatusFigures {
  const limits = { fiveHour: limitOf(fields['fiveHour']), sevenDay: limitOf(fields['sevenDay']) }
  const counts = Object.fromEntries(
    ['usedPercent', 'size', 'used', 'cost'].map((name) => [name, countOf(fields[name])]),
  )
  return defined({
    ...counts,
    ...limits,
    model: nameOf(fields['model']),
    version: nameOf(fields['version']),
  })
}

function limitOf(value: unknown) {
  const fields = objectOf(value)
  const percent = countOf(fields?.['percent'])
  return percent === undefined
    ? undefined
    : { percent, ...defined({ resetsAt: nameOf(fields?.['resetsAt'], 40) }) }
}
