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
  /** What every item leaves out, such as reasons. */
  readonly omits?: string | undefined
  /** Item cost limits to try, largest first. */
  readonly lengths: readonly number[]
  /** By item: how much it is worth its room. Of few that fit, the most valuable are shown. */
  readonly values: readonly number[]
  /** By item, at most `length` each, without the heading. */
  itemCosts(length: number): readonly number[]
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
    const isShortened =
      lines.some((line) => line.includes('…')) || (shown > 0 && section.omits !== undefined)
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

/** Item cost limits to try before items are left out: a few whole ones tell more than all of them cut. */
const VALUED_LENGTHS = [Infinity, 90, 60] as const

/**
 * Every section gets the items that are worth most for their cost. Unlike `shareRoom` it prefers a
 * few whole items to many cut ones.
 */
export function shareByValue(
  sections: readonly ContextSection[],
  room: number,
): readonly FittedSection[] {
  const open = sections.filter(({ count }) => count > 0)
  const length = VALUED_LENGTHS.find((each) => costAt(open, each) <= room) ?? 60
  const waiting = open.map((section) => {
    const costs = section.itemCosts(length)
    const order = indexesByValue(section.values)
    return { section, shown: 0, heading: headingCost(section, costs, length), costs, order }
  })
  const chosen: (typeof waiting)[number][] = []
  let left = room
  for (;;) {
    let best: (typeof waiting)[number] | undefined
    let bestWorth = 0
    let bestCost = 0
    for (const each of waiting) {
      const next = each.order[each.shown]
      if (next === undefined) continue
      const cost = each.costs[next]! + (each.shown === 0 ? each.heading : 0)
      const worth = each.section.values[next]! / Math.max(1, cost)
      if (cost > left || worth <= bestWorth) continue
      best = each
      bestWorth = worth
      bestCost = cost
    }
    if (best === undefined) break
    best.shown += 1
    chosen.push(best)
    left -= bestCost
  }
  for (;;) {
    const shown = new Map(waiting.map((each) => [each.section, each.shown]))
    const fitted = sections.map((section) => render(section, shown.get(section) ?? 0, length))
    const last = chosen.pop()
    // Separators make items together cost a little more than one by one.
    if (last === undefined || costOfFitted(fitted) <= room) return fitted
    last.shown -= 1
  }
}

function costAt(sections: readonly ContextSection[], length: number) {
  return sections.reduce((sum, section) => sum + render(section, section.count, length).cost, 0)
}

function headingCost(section: ContextSection, costs: readonly number[], length: number) {
  const [first] = indexesByValue(section.values)
  return Math.max(0, render(section, 1, length).cost - costs[first!]!)
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

export const LEFT_OUT_ROOM = 120
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
    if (shown > 0 && section.omits !== undefined) note(section.command, section.omits)
  }
  if (fitted.some(({ lines }) => lines.some((line) => line.includes('…'))))
    note(VIEW_COMMANDS.all, 'what ends in …')
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

export type SectionFrame = Omit<
  ContextSection,
  'count' | 'lines' | 'lengths' | 'values' | 'itemCosts'
> & {
  readonly heading: string
  readonly lengths?: readonly number[]
  /** Which items to keep when not all fit, and their value does not say. */
  readonly keep: Keep
}

/** A text, with its value where items of a section differ in it. */
export type SectionItem = string | { readonly text: string; readonly value: number }

export function sectionFrame(
  heading: string,
  things: string,
  command: string,
  [rank, reserve, fair]: readonly [rank: number, reserve: number, fair: number],
  more: {
    readonly shelf?: { readonly earlier: number }
    readonly keep?: Keep
    readonly lengths?: readonly number[]
    readonly omits?: string | undefined
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
  {
    items,
    values = orderedValues(items.length, frame.keep),
    leftOut,
  }: {
    readonly items: readonly T[]
    readonly values?: readonly number[]
    readonly leftOut: number
  },
  shortened: (item: T, length: number) => U,
  together: (items: readonly U[]) => readonly string[],
): ContextSection {
  // Memoised: the same length is used again for fewer items.
  const cached = new Map<number, readonly U[]>()
  const allAt = (length: number) => {
    const all = cached.get(length) ?? items.map((item) => shortened(item, length))
    cached.set(length, all)
    return all
  }
  return {
    lengths,
    ...frame,
    values,
    count: items.length,
    earlier: frame.earlier + leftOut,
    itemCosts: (length) => {
      const heading = costOfAll([frame.heading])
      return allAt(length).map((item) => costOfAll(together([item])) - heading)
    },
    lines: (shown, length) => together(takeItems(allAt(length), shown, values)),
  }
}

/** Just enough to say which of the items comes first. */
function orderedValues(count: number, keep: Keep): readonly number[] {
  return Array.from({ length: count }, (_, index) => {
    return DEFAULT_VALUE * (1 + (keep === 'first' ? count - index : index + 1) / (100 * count))
  })
}

const DEFAULT_VALUE = 0.05

export function indexesByValue(values: readonly number[]): readonly number[] {
  return values.map((_, index) => index).toSorted((a, b) => values[b]! - values[a]! || b - a)
}

function takeItems<T>(items: readonly T[], count: number, values: readonly number[]) {
  if (count >= items.length) return items
  const kept = new Set(indexesByValue(values).slice(0, count))
  return items.filter((_, index) => kept.has(index))
}

export function takeFirstOrLast<T>(items: readonly T[], count: number, keep: Keep): readonly T[] {
  return keep === 'first' ? items.slice(0, count) : items.slice(Math.max(0, items.length - count))
}

const MAX_ITEMS = 150

function safeItems(all: readonly SectionItem[], keep: Keep) {
  const near = takeFirstOrLast(all, MAX_ITEMS, keep)
  const safe = near
    .map((item) => (typeof item === 'string' ? { text: item } : item))
    .map((item) => ({ ...item, text: safeLine(item.text) }))
    .filter(({ text }) => text !== '')
  const hasValues = safe.some((item) => 'value' in item)
  return {
    items: safe.map(({ text }) => text),
    leftOut: all.length - near.length,
    ...(hasValues ? { values: safe.map((item) => ('value' in item ? item.value : 0)) } : {}),
  }
}

export function paragraph(text: SectionItem, frame: SectionFrame): ContextSection {
  return enumeration([text], frame, [Infinity, 160, 110, 80, 55, 35, 18])
}

export function bullets(texts: readonly SectionItem[], frame: SectionFrame): ContextSection {
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
  texts: readonly SectionItem[],
  frame: SectionFrame,
  lengths: readonly number[] = [40, 25],
): ContextSection {
  return listSection(frame, lengths, safeItems(texts, frame.keep), shortenToCost, (items) => [
    `${frame.heading} ${items.join(', ')}`,
  ])
}
