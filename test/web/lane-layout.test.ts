import { describe, expect, test } from 'vitest'
import type { LaneBlock } from '../../src/serve/contract.ts'
import { layOutLanes } from '../../web/charts/lane-layout.ts'

const NOW = '2026-03-01T12:00:00.000Z'

describe('the lanes of a run', () => {
  test('draws attempts in proportion to their time, from the first start to the last end', () => {
    const { lanes, seconds } = layOutLanes(
      [lane(block('12:00', '12:10'), block('12:10', '12:40'))],
      NOW,
    )
    expect(seconds).toBe(2400)
    expect(lanes[0]?.blocks.map(({ left, width }) => [left, width])).toEqual([
      [0, 25],
      [25, 75],
    ])
  })

  test('folds a long pause and shows how long it was', () => {
    const { pauses, lanes, seconds } = layOutLanes(
      [lane(block('02:00', '02:10')), lane(block('11:00', '11:10'))],
      NOW,
    )
    expect(pauses).toEqual([{ left: expect.closeTo(48), width: 4, seconds: 8 * 3600 + 50 * 60 }])
    expect(seconds).toBe(1200)
    expect(lanes[1]?.blocks[0]).toMatchObject({
      left: expect.closeTo(52),
      width: expect.closeTo(48),
    })
  })

  test('draws a running attempt up to now', () => {
    const { lanes } = layOutLanes([lane(block('11:00', '11:30'), block('11:30'))], NOW)
    expect(lanes[0]?.blocks[1]).toMatchObject({ left: 50, width: 50 })
  })

  test('keeps an instant or backwards attempt visible and inside the lane', () => {
    const { lanes } = layOutLanes(
      [lane(block('11:00', '11:30'), block('11:30', '11:30'), block('11:20', '11:10'))],
      NOW,
    )
    for (const { left, width } of lanes[0]?.blocks ?? []) {
      expect(width).toBeGreaterThanOrEqual(0.6)
      expect(left + width).toBeLessThanOrEqual(100)
    }
  })

  test('subtracts no time for an attempt that ends before it begins', () => {
    expect(layOutLanes([lane(block('11:00', '11:30'), block('11:40', '11:10'))], NOW).seconds).toBe(
      1800,
    )
  })

  test('has few ticks at round times, without the pauses', () => {
    const { ticks } = layOutLanes(
      [lane(block('02:00', '02:10')), lane(block('11:00', '11:10'))],
      NOW,
    )
    expect(ticks.map(({ seconds }) => seconds)).toEqual([0, 300, 600, 600, 900, 1200])
    expect(layOutLanes([], NOW)).toMatchObject({ ticks: [], seconds: 0 })
  })
})

function lane(...blocks: readonly LaneBlock[]) {
  return { session: 's', name: 'one', blocks }
}

function block(from: string, to?: string): LaneBlock {
  const at = (time: string): string => `2026-03-01T${time}:00.000Z`
  return {
    task: 't',
    attempt: 1,
    startedAt: at(from),
    outcome: 'done',
    ...(to === undefined ? {} : { endedAt: at(to) }),
  }
}
