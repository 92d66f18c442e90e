import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { StintError } from '../../src/journal/errors.ts'
import { phaseLine } from '../../src/session/kinds/phases.ts'
import {
  NINE_PHASES,
  findTemplate,
  listTemplates,
  readTemplate,
  loadTemplate,
  tokenRange,
  tokensText,
} from '../../src/backlog/workflow/templates.ts'
import { scratchFolder } from '../support/scratch.ts'
import { Story } from '../support/worlds.ts'

function mistakesIn(text: string): string {
  try {
    readTemplate(text, 'own.yaml', 'own')
  } catch (error) {
    if (error instanceof StintError && error.code === 'TEMPLATE_INVALID') return error.message
    throw error
  }
  throw new Error(`no mistake was found in:\n${text}`)
}

describe('the built-in template', () => {
  const template = readTemplate(NINE_PHASES, 'nine-phases', 'x')

  test('has nine phases over three conversations, the fifth in RED, GREEN and REFACTOR', () => {
    expect(template.phases.map(({ id, name }) => `${id} ${name}`)).toEqual([
      '1 Requirements',
      '2 Design',
      '3 UI',
      '4 Tests',
      '5 TDD Implementation',
      '6 Review',
      '7 Verify',
      '8 Docs',
      '9 Notify',
    ])
    expect(template.phases[4]!.subPhases?.map(({ id, name }) => `${id} ${name}`)).toEqual([
      '5a TDD RED',
      '5b TDD GREEN',
      '5c TDD REFACTOR',
    ])
    const names = [...new Set(template.phases.map(({ conversation }) => conversation))]
    const used = (name: string | undefined, end: 0 | 1) =>
      template.phases.reduce(
        (sum, { conversation, tokens }) => sum + (conversation === name ? tokens![end] : 0),
        0,
      )
    const sums = names.map((name) => [used(name, 0), used(name, 1)])
    expect(sums).toEqual([
      [50_000, 80_000],
      [80_000, 150_000],
      [40_000, 60_000],
    ])
  })

  test('has a gate between conversations', () => {
    expect(template.phases.filter(({ gate }) => gate === 'approval').map(({ id }) => id)).toEqual([
      '4',
      '5',
    ])
  })

  test('shows progress by the tokens its phases typically use', () => {
    const story = new Story()
    story.add('workflow.begun', { workflow: 'wf-001', name: 'User auth', template })
    const lines = ['2', '5', '5b', '5c', '6', '9'].map((phase) => {
      story.add('phase.entered', { phase })
      return phaseLine(story.state)
    })
    expect(lines).toEqual([
      'Phase 2 - Design (7% complete)',
      'Phase 5a - TDD RED (28% complete)',
      'Phase 5b - TDD GREEN (45% complete)',
      'Phase 5c - TDD REFACTOR (62% complete)',
      'Phase 6 - Review (78% complete)',
      'Phase 9 - Notify (95% complete)',
    ])
  })
})

