import { harnessesWithoutSystemPrompt } from '../../harness/registry.ts'
import { listBlobs, blobHashesIn, messageBlobHashesIn } from '../../history/blobs.ts'
import { Blobs } from '../../history/blobs.ts'
import { isConversationId } from '../../history/paths.ts'
import { anthropicMessages } from '../../history/formats/anthropic.ts'
import { openAiMessages } from '../../history/formats/openai.ts'
import type { HistoryItem } from '../../history/items.ts'
import { tryWithLock } from '../../history/lock.ts'
import { blobsFolder, conversationPath } from '../../history/paths.ts'
import { type ConversationStore, conversationStore } from '../../history/store.ts'
import { type ConversationSummary, summarise } from '../../history/summary.ts'
import { StintError } from '../../journal/errors.ts'
import { removeFile } from '../../journal/write-files.ts'
import { statOrUndefined } from '../../journal/read-files.ts'
import { effectiveEntries } from '../../session/effective-entries.ts'
import { defined } from '../../text/defined.ts'
import { readConversationState } from '../conversation/conversation-state.ts'
import { NoSession, chooseSession } from '../store/choose-session.ts'
import { redaction } from '../store/clean-draft.ts'
import { conversationStateFolder } from '../store/conversation-binding.ts'
import type { Workspace } from '../store/workspace.ts'
import { conversationsFromElsewhere } from './conversation-origin.ts'
import { catchUpTranscripts } from './copy-conversation.ts'

export interface TimeRange {
  /** ISO times; open where absent. */
  readonly from?: string
  readonly to?: string
}

export type History = ReturnType<typeof historyOf>

export function historyOf(workspace: Workspace) {
  const items = (conversation: string, span: TimeRange = {}) =>
    between(openConversationStore(workspace).read(conversation), span)
  return {
    /** Of a session, oldest first; of the one here without a name. */
    async conversations(name?: string): Promise<readonly ConversationRow[]> {
      await catchUpTranscripts(workspace)
      const target = await findTarget(workspace, name)
      const rows =
        'session' in target
          ? await conversationsOfSession(workspace, target.session.id)
          : [rowOf(workspace, target.conversation)]
      const isForeign = conversationsFromElsewhere(workspace.paths)
      return rows.map((row) => marked(row, isForeign))
    },
    /** Every stored conversation, the last written at the end. */
    async all(): Promise<readonly ConversationRow[]> {
      await catchUpTranscripts(workspace)
      const isForeign = conversationsFromElsewhere(workspace.paths)
      return openConversationStore(workspace)
        .list()
        .toSorted((a, b) => (a.writtenAt < b.writtenAt ? -1 : 1))
        .map(({ id }) => marked(rowOf(workspace, id), isForeign))
    },
    async find(name?: string): Promise<HistoryTarget> {
      await catchUpTranscripts(workspace)
      return findTarget(workspace, name)
    },
    /** By id, its beginning, or the latest of a session. */
    async conversation(name?: string): Promise<ConversationRow> {
      await catchUpTranscripts(workspace)
      const row = rowOf(workspace, await findConversation(workspace, name))
      return marked(row, conversationsFromElsewhere(workspace.paths))
    },
    items,
    /** As its harness would send them next, without the system prompt. */
    anthropic: (conversation: string, span?: TimeRange) =>
      anthropicMessages(items(conversation, span), { promptless: harnessesWithoutSystemPrompt() }),
    openai: (conversation: string, span?: TimeRange) =>
      openAiMessages(items(conversation, span), harnessesWithoutSystemPrompt()),
    prune: (options: PruneOptions = {}) => pruneHistory(workspace, options),
  }
}

/** An item without a time takes the time of the one before. */
function* between<T extends HistoryItem>(
  items: Iterable<T>,
  { from = '', to = '\uFFFF' }: TimeRange,
): Generator<T> {
  let at = ''
  for (const item of items) {
    at = item.at ?? at
    if (at >= from && at <= to) yield item
  }
}

