import type { Workspace } from '../project/store/workspace.ts'
import { type PublicHandoff, publicHandoff } from '../public.ts'

const MOST_SESSIONS = 200

export async function allHandoffs(workspace: Workspace): Promise<readonly PublicHandoff[]> {
  if (!workspace.hasSessions()) return []
  const rows = [
    ...(await workspace.index()).sessions({ kind: 'handoff.made', limit: MOST_SESSIONS }),
  ]
  const lines = rows.flatMap(({ id }) => {
    const session = workspace.session(id)
    const state = session.open()
    session.close()
    return state.handoffs.items.map((handoff) => publicHandoff(handoff, state))
  })
  return lines.toSorted((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
}
