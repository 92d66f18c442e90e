import { type PublicHandoff, publicHandoff } from '../public/projection.ts'
import type { HandoffPage } from './page-types.ts'
import { type OpenedProject, notFoundError } from './project-pool.ts'

const MAX_SESSIONS = 200

/** The latest first. */
export async function listAllHandoffs({
  workspace,
}: OpenedProject): Promise<readonly PublicHandoff[]> {
  if (!workspace.hasSessions()) return []
  const filter = { kind: 'handoff.made', limit: MAX_SESSIONS }
  const lines = [...(await workspace.index()).sessions(filter)].flatMap(({ id }) => {
    const state = workspace.stateOf(id)
    return state.handoffs.items.map((handoff) => publicHandoff(handoff, state))
  })
  return lines.toSorted((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
}

export async function handoffPage(project: OpenedProject, id: string): Promise<HandoffPage> {
  const line = (await listAllHandoffs(project)).find((handoff) => handoff.id === id)
  if (line === undefined) throw notFoundError('handoff of that id')
  const { handoff } = await project.project.handoffs.show({ handoff: `${line.session}/${id}` })
  return { ...line, markdown: handoff.document }
}