export function openConversationStore({ paths, config }: Workspace): ConversationStore {
  return conversationStore(paths.sessions, redaction(config))
}

/** A conversation, stored here or not. */
export interface ConversationRow extends ConversationSummary {
  readonly id: string
  readonly harness: string
  readonly session?: string
  readonly isStored: boolean
  /** Includes outputs and pictures that other conversations may share. */
  readonly bytes: number
  /** Its file came with the repository: this is not what the user said. */
  readonly isFromElsewhere?: true
}

function marked(row: ConversationRow, isForeign: (id: string) => boolean): ConversationRow {
  return row.isStored && isForeign(row.id) ? { ...row, isFromElsewhere: true } : row
}

interface JournalledConversation {
  readonly id: string
  readonly session: string
  readonly harness: string
  readonly at: string
  endedBecause?: string
}

async function conversationsOfSession(workspace: Workspace, session: string) {
  const { entries } = await workspace.withSession(session, (live) => live.read())
  const conversations = new Map<string, JournalledConversation>()
  for (const { kind, data, at } of effectiveEntries(entries)) {
    const id = data['conversation']
    if (!isConversationId(id)) continue
    const known = conversations.get(id)
    if (kind === 'conversation.joined')
      conversations.set(id, {
        id,
        session,
        harness: known?.harness ?? String(data['harness']),
        at: known?.at ?? at,
      })
    else if (kind === 'conversation.ended' && known !== undefined)
      known.endedBecause = String(data['reason'])
  }
  return [...conversations.values()].map((known) => rowOf(workspace, known.id, known))
}

function rowOf(workspace: Workspace, id: string, known?: JournalledConversation) {
  const store = openConversationStore(workspace)
  const isStored = store.has(id)
  const summary = summarise(isStored ? store.read(id, { isBrief: true }) : [])
  const state = readConversationState(conversationStateFolder(workspace.paths), id)
  return {
    ...defined({ startedAt: known?.at, endedBecause: known?.endedBecause }),
    ...summary,
    id,
    harness: summary.harness ?? known?.harness ?? state?.harness ?? 'unknown',
    ...defined({ session: known?.session ?? state?.session }),
    isStored,
    bytes: isStored ? storedBytes(workspace, id) : 0,
  }
}

function storedBytes({ paths: { sessions } }: Workspace, id: string) {
  const path = conversationPath(sessions, id)
  const blobs = new Blobs(blobsFolder(sessions))
  const files = [path, ...[...new Set(blobHashesIn(path))].map((hash) => blobs.pathOf(hash))]
  return files.reduce((sum, one) => sum + (statOrUndefined(one)?.size ?? 0), 0)
}

type HistoryTarget =
  | { readonly conversation: string }
  | { readonly session: { readonly id: string; readonly name: string } }

const MIN_PREFIX = 4

/** A conversation by id or its beginning, else a session by name, else the session here. */
async function findTarget(workspace: Workspace, name?: string) {
  const conversation = name === undefined ? undefined : findStored(workspace, name)
  if (conversation !== undefined) return { conversation }
  try {
    const { id, name: sessionName } = await chooseSession(workspace, name)
    return { session: { id, name: sessionName } }
  } catch (error) {
    if (!(error instanceof NoSession) || name === undefined) throw error
    throw new StintError(
      'NO_CONVERSATION',
      `nothing stored here is called "${name}", neither a conversation nor a session`,
      'stint history --all lists the conversations, stint list the sessions',
    )
  }
}

/** Of a session, its latest stored one. */
async function findConversation(workspace: Workspace, name?: string) {
  const target = await findTarget(workspace, name)
  if ('conversation' in target) return target.conversation
  const rows = await conversationsOfSession(workspace, target.session.id)
  const latest = rows.findLast(({ isStored }) => isStored)
  if (latest !== undefined) return latest.id
  throw new StintError(
    'NO_CONVERSATION',
    `no conversation of ${target.session.name} is stored here`,
    'stint setup claude stores those to come; stint import brings in those that were',
  )
}

