import { describe, expect, test } from 'vitest'
import { upperBound } from '../../src/cli/study/parameters.ts'

describe('the upper bound of a rate', () => {
  test('is 3/N when nothing happened', () => {
    expect(upperBound({ happened: 0, trials: 1000 })).toBe(0.003)
    expect(upperBound({ happened: 0, trials: 2 })).toBe(1)
  })

  // Computed separately from the binomial distribution.
  test.each([
    { happened: 1, trials: 10, bound: 0.3942 },
    { happened: 5, trials: 100, bound: 0.1023 },
    { happened: 1, trials: 100_000, bound: 0.0000474 },
    { happened: 900, trials: 1000, bound: 0.9152 },
  ])('is exact for $happened of $trials', ({ happened, trials, bound }) => {
    const digits = bound < 0.001 ? 7 : 4
    expect(upperBound({ happened, trials }).toFixed(digits)).toBe(bound.toFixed(digits))
  })

  test('is 1 when it always happened or was never tried', () => {
    expect(upperBound({ happened: 10, trials: 10 })).toBe(1)
    expect(upperBound({ happened: 0, trials: 0 })).toBe(1)
  })
})
