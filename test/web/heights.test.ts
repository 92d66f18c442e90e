import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Heights } from '../../web/lists/heights.ts'

test('row positions equal the sum of the measured and estimated heights', () => {
  const changes = fc.array(
    fc.tuple(fc.integer({ min: -40, max: 60 }), fc.integer({ min: 1, max: 500 })),
    { maxLength: 60 },
  )
  fc.assert(
    fc.property(
      fc.integer({ min: -30, max: 10 }),
      fc.integer({ min: 1, max: 70 }),
      changes,
      fc.nat(20_000),
      (first, count, measured, at) => {
        const heights = new Heights(20)
        heights.cover(first, count)
        const plain = Array.from({ length: count }, () => 20)
        for (const [number, height] of measured) {
          const isThere = number >= first && number < first + count
          expect(heights.measure(number, height)).toBe(isThere && plain[number - first] !== height)
          if (isThere) plain[number - first] = height
        }
        const tops = plain.map((_, index) =>
          plain.slice(0, index).reduce((sum, height) => sum + height, 0),
        )
        expect(tops.map((_, index) => heights.topOf(first + index))).toEqual(tops)
        expect(heights.total).toBe(plain.reduce((sum, height) => sum + height, 0))
        expect(heights.rowAt(at)).toBe(
          first +
            Math.max(
              0,
              tops.findLastIndex((top) => top <= at),
            ),
        )
      },
    ),
  )
})

test('rows keep their heights when others are inserted before them', () => {
  const heights = new Heights(10)
  heights.cover(0, 3)
  heights.measure(1, 50)
  heights.cover(-2, 5)
  expect(heights.topOf(1)).toBe(30)
  expect(heights.topOf(2)).toBe(80)
  expect(heights.total).toBe(90)
})
