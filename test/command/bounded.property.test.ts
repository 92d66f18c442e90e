import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { estimateTokens } from '../../src/text/tokens.ts'
import { DIGEST_MIN_TOKENS, composeDigest } from '../../src/command/digest/compose-digest.ts'
import { OutputReader } from '../../src/command/digest/output-reader.ts'
import { realTokens } from '../context/vocabularies.ts'
import { outputOf, outputsOf } from './fixtures.ts'
import { cases } from '../support/cases.ts'

const lines = (['recorded', 'written'] as const).flatMap((origin) =>
  outputsOf(origin).flatMap((name) => outputOf(origin, name).split('\n')),
)

/** Random bytes, lines of any tools in any order, and common words. */
const anyOutput = fc.oneof(
  {
    weight: 2,
    arbitrary: fc
      .uint8Array({ maxLength: 3000, size: 'max' })
      .map((bytes) => Buffer.from(bytes).toString('utf8')),
  },
  {
    weight: 1,
    arbitrary: fc
      .uint8Array({ maxLength: 3000, size: 'max' })
      .map((bytes) => Buffer.from(bytes).toString('latin1')),
  },
  {
    weight: 4,
    arbitrary: fc
      .array(fc.constantFrom(...lines), { maxLength: 400, size: 'max' })
      .map((some) => some.join('\n')),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 4000, size: 'max' }) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(' ', '\r', '\u001B[31m', 'é', '错', '🚀', 'a')
      .map((unit) => unit.repeat(100_000)),
  },
)

describe('for any output', () => {
  test('the digest stays within its token limit, whatever was run and printed', () => {
    const anyWords = fc.string({ unit: 'grapheme', maxLength: 500, size: 'max' })
    fc.assert(
      fc.property(
        fc.array(anyOutput, { maxLength: 3 }),
        anyWords,
        fc.option(anyWords, { nil: undefined }),
        fc.integer({ min: DIGEST_MIN_TOKENS, max: 1500 }),
        fc.nat({ max: 255 }),
        (pieces, command, label, tokens, exitCode) => {
          const reader = new OutputReader('/home/me')
          for (const piece of pieces) reader.add(piece)
          const ended = {
            command,
            exitCode,
            seconds: 12_345.6,
            bytes: 10 ** 12,
            ...(label === undefined ? {} : { label }),
          }
          const pointer = {
            id: '1a2b3c4d',
            path: `/very/long${'/path'.repeat(30)}/1a2b3c4d5e6f7a8b.txt`,
            recordedIn: 'a'.repeat(40),
          }
          const { text } = composeDigest(ended, reader.finish(), pointer, tokens)
          expect(estimateTokens(`${text}\n`)).toBeLessThanOrEqual(tokens)
          expect(realTokens(`${text}\n`)).toBeLessThanOrEqual(tokens)
          expect(text).toContain('1a2b3c4d')
          expect(text).toContain(`exit ${exitCode}`)
        },
      ),
      { numRuns: cases(300) },
    )
  })

  test('memory does not grow with its length', () => {
    const reader = new OutputReader()
    for (let piece = 0; piece < 40; piece += 1) reader.add(lines.join('\n'))
    for (let n = 0; n < 5000; n += 1)
      reader.add(`src/${n}.c:${n}:1: error: wrong\nnot ok ${n} - test ${n}\n`)
    reader.add('x'.repeat(5_000_000))
    const reading = reader.finish()
    expect(reading.findings.length).toBeLessThanOrEqual(600)
    expect(JSON.stringify(reading).length).toBeLessThan(1_000_000)
    expect(reading.counts.error).toBeGreaterThan(5000)
    expect(reading.lines).toBeGreaterThan(lines.length * 39)
  })
})
