import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isId, mintId, shortId, timeOfId } from '../../src/journal/ids.ts'

const NOON = Date.UTC(2026, 0, 2, 12)
const anyId = fc
  .tuple(
    fc.integer({ min: 0, max: 2 ** 48 - 2 }),
    fc.integer({ min: 0, max: 0xfff }),
    fc.integer({ min: 0, max: 2 ** 48 - 1 }),
  )
  .map(([millis, counter, tail]) => {
    const time = hex(millis, 12)
    return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(counter, 3)}-8000-${hex(tail, 12)}`
  })

describe('an id', () => {
  test('sorts after the one before it when the clock goes back an hour', () => {
    const clock = [NOON, NOON + 1, NOON + 1, NOON - 3_600_000, NOON - 3_599_999, NOON + 2]
    let last: string | undefined
    const ids = clock.map((now) => (last = mintId(last, now)))
    expect(ids).toEqual(ids.toSorted())
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('sorts after any known id, even if the clock went back', () => {
    fc.assert(
      fc.property(anyId, fc.integer({ min: 0, max: 2 ** 48 - 1 }), (seen, now) => {
        const id = mintId(seen, now)
        expect(isId(id)).toBe(true)
        expect(id > seen).toBe(true)
      }),
    )
  })

  test('keeps its order through ten thousand ids of one millisecond', () => {
    let last = mintId(undefined, NOON)
    for (let n = 0; n < 10_000; n += 1) {
      const id = mintId(last, NOON)
      if (!isId(id) || id <= last) throw new Error(`${id} does not follow ${last}`)
      last = id
    }
    expect(timeOfId(last)! > new Date(NOON).toISOString()).toBe(true)
  })

  test('borrows the next millisecond when the counter is full', () => {
    const full = '0190a000-0000-7fff-8000-000000000001'
    expect(mintId(full, 0).slice(0, 13)).toBe('0190a000-0001')
  })

  test('is still valid after the largest possible id', () => {
    expect(isId(mintId('ffffffff-ffff-7fff-bfff-ffffffffffff', NOON))).toBe(true)
  })

  test('ignores a floor that is not a valid id', () => {
    expect(timeOfId(mintId('zzz', NOON))).toBe(new Date(NOON).toISOString())
  })

  test('has another short id than one minted at the same time', () => {
    const first = mintId(undefined, NOON)
    expect(shortId(mintId(first, NOON))).not.toBe(shortId(first))
  })

  test('contains its time, and none when it is not valid', () => {
    expect(timeOfId(mintId(undefined, NOON))).toBe(new Date(NOON).toISOString())
    expect(timeOfId('task-1')).toBeUndefined()
    expect(timeOfId('ffffffff-ffff-7000-8000-000000000000')).toBe('+010889-08-02T05:31:50.655Z')
  })
})

function hex(value: number, width: number): string {
  return value.toString(16).padStart(width, '0')
}
