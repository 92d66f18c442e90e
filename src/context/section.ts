import { firstFalse } from '../text/bisect.ts'
import { costOfAll } from './cost.ts'

/** A part of a text that can be told at greater or smaller length. */
export interface Section {
  /** What its items are called where some are left out. */
  readonly things: string
  /** The command that shows all of them. */
  readonly command: string
  /** Sections of a smaller rank are given room first. */
  readonly rank: number
  /** What it has even when others want everything. */
  readonly reserve: number
  /** What it may have before others have theirs. */
  readonly fair: number
  /** How many items there are to show. */
  readonly count: number
  /** Items that are not here to be shown. */
  readonly earlier: number
  /** What one item may cost, from generous to spare. When the last is still too much for all, the least important are left out. */
  readonly lengths: readonly number[]
  /** The `shown` most important items, none of them dearer than `length`. */
  lines(shown: number, length: number): readonly string[]
}

export interface Fitted {
  readonly section: Section
  readonly lines: readonly string[]
  readonly cost: number
  readonly shown: number
  readonly isShortened: boolean
}

/** As much of a section as its room allows. */
export function fit(section: Section, room: number): Fitted {
  const { count, lengths } = section
  if (wish(section) <= room) return told(section, count, lengths[0]!)
  const isTooMuch = (fitted: Fitted) => fitted.cost > room
  const length =
    lengths[firstFalse(lengths.length, (index) => isTooMuch(told(section, count, lengths[index]!)))]
  if (length !== undefined) return told(section, count, length)
  const spare = lengths.at(-1)!
  const shown = firstFalse(count, (index) => !isTooMuch(told(section, index + 1, spare)))
  if (shown > 0 || count === 0) return told(section, shown, spare)
  const least = LEAST.find((short) => !isTooMuch(told(section, 1, short)))
  return told(section, least === undefined ? 0 : 1, least ?? spare)
}

/** To how little the most important item is cut before it is left out: a few words of it still say that it is there. */
const LEAST = [30, 24, 18]

/** What a section costs when nothing is in its way. */
export function wish(section: Section): number {
  return told(section, section.count, section.lengths[0]!).cost
}

const TOLD = new WeakMap<Section, Map<string, Fitted>>()

// The same few versions of a section are asked for again and again while its room is found.
function told(section: Section, shown: number, length: number): Fitted {
  const known = TOLD.get(section) ?? new Map<string, Fitted>()
  TOLD.set(section, known)
  const key = `${shown} ${length}`
  const fitted = known.get(key) ?? tell(section, shown, length)
  known.set(key, fitted)
  return fitted
}

function tell(section: Section, shown: number, length: number): Fitted {
  const lines = shown === 0 ? [] : section.lines(shown, length)
  return {
    section,
    lines,
    shown,
    cost: costOfAll(lines),
    isShortened: lines.some((line) => line.includes('…')),
  }
}
