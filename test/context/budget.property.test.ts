import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  PROJECT_ROOM,
  arrangeContext,
  explainContext,
  packContext,
} from '../../src/context/injected-context.ts'
import { sectionGroups } from '../../src/context/session-sections.ts'
import { estimateTokens } from '../../src/text/tokens.ts'
import type { SessionState } from '../../src/session/state.ts'
import { sweepStory } from '../support/worlds.ts'
import { CONTROLS, anyHuge, anyState } from './any-state.ts'
import { crowdedStory, longStory } from './sessions.ts'
import { realTokens } from './vocabularies.ts'
import { cases } from '../support/cases.ts'

const anyBudget = fc.oneof(
  fc.integer({ min: 300, max: 2500 }),
  fc.integer({ min: 300, max: 20_000 }),
)
const anyProject = fc.option(
  fc.oneof(
    anyHuge,
    fc.array(anyHuge, { maxLength: 40 }).map((lines) => lines.join('\n')),
    fc.array(fc.lorem({ maxCount: 12 }), { maxLength: 40 }).map((lines) => lines.join('\n')),
  ),
  { nil: undefined },
)

function headSize(state: SessionState): number {
  const { intro, head } = sectionGroups(state)
  return intro.length + head.length
}

/** The lines of the stable head. */
function headOf(state: SessionState, budget: number): readonly string[] {
  const { fitted } = arrangeContext(state, { budget })
  return fitted.slice(0, headSize(state)).flatMap(({ lines }) => lines)
}

/** Whether the head shows all its items unshortened. */
function isHeadComplete(state: SessionState, budget: number): boolean {
  const { sections } = explainContext(state, { budget })
  return sections.slice(0, headSize(state)).every(({ told, is_shortened: isShortened }) => {
    return !isShortened && (told === 'all' || told === 'empty')
  })
}

describe('for any session and any budget,', () => {
  test('the context stays within the budget, keeps its fence and marker, and is deterministic', () => {
    fc.assert(
      fc.property(anyState, anyBudget, anyProject, (state, budget, project) => {
        const options = { budget, ...(project === undefined ? {} : { project }) }
        const { text, mark, leftOut } = packContext(state, options)
        expect(estimateTokens(text)).toBeLessThanOrEqual(budget)
        expect(text.length).toBeLessThanOrEqual(4.5 * budget)
        expect(realTokens(text)).toBeLessThanOrEqual(budget)
        expect(text.match(/<\s*\/?\s*stint-session/gi)).toEqual([
          '<stint-session',
          '</stint-session',
        ])
        expect(text.match(/\[stint:/gi)).toHaveLength(1)
        expect(text.endsWith(`\n[stint:${mark}]\n</stint-session>`)).toBe(true)
        expect(text).not.toMatch(CONTROLS)
        expect(packContext(structuredClone(state), options)).toEqual({ text, mark, leftOut })
      }),
      { numRuns: cases(250) },
    )
  })

  test('name, objective and TL;DR get room before anything else', () => {
    fc.assert(
      fc.property(anyState, anyBudget, (state, budget) => {
        const { sections } = explainContext(state, { budget })
        for (const vital of ['name', 'objective', 'TL;DR']) {
          expect(['all', 'empty']).toContain(
            sections.find(({ section }) => section === vital)!.told,
          )
        }
      }),
      { numRuns: cases(150) },
    )
  })

  test('a head that fits completely has the same bytes within every larger budget', () => {
    let whole = 0
    fc.assert(
      fc.property(anyState, anyBudget, anyBudget, (state, one, other) => {
        const [smaller, larger] = one < other ? [one, other] : [other, one]
        if (!isHeadComplete(state, smaller)) return
        whole += 1
        expect(headOf(state, larger)).toEqual(headOf(state, smaller))
      }),
      { numRuns: cases(200) },
    )
    expect(whole).toBeGreaterThan(20)
  })

  test('the project section takes no room from the session and stays within its own', () => {
    fc.assert(
      fc.property(anyState, anyBudget, anyHuge, (state, budget, line) => {
        const project = `Project: something\n${line}\nCommands:\n- test: npm test`
        const without = arrangeContext(state, { budget })
        const { fitted } = arrangeContext(state, { budget, project })
        expect(fitted.slice(0, -1).map(({ lines }) => lines)).toEqual(
          without.fitted.map(({ lines }) => lines),
        )
        expect(fitted.at(-1)!.cost).toBeLessThanOrEqual(PROJECT_ROOM)
      }),
      { numRuns: cases(150) },
    )
  })

  test('a project text of any length stays within its room, and the context within its budget', () => {
    const { state } = sweepStory()
    const project = Array.from(
      { length: 60 },
      (_, n) => `- thing ${n}: \`make thing-${n}\` with care`,
    ).join('\n')
    for (let budget = 300; budget < 1600; budget += 1) {
      const options = { budget, project }
      expect(estimateTokens(packContext(state, options).text)).toBeLessThanOrEqual(budget)
      expect(arrangeContext(state, options).fitted.at(-1)!.cost).toBeLessThanOrEqual(PROJECT_ROOM)
    }
  })

  test('the explanation adds up to the text and accounts for every item', () => {
    fc.assert(
      fc.property(anyState, anyBudget, anyProject, (state, budget, project) => {
        const options = {
          budget,
          ...(project === undefined ? {} : { project }),
        }
        const { text } = packContext(state, options)
        const { tokens, around, sections } = explainContext(state, options)
        expect(tokens).toBe(around + sections.reduce((sum, section) => sum + section.tokens, 0))
        expect(tokens).toBe(estimateTokens(text))
        expect(around).toBeGreaterThan(0)
        expect(tokens).toBeLessThanOrEqual(budget)
        for (const {
          shown,
          count,
          left_out: leftOut,
          why,
          command,
          is_shortened: isShortened,
        } of sections) {
          expect(shown + leftOut).toBe(count)
          expect(why !== undefined).toBe(leftOut > 0 || isShortened)
          expect(command !== undefined).toBe(why !== undefined)
        }
      }),
      { numRuns: cases(150) },
    )
  })
})

describe('a larger budget', () => {
  test('shows more, until everything is shown', () => {
    const { state } = crowdedStory()
    const sizes = [300, 600, 1200, 2000, 4000, 8000].map(
      (budget) => packContext(state, { budget }).text.length,
    )
    expect(sizes.toSorted((a, b) => a - b)).toEqual(sizes)
    expect(new Set(sizes).size).toBe(sizes.length)
    expect(packContext(longStory().state, { budget: 20_000 }).leftOut).toEqual([])
  })

  test('shows the whole project section if there is room, and otherwise says what it left out', () => {
    const project = [
      'Project: p',
      'Commands:',
      ...Array.from({ length: 20 }, (_, n) => `- step ${n}: make the thing number ${n}`),
    ].join('\n')
    const within = (budget: number) => packContext(sweepStory().state, { budget, project })
    expect(within(2000).text).toContain(`The project, as read from its repository:\n${project}\n`)
    expect(within(2000).leftOut).toEqual([])
    expect(within(520).text).toMatch(
      /\nProject: p\n(?:.*\n)+Left out here, shown by: stint project \(lines on the project \d+\)\n/,
    )
    expect(within(300).leftOut).toContainEqual('stint project (lines on the project 22)')
  })
})
