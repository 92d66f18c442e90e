import { type RawEntry, inEffect } from '../../session/in-effect.ts'
import { aboutOf } from '../../session/registry.ts'
import type { RecordedHandoff } from './recorded.ts'

/**
 * Entries that others added since a handoff was made, without what follows from handing over itself: the end of the
 * conversation that made it, the beginning of the one that takes it up, checkpoints, and the handoffs themselves.
 */
export function entriesSince(
  handoff: Pick<RecordedHandoff, 'position' | 'conversation'>,
  entries: readonly RawEntry[],
  acceptor?: string,
): { readonly since: readonly RawEntry[]; readonly late: number } {
  const standing = inEffect(entries)
  const since = standing.filter(
    (entry) => entry.id > handoff.position.last && !isFollowUp(entry, handoff, acceptor),
  )
  // Entries of another machine may come with smaller ids than the last one of here.
  const before = countWork(entries.filter(({ id }) => id <= handoff.position.last))
  return { since, late: Math.max(0, before - handoff.position.entries) }
}

/** How many entries are about the work. Those of handing over itself are written by several at once, out of order. */
export function countWork(entries: readonly RawEntry[]): number {
  return new Set(entries.filter((entry) => aboutOf(entry) !== 'handover').map(({ id }) => id)).size
}

function isFollowUp(
  entry: RawEntry,
  handoff: Pick<RecordedHandoff, 'conversation'>,
  acceptor: string | undefined,
): boolean {
  const { kind, data } = entry
  const about = aboutOf(entry)
  if (about !== 'talk') return about === 'handover'
  if (acceptor !== undefined && data.conversation === acceptor) return true
  return (
    kind === 'turn.ended' &&
    handoff.conversation !== undefined &&
    data.conversation === handoff.conversation
  )
}
