import { plainName } from './prices.ts'
import { type Figure, estimated } from './figures.ts'

/** When this was asked of the client. */
const ASKED = '2026-11-15'

const MILLION = 1_000_000
const USUAL = 200_000

/** Models that have a million tokens without being asked for them. */
const LARGE = /^claude-(?:(?:opus|sonnet|haiku|fable|mythos)-[5-9]|opus-4-[78])/

/**
 * The window of a model, from its name alone. Transcripts leave out that a larger one was asked for, so that more
 * tokens than a window holds say that it is the large one.
 */
export function windowOf(
  model: string | undefined,
  tokens: number | undefined,
): Figure | undefined {
  if (model === undefined || !/claude/i.test(model)) return undefined
  const isAskedFor = /\[1m\]/i.test(model) || (tokens ?? 0) > USUAL
  return estimated(
    isAskedFor || LARGE.test(plainName(model)) ? MILLION : USUAL,
    `table of models (${model})`,
    ASKED,
  )
}
