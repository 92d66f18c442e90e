// What saying the set-up once saves, counted on the texts themselves.
import { estimateTokens } from '../../text/tokens.ts'

export interface PromptSizes {
  readonly setup: number
  /** The texts about tasks, one for each prompt. */
  readonly tasks: readonly number[]
  /** All that was said in the conversation. */
  readonly together: number
  /** What would have been said with a conversation for each of them. */
  readonly apart: number
  /** Tokens of set-up that were not said again. */
  readonly avoided: number
}

/** The tokens of a conversation's set-up against those of its tasks. */
export function promptSizes(setup: string, tasks: readonly string[]): PromptSizes {
  const once = estimateTokens(setup)
  const each = tasks.map(estimateTokens)
  const own = each.reduce((sum, tokens) => sum + tokens, 0)
  const together = once + own
  const apart = once * each.length + own
  return { setup: once, tasks: each, together, apart, avoided: Math.max(0, apart - together) }
}

/** The tokens of set-up that conversations saved by taking several tasks each. */
export function boilerplateAvoided(
  conversations: readonly { readonly setup: number; readonly tasks: number }[],
): number {
  return conversations.reduce((sum, { setup, tasks }) => sum + setup * Math.max(0, tasks - 1), 0)
}
