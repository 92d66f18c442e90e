import { firstFalse } from '../text/bisect.ts'
import { safeLine } from '../text/safe-text.ts'
import { costOfAll, shortenToCost } from './text-size.ts'

export interface ContextSection {
  /** Names the items in the left-out line. */
  readonly things: string
  readonly command: string
  /** Lower ranks get room first. */
  readonly rank: number
  readonly reserve: number
  /** Cost granted before any section gets all it wants. */
  readonly fair: number
  readonly count: number
  /** Items that exist but are not available here. */
  readonly earlier: number
  /** Item cost limits to try, largest first. */
  readonly lengths: readonly number[]
  /** The `shown` most important items, each of at most `length` cost. */
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
  if (fullCost(section) <= room) return render(section, count, lengths[0]!)
  const isTooMuch = (shown: number, length: number) => render(section, shown, length).cost > room
  const length = lengths[firstFalse(lengths.length, (index) => isTooMuch(count, lengths[index]!))]
  if (length !== undefined) return render(section, count, length)
  const spare = lengths.at(-1)!
  const shown = firstFalse(count, (index) => !isTooMuch(index + 1, spare))
  if (shown > 0 || count === 0) return render(section, shown, spare)
  const least = MINIMUM_LENGTHS.find((short) => !isTooMuch(1, short))
  return render(section, least === undefined ? 0 : 1, least ?? spare)
}

/** Even a few words show that the section exists. */
const MINIMUM_LENGTHS = [30, 24, 18]

function fullCost(section: ContextSection) {
  return render(section, section.count, section.lengths[0]!).cost
}

export function fullCostOf(sections: readonly ContextSection[]): number {
  return sections.reduce((sum, section) => sum + fullCost(section), 0)
}

const RENDERED = new WeakMap<ContextSection, Map<string, FittedSection>>()

// Memoised: fitting asks for the same versions repeatedly.
function render(section: ContextSection, shown: number, length: number) {
  const cached = RENDERED.get(section) ?? new Map<string, FittedSection>()
  RENDERED.set(section, cached)
  const key = `${shown} ${length}`
  let fitted = cached.get(key)
  if (fitted === undefined) {
    const lines = shown === 0 ? [] : section.lines(shown, length)
    const isShortened = lines.some((line) => line.includes('…'))
    fitted = { section, lines, shown, cost: costOfAll(lines), isShortened }
    cached.set(key, fitted)
  }
  return fitted
}

export function costOfFitted(fitted: readonly FittedSection[]): number {
  return fitted.reduce((sum, { cost }) => sum + cost, 0)
}

/**
 * Every section gets its reserve, then its fair share, then all it wants, each round by rank.
 * Unused room goes to the next section.
 */
export function shareRoom(
  sections: readonly ContextSection[],
  room: number,
  upTo: 'fair' | 'full' = 'full',
): readonly FittedSection[] {
  const byRank = sections.filter(({ count }) => count > 0).toSorted((a, b) => a.rank - b.rank)
  const granted = new Map(byRank.map((section) => [section, 0]))
  let left = room
  for (const round of ['reserve', 'fair', 'full'] as const) {
    if (round === 'full' && upTo === 'fair') break
    for (const section of byRank) {
      const has = granted.get(section)!
      const wanted = round === 'full' ? Infinity : section[round]
      const more = Math.max(0, Math.min(left, Math.min(fullCost(section), wanted) - has))
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
/** The second attempt may leave out more. */
const NOTE_GROWTH = 30

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
    : Math.min(LEFT_OUT_ROOM, costOfAll(leftOutLines(leftOut)) + NOTE_GROWTH)
}

type Keep = 'first' | 'last'

export type SectionFrame = Omit<ContextSection, 'count' | 'lines' | 'lengths'> & {
  readonly heading: string
  readonly lengths?: readonly number[]
  /** Which items to keep when not all fit. */
  readonly keep: Keep
  /** By item; the most valuable ones are kept, whatever `keep` says. */
  readonly values?: readonly number[]
}

export function sectionFrame(
  heading: string,
  things: string,
  command: string,
  [rank, reserve, fair]: readonly [rank: number, reserve: number, fair: number],
  more: {
    readonly shelf?: { readonly earlier: number }
    readonly keep?: Keep
    readonly values?: readonly number[]
    readonly lengths?: readonly number[]
  } = {},
): SectionFrame {
  const { shelf, keep = 'last', ...others } = more
  const earlier = shelf?.earlier ?? 0
  return { heading, things, command, rank, reserve, fair, earlier, keep, ...others }
}

/** `leftOut` counts items that were not even considered. */
export function listSection<T, U>(
  frame: SectionFrame,
  lengths: readonly number[],
  { items, leftOut }: { readonly items: readonly T[]; readonly leftOut: number },
  shortened: (item: T, length: number) => U,
  together: (items: readonly U[]) => readonly string[],
): ContextSection {
  // Memoised: the same length is used again for fewer items.
  const cached = new Map<number, readonly U[]>()
  return {
    lengths,
    ...frame,
    count: items.length,
    earlier: frame.earlier + leftOut,
    lines: (shown, length) => {
      const all = cached.get(length) ?? items.map((item) => shortened(item, length))
      cached.set(length, all)
      return together(takeItems(all, shown, frame))
    },
  }
}

function takeItems<T>(items: readonly T[], count: number, { values, keep }: SectionFrame) {
  if (values === undefined || count >= items.length) return takeFirstOrLast(items, count, keep)
  const byValue = items
    .map((_, index) => index)
    .toSorted((a, b) => values[b]! - values[a]! || b - a)
  const kept = new Set(byValue.slice(0, count))
  return items.filter((_, index) => kept.has(index))
}

export function takeFirstOrLast<T>(items: readonly T[], count: number, keep: Keep): readonly T[] {
  return keep === 'first' ? items.slice(0, count) : items.slice(Math.max(0, items.length - count))
}

const MAX_ITEMS = 150

function safeItems(texts: readonly string[], keep: Keep) {
  const near = takeFirstOrLast(texts, MAX_ITEMS, keep)
  const items = near.map(safeLine).filter((item) => item !== '')
  return { items, leftOut: texts.length - near.length }
}

export function paragraph(text: string, frame: SectionFrame): ContextSection {
  return enumeration([text], frame, [Infinity, 160, 110, 80, 55, 35, 18])
}

export function bullets(texts: readonly string[], frame: SectionFrame): ContextSection {
  return listSection(
    frame,
    [Infinity, 90, 60, 40],
    safeItems(texts, frame.keep),
    (item, length) => `- ${shortenToCost(item, length)}`,
    (items) => [frame.heading, ...items],
  )
}

/** For short items, where line breaks would cost more than the text. */
export function enumeration(
  texts: readonly string[],
  frame: SectionFrame,
  lengths: readonly number[] = [40, 25],
): ContextSection {
  return listSection(frame, lengths, safeItems(texts, frame.keep), shortenToCost, (items) => [
    `${frame.heading} ${items.join(', ')}`,
  ])
}