function findStored(workspace: Workspace, name: string) {
  const store = openConversationStore(workspace)
  if (store.has(name)) return name
  if (name.length < MIN_PREFIX) return undefined
  const found = store.list().flatMap(({ id }) => (id.startsWith(name) ? [id] : []))
  if (found.length < 2) return found[0]
  throw new StintError(
    'CONVERSATION_AMBIGUOUS',
    `"${name}" fits several conversations: ${found.slice(0, 5).join(', ')}`,
    'write more of the id',
  )
}

export interface PruneOptions {
  /** Conversations last written before it. */
  readonly before?: string
  /** By id or its beginning. */
  readonly conversations?: readonly string[]
  /** Only long tool outputs and pictures; of all conversations when none is named. */
  readonly outputs?: boolean
  readonly dryRun?: boolean
}

export interface Pruned {
  readonly isDryRun: boolean
  readonly conversations: readonly { readonly id: string; readonly bytes: number }[]
  readonly blobs: { readonly count: number; readonly bytes: number }
  /** Unreferenced, but too young to remove. */
  readonly young: number
  /** Being written to, so left alone. */
  readonly busy: readonly string[]
  readonly left: {
    readonly conversations: number
    readonly bytes: number
    readonly blobs: number
    readonly blobBytes: number
  }
}

/** A writer stores a blob before the line that names it. */
const MIN_BLOB_AGE_MS = 10 * 60_000

async function pruneHistory(
  workspace: Workspace,
  { before, conversations, outputs = false, dryRun: isDryRun = false }: PruneOptions,
) {
  const stored = openConversationStore(workspace).list()
  const ids = await Promise.all(
    (conversations ?? []).map((name) => findByIdPrefix(workspace, name)),
  )
  const isUnfiltered = before === undefined && conversations === undefined
  const chosen = stored.filter(({ id, writtenAt }) =>
    isUnfiltered
      ? outputs
      : (conversations === undefined || ids.includes(id)) &&
        (before === undefined || writtenAt < before),
  )
  const removed = outputs ? [] : chosen
  const busy = isDryRun ? [] : removed.filter(({ path }) => !removeIfUnlocked(path))
  const gone = removed.filter((one) => !busy.includes(one))
  // Read after removal, so that new references count.
  const left = stored.filter((one) => !gone.includes(one))
  const referenced = new Set(
    left.flatMap((one) => [
      ...(outputs && chosen.includes(one) ? messageBlobHashesIn : blobHashesIn)(one.path),
    ]),
  )
  const blobs = listBlobs(workspace.paths.sessions)
  const unreferenced = blobs.filter(({ hash }) => !referenced.has(hash))
  const old = unreferenced.filter(({ path }) => isOldEnough(path))
  const freed = old.filter(({ path }) => isDryRun || removeFile(path))
  return {
    isDryRun,
    conversations: gone.map(({ id, bytes }) => ({ id, bytes })),
    blobs: { count: freed.length, bytes: totalBytes(freed) },
    young: unreferenced.length - old.length,
    busy: busy.map(({ id }) => id),
    left: {
      conversations: left.length,
      bytes: totalBytes(left),
      blobs: blobs.length - freed.length,
      blobBytes: totalBytes(blobs) - totalBytes(freed),
    },
  }
}

/** A session's name is refused: it would mean whichever conversation is its latest. */
async function findByIdPrefix(workspace: Workspace, name: string) {
  const id = await findConversation(workspace, name)
  if (id.startsWith(name)) return id
  throw new StintError(
    'NO_CONVERSATION',
    `"${name}" is no conversation`,
    'stint history --all lists those that are stored',
  )
}

function removeIfUnlocked(path: string) {
  return tryWithLock(path, () => ({ isRemoved: removeFile(path) })) !== undefined
}

function isOldEnough(path: string) {
  const stat = statOrUndefined(path)
  return stat !== undefined && Math.abs(Date.now() - stat.mtimeMs) > MIN_BLOB_AGE_MS
}

export function totalBytes(files: readonly { bytes: number }[]): number {
  return files.reduce((total, { bytes }) => total + bytes, 0)
}
