import type { TaskStatus } from '../../session/entries.ts'
import { type RawEntry, effectiveEntries } from '../../session/effective-entries.ts'
import { acceptanceOf, handoffOf } from '../../session/kinds/handoffs.ts'
import { entryTopic } from '../../session/registry.ts'
import type { Acceptance, Handoff } from '../../session/state.ts'
import { asArray, asObject } from '../../text/json-fields.ts'
import type { LogPosition } from './gather-facts.ts'

export interface RecordedHandoff extends Omit<Handoff, 'accepted'> {
  readonly document: string
  readonly position: LogPosition
  readonly files: readonly { readonly path: string; readonly sum: string }[]
  readonly tasks: readonly { readonly task: string; readonly status: TaskStatus }[]
  readonly conversation?: string
  readonly accepted: readonly Acceptance[]
}

export function recordedHandoffs(entries: readonly RawEntry[]): readonly RecordedHandoff[] {
  const current = effectiveEntries(entries)
  const acceptances = current.filter(({ kind }) => kind === 'handoff.accepted')
  return current
    .filter(({ kind }) => kind === 'handoff.made')
    .map((entry) => {
      const { data } = entry
      // Untrusted: the journal may come from another machine.
      const { bytes, entries: count, last } = asObject(data.position) ?? {}
      return {
        ...handoffOf(entry, data),
        document: text(data.document),
        position: { bytes: Number(bytes ?? 0), entries: Number(count ?? 0), last: text(last) },
        files: objectsIn(data.files).map(({ path, sum }) => ({ path: text(path), sum: text(sum) })),
        tasks: objectsIn(data.tasks).map(({ task, status }) => ({
          task: text(task),
          status: status as TaskStatus,
        })),
        ...(typeof data.conversation === 'string' ? { conversation: data.conversation } : {}),
        accepted: acceptances
          .filter((accepted) => accepted.data.handoff === entry.id)
          .map((accepted) => acceptanceOf(accepted, accepted.data)),
      }
    })
}

function objectsIn(value: unknown) {
  return asArray(value)
    .map(asObject)
    .filter((item) => item !== undefined)
}

function text(value: unknown) {
  return typeof value === 'string' ? value : ''
}

/** Entries since a handoff, without those about the handoff itself. */
export function entriesSince(
  handoff: Pick<RecordedHandoff, 'position' | 'conversation'>,
  entries: readonly RawEntry[],
  acceptor?: string,
): { readonly since: readonly RawEntry[]; readonly late: number } {
  const { last, entries: known } = handoff.position
  const isFollowUp = (entry: RawEntry) => {
    const { kind, data } = entry
    const about = entryTopic(entry)
    if (about !== 'talk') return about === 'handover'
    if (acceptor !== undefined && data.conversation === acceptor) return true
    const { conversation } = handoff
    return kind === 'turn.ended' && conversation !== undefined && data.conversation === conversation
  }
  const since = effectiveEntries(entries).filter((entry) => entry.id > last && !isFollowUp(entry))
  // Entries merged from another machine may have smaller ids.
  const before = countWorkEntries(entries.filter(({ id }) => id <= last))
  return { since, late: Math.max(0, before - known) }
}

/** Handoff entries are excluded: several processes write them at once, out of order. */
export function countWorkEntries(entries: readonly RawEntry[]): number {
  return new Set(entries.filter((entry) => entryTopic(entry) !== 'handover').map(({ id }) => id))
    .size
}
