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

describe('on generated backlogs', () => {
  const figures = figuresOf(FEWER)
  const { planner } = figures.of

  test('a plan costs at most a tenth more than the optimum for the same order and forecasts', () => {
    expect(figures.planOverLeast).toBeLessThanOrEqual(MOST_OVER_LEAST)
    expect(figures.planOverLeast).toBeGreaterThanOrEqual(1 - 1e-6)
  })

  test("a run costs at most a tenth more than a planner that knows every task's real cost", () => {
    expect(planner.overLeast).toBeLessThanOrEqual(MOST_OVER_LEAST)
    expect(planner.overLeast).toBeGreaterThanOrEqual(1 - 1e-6)
  })

  test.each(RIVALS)('%s costs more than the planner', (rival) => {
    expect(figures.of[rival].cost).toBeGreaterThan(planner.cost)
  })

  test('fewer than one task in a hundred is compacted', () => {
    expect(planner.compactions).toBeLessThan(MOST_COMPACTIONS)
  })

  test('the same seeds produce the same numbers', () => {
    expect(figuresOf(5)).toEqual(figuresOf(5))
  })

  test('task sizes are distributed as in the published ledger, except the smallest', () => {
    for (const { ledger, made } of calibration(FEWER)) {
      for (const [index, value] of made.entries()) {
        const ratio = value / ledger[index]!
        expect(Math.abs(Math.log(ratio))).toBeLessThan(Math.log(index === 0 ? 1.5 : 1.25))
      }
    }
  })
})

// Takes seconds, and many more on a busy machine.
test('the tables in the planning docs match the current results', { timeout: 600_000 }, () => {
  expect(planningPage()).toBe(countedPage())
})
