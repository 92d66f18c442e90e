import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { computeParallelShare } from '../../src/run/report.ts'

const stretch = (task: string, from: number, to: number) => ({
  task,
  from: from * 1000,
  to: to * 1000,
})

describe('the parallel share', () => {
  test.each([
    ['is 0 without tasks', [], 0, 0, 0],
    ['is 0 for a single task', [stretch('a', 0, 10)], 10, 0, 0],
    ['is 0 for sequential tasks', [stretch('a', 0, 10), stretch('b', 10, 20)], 20, 0, 0],
    ['is 1 for two parallel tasks', [stretch('a', 0, 10), stretch('b', 2, 8)], 10, 1, 6],
    [
      'counts each task once',
      [stretch('a', 0, 10), stretch('b', 5, 15), stretch('c', 20, 30)],
      35,
      2 / 3,
      -5,
    ],
    ['is 0 for two attempts of one task', [stretch('a', 0, 10), stretch('a', 5, 15)], 15, 0, 5],
    [
      'counts a long task with all short ones beside it',
      [stretch('a', 0, 9), stretch('b', 1, 2), stretch('c', 3, 4)],
      9,
      1,
      2,
    ],
    ['ignores tasks that took no time', [stretch('a', 0, 10), stretch('b', 5, 5)], 10, 0, 0],
  ])('%s', (_what, stretches, seconds, share, saved) => {
    expect(computeParallelShare(stretches, seconds)).toEqual({
      share,
      target: 0.6,
      savedSeconds: saved,
    })
  })

  test('is between 0 and 1 for any intervals', () => {
    const any = fc.record({
      task: fc.constantFrom('a', 'b', 'c', 'd'),
      from: fc.nat(50),
      to: fc.nat(50),
    })
    fc.assert(
      fc.property(fc.array(any), (stretches) => {
        const { share } = computeParallelShare(stretches, 50)
        expect(share).toBeGreaterThanOrEqual(0)
        expect(share).toBeLessThanOrEqual(1)
        // Computed again by brute force, moment by moment.
        const at = (moment: number) =>
          new Set(
            stretches
              .filter(({ from, to }) => from <= moment && moment < to)
              .map(({ task }) => task),
          )
        const beside = new Set(
          Array.from({ length: 50 }, (_, moment) => at(moment)).flatMap((some) =>
            some.size > 1 ? [...some] : [],
          ),
        )
        const tasks = new Set(stretches.map(({ task }) => task)).size
        expect(share).toBe(tasks === 0 ? 0 : beside.size / tasks)
      }),
    )
  })
})
