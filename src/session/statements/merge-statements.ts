import type { SpokenStatement, Speaker } from './statement.ts'

const MAX_KEPT = 250

/** What is still valid after the statements `next`; both in the order in which they were made. */
export function mergeStatements<T extends SpokenStatement>(
  known: readonly T[],
  next: readonly T[],
): readonly T[] {
  const texts = new Set(next.map(({ text }) => text))
  const all = [...known.filter(({ text }) => !texts.has(text)), ...next]
  return all.filter((each) => mostValuable(all, each.speaker).has(each))
}

function mostValuable<T extends SpokenStatement>(all: readonly T[], speaker: Speaker) {
  const own = all.filter((each) => each.speaker === speaker)
  return new Set(own.toSorted((a, b) => b.value - a.value).slice(0, MAX_KEPT))
}
