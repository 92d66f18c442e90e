import { describe, expect, test } from 'vitest'
import {
  durationBetween,
  timeForFileName,
  formatToMinute,
  formatToSecond,
} from '../../src/text/times.ts'

describe('times', () => {
  test('a time is shown in UTC with the precision it needs', () => {
    const time = '2025-01-15T12:30:00.000+02:00'
    expect(formatToMinute(time)).toBe('2025-01-15T10:30')
    expect(formatToSecond(time)).toBe('2025-01-15T10:30:00Z')
    expect(timeForFileName(time)).toBe('2025-01-15T10-30-00-000Z')
  })

  test('a time that cannot be parsed becomes a safe placeholder', () => {
    for (const show of [formatToMinute, formatToSecond, timeForFileName])
      expect(show('../../etc')).toBe('unknown-time')
  })

  test.each([
    ['2025-01-15T10:00:30Z', 'less than a minute'],
    ['2025-01-15T09:00:00Z', 'less than a minute'],
    ['2025-01-15T10:01:59Z', '1 minute'],
    ['2025-01-15T10:12:00Z', '12 minutes'],
    ['2025-01-15T11:00:00Z', '1 hour'],
    ['2025-01-15T13:20:00Z', '3 hours 20 minutes'],
    ['2025-01-17T10:30:00Z', '2 days'],
    ['2025-01-18T11:00:00Z', '3 days 1 hour'],
    ['soon', 'an unknown time'],
  ])('from ten o’clock to %s it is %s', (to, words) => {
    expect(durationBetween('2025-01-15T10:00:00Z', to)).toBe(words)
  })
})
