import { type RawEntry, inEffect } from '../../session/in-effect.ts'
import type { TaskStatus } from '../../session/entries.ts'
import { acceptanceOf, handoffOf } from '../../session/kinds/handoffs.ts'
import type { Acceptance, Handoff } from '../../session/state.ts'
import type { LogPosition } from './facts.ts'

/** A handoff as the journal has it, whole. */
export interface RecordedHandoff extends Omit<Handoff, 'accepted'> {
  readonly document: string
  readonly position: LogPosition
  readonly files: readonly { readonly path: string; readonly sum: string }[]
  readonly tasks: readonly { readonly task: string; readonly status: TaskStatus }[]
  readonly conversation?: string
  readonly accepted: readonly Acceptance[]
}

/** Every handoff of a session, oldest first, with each time that it was taken up. */
export function handoffsIn(entries: readonly RawEntry[]): readonly RecordedHandoff[] {
  const standing = inEffect(entries)
  const acceptances = standing.filter(({ kind }) => kind === 'handoff.accepted')
  return standing
    .filter(({ kind }) => kind === 'handoff.made')
    .map((entry) =>
      recordedFrom(
        entry,
        acceptances.filter(({ data }) => data.handoff === entry.id),
      ),
    )
}

function recordedFrom(entry: RawEntry, acceptances: readonly RawEntry[]): RecordedHandoff {
  const { data } = entry
  return {
    ...handoffOf(entry, data),
    document: text(data.document),
    position: positionOf(data.position),
    files: listOf(data.files).map(({ path, sum }) => ({ path: text(path), sum: text(sum) })),
    tasks: listOf(data.tasks).map(({ task, status }) => ({
      task: text(task),
      status: status as TaskStatus,
    })),
    ...(typeof data.conversation === 'string' ? { conversation: data.conversation } : {}),
    accepted: acceptances.map((accepted) => acceptanceOf(accepted, accepted.data)),
  }
}

// A journal may come from anywhere.
function positionOf(value: unknown): LogPosition {
  const { bytes, entries, last } = (
    typeof value === 'object' && value !== null ? value : {}
  ) as Record<string, unknown>
  return { bytes: Number(bytes ?? 0), entries: Number(entries ?? 0), last: text(last) }
}

function listOf(value: unknown): readonly Record<string, unknown>[] {
  return Array.isArray(value)
    ? value.filter((item) => typeof item === 'object' && item !== null)
    : []
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
