import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  ENOUGH_TASKS,
  type FinishedTask,
  NARROWEST,
  PRIORS,
  PRIOR_STARTUP,
  WIDEST,
  forecastsFrom,
  learnedMargin,
  marginOf,
  quantileOf,
  startupCostFrom,
} from '../../src/run/plan/forecast.ts'
import { SIZE_CLASSES, aFinished, aSizeClass, anythingFinished, finished } from './any-plan.ts'

function forecastFor(sizeClass: FinishedTask['sizeClass'], history: readonly FinishedTask[]) {
  return forecastsFrom(history).bySize[sizeClass]
}

const times = (count: number, fields: Partial<FinishedTask>) =>
  Array.from({ length: count }, () => finished(fields))

describe('a forecast', () => {
  test('without a history is the prior', () => {
    for (const sizeClass of SIZE_CLASSES) {
      const { added, from } = forecastFor(sizeClass, [])
      expect(added.middle).toBe(PRIORS[sizeClass].added)
      expect(added.margin).toBe(
        Math.round(PRIORS[sizeClass].added * Math.exp(1.6449 * PRIORS[sizeClass].spread.added)),
      )
      expect(from).toEqual({ source: 'prior', count: 0 })
    }
    expect(forecastsFrom([]).startup).toEqual(PRIOR_STARTUP)
  })

  test('counts as the project’s own once there are enough tasks of the class', () => {
    expect(forecastFor('small', times(ENOUGH_TASKS - 1, {})).from).toEqual({
      source: 'prior',
      count: ENOUGH_TASKS - 1,
    })
    expect(forecastFor('small', times(ENOUGH_TASKS, {})).from).toEqual({
      source: 'history',
      count: ENOUGH_TASKS,
    })
    expect(forecastFor('large', times(ENOUGH_TASKS, {})).from).toEqual({
      source: 'prior',
      count: 0,
    })
  })

  test('converges to what the project’s tasks take', () => {
    const { added, requests, output, seconds } = forecastFor(
      'medium',
      times(60, { sizeClass: 'medium', added: 9_000, requests: 9, output: 700, seconds: 60 }),
    )
    expect(added.middle).toBe(9_000)
    expect(added.margin).toBeLessThan(49_000)
    expect(
      [requests / 9, output / 700, seconds / 60].every((ratio) => ratio > 0.9 && ratio < 1.5),
    ).toBe(true)
  })

  test('of an unseen class follows from the others', () => {
    const twice = forecastFor('large', times(20, { added: 28_000, requests: 48 }))
    expect(twice.added.middle / PRIORS.large.added).toBeGreaterThan(1.5)
    expect(twice.requests).toBeGreaterThan(1.4 * PRIORS.large.requests)
  })

  test('is not distorted by one runaway task', () => {
    const before = forecastFor('small', times(10, {}))
    const after = forecastFor('small', [
      ...times(10, {}),
      finished({ requests: 100_000, seconds: 1e6, output: 1e7 }),
    ])
    expect(after.requests).toBeLessThan(2 * before.requests)
    expect(after.seconds).toBeLessThan(2 * before.seconds)
  })

  test('ignores impossible values in a log', () => {
    const impossible = [
      finished({ added: 0 }),
      finished({ added: 1e12 }),
      finished({ requests: -1 }),
      finished({ seconds: NaN }),
      finished({ sizeClass: 'huge' as 'small' }),
      finished({ sizeClass: 'constructor' as 'small' }),
    ]
    expect(forecastsFrom(Array.from({ length: 20 }, () => impossible).flat())).toEqual(
      forecastsFrom([]),
    )
  })

  test('scales another class by at most four times the table', () => {
    expect(forecastFor('large', times(200, { added: 1e9 })).added.middle).toBe(
      4 * PRIORS.large.added,
    )
  })

  test('is not lowered for other classes by compacted tasks', () => {
    expect(forecastFor('large', times(20, { added: 1_000, wasCompacted: true })).added.middle).toBe(
      PRIORS.large.added,
    )
  })

  test('counts a compacted task as a lower bound', () => {
    fc.assert(
      fc.property(
        fc.array(
          aFinished.map((task) => ({ ...task, wasFirst: false })),
          { maxLength: 30 },
        ),
        aFinished,
        (history, one) => {
          const without = { ...one, wasCompacted: false, wasFirst: false }
          delete (without as { forecast?: number }).forecast
          const whole = forecastFor(one.sizeClass, [...history, without]).added
          const cut = forecastFor(one.sizeClass, [
            ...history,
            { ...without, wasCompacted: true },
          ]).added
          expect(cut.middle).toBeGreaterThanOrEqual(whole.middle)
          expect(cut.margin).toBeGreaterThanOrEqual(whole.margin)
        },
      ),
      { numRuns: 300 },
    )
  })

  test('is finite for any history, and never throws', () => {
    fc.assert(
      fc.property(
        fc.array(anythingFinished, { maxLength: 40 }),
        aSizeClass,
        (history, sizeClass) => {
          const { bySize: of, startup: start } = forecastsFrom(history)
          const { added, requests, output, seconds } = of[sizeClass]
          expect(added.middle).toBeGreaterThan(0)
          expect(added.margin).toBeGreaterThanOrEqual(added.middle)
          for (const figure of [added.margin, requests, output, seconds, ...Object.values(start)]) {
            expect(Number.isFinite(figure) && figure >= 0).toBe(true)
          }
          expect(start.added).toBeLessThanOrEqual(5 * PRIOR_STARTUP.added)
        },
      ),
      { numRuns: 500 },
    )
  })
})

