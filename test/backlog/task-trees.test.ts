import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isTaskOpen } from '../../src/backlog/task.ts'
import { type TreeNode, taskTrees } from '../../src/backlog/task-graph.ts'
import { aStatus } from './any-task.ts'
import { MemoryJournal, backlogOf } from './world.ts'

/** `a(b c(d)) e`, with `!why` after a root that has a parent. */
function shape(nodes: readonly TreeNode[]): string {
  const one = ({ task, parts, partOf }: TreeNode) =>
    `${task.id}${partOf === undefined ? '' : `!${partOf.why}`}${parts.length === 0 ? '' : `(${shape(parts)})`}`
  return nodes.map(one).join(' ')
}

const shapeOf = (journal: MemoryJournal, levels = 20) =>
  shape(taskTrees(journal.backlog(), { levels }))

/** Any tasks with any parents, known or not. */
const anyBacklog = fc
  .array(fc.record({ parent: fc.option(fc.nat(12)), status: aStatus }), { maxLength: 12 })
  .map((tasks) => {
    const journal = new MemoryJournal()
    tasks.forEach(({ parent, status }, index) => {
      journal.add(`t${index}`, parent === null ? {} : { parent: `t${parent}` })
      journal.move(`t${index}`, status)
    })
    return journal.backlog()
  })

function idsIn(nodes: readonly TreeNode[]): readonly string[] {
  return nodes.flatMap(({ task, parts }) => [task.id, ...idsIn(parts)])
}

function levelsOf(nodes: readonly TreeNode[]): number {
  return nodes.reduce((most, { parts }) => Math.max(most, 1 + levelsOf(parts)), 0)
}

describe('task trees', () => {
  test.each([
    [
      'sub-tasks are under their parent at any depth',
      ['a', 'b ^a', 'c ^b', 'd ^a', 'e'],
      'a(b(c) d) e',
    ],
    ['a sub-task that was added before its parent is under it', ['b ^a', 'a'], 'a(b)'],
    ['a sub-task of an unknown parent is at the top', ['a ^ghost', 'b ^a'], 'a!unknown(b)'],
    ['a task that is its own parent is at the top', ['a ^a', 'b'], 'a!circle b'],
    [
      'a cycle of parents is broken at one of them',
      ['a ^c', 'b ^a', 'c ^b', 'd ^b'],
      'a!circle(b(c d))',
    ],
    ['a task whose parent is in a cycle is under it', ['z ^b', 'a ^b', 'b ^a'], 'b!circle(z a)'],
    ['sub-tasks of a completed task are under it', ['a completed', 'b ^a'], 'a(b)'],
  ])('%s', (_promise, lines, expected) => {
    expect(shapeOf(backlogOf(...lines))).toBe(expected)
  })

  test('continue as separate trees below the deepest level', () => {
    expect(shapeOf(backlogOf('a', 'b ^a', 'c ^b', 'd ^c', 'e ^d', 'z'), 2)).toBe(
      'a(b) c!deep(d) e!deep z',
    )
  })

  test('hold every task exactly once within the level limit, whatever the parents are', () => {
    fc.assert(
      fc.property(anyBacklog, fc.integer({ min: 1, max: 4 }), (backlog, levels) => {
        const trees = taskTrees(backlog, { levels })
        expect([...idsIn(trees)].toSorted()).toEqual(backlog.tasks.map(({ id }) => id).toSorted())
        expect(levelsOf(trees)).toBeLessThanOrEqual(levels)
      }),
    )
  })

  test('of open tasks leave out exactly the completed tasks with nothing open below them', () => {
    expect(
      shape(
        taskTrees(
          backlogOf(
            'a completed',
            'b ^a completed',
            'c ^b',
            'd ^a completed',
            'e completed',
          ).backlog(),
          {
            levels: 9,
            isShown: isTaskOpen,
          },
        ),
      ),
    ).toBe('a(b(c))')
    fc.assert(
      fc.property(anyBacklog, (backlog) => {
        const shown = new Set(idsIn(taskTrees(backlog, { levels: 3, isShown: isTaskOpen })))
        for (const task of backlog.tasks.filter(isTaskOpen)) expect(shown).toContain(task.id)
      }),
    )
  })

  test('of one task hold its sub-tasks and name its parent', () => {
    const backlog = backlogOf('a', 'b ^a completed', 'c ^b', 'd').backlog()
    expect(
      shape(taskTrees(backlog, { levels: 9, top: backlog.byId.get('b')!, isShown: isTaskOpen })),
    ).toBe('b!outside(c)')
    expect(shape(taskTrees(backlog, { levels: 9, top: backlog.byId.get('d')! }))).toBe('d')
  })

  test('count the completed sub-tasks at any depth, shown or not', () => {
    const backlog = backlogOf(
      'a',
      'b ^a completed',
      'c ^a',
      'd ^c completed',
      'e ^c failed',
    ).backlog()
    const [a] = taskTrees(backlog, { levels: 2, isShown: isTaskOpen })
    expect(a).toMatchObject({
      progress: { done: 2, total: 4 },
      parts: [{ task: { id: 'c' }, progress: { done: 1, total: 2 } }],
    })
  })

  test('can hold a chain as long as the backlog', () => {
    const journal = new MemoryJournal()
    journal.add('t0')
    for (let n = 1; n < 5000; n += 1) journal.add(`t${n}`, { parent: `t${n - 1}` })
    const trees = taskTrees(journal.backlog(), { levels: 10 })
    expect(trees).toHaveLength(500)
    expect(trees[0]!.progress).toEqual({ done: 0, total: 4999 })
  })
})
