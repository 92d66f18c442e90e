import { describe, expect, test } from 'vitest'
import type { PublicTask } from '../../src/public/projection.ts'
import { fillMissingDays } from '../../web/charts/fill-missing-days.ts'
import { type TaskNode, buildTaskTree } from '../../web/views/tasks/task-tree.ts'

describe('the backlog as a tree', () => {
  const tasks = [
    task('keys', { priority: 'P3' }),
    task('generate', { parent: 'keys', status: 'completed' }),
    task('revoke', { parent: 'keys', labels: ['security'] }),
    task('docs', { priority: 'P0' }),
    task('now', { status: 'in_progress' }),
    task('old', { status: 'completed' }),
  ]

  test('has sub-tasks below their parents: in progress first, then by priority', () => {
    expect(names(buildTaskTree(tasks, { isAll: true, text: '' }))).toEqual([
      ['now', []],
      ['docs', []],
      [
        'keys',
        [
          ['revoke', []],
          ['generate', []],
        ],
      ],
      ['old', []],
    ])
  })

  test('leaves out completed tasks, but not those with an open sub-task', () => {
    const open = buildTaskTree([...tasks, task('open', { parent: 'old' })], {
      isAll: false,
      text: '',
    })
    expect(names(open)).toContainEqual(['old', [['open', []]]])
    expect(JSON.stringify(names(open))).not.toContain('generate')
  })

  test('keeps the parent of a sub-task that matches the filter', () => {
    expect(names(buildTaskTree(tasks, { isAll: true, text: ' SECURITY' }))).toEqual([
      ['keys', [['revoke', []]]],
    ])
  })

  test('shows tasks whose parents form a cycle or are missing', () => {
    const odd = [
      task('a', { parent: 'b' }),
      task('b', { parent: 'a' }),
      task('c', { parent: 'gone' }),
    ]
    expect(JSON.stringify(names(buildTaskTree(odd, { isAll: true, text: '' })))).toBe(
      '[["a",[]],["b",[]],["c",[]]]',
    )
  })
})

test('there is a bar for every day up to today, also for days without values', () => {
  const days = fillMissingDays(
    [{ day: '2026-02-28', used: 1 }],
    3,
    new Date('2026-03-01T10:00:00Z'),
    (day) => ({ day, used: 0 }),
  )
  expect(days.map(({ day, used }) => [day, used])).toEqual([
    ['2026-02-27', 0],
    ['2026-02-28', 1],
    ['2026-03-01', 0],
  ])
})

type Names = readonly [string, readonly Names[]]

function names(nodes: readonly TaskNode[]): readonly Names[] {
  return nodes.map(({ task: { id }, children }) => [id, names(children)] as const)
}

function task(id: string, more: Partial<PublicTask> = {}): PublicTask {
  return {
    id,
    name: id,
    title: id,
    description: '',
    details: '',
    priority: 'P2',
    size: 'M',
    status: 'ready',
    labels: [],
    dependsOn: [],
    blocks: [],
    children: [],
    checklist: [],
    extra: '',
    createdAt: '2026-03-01T10:00:00Z',
    updatedAt: '2026-03-01T10:00:00Z',
    sessions: [],
    ...more,
  }
}
