import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { costAtPrice } from '../../src/context/budget/prices.ts'
import {
  type BatchMode,
  type ConversationLoad,
  cheapestCosts,
  planSessions,
} from '../../src/run/plan/rotation.ts'
import { forecastsFrom } from '../../src/run/plan/forecast.ts'
import { SONNET, aFinished, aStanding, someTasks, task } from './any-plan.ts'

const nothing: ConversationLoad = {
  context: 0,
  base: 12_000,
  point: 167_000,
  smartZone: 100_000,
  done: [],
  price: SONNET,
  isWarm: true,
}
const NO_HISTORY = forecastsFrom([])
const aMode = fc.constantFrom<BatchMode>('forecast', 'fixed', 'one')

describe('a plan', () => {
  test('has every task once, in order, with the cost of each session', () => {
    fc.assert(
      fc.property(
        someTasks(20),
        aStanding,
        fc.array(aFinished, { maxLength: 20 }),
        aMode,
        (tasks, standing, history, mode) => {
          const sessions = planSessions(tasks, standing, forecastsFrom(history), mode)
          expect(sessions.flatMap((session) => session.tasks.map((each) => each.task))).toEqual(
            tasks,
          )
          for (const { tasks: own, context, usd, seconds, because, tokens } of sessions) {
            expect(own.length).toBeGreaterThan(0)
            expect(because).not.toBe('')
            expect(context.margin).toBeGreaterThanOrEqual(context.middle)
            expect(seconds).toBeGreaterThan(0)
            expect(
              Object.values(tokens).every((count) => Number.isSafeInteger(count) && count >= 0),
            ).toBe(true)
            expect(usd === undefined).toBe(standing.price === undefined)
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  test('in mode "one" has a session for each task', () => {
    expect(
      planSessions([task('a'), task('b'), task('c')], nothing, NO_HISTORY, 'one').map(
        ({ tasks }) => tasks.length,
      ),
    ).toEqual([1, 1, 1])
  })

  test('costs the minimum for this order and these forecasts when the start-up cost is known', () => {
    fc.assert(
      fc.property(someTasks(40, 1), fc.array(aFinished, { maxLength: 20 }), (tasks, history) => {
        const learned = forecastsFrom(history)
        const forecasts = { ...learned, weighedStartup: learned.startup }
        const usd = planSessions(tasks, nothing, forecasts, 'forecast').reduce(
          (sum, session) => sum + session.usd!,
          0,
        )
        expect(
          usd / cheapestCosts({ ...nothing, context: nothing.base }, tasks, forecasts).leave,
        ).toBeCloseTo(1, 6)
      }),
      { numRuns: 300 },
    )
  })

  test('records why each session begins', () => {
    const plan = planSessions(
      [task('a', { labels: ['x'] }), task('b', { labels: ['y'] })],
      nothing,
      NO_HISTORY,
      'forecast',
    )
    expect(plan.map(({ because }) => because)).toEqual([
      'there is no conversation yet',
      'it has nothing to do with what was done in this conversation',
    ])
  })

  test('counts the start of a conversation: writing its base and the start-up cost', () => {
    const [session] = planSessions([task('a')], nothing, NO_HISTORY, 'forecast')
    expect(session!.tokens.cacheWritten).toBe(12_000 + 5_000 + 14_000)
    expect(session!.context.middle).toBe(12_000 + 5_000 + 14_000)
    expect(session!.usd).toBeCloseTo(
      costAtPrice({ ...session!.tokens, cacheWrittenHour: 0 }, SONNET),
      4,
    )
  })

  test('continues an existing conversation', () => {
    const standing = { ...nothing, context: 20_000, done: [task('x')] }
    const [session] = planSessions([task('a')], standing, NO_HISTORY, 'forecast')
    expect(session!.context.middle).toBe(34_000)
    expect(session!.tokens.cacheWritten).toBe(14_000)
  })
})
