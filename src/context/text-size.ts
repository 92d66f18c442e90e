// One cost for both limits of a text, tokens and characters.
import { shorten } from '../text/clean.ts'
import { estimateLine } from '../text/tokens.ts'

export const MAX_TOKENS = 2000
/** Claude Code shows a model only the start of a hook's output of more than 10,000. */
export const MAX_CHARACTERS = 9000
export const CHARACTERS_PER_TOKEN = MAX_CHARACTERS / MAX_TOKENS

function costOf(line: string) {
  return Math.max(estimateLine(line), Math.ceil((line.length + 1) / CHARACTERS_PER_TOKEN))
}

export function costOfAll(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + costOf(line), 0)
}

/** Empty if not even one letter fits. */
export function shortenToCost(line: string, cost: number): string {
  let limit = CHARACTERS_PER_TOKEN * cost
  for (;;) {
    const short = shorten(line, limit)
    const actual = costOf(short)
    if (actual <= cost) return short
    // Slightly below the estimate, so that a few attempts are enough.
    limit = Math.min(short.length - 1, Math.floor((0.95 * short.length * cost) / actual))
    if (limit < 2) return ''
  }
}

/** `1 blocker`, `2 blockers`. */
export function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`
}
