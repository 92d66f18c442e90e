import { contentHash } from '../../context/handoff/content-hash.ts'
import type { RecordedHandoff } from '../../context/handoff/recorded.ts'
import { lookAround } from '../../context/handoff/probes/surroundings.ts'
import { whatMoved } from '../../context/handoff/what-moved.ts'
import type { TaskStatus } from '../../session/entries.ts'
import { openBacklog } from '../tasks/backlog.ts'
import { chooseSession } from '../store/choose.ts'
import { handoffsIn } from '../../context/handoff/recorded.ts'
import { conversationOf } from '../store/conversation-binding.ts'
import type { Workspace } from '../store/workspace.ts'
import { type FoundHandoff, findHandoff } from './find.ts'
import { defined } from '../../text/defined.ts'

export type FileState = 'intact' | 'edited' | 'missing'

export interface ShownHandoff {
  readonly handoff: RecordedHandoff
  readonly session: { readonly id: string; readonly name: string }
  readonly path: string
  readonly file: FileState
  /** With `check`: what no longer holds. */
  readonly moved?: readonly string[]
}

/** Records nothing. */
export async function showHandoff(
  workspace: Workspace,
  options: { handoff?: string; check?: boolean } = {},
): Promise<ShownHandoff> {
  const found = await findHandoff(workspace, options.handoff)
  const { handoff, reading, path } = found
  found.session.close()
  return {
    handoff,
    session: { id: reading.state.id, name: reading.state.name },
    path,
    file: stateOf(found),
    ...(options.check === true ? { moved: await movedSince(workspace, found) } : {}),
  }
}

export async function listHandoffs(
  workspace: Workspace,
  options: { session?: string } = {},
): Promise<{ session: { id: string; name: string }; handoffs: readonly RecordedHandoff[] }> {
  const session = workspace.session((await chooseSession(workspace, options.session)).id)
  const { state, entries } = await workspace.refreshIfPossible(session)
  session.close()
  return { session: { id: state.id, name: state.name }, handoffs: handoffsIn(entries) }
}

export function stateOf({ text, handoff }: Pick<FoundHandoff, 'text' | 'handoff'>): FileState {
  if (text === undefined) return 'missing'
  return contentHash(text) === handoff.hash ? 'intact' : 'edited'
}

export async function movedSince(
  workspace: Workspace,
  { handoff, reading }: FoundHandoff,
): Promise<readonly string[]> {
  const { state, entries } = reading
  const acceptor = conversationOf(workspace.env)
  return whatMoved(handoff, {
    now: lookAround(workspace.place.root, workspace.place.repository),
    state,
    entries,
    tasks: handoff.tasks.length === 0 ? new Map() : await taskStatuses(workspace),
    ...defined({ acceptor }),
  })
}

async function taskStatuses(workspace: Workspace): Promise<ReadonlyMap<string, TaskStatus>> {
  return new Map((await openBacklog(workspace)).tasks.map(({ id, status }) => [id, status]))
}
