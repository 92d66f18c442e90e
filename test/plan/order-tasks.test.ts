import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  orderTasks,
  plannedTask,
  relationBetween,
  relationToAll,
} from '../../src/run/plan/order-tasks.ts'
import { nextTasks } from '../../src/backlog/task-graph.ts'
import { MemoryJournal, backlogOf } from '../backlog/world.ts'
import { someTasks, task } from './any-plan.ts'

const names = (lines: readonly string[], done: readonly string[] = []) => {
  const backlog = backlogOf(...lines).backlog()
  const before = done.map((id) => plannedTask(backlog.byId.get(id)!, backlog))
  return orderTasks(backlog, before)
    .map(({ id }) => id)
    .join(' ')
}

describe('two tasks', () => {
  test.each([
    [
      'of which one depends on the other',
      task('a', { labels: ['x'] }),
      task('b', { labels: ['y'], dependsOn: ['a'] }),
      'related',
    ],
    ['of which one is part of the other', task('a'), task('b', { parent: 'a' }), 'related'],
    ['with the same parent', task('a', { parent: 'p' }), task('b', { parent: 'p' }), 'related'],
    ['of one group', task('a', { group: 'g' }), task('b', { group: 'g' }), 'related'],
    [
      'that share a label',
      task('a', { labels: ['x', 'y'] }),
      task('b', { labels: ['y', 'z'] }),
      'related',
    ],
    [
      'that share a label but not the parent',
      task('a', { labels: ['x'], parent: 'p' }),
      task('b', { labels: ['x'], parent: 'q' }),
      'related',
    ],
    ['with other labels', task('a', { labels: ['x'] }), task('b', { labels: ['y'] }), 'unrelated'],
    ['with other parents', task('a', { parent: 'p' }), task('b', { parent: 'q' }), 'unrelated'],
    ['of which one has no label', task('a', { labels: ['x'] }), task('b'), 'unknown'],
    ['of other groups', task('a', { group: 'g' }), task('b', { group: 'h' }), 'unknown'],
    [
      'with an empty parent and group',
      task('a', { parent: '', group: '' }),
      task('b', { parent: '', group: '' }),
      'unknown',
    ],
    ['without any relation', task('a'), task('b'), 'unknown'],
  ] as const)('%s', (_which, a, b, expected) => {
    expect(relationBetween(a, b)).toBe(expected)
    expect(relationBetween(b, a)).toBe(expected)
  })

  test('have the same relation both ways', () => {
    fc.assert(
      fc.property(someTasks(6), (tasks) => {
        for (const a of tasks)
          for (const b of tasks) expect(relationBetween(a, b)).toBe(relationBetween(b, a))
      }),
    )
  })
})

test('a task is related to a conversation if it is related to one of its tasks', () => {
  const [x, y] = [task('x', { labels: ['x'] }), task('y', { labels: ['y'] })]
  expect(relationToAll(task('a', { labels: ['y'] }), [x, y])).toBe('related')
  expect(relationToAll(task('a', { labels: ['z'] }), [x, task('b')])).toBe('unrelated')
  expect(relationToAll(task('a'), [x, y])).toBe('unknown')
  expect(relationToAll(task('a', { labels: ['z'] }), [])).toBe('unknown')
})

describe('the task order', () => {
  test.each([
    ['is the order of adding by default', ['a', 'b', 'c'], [], 'a b c'],
    ['puts priority first', ['a P2', 'b P0', 'c P1'], [], 'b c a'],
    ['follows chains of dependencies', ['a <b', 'b <c', 'c'], [], 'c b a'],
    ['puts a parent after its parts', ['epic P0', 'a ^epic', 'b'], [], 'a epic b'],
    [
      'leaves out what can never start',
      ['a <b', 'b <a', 'c failed', 'd <c', 'e <nobody', 'f'],
      [],
      'f',
    ],
    ['leaves out what is completed or blocked', ['a completed', 'b blocked', 'c <a'], [], 'c'],
    [
      'keeps related tasks together',
      ['a ^p', 'b ^q', 'c ^p', 'd ^q', 'p blocked', 'q blocked'],
      [],
      'a c b d',
    ],
    [
      'prefers related tasks over smaller ones',
      ['a S ^p', 'b M ^q', 'c L ^p', 'p blocked', 'q blocked'],
      [],
      'a c b',
    ],
    [
      'never prefers related tasks over priority',
      ['a P1 ^p', 'b P1 ^q', 'c P2 ^p', 'p blocked', 'q blocked'],
      [],
      'a b c',
    ],
    [
      'continues with tasks related to the last one',
      ['a P1 ^p', 'b P1 ^q', 'c P2 ^p', 'd P2 ^q', 'p blocked', 'q blocked'],
      [],
      'a b d c',
    ],
    [
      'continues with tasks related to the live conversation',
      ['x completed ^q', 'a ^p', 'b ^q', 'p blocked', 'q blocked'],
      ['x'],
      'b a',
    ],
  ])('%s', (_promise, lines, done, expected) => {
    expect(names(lines, done)).toBe(expected)
  })

  test('begins, without a conversation, with the task of `stint task next`', () => {
    fc.assert(
      fc.property(aBacklog, (lines) => {
        const backlog = backlogOf(...lines).backlog()
        expect(orderTasks(backlog)[0]?.id).toBe(nextTasks(backlog).tasks[0]?.task.id)
      }),
    )
  })

  test('has each task once, after everything it depends on', () => {
    fc.assert(
      fc.property(aBacklog, (lines) => {
        const backlog = backlogOf(...lines).backlog()
        const order = orderTasks(backlog).map(({ id }) => id)
        expect(order).toEqual([...new Set(order)])
        for (const [place, id] of order.entries()) {
          const { dependsOn, children } = backlog.byId.get(id)!
          for (const before of [...dependsOn, ...children]) {
            expect(
              order.slice(0, place).includes(before) ||
                backlog.byId.get(before)?.status === 'completed',
            ).toBe(true)
          }
        }
      }),
    )
  })

  test('sizes a task by its description only where it has no size', () => {
    const journal = new MemoryJournal()
    const description = 'x'.repeat(5_000)
    journal.log('task.added', { task: 'a', title: 'A', description })
    journal.log('task.added', { task: 'b', title: 'B', description, size: 'M' })
    journal.log('task.added', { task: 'c', title: 'C', description })
    journal.log('task.changed', { task: 'c', size: 'S' })
    const classes = orderTasks(journal.backlog()).map(({ id, sizeClass }) => `${id} ${sizeClass}`)
    expect(classes.toSorted()).toEqual(['a large', 'b medium', 'c small'])
  })
})

const aBacklog = fc
  .array(
    fc.record({
      priority: fc.constantFrom('P0', 'P1', 'P2'),
      size: fc.constantFrom('S', 'M', 'L'),
      status: fc.constantFrom('', '', '', 'completed', 'failed', 'in_progress'),
      relation: fc.constantFrom('', '<', '^'),
      other: fc.nat({ max: 9 }),
    }),
    { maxLength: 10 },
  )
  .map((tasks) =>
    tasks.map(({ priority, size, status, relation, other }, index) =>
      [`t${index}`, priority, size, status, relation === '' ? '' : `${relation}t${other}`]
        .filter((part) => part !== '')
        .join(' '),
    ),
  )
