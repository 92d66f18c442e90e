import { type RawEntry, inEffect } from '../../session/in-effect.ts'
import type { RecordedHandoff } from './recorded.ts'

/** What says that a session is set down, passed on or taken up, and nothing about the work. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  'handoff.made',
  'handoff.accepted',
  'checkpoint.made',
  'conversation.joined',
  'conversation.ended',
  'context.given',
  'hooks.ran',
  'context.compacted',
  'summary.kept',
  'session.paused',
  'session.resumed',
  // That a session has ended is said by itself.
  'session.closed',
  'session.reopened',
  // Where HEAD is, and what became of tasks, is compared by itself.
  'git.observed',
  'task.moved',
])

/** Kinds by which a conversation that takes a handoff up, or has just made it, only goes on talking. */
const TALK: ReadonlySet<string> = new Set(['turn.ended', 'request.made'])

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
  return new Set(entries.filter((entry) => !isBookkeeping(entry)).map(({ id }) => id)).size
}

function isBookkeeping({ kind, data }: RawEntry): boolean {
  // What a checkpoint draws from what was there.
  return BOOKKEEPING.has(kind) || (kind === 'key.added' && typeof data.from === 'string')
}

function isFollowUp(
  entry: RawEntry,
  handoff: Pick<RecordedHandoff, 'conversation'>,
  acceptor: string | undefined,
): boolean {
  const { kind, data } = entry
  if (isBookkeeping(entry)) return true
  if (!TALK.has(kind)) return false
  if (acceptor !== undefined && data.conversation === acceptor) return true
  return (
    kind === 'turn.ended' &&
    handoff.conversation !== undefined &&
    data.conversation === handoff.conversation
  )
}
