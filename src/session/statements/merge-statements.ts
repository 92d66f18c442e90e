import type { SpokenStatement, Speaker } from './statement.ts'
import { type Subject, subjectOf } from './subject-words.ts'
import { type Entry, supersededBy, withChangedValue } from './supersede.ts'

const MAX_KEPT = 250
/** Share of common words from which two statements say the same. */
const SAME = 0.8

/**
 * What is still valid after the statements `next`, in the order in which they were made. `next` is
 * what one message stated: a correction may name its subject in another sentence.
 */
export function mergeStatements<T extends SpokenStatement>(
  known: readonly T[],
  next: readonly T[],
): readonly T[] {
  let entries: Entry<T>[] = known.map((statement) => entryOf(statement))
  const added = next.map((statement) => entryOf(statement))
  for (const entry of added) {
    const changed = withChangedValue(entries, entry)
    entries = changed ?? withEntry(supersededBy(entry, entries, added), entry)
  }
  return bounded(entries.map(({ statement }) => statement))
}

function entryOf<T extends SpokenStatement>(statement: T): Entry<T> {
  return { statement, subject: subjectOf(statement.text) }
}

/** Of two statements with the same content the newest stays, unless the older has more value. */
function withEntry<T extends SpokenStatement>(entries: Entry<T>[], entry: Entry<T>) {
  const same = entries.find(
    (each) =>
      each.statement.speaker === entry.statement.speaker &&
      saysTheSame(each.subject, entry.subject),
  )
  if (same === undefined) return [...entries, entry]
  if (same.statement.value > entry.statement.value) return entries
  const isConfirmed = same.statement.isConfirmed ?? entry.statement.isConfirmed
  const statement =
    isConfirmed === undefined ? entry.statement : { ...entry.statement, isConfirmed }
  return [...entries.filter((each) => each !== same), { ...entry, statement }]
}

function saysTheSame(a: Subject, b: Subject) {
  const left = allWords(a)
  const right = allWords(b)
  if (Math.min(left.size, right.size) < SAME * Math.max(left.size, right.size)) return false
  let shared = 0
  for (const word of left) if (right.has(word)) shared += 1
  const union = left.size + right.size - shared
  return union > 0 && shared / union >= SAME && numbers(a).join() === numbers(b).join()
}

const WORDS = new WeakMap<Subject, ReadonlySet<string>>()

function allWords(subject: Subject): ReadonlySet<string> {
  const { words, values } = subject
  const all =
    WORDS.get(subject) ?? new Set([...words, ...values.map(({ text }) => text.toLowerCase())])
  WORDS.set(subject, all)
  return all
}

const numbers = ({ values }: Subject) =>
  values
    .filter(({ type }) => type === 'number')
    .map(({ text }) => text)
    .sort()

function bounded<T extends SpokenStatement>(all: readonly T[]) {
  const kept = (['user', 'agent'] as const).flatMap((speaker) => mostValuable(all, speaker))
  if (kept.length === all.length) return all
  const isKept = new Set(kept)
  return all.filter((each) => isKept.has(each))
}

function mostValuable<T extends SpokenStatement>(all: readonly T[], speaker: Speaker) {
  const own = all.filter((each) => each.speaker === speaker)
  if (own.length <= MAX_KEPT) return own
  return own.toSorted((a, b) => b.value - a.value).slice(0, MAX_KEPT)
}
