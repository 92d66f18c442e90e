import { describe, expect, test } from 'vitest'
import { sampled, seriesOf, shortCount } from '../../web/charts/curve-series.ts'

const CURVE = {
  points: [
    { turn: 1, tokens: 10_000 },
    { turn: 2, tokens: 30_000 },
    { turn: 2, tokens: 50_000 },
    { turn: 3, tokens: 20_000 },
  ],
  compactions: [{ turn: 3, tokensBefore: 151_000 }],
  smartZone: 80_000,
  stages: [{ percent: 90, tokens: 139_500 }, { percent: 75, tokens: 116_250 }, { percent: 85 }],
  point: 155_000,
  window: 200_000,
  isPointMeasured: false,
}

describe('the token curve', () => {
  test('spreads several requests of one turn between it and the next', () => {
    expect(seriesOf(CURVE)).toMatchObject({
      x: [1, 2, 2.5, 3],
      y: [10_000, 30_000, 50_000, 20_000],
      most: 50_000,
    })
  })

  test('has reference lines for the smart zone, each known stage and the compaction point, from below', () => {
    expect(seriesOf(CURVE).lines).toEqual([
      { tokens: 80_000, kind: 'smart zone', label: 'smart zone' },
      { tokens: 116_250, kind: 'stage', label: '75%' },
      { tokens: 139_500, kind: 'stage', label: '90%' },
      { tokens: 155_000, kind: 'point', label: 'compacts (estimated)' },
    ])
    expect(seriesOf({ ...CURVE, isPointMeasured: true }).lines.at(-1)?.label).toBe('compacts')
  })

  test('reaches up to the compaction point, and beyond it where the conversation did', () => {
    expect(seriesOf(CURVE).top).toBeGreaterThan(155_000)
    expect(seriesOf({ ...CURVE, points: [{ turn: 1, tokens: 400_000 }] }).top).toBeGreaterThan(
      400_000,
    )
  })

  test('marks compactions with the tokens before them', () => {
    expect(seriesOf(CURVE).compactions).toEqual([{ x: 3, label: 'compacted at 151k' }])
  })

  test('is empty without points', () => {
    expect(seriesOf({ ...CURVE, points: [], compactions: [] })).toMatchObject({
      x: [],
      y: [],
      most: 0,
    })
  })

  test('has a table of limited length with both ends', () => {
    const many = Array.from({ length: 5000 }, (_, index) => index)
    const rows = sampled(many, 200)
    expect([rows.length, rows[0], rows.at(-1)]).toEqual([200, 0, 4999])
    expect(sampled([1, 2], 200)).toEqual([1, 2])
  })

  test('abbreviates counts', () => {
    expect([0, 950, 1000, 9_940, 12_345, 999_499, 999_500, 12_300_000].map(shortCount)).toEqual([
      '0',
      '950',
      '1k',
      '9.9k',
      '12k',
      '999k',
      '1M',
      '12M',
    ])
  })
})
