import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { truncate, displayWidth, painter } from '../../../src/cli/print/terminal/layout.ts'
import { awkwardText } from './awkward.ts'

describe('a text on a terminal', () => {
  test.each([
    ['abc', 3],
    ['', 0],
    ['会話', 4],
    ['é', 1],
    ['e\u0301', 1],
    ['👍', 2],
    ['⚠️', 2],
    ['█░┃╎─…·✓✗', 9],
    ['한국어', 6],
    ['ﾊﾝｶｸ', 4],
  ])('%j takes %i columns', (text, width) => {
    expect(displayWidth(text)).toBe(width)
  })

  test('takes no more columns in colour', () => {
    expect(displayWidth(painter(true)('red', 'red'))).toBe(3)
  })

  test('is truncated between characters, with an ellipsis', () => {
    expect(truncate('abcdef', 4)).toBe('abc…')
    expect(truncate('会話を続ける', 5)).toBe('会話…')
    expect(truncate('会話を続ける', 6)).toBe('会話…')
    expect(truncate('ae\u0301bc', 3)).toBe('ae\u0301…')
    expect(truncate('short', 5)).toBe('short')
    expect(truncate('x', 0)).toBe('')
  })

  test('is never wider than the limit for any text', () => {
    fc.assert(
      fc.property(awkwardText, fc.nat({ max: 40 }), (text, columns) => {
        expect(displayWidth(truncate(text, columns))).toBeLessThanOrEqual(columns)
      }),
    )
  })
})
