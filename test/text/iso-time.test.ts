import { describe, expect, test } from 'vitest'
import { isoTime } from '../../src/text/times.ts'

const DAY = 86_400_000

describe('an ISO time', () => {
  test('equals toISOString on each day of four hundred years', () => {
    const wrong: number[] = []
    for (let day = Date.UTC(1890, 0, 1); day < Date.UTC(2300, 0, 1); day += DAY) {
      const millis = day + ((Math.abs(day / DAY) * 7_919_113) % DAY)
      if (isoTime(millis) !== new Date(millis).toISOString()) wrong.push(millis)
    }
    expect(wrong).toEqual([])
  })

  test.each([
    0,
    -1,
    1,
    DAY - 1,
    -DAY,
    253_402_300_799_999,
    253_402_300_800_000,
    -62_135_596_800_001,
    8.64e15,
    -8.64e15,
  ])('equals toISOString %i milliseconds from 1970', (millis) => {
    expect(isoTime(millis)).toBe(new Date(millis).toISOString())
  })
})
