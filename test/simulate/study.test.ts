import { beforeAll, describe, expect, test } from 'vitest'
import type { StudyArm, Sensitivity, Study } from '../../src/cli/study/study.ts'
import type { ArmName, StudyComplexity } from '../../src/cli/study/parameters.ts'
import type { ArmFigures } from '../../src/cli/study/draw.ts'
import { REAL_TOKENS } from '../../src/cli/study/study.ts'
import { PAGES, countedPages, pageNow, publishedStudy } from './pages.ts'

// The published figures of the study, each to the digit it was printed with.

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
const more = (name: ArmName, of: (figures: ArmFigures) => number) =>
  share(of(figures(name)) / of(figures('none')) - 1)

describe('the study, drawn with its seed', () => {
  test('has the tokens, writes and calls that were published', () => {
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

  test('has the times that were published', () => {
    expect(
      ['none', 'session-json'].map((name) => figures(name as ArmName).minutes.p50.toFixed(1)),
    ).toEqual(['16.8', '16.9'])
    expect(more('session-json', ({ minutes }) => minutes.p50)).toBe('0.2')
  })

  test('has the cognitive load, traceability and success that were published', () => {
    const arms = ['none', 'session-json', 'plan-once'] as const
    expect(arms.map((name) => share(figures(name).cognitiveLoad))).toEqual(['43.8', '50.7', '46.8'])
    expect(arms.map((name) => share(figures(name).traceability))).toEqual(['87.0', '92.0', '93.0'])
    expect(arms.map((name) => share(figures(name).success))).toEqual(['87.9', '85.3', '88.2'])
    expect(figures('none').success).toBe(0.87942)
    expect(figures('session-json').success).toBe(0.8526)
  })

  test('has the changes that were published', () => {
    expect(Number(more('session-json', ({ writes }) => writes)).toFixed(0)).toBe('589')
    expect(more('session-json', ({ tokens }) => tokens)).toBe('134.5')
    expect(more('session-json', ({ apiCalls }) => apiCalls)).toBe('59.9')
    expect(more('session-json', ({ cognitiveLoad }) => cognitiveLoad)).toBe('15.9')
    expect(more('session-json', ({ traceability }) => traceability)).toBe('5.7')
    expect(more('session-json', ({ success }) => success)).toBe('-3.0')
    expect(more('plan-once', ({ tokens }) => tokens)).toBe('28.3')
  })

  test('has the failures that were published, one by one', () => {
    const failures = ({ stale, conflicts, unreadable }: ArmFigures) => [
      stale,
      conflicts,
      unreadable,
    ]
    expect(failures(figures('none'))).toEqual([0, 0, 0])
    expect(failures(figures('session-json'))).toEqual([8064, 729, 2068])
    expect(failures(figures('plan-once'))).toEqual([763, 0, 196])
  })

  test('has the breakdown by complexity that was published', () => {
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

  test('has the ratios that were published, each in its form', () => {
    expect(arm('session-json').ratio).toMatchObject({ form: 'first', verdict: 'do not implement' })
    expect(arm('session-json').ratio!.value.toFixed(2)).toBe('129.37')
    expect(arm('plan-once').ratio!.form).toBe('second')
    expect(arm('plan-once').ratio!.value.toFixed(1)).toBe('11.8')
    expect(arm('none').ratio).toBeUndefined()
  })

  test('has the column of the enhanced log', () => {
    expect(figures('enhanced-log').writes).toBe(2)
    expect(more('enhanced-log', ({ tokens }) => tokens)).toBe('5.0')
    expect(more('enhanced-log', ({ cognitiveLoad }) => cognitiveLoad)).toBe('2.0')
    expect(share(figures('enhanced-log').traceability)).toBe('89.0')
    expect(figures('enhanced-log').success).toBe(figures('none').success)
  })
})

describe('what the ratio depends on', () => {
  const row = (id: string, name: ArmName) =>
    sensitivity.rows.find((one) => one.id === id)!.arms.find((one) => one.name === name)!

  test('is the number of writes, for four fifths', () => {
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

  test('is hardly who writes the file, and how', () => {
    const written = row('tool-written', 'session-json')
    expect([written.tokens.toFixed(0), share(written.success), written.ratio.toFixed(1)]).toEqual([
      '3783',
      '87.7',
      '108.7',
    ])
  })
})

describe('the pages on it', () => {
  test.each(PAGES)('show in %s what the study says now', (page) => {
    // node scripts/simulation-tables.mjs puts it there.
    expect(pageNow(page)).toBe(countedPages(study, sensitivity)[page])
  })

  test('say in words what the figures say', () => {
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
