import { describe, expect, test } from 'vitest'
import type { ArmFigures } from '../../src/cli/study/sample-sessions.ts'
import { costBenefitRatio } from '../../src/cli/study/study.ts'

const NONE: ArmFigures = {
  sessions: 1,
  writes: 2,
  tokens: 1000,
  totalTokens: 1000,
  apiCalls: 10,
  minutes: { mean: 10, p50: 10, p95: 10 },
  cognitiveLoad: 0.4,
  traceability: 0.8,
  success: 0.8,
  stale: 0,
  conflicts: 0,
  unreadable: 0,
}
const arm = (changes: Partial<ArmFigures>): ArmFigures => ({ ...NONE, ...changes })
/** A tenth more traceability, and the tokens that lead to this ratio. */
const at = (ratio: number) =>
  costBenefitRatio(NONE, arm({ traceability: 0.88, tokens: 1000 * (1 + ratio / 10) }), 'second')

describe('the ratio', () => {
  test.each([
    { ratio: 3.01, verdict: 'do not implement' },
    { ratio: 2.99, verdict: 'marginal' },
    { ratio: 1.49, verdict: 'optional' },
    { ratio: 0.79, verdict: 'consider' },
  ])('of $ratio gets the verdict: $verdict', ({ ratio, verdict }) => {
    expect(at(ratio).value).toBeCloseTo(ratio, 9)
    expect(at(ratio).verdict).toBe(verdict)
  })

  test('counts more success as a cost in its first form, and as a benefit in its second', () => {
    const better = arm({ success: 0.88, tokens: 1100 })
    expect(costBenefitRatio(NONE, better, 'first').costs.success).toBeCloseTo(0.0909, 4)
    expect(costBenefitRatio(NONE, better, 'first').benefit).toBe(0.01)
    expect(costBenefitRatio(NONE, better, 'second').costs.success).toBe(0)
    expect(costBenefitRatio(NONE, better, 'second').benefit).toBeCloseTo(0.1, 9)
  })

  test('counts fewer tokens as a cost unless changes are signed', () => {
    const cheaper = arm({ tokens: 900 })
    expect(costBenefitRatio(NONE, cheaper, 'second').costs.tokens).toBeCloseTo(0.1, 9)
    const signed = costBenefitRatio(NONE, cheaper, 'second', { isSigned: true })
    expect([signed.costs.tokens, signed.benefit]).toEqual([0, expect.closeTo(0.1, 9)])
  })

  test('weighs writes by time when the time of one is known', () => {
    // 30 writes of 200 ms are 6 seconds of 10 minutes.
    expect(
      costBenefitRatio(NONE, arm({ writes: 32 }), 'second', { msPerWrite: 200 }).costs.writes,
    ).toBeCloseTo(0.01, 9)
    expect(costBenefitRatio(NONE, arm({ writes: 32 }), 'second').costs.writes).toBe(15)
  })
})
