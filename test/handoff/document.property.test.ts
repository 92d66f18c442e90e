import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { safeLine } from '../../src/text/safe-text.ts'
import { estimateTokens } from '../../src/text/tokens.ts'
import { contentHash, readHandoffFrontmatter } from '../../src/context/handoff/frontmatter.ts'
import {
  HANDOFF_MIN_TOKENS,
  HANDOFF_MAX_TOKENS,
  buildHandoffDocument,
} from '../../src/context/handoff/document.ts'
import { openBlockers } from '../../src/session/state.ts'
import { redact } from '../../src/text/redact.ts'
import { anyFacts } from './any-facts.ts'
import { cases } from '../support/cases.ts'

const anyBound = fc.oneof(
  fc.constant(HANDOFF_MIN_TOKENS),
  fc.constant(3000),
  fc.integer({ min: HANDOFF_MIN_TOKENS, max: HANDOFF_MAX_TOKENS }),
)
const redacted = (text: string) => redact(text).text

/** The lines under a heading. */
function under(text: string, heading: string): readonly string[] {
  const lines = text.split('\n')
  const at = lines.indexOf(`## ${heading}`)
  if (at === -1) return []
  const end = lines.findIndex((line, index) => index > at && line.startsWith('## '))
  return lines.slice(at + 1, end === -1 ? undefined : end).filter((line) => line !== '')
}

/** The first letters of a recorded text, which every shortening keeps. */
const beginningOf = (text: string) => safeLine(text).slice(0, 6)

describe('a handoff of any session and repository', () => {
  test('never exceeds its token limit', () => {
    fc.assert(
      fc.property(anyFacts, anyBound, (facts, tokens) => {
        const made = buildHandoffDocument(facts, { tokens, redact: redacted })
        expect(made.tokens).toBe(estimateTokens(made.text))
        expect(made.tokens).toBeLessThanOrEqual(tokens)
        expect(made.text.length).toBeLessThanOrEqual(4 * tokens)
      }),
      { numRuns: cases(300) },
    )
  })

  test('always has the vital parts, however small the limit', () => {
    fc.assert(
      fc.property(anyFacts, anyBound, (facts, tokens) => {
        const { text } = buildHandoffDocument(facts, { tokens })
        const { state } = facts
        for (const heading of ['Objective', 'Next action', 'Open blockers', 'Uncommitted work']) {
          expect(under(text, heading).length, `${heading} in\n${text}`).toBeGreaterThan(0)
        }
        if (safeLine(state.goal) !== '')
          expect(under(text, 'Objective')[0]).toContain(beginningOf(state.goal))
        const next = state.next.items.find((item) => safeLine(item.text) !== '')
        if (next !== undefined)
          expect(under(text, 'Next action')[0]).toContain(beginningOf(next.text))
        const blocker = openBlockers(state).at(-1)
        if (blocker !== undefined && safeLine(blocker.text) !== '')
          expect(under(text, 'Open blockers').at(-1)).toContain(beginningOf(blocker.text))
        const { kept, paths = [] } = facts.uncommitted
        if (facts.git !== undefined && paths.length > 0) {
          expect(under(text, 'Uncommitted work')[0]).toMatch(
            new RegExp(`^${paths.length} paths? not committed: `),
          )
          if (kept !== undefined) expect(text).toContain('`stint checkpoint restore 435c19 ')
        }
      }),
      { numRuns: cases(300) },
    )
  })

  test('is identical to the byte when created again', () => {
    fc.assert(
      fc.property(anyFacts, anyBound, (facts, tokens) => {
        expect(buildHandoffDocument(facts, { tokens })).toEqual(
          buildHandoffDocument(structuredClone(facts), { tokens }),
        )
      }),
      { numRuns: cases(100) },
    )
  })

  test('created at another time differs only in its times and hash', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const timeless = (text: string) =>
          text.replaceAll(/^(?:created_at|hash): .*$|^- Made \S{16}/gm, '')
        const later = { ...facts, createdAt: '2026-03-04T05:06:07.000Z' }
        expect(timeless(buildHandoffDocument(later).text)).toBe(
          timeless(buildHandoffDocument(facts).text),
        )
      }),
      { numRuns: cases(100) },
    )
  })

  test('carries its own hash, which any change invalidates', () => {
    fc.assert(
      fc.property(anyFacts, fc.nat(), (facts, at) => {
        const { text, hash } = buildHandoffDocument(facts)
        expect(readHandoffFrontmatter(text)).toMatchObject({
          hash,
          number: 3,
          session: facts.state.id,
        })
        expect(contentHash(text)).toBe(hash)
        const lines = text.split('\n')
        const line = at % lines.length
        if (lines[line]!.startsWith('hash: ') || lines[line]!.trim() === '') return
        const changed = lines.with(line, `${lines[line]!}x`).join('\n')
        expect(contentHash(changed)).not.toBe(hash)
        expect(contentHash(lines.toSpliced(line, 1).join('\n'))).not.toBe(hash)
      }),
      { numRuns: cases(200) },
    )
  })

  test('has only the headings of a handoff for any journal', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const { text } = buildHandoffDocument(facts, { tokens: HANDOFF_MAX_TOKENS })
        const [, body] = /^---\n[\s\S]*?\n---\n([\s\S]*)$/.exec(text)!
        const headings = body!.split('\n').filter((line) => line.startsWith('#'))
        expect(headings[0]).toMatch(/^# Handoff 3/)
        expect(headings.slice(1).filter((heading) => !HEADINGS.has(heading))).toEqual([])
        expect(new Set(headings).size).toBe(headings.length)
        expect(body).not.toMatch(/^(?:```|~~~|---|<)/m)
      }),
      { numRuns: cases(200) },
    )
  })
})

const HEADINGS = new Set(
  [
    'Objective',
    'Next action',
    'Open blockers',
    'Uncommitted work',
    'Where things stand',
    'Decisions',
    'Ruled by the user, in their words',
    'Key context',
    'Discoveries and gotchas',
    'Files to review',
    'Verify',
    'Deliverables',
    'Tasks',
    'Commits',
    'Resume commands (shown, never run)',
  ].map((heading) => `## ${heading}`),
)
