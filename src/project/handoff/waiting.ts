import { acceptanceOf, handoffOf } from '../../session/kinds/handoffs.ts'
import type { RawEntry } from '../../session/in-effect.ts'
import { inEffect } from '../../session/in-effect.ts'
import { isTakenUp } from '../../session/kinds/handoffs.ts'
import type { Workspace } from '../store/workspace.ts'

/** Made for a task or session, and not taken up yet. */
export interface WaitingHandoff {
  readonly id: string
  readonly number: number
  /** The session it was made in. */
  readonly session: string
  readonly name: string
  readonly reason: string
  readonly at: string
}

/** The latest of each session. */
export async function waitingHandoffs(
  workspace: Workspace,
  whom: { readonly session?: string; readonly tasks?: readonly string[] },
): Promise<readonly WaitingHandoff[]> {
  if (!workspace.hasSessions()) return []
  const bySession = new Map<string, { name: string; entries: RawEntry[] }>()
  for (const { session, name, entry } of (await workspace.index()).handoffEntries()) {
    const known = bySession.get(session) ?? { name, entries: [] }
    known.entries.push(entry)
    bySession.set(session, known)
  }
  return [...bySession].flatMap(([session, { name, entries }]) => {
    const standing = inEffect(entries)
    const waiting = standing
      .filter(({ kind }) => kind === 'handoff.made')
      .map((entry) => handoffOf(entry, entry.data))
      .findLast(
        ({ to }) =>
          to !== undefined &&
          (to.kind === 'task' ? whom.tasks?.includes(to.id) : whom.session === to.id),
      )
    if (waiting === undefined || waiting.isDraft) return []
    const accepted = standing
      .filter(({ kind, data }) => kind === 'handoff.accepted' && data.handoff === waiting.id)
      .map((entry) => acceptanceOf(entry, entry.data))
    if (isTakenUp({ accepted })) return []
    return [
      {
        id: waiting.id,
        number: waiting.number,
        session,
        name,
        reason: waiting.text,
        at: waiting.at,
      },
    ]
  })
}
