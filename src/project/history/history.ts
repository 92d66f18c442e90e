import { promptlessHarnesses } from '../../harness/registry.ts'
import { type AnthropicMessage, anthropicMessages } from '../../history/formats/anthropic.ts'
import { type OpenAiMessage, openAiMessages } from '../../history/formats/openai.ts'
import type { HistoryItem } from '../../history/items.ts'
import type { Workspace } from '../store/workspace.ts'
import { catchUp } from './copy-conversation.ts'
import { blobsFolder, conversationPath, isConversationId } from '../../history/places.ts'
import { type ConversationSummary, summarise } from '../../history/summary.ts'
import { Blobs, listBlobs, namesOf, saidNamesOf } from '../../history/blobs.ts'
import { statOrUndefined } from '../../journal/look.ts'
import type { SessionRow } from '../../index/queries.ts'
import { readTracking } from '../conversation/tracking.ts'
import { inEffect } from '../../session/in-effect.ts'
import { trackingFolderOf } from '../store/conversation-binding.ts'
import { defined } from '../../text/defined.ts'
import { StintError } from '../../journal/errors.ts'
import { type ChosenSession, NoSession, chooseSession } from '../store/choose.ts'
import { whileLocked } from '../../history/lock.ts'
import {
  type ConversationStore,
  type StoredConversation,
  conversationStore,
} from '../../history/store.ts'
import { removeFile } from '../../journal/files.ts'

export interface History {
  conversations(session?: string): Promise<readonly ConversationRow[]>
  all(): Promise<readonly ConversationRow[]>
  find(name?: string): Promise<Meant>
  /** By id, its beginning, or the latest of a session. */
  conversation(name?: string): Promise<ConversationRow>
  items(conversation: string, span?: Span): Iterable<HistoryItem>
  /** As its harness would send them next, without the system prompt. */
  anthropic(conversation: string, span?: Span): readonly AnthropicMessage[]
  openai(conversation: string, span?: Span): readonly OpenAiMessage[]
  prune(options?: PruneOptions): Promise<Pruned>
}

export function historyOf(workspace: Workspace): History {
  const items = (conversation: string, span: Span = {}) =>
    between(storeOf(workspace).read(conversation), span)
  return {
    conversations: async (name) => {
      await catchUp(workspace)
      const meant = await findMeant(workspace, name)
      return 'session' in meant
        ? conversationsOfSession(workspace, meant.session)
        : [rowOf(workspace, meant.conversation)]
    },
    all: async () => {
      await catchUp(workspace)
      return storedConversations(workspace)
    },
    find: async (name) => {
      await catchUp(workspace)
      return findMeant(workspace, name)
    },
    conversation: async (name) => {
      await catchUp(workspace)
      return rowOf(workspace, await findConversation(workspace, name))
    },
    items,
    anthropic: (conversation, span) =>
      anthropicMessages(items(conversation, span), { promptless: promptlessHarnesses() }),
    openai: (conversation, span) =>
      openAiMessages(items(conversation, span), promptlessHarnesses()),
    prune: (options = {}) => pruneHistory(workspace, options),
  }
}

export interface Span {
  /** ISO times; open where absent. */
  readonly from?: string
  readonly to?: string
}

/** An item without a time takes the time of the one before. */
function* between<T extends HistoryItem>(
  items: Iterable<T>,
  { from = '', to = '\uFFFF' }: Span,
): Generator<T> {
  let at = ''
  for (const item of items) {
    at = item.at ?? at
    if (at >= from && at <= to) yield item
  }
}

/** A conversation, stored here or not. */
export interface ConversationRow extends ConversationSummary {
  readonly id: string
  readonly harness: string
  readonly session?: string
  readonly isStored: boolean
  /** Includes outputs and pictures that other conversations may share. */
  readonly bytes: number
}

interface Joined {
  readonly id: string
  readonly harness: string
  readonly at: string
  readonly endedBecause?: string
}

