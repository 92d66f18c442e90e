// The shapes a section takes: a paragraph, a list of lines, a list in one line.
import { shortenToCost } from './cost.ts'
import { safeLine } from '../text/safe-text.ts'
import type { Section } from './section.ts'

type Frame = Pick<Section, 'things' | 'command' | 'rank' | 'reserve' | 'fair'> & {
  readonly heading: string
  readonly earlier?: number
  readonly lengths?: readonly number[]
}

interface ListFrame extends Frame {
  /** Which items stay when not all can; the others count as left out. */
  readonly keep: 'first' | 'last'
}

/** More than fit anywhere; the others need not be looked at. */
const MOST = 150
const SENTENCES: readonly number[] = [90, 60, 40]

export function paragraph(text: string, frame: Frame): Section {
  const line = safeLine(text)
  return {
    ...frame,
    count: line === '' ? 0 : 1,
    earlier: 0,
    lengths: frame.lengths ?? [160, 110, 80, 55, 35, 18],
    lines: (_shown, length) => [`${frame.heading} ${shortenToCost(line, length)}`],
  }
}

export function bullets(texts: readonly string[], frame: ListFrame): Section {
  const { items, earlier } = considered(texts, frame)
  const shortened = once((length) => items.map((item) => `- ${shortenToCost(item, length)}`))
  return {
    ...frame,
    count: items.length,
    earlier,
    lengths: frame.lengths ?? SENTENCES,
    lines: (shown, length) => [frame.heading, ...kept(shortened(length), shown, frame.keep)],
  }
}

/** For short items, which would spend more on lines than on themselves. */
export function enumeration(texts: readonly string[], frame: ListFrame): Section {
  const { items, earlier } = considered(texts, frame)
  const shortened = once((length) => items.map((item) => shortenToCost(item, length)))
  return {
    ...frame,
    count: items.length,
    earlier,
    lengths: frame.lengths ?? [40, 25],
    lines: (shown, length) => [
      `${frame.heading} ${kept(shortened(length), shown, frame.keep).join(', ')}`,
    ],
  }
}

/** Shortening is most of the work, and the same lengths are asked for again for fewer items. */
export function once<T>(shortened: (length: number) => T): (length: number) => T {
  const known = new Map<number, T>()
  return (length) => {
    const result = known.get(length) ?? shortened(length)
    known.set(length, result)
    return result
  }
}

/** The items among which to choose, made safe, and how many more there are. */
function considered(
  texts: readonly string[],
  frame: { readonly keep: 'first' | 'last'; readonly earlier?: number },
) {
  const near = kept(texts, MOST, frame.keep)
  const items = near.map(safeLine).filter((item) => item !== '')
  return { items, earlier: (frame.earlier ?? 0) + texts.length - near.length }
}

export function kept<T>(items: readonly T[], count: number, keep: 'first' | 'last'): readonly T[] {
  return keep === 'first' ? items.slice(0, count) : items.slice(Math.max(0, items.length - count))
}
