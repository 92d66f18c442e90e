import type { JournalRecord } from '../journal/record.ts'

/** A record of any kind, known or not, as the journal gives it. */
export type RawEntry = JournalRecord

/** Entries by id, without those taken back or noticed twice, with amendments worked in. */
export function inEffect(entries: readonly RawEntry[]): readonly RawEntry[] {
  const byId = new Map(sortedById(entries).map((entry) => [entry.id, entry]))
  const ordered = withoutRepeats([...byId.values()])
  const retracted = new Set<string>()
  // Newest first, so that a retraction which was itself retracted no longer counts.
  for (const entry of ordered.toReversed()) {
    if (entry.kind === 'entry.retracted' && !retracted.has(entry.id))
      retracted.add(textOf(entry.data.entry))
    // A session without its beginning has no name and cannot be found again.
    if (entry.kind === 'session.opened') retracted.delete(entry.id)
  }
  // A line drawn from an entry falls with it.
  const stands = (entry: RawEntry) =>
    !retracted.has(entry.id) &&
    !(entry.kind === 'key.added' && retracted.has(textOf(entry.data.from)))
  const kept = new Map(ordered.filter(stands).map((entry) => [entry.id, entry]))
  for (const amendment of kept.values()) {
    if (amendment.kind !== 'entry.amended') continue
    const target = kept.get(textOf(amendment.data.entry))
    const changes = amendment.data.changes
    if (target === undefined || typeof changes !== 'object' || changes === null) continue
    const data = Object.entries({ ...target.data, ...changes }).filter(
      ([, value]) => value !== null,
    )
    kept.set(target.id, { ...target, data: Object.fromEntries(data) })
  }
  return [...kept.values()]
}

/**
 * Leaves out events noticed twice, and lets what refers to a left-out entry refer to the kept one:
 * two processes that absorbed the same edit each gave its step an id and ticked it by that id.
 */
function withoutRepeats(ordered: readonly RawEntry[]): readonly RawEntry[] {
  const first = new Map<string, string>()
  const keptFor = new Map<string, string>()
  const kept = ordered.filter(({ id, once }) => {
    const earlier = once === undefined ? undefined : first.get(once)
    if (earlier !== undefined) keptFor.set(id, earlier)
    else if (once !== undefined) first.set(once, id)
    return earlier === undefined
  })
  if (keptFor.size === 0) return kept
  return kept.map((entry) => {
    const data = Object.entries(entry.data).map(([key, value]) => [
      key,
      keptFor.get(value as string) ?? value,
    ])
    return { ...entry, data: Object.fromEntries(data) }
  })
}

export function sortedById(entries: readonly RawEntry[]): readonly RawEntry[] {
  return entries.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
