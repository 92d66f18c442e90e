import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type BatchMode,
  type ConversationLoad,
  cheapestCosts,
  decideRotation,
  expectedCost,
  expectedTokens,
  expectedWork,
} from '../../src/run/plan/rotation.ts'
import { type Forecasts, forecastsFrom } from '../../src/run/plan/forecast.ts'
import { type PlannedTask, relationToAll } from '../../src/run/plan/order-tasks.ts'
import { DEFAULT_PLAN } from '../../src/project/config/run-config.ts'
import { SONNET, aFinished, aStanding, anythingFinished, someTasks, task } from './any-plan.ts'

const NO_HISTORY = forecastsFrom([])
const aMode = fc.constantFrom<BatchMode>('forecast', 'fixed', 'one')
const aHistory = fc.array(aFinished, { maxLength: 20 })

const warm: ConversationLoad = {
  context: 20_000,
  base: 12_000,
  point: 167_000,
  smartZone: 100_000,
  done: [task('done')],
  price: SONNET,
  isWarm: true,
}
const after = (
  standing: Partial<ConversationLoad>,
  next: PlannedTask,
  mode: BatchMode = 'forecast',
) => decideRotation({ ...warm, ...standing }, next, [], NO_HISTORY, mode)

describe('a rotation decision', () => {
  test('never continues past the compaction point or the smart zone', () => {
    fc.assert(
      fc.property(
        aStanding,
        someTasks(10, 1),
        aHistory,
        aMode,
        (standing, [next, ...rest], history, mode) => {
          const forecasts = forecastsFrom(history)
          const { stay, rule } = decideRotation(standing, next!, rest, forecasts, mode)
          if (!stay || rule === 'first') return
          expect(
            standing.context + forecasts.bySize[next!.sizeClass].added.margin,
          ).toBeLessThanOrEqual(standing.point ?? Infinity)
          expect(standing.context).toBeLessThan(standing.smartZone)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test('is made for any history, with a one-line reason', () => {
    fc.assert(
      fc.property(
        aStanding,
        someTasks(10, 1),
        fc.array(anythingFinished),
        aMode,
        (standing, [next, ...rest], history, mode) => {
          const { because, cost } = decideRotation(
            standing,
            next!,
            rest,
            forecastsFrom(history),
            mode,
          )
          expect(because).toMatch(/^\S.*\S$/)
          expect(because).not.toMatch(/NaN|Infinity|undefined/)
          if (cost !== undefined)
            expect(Number.isFinite(cost.stay) && Number.isFinite(cost.leave)).toBe(true)
        },
      ),
      { numRuns: 500 },
    )
  })

  test('opens a conversation where there is none, and never rotates an unused one', () => {
    fc.assert(
      fc.property(aStanding, someTasks(3, 1), aMode, (standing, [next, ...rest], mode) => {
        expect(
          decideRotation({ ...standing, context: 0, done: [] }, next!, rest, NO_HISTORY, mode),
        ).toMatchObject({
          stay: false,
          rule: 'first',
        })
        const fresh = { ...standing, context: standing.base, done: [] }
        expect(decideRotation(fresh, next!, rest, NO_HISTORY, mode)).toMatchObject({
          stay: true,
          rule: 'first',
        })
      }),
    )
  })

  test('rotates a conversation that a failed attempt has filled, though no task was done in it', () => {
    expect(after({ done: [], context: 110_000 }, task('a'))).toMatchObject({
      stay: false,
      rule: 'smart zone',
    })
  })

  test.each([
    ['continues a short history with a small task', {}, task('a'), 'fits', true],
    [
      'rotates where the margin would pass the compaction point',
      { context: 60_000 },
      task('a', { sizeClass: 'large' }),
      'compaction point',
      false,
    ],
    ['rotates past the smart zone', { context: 100_000 }, task('a'), 'smart zone', false],
    [
      'rotates where rereading the history costs more',
      { context: 70_000 },
      task('a', { sizeClass: 'medium' }),
      'cheaper fresh',
      false,
    ],
    [
      'keeps unrelated tasks apart',
      { done: [task('x', { labels: ['docs'] })] },
      task('a', { labels: ['auth'] }),
      'unrelated',
      false,
    ],
    [
      'continues with a related task',
      { done: [task('x', { labels: ['docs'] })] },
      task('a', { labels: ['auth'], dependsOn: ['x'] }),
      'fits',
      true,
    ],
  ])('%s', (_promise, standing, next, rule, stay) => {
    expect(after(standing, next)).toMatchObject({ rule, stay })
  })

  test('always rotates in mode "one"', () => {
    expect(after({}, task('a'), 'one')).toMatchObject({ stay: false, rule: 'one' })
  })

  test('states the reason in numbers', () => {
    expect(after({ context: 60_000 }, task('a', { sizeClass: 'large' })).because).toBe(
      '60,000 tokens in the context and up to 124,976 for a large task would pass the compaction point, 167,000',
    )
    expect(after({ context: 100_000 }, task('a')).because).toBe(
      '100,000 tokens in the context, and the smart zone ends at 100,000',
    )
    expect(after({ context: 70_000 }, task('a')).because).toMatch(
      /^the last task: about \$0\.\d\d from a fresh start, \$0\.\d\d from here, where each request reads 70,000 tokens again$/,
    )
    const { price: _unknown, ...unpriced } = warm
    expect(
      decideRotation(unpriced, task('a'), [task('b')], NO_HISTORY, 'forecast').because,
    ).toMatch(
      /^the 2 tasks ahead: about \d+k tokens of input from here, \d+k tokens of input from a fresh start; each request reads 20,000 tokens again$/,
    )
    expect(after({ isWarm: false, context: 70_000 }, task('a')).because).toContain(
      'the cache is cold',
    )
  })
})

describe('a fixed batch', () => {
  const small = (count: number) => Array.from({ length: count }, (_, index) => task(`s${index}`))
  test.each([
    ['takes a fourth small task', small(3), 'small', true],
    ['does not take a fifth', small(4), 'small', false],
    ['counts a medium one twice', [...small(1), task('m', { sizeClass: 'medium' })], 'small', true],
    ['has no room for a medium one after three small ones', small(3), 'medium', false],
    ['is filled by a large one', [task('l', { sizeClass: 'large' })], 'small', false],
    ['has no room for a large one after any other', small(1), 'large', false],
  ] as const)('%s', (_promise, done, sizeClass, stay) => {
    expect(after({ done }, task('a', { sizeClass }), 'fixed')).toMatchObject({
      stay,
      rule: 'batch',
    })
  })

  test('ends after a task that fills more than half of the budget', () => {
    expect(after({ context: 83_500 }, task('a'), 'fixed')).toMatchObject({ stay: true })
    expect(after({ context: 83_501 }, task('a'), 'fixed')).toMatchObject({
      stay: false,
      because: '83,501 tokens in the context are more than 50 % of 167,000',
    })
  })

  test('uses the smart zone where the compaction point is unknown', () => {
    const { point: _unknown, ...pointless } = warm
    expect(
      decideRotation({ ...pointless, context: 50_001 }, task('a'), [], NO_HISTORY, 'fixed'),
    ).toMatchObject({
      stay: false,
      rule: 'batch',
    })
  })

  test('can be configured', () => {
    const settings = { ...DEFAULT_PLAN, batch: { places: 6, small: 2, medium: 3, leaveAbove: 0.1 } }
    expect(decideRotation(warm, task('a'), [], NO_HISTORY, 'fixed', settings).stay).toBe(false)
    const later = { ...settings, batch: { ...settings.batch, leaveAbove: 0.9 } }
    expect(
      decideRotation({ ...warm, done: small(2) }, task('a'), [], NO_HISTORY, 'fixed', later).stay,
    ).toBe(true)
    expect(
      decideRotation({ ...warm, done: small(3) }, task('a'), [], NO_HISTORY, 'fixed', later).stay,
    ).toBe(false)
  })
})

/** Every split of the order, by brute force. */
function byTrying(
  standing: ConversationLoad,
  tasks: readonly PlannedTask[],
  forecasts: Forecasts,
): { stay: number; leave: number } {
  const from = (at: number, now: ConversationLoad, choice: boolean): number => {
    const next = tasks[at]!
    const forecast = forecasts.bySize[next.sizeClass]
    // The first decision is fixed; the rules apply to the later ones.
    if (choice && at > 0) {
      const { point = Infinity, smartZone, context, done } = now
      if (context + forecast.added.margin > point || context >= smartZone) return Infinity
      if (relationToAll(next, done) === 'unrelated') return Infinity
    }
    const begun = choice ? now : { ...now, context: now.base, done: [], isWarm: false }
    const work = expectedWork(forecast, choice ? undefined : forecasts.weighedStartup)
    const cost = expectedCost(now.price, expectedTokens(work, begun.context, begun.isWarm))
    if (at === tasks.length - 1) return cost
    const then = {
      ...begun,
      context: begun.context + work.added,
      done: [...begun.done, next],
      isWarm: true,
    }
    return cost + Math.min(from(at + 1, then, true), from(at + 1, then, false))
  }
  return { stay: from(0, standing, true), leave: from(0, standing, false) }
}

describe('the cheapest plan', () => {
  test('equals the best of all plans', () => {
    fc.assert(
      fc.property(aStanding, someTasks(8, 1), aHistory, (standing, tasks, history) => {
        const forecasts = forecastsFrom(history)
        const [found, tried] = [
          cheapestCosts(standing, tasks, forecasts),
          byTrying(standing, tasks, forecasts),
        ]
        expect(found.stay / tried.stay).toBeCloseTo(1, 9)
        expect(found.leave / tried.leave).toBeCloseTo(1, 9)
      }),
      { numRuns: 400 },
    )
  })

  test('equals the best of all plans where conversations are short enough to continue', () => {
    const short = aStanding.map((standing) => ({
      ...standing,
      base: 5_000,
      context: 6_000 + (standing.context % 20_000),
      point: 967_000,
    }))
    const smallTasks = someTasks(7, 1).map((tasks) =>
      tasks.map((each) => ({ ...each, sizeClass: 'small' as const })),
    )
    fc.assert(
      fc.property(short, smallTasks, (standing, tasks) => {
        const [found, tried] = [
          cheapestCosts(standing, tasks, NO_HISTORY),
          byTrying(standing, tasks, NO_HISTORY),
        ]
        expect(found.stay / tried.stay).toBeCloseTo(1, 9)
        expect(found.leave / tried.leave).toBeCloseTo(1, 9)
      }),
      { numRuns: 400 },
    )
  })

  test('that continues counts a later task as unrelated to what was done here', () => {
    const order = [task('a'), task('b', { labels: ['docs'] })]
    const [same, other] = ['docs', 'auth'].map((label) =>
      cheapestCosts(
        { ...warm, context: 18_000, done: [task('x', { labels: [label] })] },
        order,
        NO_HISTORY,
      ),
    )
    expect(other!.stay).toBeGreaterThan(same!.stay)
    expect(other!.leave).toBe(same!.leave)
  })

  test('that continues costs more with a longer history or a cold cache; rotating costs the same', () => {
    fc.assert(
      fc.property(aStanding, someTasks(8, 1), fc.nat({ max: 50_000 }), (standing, tasks, more) => {
        const longer = cheapestCosts(
          { ...standing, context: standing.context + more },
          tasks,
          NO_HISTORY,
        )
        const [now, cold, hot] = [
          standing,
          { ...standing, isWarm: false },
          { ...standing, isWarm: true },
        ].map((each) => cheapestCosts(each, tasks, NO_HISTORY))
        expect(longer.stay).toBeGreaterThanOrEqual(now!.stay * (1 - 1e-9))
        expect(longer.leave).toBe(now!.leave)
        expect(cold!.stay).toBeGreaterThanOrEqual(hot!.stay)
        expect(cold!.leave).toBe(hot!.leave)
      }),
      { numRuns: 500 },
    )
  })

  test('never costs less with one more task', () => {
    fc.assert(
      fc.property(aStanding, someTasks(12, 2), (standing, tasks) => {
        const [all, fewer] = [tasks, tasks.slice(0, -1)].map((some) =>
          cheapestCosts(standing, some, NO_HISTORY),
        )
        expect(all!.stay).toBeGreaterThan(fewer!.stay)
        expect(all!.leave).toBeGreaterThan(fewer!.leave)
      }),
    )
  })

  test('for a long backlog looks sixty tasks ahead', () => {
    const tasks = Array.from({ length: 5_000 }, (_, index) => task(`t${index}`))
    expect(cheapestCosts(warm, tasks, NO_HISTORY)).toEqual(
      cheapestCosts(warm, tasks.slice(0, 60), NO_HISTORY),
    )
  })
})

test('never continues a longer conversation where it rotates a shorter one', () => {
  fc.assert(
    fc.property(
      aStanding,
      someTasks(8, 1),
      fc.nat({ max: 50_000 }),
      (standing, [next, ...rest], more) => {
        const begun = {
          ...standing,
          context: standing.base + NO_HISTORY.startup.added + standing.context + 1,
        }
        const shorter = decideRotation(begun, next!, rest, NO_HISTORY, 'forecast')
        const longer = decideRotation(
          { ...begun, context: begun.context + more },
          next!,
          rest,
          NO_HISTORY,
          'forecast',
        )
        if (!shorter.stay) expect(longer.stay).toBe(false)
      },
    ),
    { numRuns: 1_000 },
  )
})
