import { describe, expect, test } from 'vitest'
import {
  FEWER,
  MOST_COMPACTIONS,
  MOST_OVER_LEAST,
  RIVALS,
  calibration,
  countedPage,
  figuresOf,
  planningPage,
} from './figures.ts'

describe('on made-up backlogs', () => {
  const figures = figuresOf(FEWER)
  const { planner } = figures.of

  test('a plan costs at most a tenth more than the least for the same order and forecasts', () => {
    expect(figures.planOverLeast).toBeLessThanOrEqual(MOST_OVER_LEAST)
    expect(figures.planOverLeast).toBeGreaterThanOrEqual(1 - 1e-6)
  })

  test('working them costs at most a tenth more than the least for one who knows what every task will take', () => {
    expect(planner.overLeast).toBeLessThanOrEqual(MOST_OVER_LEAST)
    expect(planner.overLeast).toBeGreaterThanOrEqual(1 - 1e-6)
  })

  test.each(RIVALS)('%s is dearer than the planner', (rival) => {
    expect(figures.of[rival].cost).toBeGreaterThan(planner.cost)
  })

  test('fewer than one task in a hundred is compacted', () => {
    expect(planner.compactions).toBeLessThan(MOST_COMPACTIONS)
  })

  test('the same seeds give the same figures', () => {
    expect(figuresOf(5)).toEqual(figuresOf(5))
  })

  test('tasks are spread as in the ledger, where they are not the smallest', () => {
    for (const { ledger, made } of calibration(FEWER)) {
      for (const [index, value] of made.entries()) {
        const ratio = value / ledger[index]!
        expect(Math.abs(Math.log(ratio))).toBeLessThan(Math.log(index === 0 ? 1.5 : 1.25))
      }
    }
  })
})

// Some seconds of reckoning, which on a busy machine are many.
test('the tables on the page on planning are those that are made now', { timeout: 600_000 }, () => {
  expect(planningPage()).toBe(countedPage())
})
