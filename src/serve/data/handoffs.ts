import type { Workspace } from '../../project/store/workspace.ts'
import { isTakenUp } from '../../session/kinds/handoffs.ts'
import type { Handoff, SessionState } from '../../session/state.ts'
import type { HandoffLine } from '../contract.ts'

/** Sessions with handoffs that are looked at for a list. */
const MOST_SESSIONS = 200

/** Of a session, the latest last. */
export function handoffLines({ id, name, handoffs }: SessionState): readonly HandoffLine[] {
  return handoffs.items.map((handoff) => ({
    id: handoff.id,
    number: handoff.number,
    session: id,
    sessionName: name,
    at: handoff.at,
    reason: handoff.text,
    status: statusOf(handoff),
    ...(handoff.to === undefined ? {} : { for: `${handoff.to.kind} ${handoff.to.name}` }),
  }))
}

/** Of all sessions, the latest first. */
export async function allHandoffs(workspace: Workspace): Promise<readonly HandoffLine[]> {
  if (!workspace.hasSessions()) return []
  const rows = [
    ...(await workspace.index()).sessions({ kind: 'handoff.made', limit: MOST_SESSIONS }),
  ]
  const lines = rows.flatMap(({ id }) => {
    const session = workspace.session(id)
    const state = session.open()
    session.close()
    return handoffLines(state)
  })
  return lines.toSorted((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
}

function statusOf({ accepted, ...handoff }: Handoff): HandoffLine['status'] {
  if (isTakenUp({ ...handoff, accepted })) return 'accepted'
  const last = accepted.at(-1)?.outcome
  return last === 'stale' || last === 'mismatch' ? last : 'waiting'
}
