import { describe, expect, test } from 'vitest'
import { costOfAll } from '../../src/context/text-size.ts'
import { leftOutLines, roomForLeftOut } from '../../src/context/section.ts'

const MANY = Array.from({ length: 40 }, (_, n) => `stint view --part-${n} (things ${n})`)

describe('the list of left-out items', () => {
  test('is one line that stays within its room', () => {
    for (const room of [10, 40, 90]) {
      const lines = leftOutLines(MANY, room)
      expect(lines).toHaveLength(1)
      expect(costOfAll(lines)).toBeLessThanOrEqual(room)
    }
    expect(roomForLeftOut(MANY)).toBe(roomForLeftOut([...MANY, ...MANY]))
  })

  test('takes no line and no room when it is empty', () => {
    expect(leftOutLines([])).toEqual([])
    expect(roomForLeftOut([])).toBe(0)
  })
})