describe('the margin', () => {
  test('stays within its bounds for any history', () => {
    fc.assert(
      fc.property(fc.array(anythingFinished, { maxLength: 100 }), (history) => {
        const margin = learnedMargin(history)
        expect(margin).toBeGreaterThanOrEqual(NARROWEST - 1e-9)
        expect(margin).toBeLessThanOrEqual(WIDEST + 1e-9)
      }),
    )
    expect(learnedMargin(times(1_000, { forecast: 20_000 }))).toBeCloseTo(NARROWEST)
    expect(learnedMargin(times(1_000, { forecast: 1_000 }))).toBeCloseTo(WIDEST)
  })

  test('widens at once after a task that took more or was compacted, and narrows slowly', () => {
    fc.assert(
      fc.property(fc.array(aFinished, { maxLength: 30 }), (history) => {
        const before = learnedMargin(history)
        const exceeded = learnedMargin([...history, finished({ forecast: 10_000 })])
        const compacted = learnedMargin([
          ...history,
          finished({ forecast: 20_000, wasCompacted: true }),
        ])
        const careful = learnedMargin([...history, finished({ forecast: 20_000 })])
        expect(exceeded).toBeCloseTo(Math.min(WIDEST, before * 1.33), 1)
        expect(compacted).toBe(exceeded)
        expect(careful).toBeLessThanOrEqual(before)
        expect(careful).toBeGreaterThan(before * 0.98)
      }),
    )
  })

  test('ignores an invalid forecast', () => {
    for (const forecast of [NaN, 0, -5, Infinity])
      expect(learnedMargin(times(10, { forecast }))).toBe(1)
  })

  test('is never below the median, however narrow', () => {
    const { middle, margin } = forecastFor('small', times(200, { forecast: 20_000 })).added
    expect([middle, margin]).toEqual([14_000, 14_000])
  })

  test('is what the forecast is multiplied by', () => {
    const history = times(10, { sizeClass: 'large', added: 60_000, requests: 80 })
    const plain = forecastFor('large', history).added.margin
    const burnt = history.map((task, index) => (index < 8 ? task : { ...task, forecast: 50_000 }))
    expect(forecastFor('large', burnt).added.margin / plain).toBeCloseTo(learnedMargin(burnt), 2)
  })

  test('of a first task includes the start-up cost', () => {
    const forecasts = forecastsFrom([])
    const medium = { sizeClass: 'medium' } as const
    expect(marginOf(medium, forecasts, true) - marginOf(medium, forecasts, false)).toBe(
      PRIOR_STARTUP.added,
    )
  })

  test('lets one task in twenty exceed it in the long run', () => {
    // A project whose tasks vary far more than the table says: 14,000 times e to the ±1.5.
    let exceeded = 0
    const history: FinishedTask[] = []
    for (let count = 0; count < 1_500; count += 1) {
      const added = Math.round(14_000 * Math.exp(3 * (((count * 0.618_033_988_75) % 1) - 0.5)))
      const forecast = marginOf({ sizeClass: 'small' }, forecastsFrom(history), false)
      if (added > forecast) exceeded += 1
      history.push(finished({ added, forecast }))
    }
    expect(exceeded / 1_500).toBeLessThan(0.08)
    expect(exceeded / 1_500).toBeGreaterThan(0.01)
  })
})

