// Why a context holds what it holds. Only for whoever asks: hooks never load this.
import type { SessionState } from '../session/state.ts'
import { MAX_TOKENS } from './cost.ts'
import { type PackOptions, arrange } from './pack.ts'
import { PROJECT_ROOM } from './project-section.ts'
import type { Fitted } from './section.ts'
import { estimateLine, estimateTokens } from '../text/tokens.ts'

/** What became of one section. */
export interface ExplainedSection {
  readonly section: string
  /** `all` of it, `some`, `none` for want of room, or `empty`: there is nothing to tell. */
  readonly told: 'all' | 'some' | 'none' | 'empty'
  readonly tokens: number
  readonly shown: number
  readonly count: number
  /** Items were cut in the middle, and end in …. */
  readonly is_shortened: boolean
  readonly left_out: number
  /** Why, and the command that gets what is missing. */
  readonly why?: string
  readonly command?: string
}

export interface Explanation {
  readonly budget: number
  /** Of the whole, by our estimate, which is never too low. */
  readonly tokens: number
  /** What the fence, the mark and the line that names the left out cost. */
  readonly around: number
  /** In the order in which they stand in the text. */
  readonly sections: readonly ExplainedSection[]
}

/** Everything that a context says and does not say, section by section. */
export function explainContext(state: SessionState, options: PackOptions): Explanation {
  const { fitted, text } = arrange(state, options)
  const budget = options.budget ?? MAX_TOKENS
  const sections = fitted.map((each) => explained(each, budget))
  const tokens = estimateTokens(text)
  return {
    budget,
    tokens,
    around: tokens - sections.reduce((sum, section) => sum + section.tokens, 0),
    sections,
  }
}

function explained(
  { section, shown, lines, isShortened }: Fitted,
  budget: number,
): ExplainedSection {
  const { things, command, count, earlier } = section
  const missing = count + earlier - shown
  const reasons = [
    count > shown ? `${count - shown} had no room: ${roomOf(section.rank, budget)}` : '',
    earlier > 0 ? `${earlier} are older than what is looked at` : '',
    isShortened ? 'what ends in … was cut to make room for others' : '',
  ].filter((reason) => reason !== '')
  const whole =
    count + earlier === 0 ? 'empty' : missing === 0 ? 'all' : shown === 0 ? 'none' : 'some'
  return {
    section: things,
    told: whole,
    tokens: lines.reduce((sum, line) => sum + estimateLine(line), 0),
    shown,
    count: count + earlier,
    is_shortened: isShortened,
    left_out: missing,
    ...(reasons.length === 0 ? {} : { why: reasons.join('; '), command }),
  }
}

/** The project comes last; the others had their shares by rank. */
function roomOf(rank: number, budget: number): string {
  if (rank === Infinity)
    return `it has what the session leaves over of ${budget} tokens, ${PROJECT_ROOM} at most`
  return `its share of ${budget} tokens is spent`
}
