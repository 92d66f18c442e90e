import { type Fitted, type Section, fit, wish } from './section.ts'

/**
 * Divides a room among sections. Each has its reserve before any has its fair part, and that before any has all it
 * wishes for, if it may have it at all; each time by rank. What one does not use goes on to the next. The answer
 * keeps the order they came in.
 */
export function share(
  sections: readonly Section[],
  room: number,
  upTo: 'fair' | 'wish' = 'wish',
): readonly Fitted[] {
  const byRank = sections.filter(({ count }) => count > 0).toSorted((a, b) => a.rank - b.rank)
  const granted = new Map(byRank.map((section) => [section, 0]))
  let left = room
  for (const helping of HELPINGS[upTo]) {
    for (const section of byRank) {
      const has = granted.get(section)!
      const more = Math.max(0, Math.min(left, Math.min(wish(section), helping(section)) - has))
      granted.set(section, has + more)
      left -= more
    }
  }
  let unused = 0
  const fitted = new Map<Section, Fitted>()
  for (const section of byRank) {
    const had = fit(section, granted.get(section)! + unused)
    unused += granted.get(section)! - had.cost
    fitted.set(section, had)
  }
  return sections.map((section) => fitted.get(section) ?? fit(section, 0))
}

type Helping = (section: Section) => number

const UP_TO_FAIR: readonly Helping[] = [({ reserve }) => reserve, ({ fair }) => fair]
const HELPINGS: Readonly<Record<'fair' | 'wish', readonly Helping[]>> = {
  fair: UP_TO_FAIR,
  wish: [...UP_TO_FAIR, () => Infinity],
}
