// The shapes that a part of the document takes, each able to be told at greater or smaller length.
import { kept, once } from '../lists.ts'
import { shortenToCost } from '../cost.ts'
import type { Section } from '../section.ts'

/** One line of a part. Only its text is shortened; what was looked up stays whole. */
export interface Told {
  readonly before?: string
  readonly text: string
  readonly after?: string
  /** How the text is written once it is short enough. */
  readonly as?: (text: string) => string
}

export interface Frame {
  readonly title: string
  readonly things: string
  /** The command that shows all of it. */
  readonly command: string
  readonly rank: number
  readonly reserve: number
  readonly fair: number
  readonly keep?: 'first' | 'last'
  readonly earlier?: number
  readonly lengths?: readonly number[]
  readonly isNumbered?: boolean
}

const MOST = 100
const LENGTHS: readonly number[] = [120, 80, 55, 36]

export function part(items: readonly Told[], frame: Frame): Section {
  const keep = frame.keep ?? 'first'
  const near = kept(items, MOST, keep).filter(({ text }) => text !== '')
  const shortened = once((length) =>
    near.map(
      ({ before = '', text, after = '', as = asItIs }) =>
        `${before}${as(shortenToCost(text, length))}${after}`,
    ),
  )
  return {
    ...frame,
    count: near.length,
    earlier: (frame.earlier ?? 0) + items.length - near.length,
    lengths: frame.lengths ?? LENGTHS,
    lines: (shown, length) => {
      const told = kept(shortened(length), shown, keep)
      return headed(
        frame.title,
        told.map((line, index) => `${frame.isNumbered === true ? `${index + 1}.` : '-'} ${line}`),
      )
    },
  }
}

/** Lines that belong together and are told or left out together. `lines` gets what the text in them may cost. */
export function passage(lines: (length: number) => readonly string[], frame: Frame): Section {
  return {
    ...frame,
    count: 1,
    earlier: frame.earlier ?? 0,
    lengths: frame.lengths ?? LENGTHS,
    lines: (_shown, length) => headed(frame.title, lines(length)),
  }
}

export function headed(title: string, lines: readonly string[]): readonly string[] {
  return ['', `## ${title}`, '', ...lines]
}

function asItIs(text: string): string {
  return text
}
