// One measure for the two limits a text has to keep, so that what fits the one fits the other.
import { shorten } from '../text/clean.ts'
import { estimateLine } from '../text/tokens.ts'

export const MAX_TOKENS = 2000
export const MAX_CHARACTERS = 8000
export const CHARACTERS_PER_TOKEN = MAX_CHARACTERS / MAX_TOKENS

/** What a line takes of a budget in tokens, its end included. */
export function costOf(line: string): number {
  return Math.max(estimateLine(line), Math.ceil((line.length + 1) / CHARACTERS_PER_TOKEN))
}

export function costOfAll(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + costOf(line), 0)
}

/** A line of at most this cost, cut at a word where one is near; empty where not even a letter fits. */
export function shortenToCost(line: string, cost: number): string {
  let limit = CHARACTERS_PER_TOKEN * cost
  for (;;) {
    const short = shorten(line, limit)
    const actual = costOf(short)
    if (actual <= cost) return short
    // Guessed from what this try cost; a little less than that, so that a few tries are enough.
    limit = Math.min(short.length - 1, Math.floor((0.95 * short.length * cost) / actual))
    if (limit < 2) return ''
  }
}
