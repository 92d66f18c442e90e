import { beforeAll, describe, expect, test } from 'vitest'
import type { StudyArm, Sensitivity, Study } from '../../src/cli/study/study.ts'
import type { ArmName, StudyComplexity } from '../../src/cli/study/parameters.ts'
import type { ArmFigures } from '../../src/cli/study/sample-sessions.ts'
import { REAL_TOKENS } from '../../src/cli/study/study.ts'
import { PAGES, countedPages, readPage, publishedStudy } from './pages.ts'

// The published figures of the study, each with its printed precision.

let study: Study
let sensitivity: Sensitivity

beforeAll(async () => {
  const published = await publishedStudy()
  study = published.study
  sensitivity = published.sensitivity
})

const arm = (name: ArmName): StudyArm => study.arms.find((one) => one.name === name)!
const figures = (name: ArmName): ArmFigures => arm(name).figures
const share = (value: number) => (value * 100).toFixed(1)
const relativeChangeOf = (name: ArmName, of: (figures: ArmFigures) => number) =>
  share(of(figures(name)) / of(figures('none')) - 1)

describe('the study with its own seed', () => {
  test('reproduces the published tokens, writes and calls', () => {
    expect(
      ['none', 'session-json', 'plan-once'].map((name) =>
        figures(name as ArmName).tokens.toFixed(0),
      ),
    ).toEqual(['3184', '7468', '4085'])
    expect(
      ['none', 'session-json', 'plan-once'].map((name) =>
        figures(name as ArmName).writes.toFixed(1),
      ),
    ).toEqual(['2.0', '13.8', '3.0'])
    expect(
      ['none', 'session-json', 'plan-once'].map((name) =>
        figures(name as ArmName).apiCalls.toFixed(1),
      ),
    ).toEqual(['24.7', '39.5', '27.7'])
    expect(
      ['none', 'session-json'].map((name) =>
        Math.round(figures(name as ArmName).totalTokens / 1e6),
      ),
    ).toEqual([318, 747])
    expect(
      Math.round((figures('session-json').totalTokens - figures('none').totalTokens) / 1e6),
    ).toBe(428)
  })

  test('reproduces the published times', () => {
    expect(
      ['none', 'session-json'].map((name) => figures(name as ArmName).minutes.p50.toFixed(1)),
    ).toEqual(['16.8', '16.9'])
    expect(relativeChangeOf('session-json', ({ minutes }) => minutes.p50)).toBe('0.2')
  })

  test('reproduces the published cognitive load, traceability and success', () => {
    const arms = ['none', 'session-json', 'plan-once'] as const
    expect(arms.map((name) => share(figures(name).cognitiveLoad))).toEqual(['43.8', '50.7', '46.8'])
    expect(arms.map((name) => share(figures(name).traceability))).toEqual(['87.0', '92.0', '93.0'])
    expect(arms.map((name) => share(figures(name).success))).toEqual(['87.9', '85.3', '88.2'])
    expect(figures('none').success).toBe(0.87942)
    expect(figures('session-json').success).toBe(0.8526)
  })

  test('reproduces the published changes', () => {
    expect(Number(relativeChangeOf('session-json', ({ writes }) => writes)).toFixed(0)).toBe('589')
    expect(relativeChangeOf('session-json', ({ tokens }) => tokens)).toBe('134.5')
    expect(relativeChangeOf('session-json', ({ apiCalls }) => apiCalls)).toBe('59.9')
    expect(relativeChangeOf('session-json', ({ cognitiveLoad }) => cognitiveLoad)).toBe('15.9')
    expect(relativeChangeOf('session-json', ({ traceability }) => traceability)).toBe('5.7')
    expect(relativeChangeOf('session-json', ({ success }) => success)).toBe('-3.0')
    expect(relativeChangeOf('plan-once', ({ tokens }) => tokens)).toBe('28.3')
  })

  test('reproduces each published failure count', () => {
    const failures = ({ stale, conflicts, unreadable }: ArmFigures) => [
      stale,
      conflicts,
      unreadable,
    ]
    expect(failures(figures('none'))).toEqual([0, 0, 0])
    expect(failures(figures('session-json'))).toEqual([8064, 729, 2068])
    expect(failures(figures('plan-once'))).toEqual([763, 0, 196])
  })

  test('reproduces the published breakdown by complexity', () => {
    const rows = (
      ['simple', 'medium', 'complex'] as const satisfies readonly StudyComplexity[]
    ).map((complexity) => {
      const [base, proposed] = [
        arm('none').byComplexity[complexity],
        arm('session-json').byComplexity[complexity],
      ]
      return [
        base.sessions,
        base.tokens.toFixed(0),
        proposed.tokens.toFixed(0),
        share(base.success),
        share(proposed.success),
      ]
    })
    expect(rows).toEqual([
      [34_817, '2240', '4339', '94.9', '92.7'],
      [45_230, '3200', '7552', '88.1', '85.7'],
      [19_953, '4796', '12758', '75.4', '71.3'],
    ])
  })

  test('reproduces the published ratios in both forms', () => {
    expect(arm('session-json').ratio).toMatchObject({ form: 'first', verdict: 'do not implement' })
    expect(arm('session-json').ratio!.value.toFixed(2)).toBe('129.37')
    expect(arm('plan-once').ratio!.form).toBe('second')
    expect(arm('plan-once').ratio!.value.toFixed(1)).toBe('11.8')
    expect(arm('none').ratio).toBeUndefined()
  })

  test('reproduces the enhanced log column', () => {
    expect(figures('enhanced-log').writes).toBe(2)
    expect(relativeChangeOf('enhanced-log', ({ tokens }) => tokens)).toBe('5.0')
    expect(relativeChangeOf('enhanced-log', ({ cognitiveLoad }) => cognitiveLoad)).toBe('2.0')
    expect(share(figures('enhanced-log').traceability)).toBe('89.0')
    expect(figures('enhanced-log').success).toBe(figures('none').success)
  })
})

