import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type CrossedThresholds,
  DEFAULT_BUDGET,
  type BudgetThreshold,
  SMART_ZONE,
  type ContextFill,
  crossThresholds,
  crossingKey,
  findStageError,
  nextStage,
  compactionPercent,
  stageAction,
  stageReached,
  tokensAt,
} from '../../src/context/budget/stages.ts'

/** Sizes that jump, go back, repeat and are sometimes missing. */
const anyFill: fc.Arbitrary<ContextFill> = fc.record({
  tokens: fc.option(fc.nat({ max: 220_000 }), { nil: undefined }),
  point: fc.option(fc.constantFrom(155_000, 167_000, 200_000), { nil: undefined, freq: 6 }),
})
const windows = fc.array(fc.array(anyFill, { maxLength: 25 }), { minLength: 1, maxLength: 5 })
const stages = fc.constantFrom([75, 85, 90], [50], [1, 100], [120_000, 140_000, 150_000])

describe('the stages of a window', () => {
  test('are each crossed once however the size changes, and again after a compaction', () => {
    fc.assert(
      fc.property(windows, stages, (all, each) => {
        const settings = { stages: each, smartZone: 100_000 }
        let crossed: CrossedThresholds | undefined
        for (const [index, figures] of all.entries()) {
          const seen: BudgetThreshold[] = []
          for (const now of figures) {
            const step = crossThresholds(now, `window ${index}`, crossed, settings)
            crossed = step.crossed
            seen.push(...step.newly)
            if (now.tokens === undefined) expect(step.newly).toEqual([])
          }
          expect(seen).toEqual([...new Set(seen)])
          const reached = each.filter((stage) =>
            figures.some(
              ({ tokens, point }) => (tokens ?? -1) >= (tokensAt(stage, point) ?? Infinity),
            ),
          )
          expect(seen.filter((line) => line !== SMART_ZONE).toSorted()).toEqual(reached.toSorted())
          expect(seen.includes(SMART_ZONE)).toBe(
            figures.some(({ tokens }) => (tokens ?? 0) >= 100_000),
          )
        }
      }),
      { numRuns: 500 },
    )
  })

  test('come in order when one jump crosses several', () => {
    const { newly, crossed } = crossThresholds(
      { tokens: 160_000, point: 167_000 },
      'w',
      undefined,
      DEFAULT_BUDGET,
    )
    expect(newly).toEqual([SMART_ZONE, 75, 85, 90])
    expect(
      crossThresholds({ tokens: 166_000, point: 167_000 }, 'w', crossed, DEFAULT_BUDGET).newly,
    ).toEqual([])
    expect(
      crossThresholds({ tokens: 30_000, point: 167_000 }, 'next', crossed, DEFAULT_BUDGET).newly,
    ).toEqual([])
    expect(
      crossThresholds({ tokens: 126_000, point: 167_000 }, 'next', crossed, DEFAULT_BUDGET).newly,
    ).toEqual([SMART_ZONE, 75])
  })

  test('are percentages of the compaction point, not of the window', () => {
    // 75% of a window of 200,000 is already 90% of the compaction point.
    expect(compactionPercent({ tokens: 150_300, point: 167_000 })).toBe(90)
    expect(tokensAt(75, 167_000)).toBe(125_250)
    expect(stageReached({ tokens: 125_249, point: 167_000 }, DEFAULT_BUDGET)).toBeUndefined()
    expect(stageReached({ tokens: 125_250, point: 167_000 }, DEFAULT_BUDGET)).toBe(75)
  })

  test('are not crossed while the compaction point is unknown, though the smart zone can be', () => {
    expect(crossThresholds({ tokens: 500_000 }, 'w', undefined, DEFAULT_BUDGET).newly).toEqual([
      SMART_ZONE,
    ])
    expect(compactionPercent({ tokens: 500_000 })).toBeUndefined()
    expect(nextStage({ tokens: 500_000 }, DEFAULT_BUDGET)).toBeUndefined()
  })

  test('can be tokens, which need no compaction point', () => {
    const settings = { ...DEFAULT_BUDGET, stages: [120_000, 150_000] }
    expect(stageReached({ tokens: 130_000 }, settings)).toBe(120_000)
    expect(nextStage({ tokens: 130_000 }, settings)).toEqual({ stage: 150_000, left: 20_000 })
    expect([stageAction(120_000, settings), stageAction(150_000, settings)]).toEqual([
      'warn',
      'suggest',
    ])
  })

  test('have one key per crossing, conversation and window', () => {
    const names = ['a', 'b'].flatMap((conversation) =>
      ['w1', 'w2'].flatMap((window) =>
        [75, 85, SMART_ZONE].map((line) =>
          crossingKey(conversation, window, line as BudgetThreshold),
        ),
      ),
    )
    expect(new Set(names).size).toBe(12)
  })
})

describe('invalid stages', () => {
  test.each<[string, readonly number[]]>([
    ['none', []],
    ['too many', [10, 20, 30, 40]],
    ['out of order', [85, 75, 90]],
    ['twice the same', [75, 75]],
    ['percentages and tokens', [75, 150_000]],
    ['nothing', [0, 75]],
    ['not a number', [Number.NaN]],
  ])('are refused: %s', (_what, stages) => {
    expect(findStageError(stages)).toBeTypeOf('string')
  })

  test('do not include the defaults', () => {
    expect(findStageError(DEFAULT_BUDGET.stages)).toBeUndefined()
    expect(findStageError([120_000, 150_000])).toBeUndefined()
  })
})
