import { firstFalse } from '../text/bisect.ts'
import { safeLine } from '../text/safe-text.ts'
import { costOfAll, shortenToCost } from './cost.ts'

export interface ContextSection {
  /** What its items are called where some are left out. */
  readonly things: string
  readonly command: string
  /** Sections of a smaller rank are given room first. */
  readonly rank: number
  readonly reserve: number
  /** What it may have before others have theirs. */
  readonly fair: number
  readonly count: number
  /** Items that are not here to be shown. */
  readonly earlier: number
  /** What one item may cost, from generous to spare. */
  readonly lengths: readonly number[]
  /** The `shown` most important items, none of them dearer than `length`. */
  lines(shown: number, length: number): readonly string[]
}

export interface FittedSection {
  readonly section: ContextSection
  readonly lines: readonly string[]
  readonly cost: number
  readonly shown: number
  readonly isShortened: boolean
}

export function fitSection(section: ContextSection, room: number): FittedSection {
  const { count, lengths } = section
  if (wish(section) <= room) return written(section, count, lengths[0]!)
  const isTooMuch = (shown: number, length: number) => written(section, shown, length).cost > room
  const length = lengths[firstFalse(lengths.length, (index) => isTooMuch(count, lengths[index]!))]
  if (length !== undefined) return written(section, count, length)
  const spare = lengths.at(-1)!
  const shown = firstFalse(count, (index) => !isTooMuch(index + 1, spare))
  if (shown > 0 || count === 0) return written(section, shown, spare)
  const least = LEAST.find((short) => !isTooMuch(1, short))
  return written(section, least === undefined ? 0 : 1, least ?? spare)
}

/** A few words still say that it is there. */
const LEAST = [30, 24, 18]

function wish(section: ContextSection) {
  return written(section, section.count, section.lengths[0]!).cost
}

const WRITTEN = new WeakMap<ContextSection, Map<string, FittedSection>>()

// The same few versions of a section are asked for again and again.
function written(section: ContextSection, shown: number, length: number) {
  const known = WRITTEN.get(section) ?? new Map<string, FittedSection>()
  WRITTEN.set(section, known)
  const key = `${shown} ${length}`
  let fitted = known.get(key)
  if (fitted === undefined) {
    const lines = shown === 0 ? [] : section.lines(shown, length)
    const isShortened = lines.some((line) => line.includes('…'))
    fitted = { section, lines, shown, cost: costOfAll(lines), isShortened }
    known.set(key, fitted)
  }
  return fitted
}

export function costOfFitted(fitted: readonly FittedSection[]): number {
  return fitted.reduce((sum, { cost }) => sum + cost, 0)
}

/**
 * Each section has its reserve before any has its fair part, and that before any has all it wishes for; each time by rank. What one does
 * not use goes on to the next.
 */
export function shareRoom(
  sections: readonly ContextSection[],
  room: number,
  upTo: 'fair' | 'wish' = 'wish',
): readonly FittedSection[] {
  const byRank = sections.filter(({ count }) => count > 0).toSorted((a, b) => a.rank - b.rank)
  const granted = new Map(byRank.map((section) => [section, 0]))
  let left = room
  for (const helping of ['reserve', 'fair', 'wish'] as const) {
    if (helping === 'wish' && upTo === 'fair') break
    for (const section of byRank) {
      const has = granted.get(section)!
      const wanted = helping === 'wish' ? Infinity : section[helping]
      const more = Math.max(0, Math.min(left, Math.min(wish(section), wanted) - has))
      granted.set(section, has + more)
      left -= more
    }
  }
  let unused = 0
  const fitted = new Map<ContextSection, FittedSection>()
  for (const section of byRank) {
    const had = fitSection(section, granted.get(section)! + unused)
    unused += granted.get(section)! - had.cost
    fitted.set(section, had)
  }
  return sections.map((section) => fitted.get(section) ?? fitSection(section, 0))
}

export const VIEW_COMMANDS = {
  all: 'stint view',
  progress: 'stint view --progress',
  decisions: 'stint view --decisions',
  discoveries: 'stint view --discoveries',
  blockers: 'stint view --blockers',
  next: 'stint view --next',
  activity: 'stint view --activity',
} as const