describe('the ratio', () => {
  const row = (id: string, name: ArmName) =>
    sensitivity.rows.find((one) => one.id === id)!.arms.find((one) => one.name === name)!

  test('depends on the number of writes for four fifths', () => {
    const [writes, tokens, cognitiveLoad, success] = (
      ['writes', 'tokens', 'cognitiveLoad', 'success'] as const
    ).map((cost) => share(sensitivity.shares.find(({ name }) => name === 'session-json')![cost]))
    expect({ writes, tokens, cognitiveLoad, success }).toEqual({
      writes: '79.3',
      tokens: '18.1',
      cognitiveLoad: '2.1',
      success: '0.4',
    })
    expect(row('writes-only', 'session-json').ratio.toFixed(1)).toBe('102.6')
  })

  test('hardly depends on who writes the file and how', () => {
    const written = row('tool-written', 'session-json')
    expect([written.tokens.toFixed(0), share(written.success), written.ratio.toFixed(1)]).toEqual([
      '3783',
      '87.7',
      '108.7',
    ])
  })
})

describe('the documentation', () => {
  test.each(PAGES)("shows the study's current figures in %s", (page) => {
    // Update with: node scripts/simulation-tables.mjs
    expect(readPage(page)).toBe(countedPages(study, sensitivity)[page])
  })

  test('states the same in the text as in the figures', () => {
    const ratios = (id: string) =>
      Object.fromEntries(
        sensitivity.rows.find((row) => row.id === id)!.arms.map(({ name, ratio }) => [name, ratio]),
      )
    expect(ratios('as-weighed')['enhanced-log']?.toFixed(2)).toBe('3.05')
    expect(ratios('as-weighed')['stint']).toBeGreaterThan(ratios('as-weighed')['session-json']!)
    for (const name of ['session-json', 'plan-once', 'stint'])
      expect(ratios('all')[name]).toBeLessThan(0.8)
    expect(figures('stint').tokens).toBeGreaterThan(2 * figures('none').tokens)
    expect(REAL_TOKENS).toEqual({ simple: 31_000, medium: 66_000, complex: 85_000 })
    expect(((figures('session-json').writes - figures('none').writes) * 0.2).toFixed(1)).toBe('2.4')
    expect(figures('none').minutes.mean.toFixed(1)).toBe('18.6')
  })
})
