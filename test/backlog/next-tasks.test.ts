import { expect, test } from 'vitest'
import { nextTasks } from '../../src/backlog/task-graph.ts'
import { backlogOf } from './world.ts'

test.each([
  ['first in goes first', ['a', 'b'], 'a b'],
  ['a higher priority goes first', ['a P2', 'b P0', 'c P1'], 'b c a'],
  ['with equal priority the smaller task goes first', ['a L', 'b XS', 'c S'], 'b c a'],
  ['priority weighs more than size', ['a P2 XS', 'b P1 XL'], 'b a'],
  [
    'with equal size the task that unblocks more goes first',
    ['a', 'b', 'c <b P3', 'd <b P3'],
    'b a',
  ],
  ['unblocking a completed task counts for nothing', ['a', 'b', 'c <b completed'], 'a b'],
  ['size weighs more than unblocking others', ['a S', 'b M', 'c <b P3'], 'a b'],
  ['a task in progress goes before any priority', ['a P0', 'b P3 XL in_progress'], 'b a'],
  ['an unmet dependency keeps a task out, whatever its priority', ['a P3', 'b P0 <a'], 'a'],
  ['an unmet dependency keeps out even a task in progress', ['a', 'b in_progress <a'], 'a'],
  ['a met dependency lets it in', ['a completed', 'b P0 <a', 'c'], 'b c'],
  [
    'blocked, failed and completed tasks are never proposed',
    ['a blocked', 'b failed', 'c completed'],
    '',
  ],
  ['a failed dependency is not a met one', ['a failed', 'b <a'], ''],
  ['a parent comes after its children', ['epic P0', 'a ^epic P3'], 'a'],
  ['a parent whose children are completed is proposed', ['epic', 'a ^epic completed'], 'epic'],
  ['nothing in a cycle is proposed', ['a <b', 'b <a', 'c'], 'c'],
])('%s', (_promise, lines, expected) => {
  const { tasks } = nextTasks(backlogOf(...lines).backlog())
  expect(tasks.map(({ task }) => task.id).join(' ')).toBe(expected)
})

test.each([
  [['a in_progress', 'b'], 'waits for nothing; already in progress'],
  [['x completed', 'a P0 <x', 'b P1'], 'its dependency is completed; P0 before P1'],
  [['x completed', 'y completed', 'a <x,y', 'b'], 'its 2 dependencies are completed; added first'],
  [['a S', 'b L'], 'waits for nothing; smaller: S before L'],
  [['a', 'b', 'c <a'], 'waits for nothing; unblocks 1, the one behind it 0'],
  [['a', 'b'], 'waits for nothing; added first'],
  [['a P1 XL'], 'waits for nothing; P1, size XL'],
])('from %j picks the first because %j', (lines, because) => {
  expect(nextTasks(backlogOf(...lines).backlog()).tasks[0]?.because).toBe(because)
})

test('a waiting task names what it waits for', () => {
  const { waiting } = nextTasks(backlogOf('a in_progress', 'b <a,t9', 'epic', 'c ^epic').backlog())
  expect(waiting.map(({ task, because }) => `${task.id} ${because}`)).toEqual([
    'b waits for a (in_progress), t9 (not in the backlog)',
    'epic waits for its part c',
  ])
})

test('two tasks in progress reach the work-in-progress limit', () => {
  expect(nextTasks(backlogOf('a in_progress', 'b').backlog()).hint).toBeUndefined()
  const { hint } = nextTasks(backlogOf('a in_progress', 'b in_progress').backlog())
  expect(hint).toBe('2 tasks are in progress (limit 2): finish one before starting another')
})

test('an imported task is ordered by the date it was created in its source', () => {
  const journal = backlogOf('a')
  journal.add('older', { when: '2024-05-01T00:00:00Z' })
  expect(nextTasks(journal.backlog()).tasks.map(({ task }) => task.id)).toEqual(['older', 'a'])
})
