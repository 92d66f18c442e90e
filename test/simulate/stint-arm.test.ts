import { describe, expect, test } from 'vitest'
import { stintParameters } from '../../src/cli/study/parameters.ts'
import type { Measurement } from '../../src/cli/study/parameters.ts'
import { COMPLEXITIES, NONE, TOKENS_PER_CONVERSATION } from '../../src/cli/study/parameters.ts'
import { drawArm } from '../../src/cli/study/sample-sessions.ts'
import { realTokens } from '../context/vocabularies.ts'
import { serverLines } from '../savings/server-lines.ts'
import { slashLines } from '../savings/slash-lines.ts'
import { anyMeasurement } from './any-measurement.ts'

const DRAWS = { sessions: 20_000, seed: 42 }
const NEVER = { happened: 0, trials: 1e12 }
const none = await drawArm(NONE, DRAWS)
const stint = (changed: Partial<Measurement>) =>
  drawArm(stintParameters(anyMeasurement(changed)), DRAWS)

describe('the measured arm', () => {
  test('draws the same sessions as none, plus the measured overhead', async () => {
    const measurement = anyMeasurement()
    const arm = await stint({ stale: NEVER, conflicts: NEVER, unreadable: NEVER })
    expect(arm.basis).toBe('measured')
    for (const complexity of COMPLEXITIES) {
      const [before, after, measured] = [
        none.byComplexity[complexity],
        arm.byComplexity[complexity],
        measurement.sessions[complexity],
      ]
      expect(after).toMatchObject({
        sessions: before.sessions,
        cognitiveLoad: before.cognitiveLoad,
      })
      // Forgetting costs 5 % of success in 12 % of the sessions.
      expect(before.success - after.success).toBeGreaterThan(0)
      expect(before.success - after.success).toBeLessThan(0.012)
      expect(after.apiCalls - before.apiCalls).toBeCloseTo(measured.commands, 9)
      expect((after.minutes.p50 - before.minutes.p50) * 60).toBeCloseTo(measured.commands * 0.2, 9)
      expect(after.totalTokens).toBe(
        before.totalTokens + before.sessions * (measured.tokens + 3 * TOKENS_PER_CONVERSATION),
      )
      expect(after.writes).toBeCloseTo(measured.writes, 9)
      expect(after.traceability).toBeCloseTo(
        measured.givenBack.happened / measured.givenBack.trials,
        9,
      )
    }
  })

  test('includes the tokens that the client sends of Stint in every conversation', () => {
    expect(TOKENS_PER_CONVERSATION).toBe(realTokens(slashLines()) + realTokens(serverLines()))
  })

  test.each(['stale', 'conflicts', 'unreadable'] as const)(
    'fails at the upper bound of %s alone, and then succeeds less often',
    async (kind) => {
      const rates = { stale: NEVER, conflicts: NEVER, unreadable: NEVER }
      const { figures } = await stint({ ...rates, [kind]: { happened: 0, trials: 30 } })
      const others = (['stale', 'conflicts', 'unreadable'] as const).filter((name) => name !== kind)
      expect(others.map((name) => figures[name])).toEqual([0, 0])
      // At most 10 % of the sessions; conflicts 10 % per agent, in complex sessions with two or three agents.
      const expected =
        kind === 'conflicts' ? DRAWS.sessions * 0.2 * 0.7 * (2 / 3) * 0.25 : DRAWS.sessions * 0.1
      expect(figures[kind] / expected).toBeGreaterThan(0.9)
      expect(figures[kind] / expected).toBeLessThan(1.1)
      expect(figures.success).toBeLessThan(none.figures.success)
    },
  )

  test('counts as always failing when nothing was tried', async () => {
    const { figures } = await stint({ stale: { happened: 0, trials: 0 } })
    expect(figures.stale).toBe(DRAWS.sessions)
  })
})
