import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findOverlap } from '../../../src/run/delegate/overlap.ts'
import { type Candidate, orderPair, scheduleTasks } from '../../../src/run/parallel/schedule.ts'
import { candidate } from './candidates.ts'

const isDone =
  (...done: readonly string[]) =>
  (id: string) =>
    done.includes(id)
const started = (
  tasks: readonly Candidate[],
  running: readonly Candidate[] = [],
  most = 4,
  done: readonly string[] = [],
) =>
  scheduleTasks({ tasks, running, isDone: isDone(...done), most }).start.map(({ task }) => task.id)
const waiting = (
  tasks: readonly Candidate[],
  running: readonly Candidate[] = [],
  most = 4,
  done: readonly string[] = [],
) =>
  Object.fromEntries(
    scheduleTasks({ tasks, running, isDone: isDone(...done), most }).waits.map(
      ({ task, because }) => [task.id, because],
    ),
  )

describe('the next tasks', () => {
  test('are as many as there is room for, in order', () => {
    const tasks = ['a', 'b', 'c', 'd'].map((id) => candidate(id))
    expect(started(tasks, [], 3)).toEqual(['a', 'b', 'c'])
    expect(started(tasks, [candidate('x'), candidate('y')], 3)).toEqual(['a'])
    expect(started(tasks, [candidate('x')], 1)).toEqual([])
    expect(waiting(tasks, [], 3)).toEqual({ d: '3 at once is the most' })
  })

  test('exclude tasks whose dependency is not in the target yet', () => {
    const tasks = [
      candidate('a'),
      candidate('b', { dependsOn: ['a'] }),
      candidate('c', { dependsOn: ['z'] }),
    ]
    expect(started(tasks)).toEqual(['a'])
    expect(waiting(tasks)).toEqual({ b: 'waits for a', c: 'waits for z' })
    expect(started(tasks.slice(1), [candidate('a')], 4, ['z'])).toEqual(['c'])
    expect(started(tasks.slice(1), [], 4, ['a', 'z'])).toEqual(['b', 'c'])
  })

  test('exclude tasks whose parts are still open', () => {
    const tasks = [
      candidate('whole', { children: ['part'] }),
      candidate('part', { parent: 'whole' }),
    ]
    expect(started(tasks)).toEqual(['part'])
    expect(started(tasks.slice(0, 1), [], 4, ['part'])).toEqual(['whole'])
  })

  test('exclude tasks that change the same files as a running or starting one', () => {
    const tasks = [
      candidate('a', {}, ['src/**']),
      candidate('b', {}, ['src/b.ts']),
      candidate('c', {}, ['docs/**']),
    ]
    expect(started(tasks)).toEqual(['a', 'c'])
    expect(waiting(tasks)).toEqual({ b: 'goes after a, which changes src/b.ts too' })
    expect(started(tasks, [candidate('x', {}, ['docs/a.md'])])).toEqual(['a'])
  })

  test('exclude tasks that would block the files of an earlier one', () => {
    const tasks = [
      candidate('a', {}, ['src/**']),
      candidate('b', {}, ['src/b.ts', 'docs/**']),
      candidate('c', {}, ['docs/**']),
    ]
    expect(started(tasks)).toEqual(['a'])
    expect(waiting(tasks).c).toBe('goes after b, which changes docs/** too')
  })

  test('include kinds that run together, and not kinds that come later', () => {
    const of = (id: string, assignee: string) => candidate(id, { assignee, parent: 'p' })
    const tasks = [
      of('review', 'reviewer'),
      of('code', 'code'),
      of('docs', 'documentation'),
      of('search', 'research'),
    ]
    expect(started(tasks)).toEqual(['docs', 'search'])
    expect(waiting(tasks)).toEqual({
      review: 'waits for code: code comes before its review',
      code: 'waits for search: research comes before code',
    })
    expect(started(tasks.slice(0, 3))).toEqual(['code', 'docs'])
    expect(started([of('review', 'reviewer')], [of('code', 'code')])).toEqual([])
    expect(started([of('review', 'reviewer')])).toEqual(['review'])
  })

  test('follow dependencies over the order of kinds', () => {
    const of = (id: string, assignee: string, ...dependsOn: readonly string[]) =>
      candidate(id, { assignee, parent: 'p', dependsOn })
    expect(started([of('code', 'code', 'review'), of('review', 'reviewer')])).toEqual(['review'])
    // Also transitively.
    const tasks = [
      of('search', 'research', 'other'),
      candidate('other', { dependsOn: ['code'] }),
      of('code', 'code'),
    ]
    expect(started(tasks)).toEqual(['code'])
  })

  test('follow the backlog order where rules contradict each other', () => {
    const of = (id: string, assignee: string, ...dependsOn: readonly string[]) =>
      candidate(id, { assignee, parent: 'p', dependsOn })
    // Research before code before review would be a cycle, because the research depends on the review.
    const tasks = [
      of('search', 'research', 'docs'),
      of('docs', 'documentation', 'review'),
      of('code', 'code'),
      of('review', 'reviewer'),
    ]
    expect(started(tasks).length).toBeGreaterThan(0)
  })
})

