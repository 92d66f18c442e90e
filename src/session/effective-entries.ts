import type { JournalRecord } from '../journal/record.ts'
import { str } from './kinds/read-fields.ts'

/** A record of any kind, known or not. */
export type RawEntry = JournalRecord

/** Sorted by id, without retracted and repeated entries, with amendments applied. */
export function effectiveEntries(entries: readonly RawEntry[]): readonly RawEntry[] {
  const ordered = withoutRepeats(onePerId(sortedById(entries)))
  const retracted = new Set<string>()
  // Newest first, so that a retracted retraction does not count.
  for (const entry of ordered.toReversed()) {
    if (entry.kind === 'entry.retracted' && !retracted.has(entry.id))
      retracted.add(str(entry.data.entry))
    // Without its first entry a session has no name and cannot be found again.
    if (entry.kind === 'session.opened') retracted.delete(entry.id)
  }
  // A line derived from an entry is retracted with it.
  const isEffective = (entry: RawEntry) =>
    !retracted.has(entry.id) && !(entry.kind === 'key.added' && retracted.has(str(entry.data.from)))
  const effective = ordered.filter(isEffective)
  if (!effective.some(({ kind }) => kind === 'entry.amended')) return effective
  const byId = new Map(effective.map((entry) => [entry.id, entry]))
  for (const amendment of byId.values()) {
    if (amendment.kind !== 'entry.amended') continue
    const target = byId.get(str(amendment.data.entry))
    const changes = amendment.data.changes
    if (target === undefined || typeof changes !== 'object' || changes === null) continue
    const data = Object.entries({ ...target.data, ...changes }).filter(
      ([, value]) => value !== null,
    )
    byId.set(target.id, { ...target, data: Object.fromEntries(data) })
  }
  return [...byId.values()]
}

function onePerId(sorted: readonly RawEntry[]) {
  return sorted.filter(({ id }, index) => sorted[index + 1]?.id !== id)
}

/** References to a dropped repeat point to the first entry: two processes that absorbed one edit each minted an id for its step. */
function withoutRepeats(ordered: readonly RawEntry[]) {
  const first = new Map<string, string>()
  const firstIdOf = new Map<string, string>()
  const unique = ordered.filter(({ id, once }) => {
    const earlier = once === undefined ? undefined : first.get(once)
    if (earlier !== undefined) firstIdOf.set(id, earlier)
    else if (once !== undefined) first.set(once, id)
    return earlier === undefined
  })
  if (firstIdOf.size === 0) return unique
  return unique.map((entry) => {
    const data = Object.entries(entry.data).map(([key, value]) => [
      key,
      firstIdOf.get(value as string) ?? value,
    ])
    return { ...entry, data: Object.fromEntries(data) }
  })
}

export function sortedById(entries: readonly RawEntry[]): readonly RawEntry[] {
  // A log is nearly always in order, and checking that is far cheaper than sorting.
  if (entries.every((entry, index) => index === 0 || entries[index - 1]!.id <= entry.id))
    return entries
  return entries.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
}