export function conversationsOfSession(
  workspace: Workspace,
  session: Pick<SessionRow, 'id'>,
): readonly ConversationRow[] {
  const live = workspace.session(session.id)
  try {
    return joinedIn(live.read().entries).map((joined) =>
      rowOf(workspace, joined.id, { ...joined, session: session.id }),
    )
  } finally {
    live.close()
  }
}

export function storedConversations(workspace: Workspace): readonly ConversationRow[] {
  const stored = storeOf(workspace).list()
  return stored
    .toSorted((a, b) => (a.writtenAt < b.writtenAt ? -1 : 1))
    .map(({ id }) => rowOf(workspace, id))
}

export function rowOf(
  workspace: Workspace,
  id: string,
  known?: Joined & { readonly session: string },
): ConversationRow {
  const store = storeOf(workspace)
  const isStored = store.has(id)
  const summary = summarise(isStored ? store.read(id, { isBrief: true }) : [])
  const notes = readTracking(trackingFolderOf(workspace.place), id)
  return {
    ...defined({ startedAt: known?.at, endedBecause: known?.endedBecause }),
    ...summary,
    id,
    harness: summary.harness ?? known?.harness ?? notes?.harness ?? 'unknown',
    ...defined({ session: known?.session ?? notes?.session }),
    isStored,
    bytes: isStored ? sizeOf(workspace, id) : 0,
  }
}

function sizeOf({ place: { sessions } }: Workspace, id: string): number {
  const path = conversationPath(sessions, id)
  const blobs = new Blobs(blobsFolder(sessions))
  const paths = [path, ...[...new Set(namesOf(path))].map((hash) => blobs.pathOf(hash))]
  return paths.reduce((sum, one) => sum + (statOrUndefined(one)?.size ?? 0), 0)
}

function joinedIn(entries: Parameters<typeof inEffect>[0]): readonly Joined[] {
  const joined = new Map<string, Joined>()
  for (const { kind, data, at } of inEffect(entries)) {
    const id = data['conversation']
    if (!isConversationId(id)) continue
    if (kind === 'conversation.joined') {
      const first = joined.get(id)
      joined.set(id, {
        id,
        harness: first?.harness ?? String(data['harness']),
        at: first?.at ?? at,
      })
    } else if (kind === 'conversation.ended') {
      const known = joined.get(id)
      if (known !== undefined) joined.set(id, { ...known, endedBecause: String(data['reason']) })
    }
  }
  return [...joined.values()]
}

export type Meant =
  | { readonly conversation: string }
  | { readonly session: { readonly id: string; readonly name: string } }

const SHORTEST_BEGINNING = 4

/** A conversation by id or its beginning, else a session by name, else the session here. */
export async function findMeant(workspace: Workspace, name?: string): Promise<Meant> {
  if (name !== undefined) {
    const conversation = findStored(workspace, name)
    if (conversation !== undefined) return { conversation }
  }
  const session = await sessionFor(workspace, name)
  return { session: { id: session.id, name: session.name } }
}

/** Of a session, its latest stored one. */
export async function findConversation(workspace: Workspace, name?: string): Promise<string> {
  const meant = await findMeant(workspace, name)
  if ('conversation' in meant) return meant.conversation
  const latest = conversationsOfSession(workspace, meant.session).findLast(
    ({ isStored }) => isStored,
  )
  if (latest !== undefined) return latest.id
  throw new StintError(
    'NO_CONVERSATION',
    `no conversation of ${meant.session.name} is stored here`,
    HOW_TO_STORE,
  )
}

const HOW_TO_STORE =
  'stint setup claude stores those to come; stint import brings in those that were'

function findStored(workspace: Workspace, name: string): string | undefined {
  const store = storeOf(workspace)
  if (store.has(name)) return name
  if (name.length < SHORTEST_BEGINNING) return undefined
  const found = store.list().flatMap(({ id }) => (id.startsWith(name) ? [id] : []))
  if (found.length < 2) return found[0]
  const shown = found.slice(0, 5).join(', ')
  throw new StintError(
    'CONVERSATION_AMBIGUOUS',
    `"${name}" fits several conversations: ${shown}`,
    'write more of the id',
  )
}