describe('a custom template', () => {
  test('may set every field or hardly any', () => {
    const text = `name: release
phases:
  - name: Plan
    gate: approval
    tokens: 50-80K
    conversation: 1
    deliverables: [docs/plan.md, "a b.md"]
  - id: build
    name: Build
    conversation: 2
    tokens: 60000
    sub_phases:
      - name: Code
        focus: the least
      - id: t
        name: Test
        deliverables: [report.txt]
`
    expect(readTemplate(text, 'own.yaml', 'own')).toEqual({
      name: 'release',
      phases: [
        {
          id: '1',
          name: 'Plan',
          gate: 'approval',
          tokens: [50_000, 80_000],
          conversation: '1',
          deliverables: ['docs/plan.md', 'a b.md'],
        },
        {
          id: 'build',
          name: 'Build',
          conversation: '2',
          tokens: [60_000, 60_000],
          subPhases: [
            { id: 'builda', name: 'Code', focus: 'the least' },
            { id: 't', name: 'Test', deliverables: ['report.txt'] },
          ],
        },
      ],
    })
    expect(readTemplate('phases: [{name: Only}]', 'own.yaml', 'own')).toEqual({
      name: 'own',
      phases: [{ id: '1', name: 'Only' }],
    })
  })

  test.each([
    ['phases: [', 'own.yaml:1: '],
    ['', 'own.yaml:1: a template has a name and phases'],
    ['- a', 'own.yaml:1: a template has a name and phases'],
    ['name: x', 'own.yaml:1: there are no phases'],
    ['name: x\nphases: none', 'own.yaml:2: phases is a list'],
    ['phases: []', 'own.yaml:1: phases is empty'],
    ['phases:\n  - Plan', 'own.yaml:2: phase 1 is a list of id, name, sub_phases'],
    ['phases:\n  - id: 1', 'own.yaml:2: phase 1 has no name'],
    [
      'steps: []\nphases:\n  - name: A',
      'own.yaml:1: a template has no "steps"; it has name, phases',
    ],
    [
      'phases:\n  - name: A\n    gates: approval',
      'own.yaml:3: phase 1 has no "gates"; it has id, name, sub_phases, gate, tokens',
    ],
    ['phases:\n  - name: A\n    gate: maybe', 'own.yaml:3: gate is one of approval, none'],
    ['phases:\n  - name: A\n    tokens: many', 'own.yaml:3: tokens is a number above 0'],
    ['phases:\n  - name: A\n    tokens: 80K-50K', 'own.yaml:3: tokens is a number above 0'],
    ['phases:\n  - name: A\n    tokens: 0', 'own.yaml:3: tokens is a number above 0'],
    ['phases:\n  - name: A\n    id: a b', 'own.yaml:3: "a b" is no id'],
    ['phases:\n  - name: A\n    id: [1]', 'own.yaml:3: id is a text'],
    ['phases:\n  - name: A\n    deliverables: a.md', 'own.yaml:3: deliverables is a list'],
    [
      'phases:\n  - name: A\n    deliverables: [../a.md]',
      'own.yaml:3: "../a.md" leads out of the project',
    ],
    [
      'phases:\n  - name: A\n    deliverables: [/etc/passwd]',
      'own.yaml:3: "/etc/passwd" leads out of the project',
    ],
    [
      'phases:\n  - name: A\n    sub_phases:\n      - name: B\n        gate: approval',
      'own.yaml:5: a sub-phase has no "gate"; it has id, name',
    ],
    ['phases:\n  - name: A\n  - name: a', 'own.yaml:3: "a" is phase 1 already'],
    ['phases:\n  - name: A\n    id: x\n  - name: X', 'own.yaml:4: "x" is phase x already'],
    ['phases:\n  - name: A\n    name: B', 'own.yaml:3: Map keys must be unique'],
    ['phases:\n  - &a\n    name: A\n  - *a', 'own.yaml:4: phase 2 is a list of'],
    [
      'phases:\n  - {name: A, conversation: x}\n  - {name: B, conversation: y}\n  - {name: C, conversation: x}',
      'own.yaml:4: conversation "x" was over before phase 3',
    ],
  ])('%j is refused with its line and the allowed values', (text, mistake) => {
    expect(mistakesIn(text)).toContain(mistake)
  })

  test('reports all its mistakes at once', () => {
    const mistakes = mistakesIn(
      'phases:\n  - name: A\n    gate: maybe\n  - id: 2\n    tokens: none',
    )
    expect(mistakes.split('\n').map((line) => line.split(':').slice(0, 2).join(':'))).toEqual([
      'own.yaml:3',
      'own.yaml:4',
      'own.yaml:5',
    ])
  })

  test('is found by name under workflows/, before the built-in one, or by path', () => {
    const cwd = scratchFolder()
    const places = { sessions: join(cwd, '.sessions'), cwd }
    expect(listTemplates(places).map(({ name }) => name)).toEqual(['nine-phases'])
    mkdirSync(join(cwd, '.sessions', 'workflows'), { recursive: true })
    writeFileSync(join(cwd, '.sessions', 'workflows', 'short.yaml'), 'phases: [{name: Only}]')
    writeFileSync(join(cwd, '.sessions', 'workflows', 'notes.txt'), 'no template')
    writeFileSync(join(cwd, 'other.yml'), 'phases: [{name: Else}]')
    expect(listTemplates(places).map(({ name }) => name)).toEqual(['short', 'nine-phases'])
    const read = (name: string) => loadTemplate(findTemplate(name, places), places)
    expect(read('short')).toMatchObject({ name: 'short', phases: [{ name: 'Only' }] })
    expect(read('other.yml')).toMatchObject({ name: 'other', phases: [{ name: 'Else' }] })
    expect(read('./other.yml')).toMatchObject({ phases: [{ name: 'Else' }] })
    expect(() => read('long')).toThrow('there is no template "long"; there are short, nine-phases')
    expect(() => read('missing.yaml')).toThrow('there is no file missing.yaml')
    writeFileSync(join(cwd, '.sessions', 'workflows', 'nine-phases.yaml'), 'phases: [{name: Mine}]')
    expect(read('nine-phases')).toMatchObject({ phases: [{ name: 'Mine' }] })
  })
})

test.each([
  [60_000, [60_000, 60_000], '60K'],
  ['60K', [60_000, 60_000], '60K'],
  ['50K-80K', [50_000, 80_000], '50K-80K'],
  ['50-80k', [50_000, 80_000], '50K-80K'],
  ['12.5K - 20K', [12_500, 20_000], '12.5K-20K'],
  ['0.5M', [500_000, 500_000], '500K'],
  ['800', [800, 800], '800'],
])('%j tokens are %j, shown as %s', (given, range, shown) => {
  expect(tokenRange(given)).toEqual(range)
  expect(tokensText(range as [number, number])).toBe(shown)
})
