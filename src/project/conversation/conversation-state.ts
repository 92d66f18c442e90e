import { join } from 'node:path'
import type { CrossedThresholds } from '../../context/budget/stages.ts'
import type { PendingCommands } from '../../harness/contract/transcript.ts'
import type { FailedCommand } from '../../command/failed-command.ts'
import type { Usage } from '../../session/entries.ts'
import { appendLine, createFolder, replaceUnsynced } from '../../journal/write-files.ts'
import { readJson, readOrUndefined, statOrUndefined } from '../../journal/read-files.ts'
import { isMissing } from '../../journal/errors.ts'
import type { CopyCursor } from './copy-transcript.ts'
import type { StatusFigures } from '../../harness/contract/hooks.ts'
import { defined } from '../../text/defined.ts'
import { type Json, asCount, asName, asObject, parseJson } from '../../text/json-fields.ts'

/** Injected text, until the transcript shows it. */
interface InjectedContext {
  readonly mark: string
  readonly event: string
  readonly at: string
  readonly level: 'start' | 'full'
  readonly essence: string
  readonly attempts: number
  readonly isProved: boolean
}

/** What hooks remember of a conversation. May be lost: what must last is an entry. */
export interface ConversationState {
  readonly harness: string
  readonly conversation: string
  readonly session?: string
  readonly transcript?: string
  readonly fired: Readonly<Record<string, string>>
  /** Since the conversation began, was cleared, or was compacted. */
  readonly given?: InjectedContext
  readonly looked?: { readonly offset: number; readonly inode: number }
  /** The last compaction's boundary was read, so what was injected since is in the transcript or lost. */
  readonly sawBoundary?: boolean
  /** This client records hook output, so what is missing was not delivered. */
  readonly recordsHookContext?: boolean
  readonly answeredAt?: string
  /** A compaction was announced and is not in the transcript yet. */
  readonly awaitsBoundary?: boolean
  /** An unannounced compaction is in the transcript, and nothing was injected since. */
  readonly isOwed?: boolean
  readonly settled?: FastPathState
  /** What happened while it had no session; the captures themselves wait in the outbox. */
  readonly unbound?: { readonly requests: number; readonly tools: number }
  /** The session that ended last, and whether the user asked for anything since. */
  readonly ended?: { readonly session: string; readonly askedSince: boolean }
  readonly largeOutputs?: number
  /** Edits since the last journal entry. */
  readonly edits: number
  readonly nudged: readonly string[]
  readonly nudgedAt?: string
  /** The last prompt looked unrelated, and the user was offered to clear the conversation. */
  readonly isClearOffered?: boolean
  /** Prompts of subagents by id. */
  readonly agents: Readonly<Record<string, string>>
  /** The latest delegate entry it was notified of. */
  readonly heard?: string
  /** Commands without a result so far. */
  readonly carried?: PendingCommands
  /** The last commands that failed; the next one may show what it takes. */
  readonly failed?: readonly FailedCommand[]
  /** A compaction opens another window. */
  readonly windowNumber?: number
  readonly crossed?: CrossedThresholds
  readonly handedOverIn?: number
  readonly usage?: Usage & { readonly model?: string | undefined }
}

interface FastPathState {
  readonly session: string
  readonly head: string
  readonly config: string
  readonly files: readonly string[]
  readonly hasAsked?: boolean
  readonly hasSwitched?: boolean
  /** Tokens at which the next budget stage is crossed. */
  readonly alertAt?: number
}

export function conversationStatePath(folder: string, conversation: string): string {
  return join(folder, `${conversation}.json`)
}

export function newConversationState(harness: string, conversation: string): ConversationState {
  return { harness, conversation, fired: {}, edits: 0, nudged: [], agents: {} }
}

export function readConversationState(
  folder: string,
  conversation: string,
): ConversationState | undefined {
  const value = asObject(readJson(conversationStatePath(folder, conversation)))
  if (value?.['conversation'] !== conversation) return undefined
  return { ...newConversationState(String(value['harness'] ?? 'unknown'), conversation), ...value }
}

