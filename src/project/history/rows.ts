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

/** A conversation in a list: what is known of it, whether what was said in it is stored here or not. */
export interface ConversationRow extends ConversationSummary {
  readonly id: string
  readonly harness: string
  /** The session that it worked on. */
  readonly session?: string
  readonly isStored: boolean
  /** With the large outputs and pictures in it, which others may hold too. */
  readonly bytes: number
}

interface Joined {
  readonly id: string
  readonly harness: string
  readonly at: string
  readonly endedBecause?: string
}

/** The conversations of a session, oldest first, as its journal names them. */
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

/** Every conversation that is stored here, the one that was written to last at the end. */
export function storedConversations(workspace: Workspace): readonly ConversationRow[] {
  const stored = storeOf(workspace).list()
  return stored
    .toSorted((a, b) => (a.writtenAt < b.writtenAt ? -1 : 1))
    .map(({ id }) => rowOf(workspace, id))
}

/** One conversation. `known` is what a journal says of it. */
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