async function sessionFor(workspace: Workspace, name: string | undefined): Promise<ChosenSession> {
  try {
    return await chooseSession(workspace, name)
  } catch (error) {
    if (!(error instanceof NoSession) || name === undefined) throw error
    throw new StintError(
      'NO_CONVERSATION',
      `nothing stored here is called "${name}", neither a conversation nor a session`,
      'stint history --all lists the conversations, stint list the sessions',
    )
  }
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
const STILL_YOUNG_MS = 10 * 60_000

export async function pruneHistory(workspace: Workspace, options: PruneOptions): Promise<Pruned> {
  const isDryRun = options.dryRun === true
  const stored = storeOf(workspace).list()
  const chosen = await choose(workspace, stored, options)
  const isOutputs = options.outputs === true
  const busy = isDryRun || isOutputs ? [] : chosen.filter(({ path }) => !removeUnlocked(path))
  const gone = new Set(
    (isOutputs ? [] : chosen.filter((one) => !busy.includes(one))).map(({ id }) => id),
  )
  // Read after removal, so that new references count.
  const left = stored.filter(({ id }) => !gone.has(id))
  const withoutOutputs = new Set(isOutputs ? chosen : [])
  const named = new Set(
    left.flatMap((one) => [...(withoutOutputs.has(one) ? saidNamesOf : namesOf)(one.path)]),
  )
  const blobs = listBlobs(workspace.place.sessions)
  const unnamed = blobs.filter(({ hash }) => !named.has(hash))
  const old = unnamed.filter(({ path }) => isOld(path))
  const freed = old.filter(({ path }) => isDryRun || removeFile(path))
  return {
    isDryRun,
    conversations: chosen.filter(({ id }) => gone.has(id)).map(({ id, bytes }) => ({ id, bytes })),
    blobs: { count: freed.length, bytes: sum(freed) },
    young: unnamed.length - old.length,
    busy: busy.map(({ id }) => id),
    left: {
      conversations: left.length,
      bytes: sum(left),
      blobs: blobs.length - freed.length,
      blobBytes: sum(blobs) - sum(freed),
    },
  }
}

async function choose(
  workspace: Workspace,
  stored: readonly StoredConversation[],
  { before, conversations, outputs }: PruneOptions,
): Promise<readonly StoredConversation[]> {
  if (before === undefined && conversations === undefined) return outputs === true ? stored : []
  const ids = await Promise.all((conversations ?? []).map((name) => findNamed(workspace, name)))
  const isNamed = (id: string) => conversations === undefined || ids.includes(id)
  return stored.filter(
    ({ id, writtenAt }) => isNamed(id) && (before === undefined || writtenAt < before),
  )
}

/** A session's name would mean whichever conversation is its latest. */
async function findNamed(workspace: Workspace, name: string): Promise<string> {
  const id = await findConversation(workspace, name)
  if (id.startsWith(name)) return id
  throw new StintError(
    'NO_CONVERSATION',
    `"${name}" is no conversation`,
    'stint history --all lists those that are stored',
  )
}

function removeUnlocked(path: string): boolean {
  return whileLocked(path, () => ({ isRemoved: removeFile(path) })) !== undefined
}

function isOld(path: string): boolean {
  const stat = statOrUndefined(path)
  return stat !== undefined && Math.abs(Date.now() - stat.mtimeMs) > STILL_YOUNG_MS
}

function sum(files: readonly { readonly bytes: number }[]): number {
  return files.reduce((total, { bytes }) => total + bytes, 0)
}

export function storeOf({ place, config }: Workspace): ConversationStore {
  return conversationStore(place.sessions, {
    extra: config.redact.patterns,
    allow: config.redact.allow,
  })
}