export function conversationStateStamp(folder: string, conversation: string): string {
  const stat = statOrUndefined(conversationStatePath(folder, conversation))
  return stat === undefined ? '' : `${stat.ino}:${stat.mtimeMs}:${stat.ctimeMs}`
}

export function writeConversationState(folder: string, state: ConversationState): void {
  const path = conversationStatePath(folder, state.conversation)
  const text = JSON.stringify(state)
  try {
    replaceUnsynced(path, text)
  } catch (error) {
    if (!isMissing(error)) throw error
    createFolder(folder)
    replaceUnsynced(path, text)
  }
}

// How far a transcript was copied. Not part of ConversationState: not only hooks copy.

export function readCopyCursor(folder: string, conversation: string): CopyCursor | undefined {
  return readJson(cursorPath(folder, conversation)) as CopyCursor | undefined
}

export function writeCopyCursor(folder: string, conversation: string, cursor: CopyCursor): void {
  replaceUnsynced(cursorPath(folder, conversation), JSON.stringify(cursor))
}

export function isCopied(
  folder: string,
  { conversation, transcript }: Pick<ConversationState, 'conversation' | 'transcript'>,
): boolean {
  const stat = transcript === undefined ? undefined : statOrUndefined(transcript)
  if (stat === undefined) return true
  const cursor = readCopyCursor(folder, conversation)
  return cursor?.inode === stat.ino && cursor.offset === stat.size
}

function cursorPath(folder: string, conversation: string) {
  return join(folder, `${conversation}.copied`)
}

// Hook errors, shown by `stint doctor`.

interface HookError {
  readonly at: string
  readonly event: string
  readonly conversation: string
  readonly message: string
}

const MAX_BYTES = 64 * 1024
const MAX_KEPT = 20

export function appendHookError(folder: string, error: HookError): void {
  const path = hookErrorsPath(folder)
  try {
    createFolder(folder)
    if ((statOrUndefined(path)?.size ?? 0) > MAX_BYTES) {
      replaceUnsynced(
        path,
        readHookErrors(folder)
          .slice(-MAX_KEPT)
          .map((line) => `${JSON.stringify(line)}\n`)
          .join(''),
      )
    }
    appendLine(path, JSON.stringify(error))
  } catch {
    // Most hook errors are about a full or read-only disk.
  }
}

export function readHookErrors(folder: string): readonly HookError[] {
  const text = readOrUndefined(hookErrorsPath(folder))?.toString('utf8') ?? ''
  // Two hooks may have written at once and broken a line.
  return text.split('\n').flatMap((line) => (parseJson(line) as HookError | undefined) ?? [])
}

function hookErrorsPath(folder: string) {
  return join(folder, 'troubles.jsonl')
}

// How full the context window is. Only the status line receives it, so it leaves a file for hooks.

export interface ContextWindow extends StatusFigures {
  readonly at: string
}

export function writeContextWindow(
  folder: string,
  conversation: string,
  window: ContextWindow,
): void {
  createFolder(folder)
  replaceUnsynced(contextWindowPath(folder, conversation), JSON.stringify(window))
}

export function readContextWindow(folder: string, conversation: string): ContextWindow | undefined {
  const fields = asObject(readJson(contextWindowPath(folder, conversation)))
  const at = asName(fields?.['at'])
  return fields === undefined || at === undefined ? undefined : { at, ...statusFigures(fields) }
}

export function contextWindowPath(folder: string, conversation: string): string {
  return join(folder, `${conversation}.window`)
}

export function statusFigures(fields: Json): StatusFigures {
  const limits = { fiveHour: limitOf(fields['fiveHour']), sevenDay: limitOf(fields['sevenDay']) }
  const counts = Object.fromEntries(
    ['usedPercent', 'size', 'used', 'cost'].map((name) => [name, asCount(fields[name])]),
  )
  return defined({
    ...counts,
    ...limits,
    model: asName(fields['model']),
    version: asName(fields['version']),
  })
}

function limitOf(value: unknown) {
  const fields = asObject(value)
  const percent = asCount(fields?.['percent'])
  return percent === undefined
    ? undefined
    : { percent, ...defined({ resetsAt: asName(fields?.['resetsAt'], 40) }) }
}
