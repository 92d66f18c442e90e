import { isConversationId } from '../../history/conversation-id.ts'
import { type ConversationSummary, summarise } from '../../history/summary.ts'
import { Blobs } from '../../history/blobs.ts'
import { blobsFolder, conversationPath } from '../../history/places.ts'
import { namesOf } from '../../history/blob-files.ts'
import { statOrUndefined } from '../../journal/look.ts'
import type { SessionRow } from '../../index/rows.ts'
import { readTracking } from '../conversation/tracking.ts'
import { inEffect } from '../../session/in-effect.ts'
import { trackingFolderOf } from '../store/conversation-binding.ts'
import type { Workspace } from '../store/workspace.ts'
import { storeOf } from './store.ts'
import { defined } from '../../text/defined.ts'
import { StintError } from '../../journal/errors.ts'
import { type ChosenSession, NoSession, chooseSession } from '../store/choose.ts'

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
