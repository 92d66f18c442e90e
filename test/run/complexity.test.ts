import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  combineDomains,
  findTaskDomain,
  runComplexity,
  taskComplexity,
  trackingLevelFor,
} from '../../src/run/plan/complexity.ts'
import type { Size } from '../../src/backlog/task.ts'

const task = (fields: Partial<Parameters<typeof taskComplexity>[0]> = {}) => ({
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

describe('the complexity of a run', () => {
  test.each([
    [0, 'simple', 'light'],
    [1, 'simple', 'light'],
    [2, 'simple', 'light'],
    [3, 'medium', 'light'],
    [5, 'medium', 'light'],
    [6, 'complex', 'full'],
    [60, 'complex', 'full'],
  ] as const)('of %i tasks is %s, and its tracking %s', (count, complexity, level) => {
    const tasks = sized(...Array.from({ length: count }, () => 'M' as const))
    expect(runComplexity(tasks)).toBe(complexity)
    expect(trackingLevelFor(complexity)).toBe(level)
  })

  test('is raised by large tasks', () => {
    expect(runComplexity(sized('XL'))).toBe('medium')
    expect(runComplexity(sized('S', 'L'))).toBe('medium')
    expect(runComplexity(sized('S', 'S'))).toBe('simple')
  })

  test('below six tasks leaves no code checkpoint per task and no entry per turn', () => {
    expect(trackingLevelFor('medium')).toBe('light')
    expect(trackingLevelFor('complex')).toBe('full')
  })
})

describe('the complexity of a task', () => {
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
    expect(taskComplexity(given)).toBe(complexity)
  })
})

describe('the domain of a task', () => {
  test.each([
    [{ labels: ['ui'] }, 'frontend'],
    [{ labels: ['later', 'bug'], title: 'Write docs' }, 'debugging'],
    [{ title: 'Write the tutorial' }, 'docs'],
    [{ title: 'Deploy to staging' }, 'devops'],
    [{ title: 'Crash on an empty list' }, 'debugging'],
    [{ title: 'Add a button' }, 'frontend'],
    [{ title: 'Add an endpoint' }, 'backend'],
    [{ title: 'Add an endpoint', description: 'and a page for it' }, 'fullstack'],
    [{ description: 'In `src/document/List.tsx`.' }, 'frontend'],
    [{ description: 'web/list.css and README.md' }, 'frontend'],
    [{ description: 'docs/list.md' }, 'docs'],
    [{ description: 'pages/a.tsx and db/b.sql' }, 'fullstack'],
    [{}, 'fullstack'],
  ] as const)('%#: comes from labels, then words, then paths', (fields, domain) => {
    expect(findTaskDomain(task(fields))).toBe(domain)
  })

  test('of a run is the one its tasks share, else fullstack', () => {
    expect(combineDomains(['backend', 'backend', 'docs'])).toBe('backend')
    expect(combineDomains(['frontend', 'backend'])).toBe('fullstack')
    expect(combineDomains(['docs'])).toBe('docs')
    expect(combineDomains([])).toBe('fullstack')
  })
})

test('rates any text quickly', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.array(fc.string({ maxLength: 10 })),
      (text, labels) => {
        const given = task({ title: text, description: text.repeat(3), details: text, labels })
        expect(taskComplexity(given)).toBeDefined()
        expect(findTaskDomain(given)).toBeDefined()
      },
    ),
  )
  expect(
    findTaskDomain(task({ description: `${'a/'.repeat(50_000)} ${'a.'.repeat(50_000)}` })),
  ).toBeDefined()
})