export const LEFT_OUT_ROOM = 130
/** There is more to name in a second try. */
const GROWTH = 30

/** `stint view --activity (requests 4, commits 12)`. */
export function describeLeftOut(fitted: readonly FittedSection[]): readonly string[] {
  const byCommand = new Map<string, string[]>()
  const note = (command: string, thing: string) =>
    byCommand.set(command, [...(byCommand.get(command) ?? []), thing])
  for (const { section, shown } of fitted) {
    const missing = section.earlier + section.count - shown
    if (missing > 0) note(section.command, `${section.things} ${missing}`)
  }
  if (fitted.some(({ isShortened }) => isShortened)) note(VIEW_COMMANDS.all, 'what ends in …')
  return [...byCommand].map(([command, things]) => `${command} (${things.join(', ')})`)
}

export function leftOutLines(leftOut: readonly string[], room = LEFT_OUT_ROOM): readonly string[] {
  if (leftOut.length === 0) return []
  return [shortenToCost(`Left out here, shown by: ${leftOut.join(', ')}`, room)]
}

export function roomForLeftOut(leftOut: readonly string[]): number {
  return leftOut.length === 0
    ? 0
    : Math.min(LEFT_OUT_ROOM, costOfAll(leftOutLines(leftOut)) + GROWTH)
}

type Keep = 'first' | 'last'

export type SectionFrame = Omit<ContextSection, 'count' | 'lines' | 'lengths'> & {
  readonly heading: string
  readonly lengths?: readonly number[]
  /** Which items stay when not all can; the others count as left out. */
  readonly keep: Keep
}

export function sectionFrame(
  heading: string,
  things: string,
  command: string,
  [rank, reserve, fair]: readonly [rank: number, reserve: number, fair: number],
  more: {
    readonly shelf?: { readonly earlier: number }
    readonly keep?: Keep
    readonly lengths?: readonly number[]
  } = {},
): SectionFrame {
  const { shelf, keep = 'last', ...others } = more
  const earlier = shelf?.earlier ?? 0
  return { heading, things, command, rank, reserve, fair, earlier, keep, ...others }
}

/** Items that are shortened one by one; `leftOut` were not considered. */
export function listSection<T, U>(
  given: SectionFrame,
  lengths: readonly number[],
  { items, leftOut }: { readonly items: readonly T[]; readonly leftOut: number },
  shortened: (item: T, length: number) => U,
  together: (items: readonly U[]) => readonly string[],
): ContextSection {
  // The same lengths are asked for again for fewer items.
  const known = new Map<number, readonly U[]>()
  return {
    lengths,
    ...given,
    count: items.length,
    earlier: given.earlier + leftOut,
    lines: (shown, length) => {
      const all = known.get(length) ?? items.map((item) => shortened(item, length))
      known.set(length, all)
      return together(takeNearest(all, shown, given.keep))
    },
  }
}

export function takeNearest<T>(items: readonly T[], count: number, keep: Keep): readonly T[] {
  return keep === 'first' ? items.slice(0, count) : items.slice(Math.max(0, items.length - count))
}

const MOST = 150

function safeItems(texts: readonly string[], keep: Keep) {
  const near = takeNearest(texts, MOST, keep)
  const items = near.map(safeLine).filter((item) => item !== '')
  return { items, leftOut: texts.length - near.length }
}

export function paragraph(text: string, given: SectionFrame): ContextSection {
  return enumeration([text], given, [160, 110, 80, 55, 35, 18])
}

export function bullets(texts: readonly string[], given: SectionFrame): ContextSection {
  return listSection(
    given,
    [90, 60, 40],
    safeItems(texts, given.keep),
    (item, length) => `- ${shortenToCost(item, length)}`,
    (items) => [given.heading, ...items],
  )
}

/** For short items, which would spend more on lines than on themselves. */
export function enumeration(
  texts: readonly string[],
  given: SectionFrame,
  lengths: readonly number[] = [40, 25],
): ContextSection {
  return listSection(given, lengths, safeItems(texts, given.keep), shortenToCost, (items) => [
    `${given.heading} ${items.join(', ')}`,
  ])
}
