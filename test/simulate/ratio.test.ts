import { describe, expect, test } from 'vitest'
import type { Figures } from '../../src/cli/study/draw.ts'
import { ratioOf } from '../../src/cli/study/study.ts'

const NONE: Figures = {
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
const arm = (changed: Partial<Figures>): Figures => ({ ...NONE, ...changed })
/** A tenth more traceable, and with it so many tokens that the ratio is this. */
const at = (ratio: number) =>
  ratioOf(NONE, arm({ traceability: 0.88, tokens: 1000 * (1 + ratio / 10) }), 'second')

describe('the ratio', () => {
  test.each([
    { ratio: 3.01, verdict: 'do not implement' },
    { ratio: 2.99, verdict: 'marginal' },
    { ratio: 1.49, verdict: 'optional' },
    { ratio: 0.79, verdict: 'consider' },
  ])('of $ratio is judged: $verdict', ({ ratio, verdict }) => {
    expect(at(ratio).value).toBeCloseTo(ratio, 9)
    expect(at(ratio).verdict).toBe(verdict)
  })

  test('takes more success for a cost in its first form, and for a benefit in its second', () => {
    const better = arm({ success: 0.88, tokens: 1100 })
    expect(ratioOf(NONE, better, 'first').costs.success).toBeCloseTo(0.0909, 4)
    expect(ratioOf(NONE, better, 'first').benefit).toBe(0.01)
    expect(ratioOf(NONE, better, 'second').costs.success).toBe(0)
    expect(ratioOf(NONE, better, 'second').benefit).toBeCloseTo(0.1, 9)
  })

  test('takes fewer tokens for a cost, unless it looks at which way they went', () => {
    const cheaper = arm({ tokens: 900 })
    expect(ratioOf(NONE, cheaper, 'second').costs.tokens).toBeCloseTo(0.1, 9)
    const signed = ratioOf(NONE, cheaper, 'second', { isSigned: true })
    expect([signed.costs.tokens, signed.benefit]).toEqual([0, expect.closeTo(0.1, 9)])
  })

  test('weighs writes by their time where it is told how long one takes', () => {
    // 30 writes of 200 ms are 6 seconds of 10 minutes.
    expect(
      ratioOf(NONE, arm({ writes: 32 }), 'second', { msPerWrite: 200 }).costs.writes,
    ).toBeCloseTo(0.01, 9)
    expect(ratioOf(NONE, arm({ writes: 32 }), 'second').costs.writes).toBe(15)
  })
})
