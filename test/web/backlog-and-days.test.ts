import { describe, expect, it } from 'vitest'
import type { Task } from '../../src/tasks/task.ts'
import { everyDay } from '../../web/charts/every-day.ts'
import { type TaskNode, taskTree } from '../../web/views/tasks/task-tree.ts'

describe('the backlog as a tree', () => {
  const tasks = [
    task('keys', { priority: 'P3' }),
    task('generate', { parent: 'keys', status: 'completed' }),
    task('revoke', { parent: 'keys', labels: ['security'] }),
    task('docs', { priority: 'P0' }),
    task('now', { status: 'in_progress' }),
    task('old', { status: 'completed' }),
  ]

  it('has parts below what they belong to: what is worked on first, then by priority', () => {
    expect(names(taskTree(tasks, { isAll: true, text: '' }))).toEqual([
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

  it('leaves out what is done, but not what has an open part', () => {
    const open = taskTree([...tasks, task('open', { parent: 'old' })], { isAll: false, text: '' })
    expect(names(open)).toContainEqual(['old', [['open', []]]])
    expect(JSON.stringify(names(open))).not.toContain('generate')
  })

  it('keeps what a part that is looked for belongs to', () => {
    expect(names(taskTree(tasks, { isAll: true, text: ' SECURITY' }))).toEqual([['keys', [['revoke', []]]]])
  })

  it('shows tasks that are parts of each other, and of something that is not there', () => {
    const odd = [task('a', { parent: 'b' }), task('b', { parent: 'a' }), task('c', { parent: 'gone' })]
    expect(JSON.stringify(names(taskTree(odd, { isAll: true, text: '' })))).toBe('[["a",[]],["b",[]],["c",[]]]')
  })
})

it('usage has a bar for every day up to today, those without any too', () => {
  const spend = { input: 1, cacheWritten: 0, cacheRead: 0, output: 0 }
  const days = everyDay([{ day: '2026-02-28', spend }], 3, new Date('2026-03-01T10:00:00Z'))
  expect(days.map(({ day, spend: { input } }) => [day, input])).toEqual([
    ['2026-02-27', 0],
    ['2026-02-28', 1],
    ['2026-03-01', 0],
  ])
})

type Names = readonly [string, readonly Names[]]

function names(nodes: readonly TaskNode[]): readonly Names[] {
  return nodes.map(({ task: { id }, parts }) => [id, names(parts)] as const)
}

function task(id: string, more: Partial<Task> = {}): Task {
  return {
    id,
    shortname: id,
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
