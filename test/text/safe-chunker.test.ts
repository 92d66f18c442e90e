import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { redact } from '../../src/text/redact.ts'
import { SafeChunker } from '../../src/text/safe-chunker.ts'

const redacted = (text: string) => redact(text).text
const WINDOW = 4096

function inChunks(text: string, size: number): { text: string; pieces: number } {
  const cuts = new SafeChunker(redacted, WINDOW)
  const pieces: string[] = []
  for (let at = 0; at < text.length; at += size) pieces.push(cuts.push(text.slice(at, at + size)))
  pieces.push(cuts.flush())
  const cut = pieces.filter((piece) => piece !== '')
  return { text: cut.map(redacted).join(''), pieces: cut.length }
}

const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
const key = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n'.repeat(20)}-----END PRIVATE KEY-----`
const assigned = 'password = "correct horse battery staple"'

describe('a text redacted in chunks', () => {
  test('equals the text redacted at once, wherever its secrets and chunks are', () => {
    const filler = fc.constantFrom('a line of the log\n', 'x', 'word ', '\n', '🚀', 'key: value\n')
    const part = fc.oneof(
      {
        weight: 6,
        arbitrary: fc
          .tuple(filler, fc.nat({ max: 400 }))
          .map(([unit, times]) => unit.repeat(times)),
      },
      {
        weight: 2,
        arbitrary: fc.constantFrom(token, key, assigned, `https://me:${'p4ss'.repeat(4)}@host/`),
      },
    )
    const longText = fc
      .array(part, { minLength: 5, maxLength: 30, size: 'max' })
      .map((parts) => parts.join(' '))
    fc.assert(
      fc.property(longText, fc.integer({ min: 1, max: 3000 }), (text, size) => {
        expect(inChunks(text, size).text).toBe(redacted(text))
      }),
      { numRuns: 150 },
    )
  })

  test('holds no secret that crosses a chunk border', () => {
    for (let before = 2900; before < 3200; before += 7) {
      const text = `${'y'.repeat(before)} ${token} ${'z '.repeat(3000)}`
      const { text: clean, pieces } = inChunks(text, 512)
      expect(pieces).toBeGreaterThan(1)
      expect(clean).not.toContain(token.slice(4, 20))
    }
  })

  test('is not buffered forever when it cannot be cut', () => {
    const cuts = new SafeChunker((text) => `[${text.length}]`, WINDOW)
    const taken = Array.from({ length: 100 }, () => cuts.push('a'.repeat(500))).filter(
      (piece) => piece !== '',
    )
    expect(taken.length).toBeGreaterThan(0)
  })
})