describe('the start-up cost', () => {
  test('is learned from how much more first tasks take', () => {
    const pairs = (count: number) =>
      Array.from({ length: count }, () => [
        finished({ added: 24_000, requests: 54, wasFirst: true }),
        finished(),
      ]).flat()
    const learned = [0, 1, 5, 20, 100].map((count) => startupCostFrom(pairs(count)).expected)
    const added = learned.map((start) => start.added)
    expect(added).toEqual(added.toSorted((a, b) => a - b))
    expect(added.at(-1)).toBeGreaterThan(9_000)
    expect(added.at(-1)).toBeLessThanOrEqual(10_000)
    const start = learned.at(-1)!
    expect(start.requests).toBeGreaterThan(27)
    expect(start.seconds / PRIOR_STARTUP.seconds).toBeCloseTo(
      start.requests / PRIOR_STARTUP.requests,
    )
  })

  test('stays the prior while every task was a first one', () => {
    expect(startupCostFrom(times(50, { wasFirst: true, added: 90_000 })).expected).toEqual(
      PRIOR_STARTUP,
    )
  })

  test('is not learned from compacted tasks', () => {
    const cut = times(50, { wasFirst: true, added: 150_000, requests: 300, wasCompacted: true })
    expect(startupCostFrom([...cut, ...times(50, {})]).expected).toEqual(PRIOR_STARTUP)
  })

  test('is weighed higher than expected, less so the more is known', () => {
    const doubts = [0, 1, 5, 20, 100].map((count) => {
      const { expected, weighed } = startupCostFrom([
        ...times(count, { wasFirst: true, added: 19_000, requests: 36 }),
        ...times(count, {}),
      ])
      return [weighed.added - expected.added, weighed.requests - expected.requests]
    })
    for (const each of [0, 1]) {
      const doubt = doubts.map((pair) => pair[each]!)
      expect(doubt.every((value) => value > 0)).toBe(true)
      expect(doubt).toEqual(doubt.toSorted((a, b) => b - a))
    }
  })

  test('is not counted as part of the class', () => {
    const [first, later] = [times(40, { wasFirst: true, added: 19_000 }), times(40, {})]
    expect(forecastFor('small', first).added.middle).toBeCloseTo(
      forecastFor('small', later).added.middle,
      -3,
    )
  })
})

describe('a quantile', () => {
  const exactly = (value: number) => ({ value, weight: 1, isAtLeast: false })
  const atLeast = (value: number) => ({ value, weight: 1, isAtLeast: true })
  test.each([
    [[1, 2, 3, 4].map(exactly), 0.5, 2],
    [[1, 2, 3, 4].map(exactly), 0.51, 3],
    [[1, 2, 3, 4].map(exactly), 1, 4],
    [[exactly(1), atLeast(2), exactly(3), exactly(4)], 0.5, 3],
    [[exactly(1), atLeast(2)], 0.95, 2],
    [[atLeast(7)], 0.5, 7],
    [[], 0.5, 0],
  ])('of %j at %d is %d', (samples, share, expected) => {
    expect(quantileOf(samples, share)).toBe(expected)
  })
})
