// What forbids to begin a task in a conversation, whatever it would cost.
import type { Forecast, Standing } from './contract.ts'

export type Forbidding = 'smart zone' | 'compaction point'

/** The rule that a task with this forecast would break with so many tokens in the context. */
export function forbiddenBy(
  context: number,
  { added }: Forecast,
  { point, smartZone }: Pick<Standing, 'point' | 'smartZone'>,
): Forbidding | undefined {
  if (point !== undefined && context + added.margin > point) return 'compaction point'
  return context >= smartZone ? 'smart zone' : undefined
}
