import type { Costs, Figures, Ratio } from './contract.ts'

const LEAST_BENEFIT = 0.01
const MS_PER_MINUTE = 60_000

/** How changes are made into one number. As the study does it: every relative change weighs the same, whichever way it goes. */
export interface Weighing {
  /** What counts, and how much; 1 where nothing is said. */
  readonly weights?: Partial<Costs>
  /** Writes as the time they take of a session, so many milliseconds each, instead of as more writes than before. */
  readonly msPerWrite?: number
  /** What gets less is a benefit, and not a cost. */
  readonly isSigned?: boolean
}

/**
 * Costs to benefits against `none`. The study had two forms: in the first every change of success is a cost; in the second, made when the plan
 * was to be written once, a gain is a benefit.
 */
export function ratioOf(
  none: Figures,
  arm: Figures,
  form: Ratio['form'],
  weighing: Weighing = {},
): Ratio {
  const { msPerWrite, isSigned = false } = weighing
  const weights = { writes: 1, tokens: 1, cognitiveLoad: 1, success: 1, ...weighing.weights }
  const success = change(none.success, arm.success)
  const changes = {
    writes:
      msPerWrite === undefined
        ? change(none.writes, arm.writes)
        : ((arm.writes - none.writes) * msPerWrite) / (none.minutes.mean * MS_PER_MINUTE),
    tokens: change(none.tokens, arm.tokens),
    cognitiveLoad: change(none.cognitiveLoad, arm.cognitiveLoad),
  }
  const cost = (name: keyof typeof changes) =>
    weights[name] * (isSigned ? Math.max(0, changes[name]) : Math.abs(changes[name]))
  const costs = {
    writes: cost('writes'),
    tokens: cost('tokens'),
    cognitiveLoad: cost('cognitiveLoad'),
    success:
      weights.success *
      (form === 'first' ? Math.abs(change(arm.success, none.success)) : Math.max(0, -success)),
  }
  const lessened = isSigned
    ? Object.values(changes).reduce((sum, by) => sum + Math.max(0, -by), 0)
    : 0
  const gained =
    change(none.traceability, arm.traceability) +
    (form === 'first' ? 0 : Math.max(0, success)) +
    lessened
  const benefit = Math.max(LEAST_BENEFIT, gained)
  const value = Object.values(costs).reduce((sum, one) => sum + one) / benefit
  return { form, costs, benefit, value, verdict: verdictOf(value) }
}

/** By how much something is more than it was, as a share of that. */
export function change(before: number, after: number): number {
  return before === 0 ? 0 : (after - before) / before
}

/** The study's own thresholds, the strictest first. */
export const VERDICTS = [
  { above: 3, verdict: 'do not implement' },
  { above: 1.5, verdict: 'marginal' },
  { above: 0.8, verdict: 'optional' },
  { above: -Infinity, verdict: 'consider' },
] as const

function verdictOf(ratio: number): Ratio['verdict'] {
  return VERDICTS.find(({ above }) => ratio > above)!.verdict
}
