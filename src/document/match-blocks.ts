import { firstFalse } from '../text/bisect.ts'

const MIN_LIKENESS = 0.45
// With more comparisons than this, everything was rewritten and matching is useless.
const MAX_COMPARISONS = 250_000

export function matchBlocks<
  B extends { readonly text: string },
  P extends { readonly text: string },
>(base: readonly B[], person: readonly P[]) {
  const pairs: [B, P][] = []
  const waiting = new Map<string, B[]>()
  for (const block of base) waiting.set(block.text, [...(waiting.get(block.text) ?? []), block])
  const added: P[] = []
  for (const block of person) {
    const same = waiting.get(block.text)?.shift()
    if (same === undefined) added.push(block)
    else pairs.push([same, block])
  }
  const paired = new Set(pairs.map(([block]) => block))
  const removed = base.filter((block) => !paired.has(block))
  if (removed.length * added.length > MAX_COMPARISONS) return { pairs, removed, added }

  const letters = new Map([...removed, ...added].map(({ text }) => [text, bigrams(text)]))
  const candidates = removed
    .flatMap((from) =>
      added.map((to) => ({ from, to, likeness: likeness(from.text, to.text, letters) })),
    )
    .filter(({ likeness: value }) => value >= MIN_LIKENESS)
    .toSorted((a, b) => b.likeness - a.likeness)
  const matched = new Set<B | P>()
  for (const { from, to } of candidates) {
    if (matched.has(from) || matched.has(to)) continue
    matched.add(from).add(to)
    pairs.push([from, to])
  }
  return {
    pairs,
    removed: removed.filter((block) => !matched.has(block)),
    added: added.filter((block) => !matched.has(block)),
  }
}

/** Similarity by letter pairs, 0 to 1. A text that starts with the other one counts as its continuation. */
function likeness(a: string, b: string, letters: ReadonlyMap<string, ReadonlyMap<string, number>>) {
  if (a !== '' && b !== '' && (a.startsWith(b) || b.startsWith(a))) return 1
  const first = letters.get(a)!
  const second = letters.get(b)!
  let common = 0
  for (const [pair, count] of first) common += Math.min(count, second.get(pair) ?? 0)
  const total = size(first) + size(second)
  return total === 0 ? 0 : (2 * common) / total
}

function bigrams(text: string) {
  const pairs = new Map<string, number>()
  const plain = text.toLowerCase().replaceAll(/\s+/g, ' ')
  for (let index = 0; index + 1 < plain.length; index += 1) {
    const pair = plain.slice(index, index + 2)
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
  }
  return pairs
}

function size(pairs: ReadonlyMap<string, number>) {
  let total = 0
  for (const count of pairs.values()) total += count
  return total
}

/** The longest run already in order stays; the other items were moved. An item without a position is new. */
export function longestOrderedRun(positions: readonly (number | undefined)[]): ReadonlySet<number> {
  const ends: number[] = []
  const previous: (number | undefined)[] = []
  for (const [index, position] of positions.entries()) {
    if (position === undefined) continue
    const low = firstFalse(ends.length, (at) => positions[ends[at]!]! < position)
    previous[index] = ends[low - 1]
    ends[low] = index
  }
  const unmoved = new Set<number>()
  for (let last = ends.at(-1); last !== undefined; last = previous[last]) unmoved.add(last)
  return unmoved
}