const NAMES = ['p', 'q'] as const
const ASSIGNEES = [
  'code',
  'documentation',
  'reviewer',
  'research',
  'architect',
  'tests',
  'debugger',
] as const
const FILES = ['src/**', 'src/a.ts', 'src/b.ts', 'docs/**', 'docs/a.md', 'test/**'] as const

/** Tasks t0, t1, …, each depending only on earlier ones. */
const plans = fc
  .array(
    fc.record({
      assignee: fc.constantFrom(...ASSIGNEES),
      parent: fc.option(fc.constantFrom(...NAMES), { nil: undefined }),
      group: fc.option(fc.constantFrom(...NAMES), { nil: undefined, freq: 3 }),
      behind: fc.array(fc.nat(14), { maxLength: 2 }),
      files: fc.uniqueArray(fc.constantFrom(...FILES), { maxLength: 2 }),
    }),
    { minLength: 1, maxLength: 14 },
  )
  .map((all) =>
    all.map(({ assignee, parent, group, behind, files }, index) => {
      const dependsOn = [
        ...new Set(behind.filter((other) => other < index).map((other) => `t${other}`)),
      ]
      const hints = {
        ...(parent === undefined ? {} : { parent }),
        ...(group === undefined ? {} : { group }),
      }
      return candidate(`t${index}`, { assignee, dependsOn, ...hints }, files)
    }),
  )

/** Plays the schedule out, ending running tasks as `numbers` decide; returns what ran at once, step by step. */
function playedOut(tasks: readonly Candidate[], most: number, ends: readonly number[]) {
  let left = tasks
  let running: readonly Candidate[] = []
  const done: string[] = []
  const steps: {
    readonly running: readonly Candidate[]
    readonly begun: readonly Candidate[]
    readonly done: readonly string[]
  }[] = []
  for (let turn = 0; left.length > 0 || running.length > 0; turn += 1) {
    const { start, waits } = scheduleTasks({ tasks: left, running, isDone: isDone(...done), most })
    expect(start.length + waits.length).toBe(left.length)
    running = running.concat(start)
    left = left.filter((one) => !start.includes(one))
    steps.push({ running, begun: start, done: [...done] })
    // Something always runs while tasks are left.
    expect(running.length).toBeGreaterThan(0)
    const ended = running[(ends[turn % ends.length] ?? 0) % running.length]!
    running = running.filter((one) => one !== ended)
    done.push(ended.task.id)
  }
  return { steps, done }
}

describe('a schedule played out in any finishing order', () => {
  const played = fc.tuple(
    plans,
    fc.integer({ min: 1, max: 8 }),
    fc.array(fc.nat(20), { minLength: 1, maxLength: 20 }),
  )

  test('starts every task once, and never more at a time than allowed', () => {
    fc.assert(
      fc.property(played, ([tasks, most, ends]) => {
        const { steps, done } = playedOut(tasks, most, ends)
        expect(done.toSorted()).toEqual(tasks.map(({ task }) => task.id).toSorted())
        for (const { running } of steps) expect(running.length).toBeLessThanOrEqual(most)
      }),
    )
  })

  test('never runs two tasks at once that change the same files or depend on each other', () => {
    fc.assert(
      fc.property(played, ([tasks, most, ends]) => {
        for (const { running, begun, done } of playedOut(tasks, most, ends).steps) {
          for (const one of running)
            for (const other of running) {
              if (one !== other) expect(findOverlap(one.touches, other.touches).how).toBe('none')
            }
          for (const { task } of begun) for (const id of task.dependsOn) expect(done).toContain(id)
        }
      }),
    )
  })

  test('keeps the pair order where no task depends on another', () => {
    const free = plans.map((tasks) =>
      tasks.map(({ task, touches }) => ({ task: { ...task, dependsOn: [] }, touches })),
    )
    fc.assert(
      fc.property(
        free,
        fc.integer({ min: 1, max: 8 }),
        fc.array(fc.nat(20), { minLength: 1 }),
        (tasks, most, ends) => {
          for (const { begun, done } of playedOut(tasks, most, ends).steps) {
            for (const { task } of begun)
              for (const { task: other } of tasks) {
                if (other !== task && orderPair(other, task)?.how === 'first before second')
                  expect(done).toContain(other.id)
              }
          }
        },
      ),
    )
  })
})
