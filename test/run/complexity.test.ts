import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  classOfRun,
  classOfTask,
  domainOfRun,
  domainOfTask,
  trackingFor,
} from '../../src/run/plan/complexity.ts'
import type { Size } from '../../src/backlog/task.ts'

const task = (fields: Partial<Parameters<typeof classOfTask>[0]> = {}) => ({
  title: 'Do it',
  description: '',
  details: '',
  labels: [],
  size: 'M' as const,
  checklist: [],
  children: [],
  ...fields,
})

const sized = (...sizes: readonly Size[]) => sizes.map((size) => ({ size }))

describe('the class of a run', () => {
  test.each([
    [0, 'simple', 'light'],
    [1, 'simple', 'light'],
    [2, 'simple', 'light'],
    [3, 'medium', 'light'],
    [5, 'medium', 'light'],
    [6, 'complex', 'full'],
    [60, 'complex', 'full'],
  ] as const)('of %i tasks is %s, and its tracking %s', (count, complexity, level) => {
    const classed = classOfRun({
      tasks: sized(...Array.from({ length: count }, () => 'M' as const)),
    })
    expect(classed).toEqual({ complexity, reasons: [`${count} task${count === 1 ? '' : 's'}`] })
    expect(trackingFor(complexity).level).toBe(level)
  })

  test('is raised by large tasks and many files, and says by which', () => {
    expect(classOfRun({ tasks: sized('XL') })).toEqual({
      complexity: 'medium',
      reasons: ['1 of size L or XL'],
    })
    expect(classOfRun({ tasks: sized('S'), files: 7 })).toEqual({
      complexity: 'complex',
      reasons: ['7 files'],
    })
    expect(classOfRun({ tasks: sized('S', 'S', 'L'), files: 4 }).reasons).toEqual([
      '3 tasks',
      '4 files',
      '1 of size L or XL',
    ])
  })

  test('below six tasks leaves no code checkpoint per task and no entry per turn', () => {
    expect(trackingFor('medium')).toMatchObject({
      codeCheckpoints: false,
      usageEntries: false,
      because: 'the work is medium',
    })
    expect(trackingFor('complex')).toMatchObject({ codeCheckpoints: true, usageEntries: true })
  })
})

describe('the class of a task', () => {
  const items = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ item: `item ${n}`, done: false }))
  test.each([
    [task(), 'simple'],
    [task({ size: 'XS' }), 'simple'],
    [task({ size: 'L' }), 'complex'],
    [task({ size: 'XL' }), 'complex'],
    [task({ checklist: items(3) }), 'medium'],
    [task({ children: ['a', 'b', 'c', 'd', 'e', 'f'] }), 'complex'],
    [task({ description: 'Change src/a.ts, src/b.ts and `lib/c.py`.' }), 'medium'],
    [task({ description: 'One sentence. Another one. A third.' }), 'simple'],
    [task({ description: 'word '.repeat(300) }), 'medium'],
  ])('%#: comes from its size, parts, files and words', (given, complexity) => {
    const classed = classOfTask(given)
    expect(classed.complexity).toBe(complexity)
    expect(classed.reasons).not.toEqual([])
  })
})

describe('the domain of a task', () => {
  test.each([
    [{ labels: ['ui'] }, 'frontend', 'label ui'],
    [{ labels: ['later', 'bug'], title: 'Write docs' }, 'debugging', 'label bug'],
    [{ title: 'Write the tutorial' }, 'docs', 'the title says "tutorial"'],
    [{ title: 'Deploy to staging' }, 'devops', 'the title says "Deploy"'],
    [{ title: 'Crash on an empty list' }, 'debugging', 'the title says "Crash"'],
    [{ title: 'Add a button' }, 'frontend', 'it says "button"'],
    [{ title: 'Add an endpoint' }, 'backend', 'it says "endpoint"'],
    [
      { title: 'Add an endpoint', description: 'and a page for it' },
      'fullstack',
      'it says "page" and it says "endpoint"',
    ],
    [{ description: 'In `src/document/List.tsx`.' }, 'frontend', 'it names src/document/List.tsx'],
    [{ description: 'web/list.css and README.md' }, 'frontend', 'it names web/list.css'],
    [{ description: 'docs/list.md' }, 'docs', 'it names docs/list.md'],
    [{ description: 'pages/a.tsx and db/b.sql' }, 'fullstack', 'it names pages/a.tsx'],
    [{}, 'fullstack', 'nothing in it points to one side'],
  ] as const)('%#: comes from labels, then words, then paths', (fields, domain, because) => {
    expect(domainOfTask(task(fields))).toEqual({ domain, because })
  })

  test('of a run is the one they share, else both sides', () => {
    expect(domainOfRun(['backend', 'backend', 'docs'])).toBe('backend')
    expect(domainOfRun(['frontend', 'backend'])).toBe('fullstack')
    expect(domainOfRun(['docs'])).toBe('docs')
    expect(domainOfRun([])).toBe('fullstack')
  })
})

test('any text has a class and a domain, with reasons, at once', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.array(fc.string({ maxLength: 10 })),
      (text, labels) => {
        const given = task({ title: text, description: text.repeat(3), details: text, labels })
        expect(classOfTask(given).reasons.length).toBeGreaterThan(0)
        expect(domainOfTask(given).because).not.toBe('')
      },
    ),
  )
  expect(
    domainOfTask(task({ description: `${'a/'.repeat(50_000)} ${'a.'.repeat(50_000)}` })).domain,
  ).toBeDefined()
})
