import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findMarker, deliveryMarker } from '../../src/context/fence.ts'
import { packContext, textForSummariser } from '../../src/context/injected-context.ts'
import { lineForPerson } from '../../src/context/person-line.ts'
import { contentWords, looksUnrelated } from '../../src/context/intent/unrelated-work.ts'
import { estimateTokens } from '../../src/text/tokens.ts'
import { CONTROLS, anyState } from './any-state.ts'
import { realTokens } from './vocabularies.ts'
import { cases } from '../support/cases.ts'

describe('for any session,', () => {
  test('the context keeps both limits, its fence and its marker, and is deterministic', () => {
    fc.assert(
      fc.property(anyState, (state) => {
        const { text, mark, leftOut } = packContext(state)
        expect(text.length).toBeLessThanOrEqual(9000)
        expect(estimateTokens(text)).toBeLessThanOrEqual(2000)
        expect(realTokens(text)).toBeLessThanOrEqual(2000)

        const lines = text.split('\n')
        expect(text.match(/<\s*\/?\s*stint-session/gi)).toEqual([
          '<stint-session',
          '</stint-session',
        ])
        expect(lines[0]).toMatch(/^<stint-session name="[a-z0-9-]+">$/)
        expect(lines.at(-1)).toBe('</stint-session>')
        expect(text.match(/\[stint:/gi)).toHaveLength(1)
        expect(lines.at(-2)).toBe(`[stint:${mark}]`)
        expect(deliveryMarker(lines.slice(0, -2).join('\n'))).toBe(mark)
        expect(findMarker(text)).toBe(mark)

        expect(text).not.toMatch(CONTROLS)
        expect(text.isWellFormed()).toBe(true)
        expect(leftOut.every((part) => /^stint view(?: --[a-z]+)? \(.+\)$/.test(part))).toBe(true)
        expect(packContext(structuredClone(state))).toEqual({ text, mark, leftOut })
      }),
      { numRuns: cases(250) },
    )
  })

  test('the text for a summariser keeps both limits and has no fence and no marker', () => {
    fc.assert(
      fc.property(anyState, (state) => {
        const text = textForSummariser(state, { compaction: 3 })
        expect(text.length).toBeLessThanOrEqual(9000)
        expect(estimateTokens(text)).toBeLessThanOrEqual(2000)
        expect(realTokens(text)).toBeLessThanOrEqual(2000)
        expect(text).not.toMatch(/<\s*\/?\s*stint|\[\s*stint\s*:/i)
        expect(text).not.toMatch(CONTROLS)
        expect(text).toMatch(
          /^💾 Pre-Compaction Checkpoint\nSession: .*\nCompaction: #3\n\n## TL;DR\n/,
        )
        expect(textForSummariser(structuredClone(state), { compaction: 3 })).toBe(text)
      }),
      { numRuns: cases(150) },
    )
  })

  test('the status line for the user is one short line', () => {
    fc.assert(
      fc.property(anyState, (state) => {
        const line = lineForPerson(state)
        expect(line.length).toBeLessThanOrEqual(200)
        expect(line).not.toMatch(CONTROLS)
        expect(line).not.toContain('\n')
        expect(line).toMatch(/^📋 \S.* · \/session-resume for all of it$/u)
      }),
      { numRuns: cases(150) },
    )
  })

  test('a prompt made of its own words never counts as unrelated', () => {
    fc.assert(
      fc.property(anyState, fc.lorem({ maxCount: 20 }), (state, words) => {
        const own = `${state.goal} ${state.title} ${state.name}`
        fc.pre(contentWords(own).size > 0)
        expect(looksUnrelated(`Add ${own} ${words}`, state)).toBe(false)
      }),
      { numRuns: cases(100) },
    )
  })
})
