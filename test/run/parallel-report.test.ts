import { expect, test } from 'vitest'
import type {
  DelegateStatusChange,
  RunEntry,
  RunEntryData,
  RunEntryKind,
} from '../../src/run/entries.ts'
import { parallelReport } from '../../src/run/report.ts'
import { foldRun } from '../../src/run/run-state.ts'

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString()
const runner = { pid: 1, startedAt: 'x', mark: '' }

function logOf(...entries: readonly (readonly [number, RunEntryKind, unknown])[]) {
  return foldRun(
    entries.map(
      ([seconds, kind, data]) =>
        ({ id: `${kind}-${seconds}`, at: at(seconds), kind, data }) as unknown as RunEntry,
    ),
  )!
}

const begun = (parallel?: number): RunEntryData['run.started'] => ({
  options: parallel === undefined ? {} : { parallel },
  harness: 'rehearsal',
  source: '.tasks',
  tree: '/tree',
  branch: 'b',
  base: 'c',
  isInPlace: false,
  runner,
})

/** A delegate that worked on a task between two times, and its outcome. */
function part(
  name: string,
  from: number,
  to: number,
  ...more: readonly (readonly [number, RunEntryKind, unknown])[]
) {
  const task = { id: name, name, title: name }
  const spent = { m: { input: 1, cacheWritten: 2, cacheRead: 3, output: 4 } }
  return logOf(
    [from, 'run.started', begun()],
    [from, 'session.opened', { session: `s-${name}`, name, number: 1, because: 'first' }],
    [from, 'conversation.opened', { number: 1, session: `s-${name}`, process: runner, setup: 10 }],
    [
      from,
      'attempt.started',
      { attempt: name, task, number: 1, session: `s-${name}`, conversation: 1, isFirst: true },
    ],
    [to, 'turn.ended', { attempt: name, conversation: 1, spent, requests: 1 }],
    [to, 'attempt.ended', { attempt: name, outcome: 'done', commit: 'd' }],
    ...more,
  )
}

const moved = (seconds: number, move: DelegateStatusChange) =>
  [seconds, 'delegate.moved', move] as const
const options = { run: 'r', prices: [], isRunning: false, commits: 2 }

test('counts merged work as done and adds up the cost of all delegates', () => {
  const parts = [
    part('merged', 0, 10, moved(11, { to: 'merged' })),
    part('ready', 5, 15, moved(16, { to: 'ready' })),
    part('conflicted', 20, 30, moved(31, { to: 'conflicted', because: 'in a.txt', onto: 'e' })),
    part('parked', 40, 50, moved(51, { to: 'parked', because: 'too often', kept: 'refs/kept' })),
    part('again', 60, 70, moved(71, { to: 'merged' }), [72, 'run.resumed', { runner }]),
  ]
  const run = logOf([0, 'run.started', begun(3)], [80, 'run.ended', { how: 'waiting' }])
  const report = parallelReport(run, parts, options)
  const tasks = report.sessions.flatMap((session) => session.tasks)
  expect(tasks.map(({ task, outcome, reason }) => [task.name, outcome, reason])).toEqual([
    ['merged', 'done', undefined],
    ['ready', 'open', 'it is ready, and not merged'],
    ['conflicted', 'open', 'in a.txt'],
    ['parked', 'parked', 'too often'],
    ['again', 'open', 'it is not merged'],
  ])
  expect(tasks[3]!.kept).toBe('refs/kept')
  expect(report).toMatchObject({ run: 'r', how: 'waiting', seconds: 80, commits: 2, models: ['m'] })
  expect(report.spend).toMatchObject({ input: 5, cacheWritten: 10, cacheRead: 15, output: 20 })
  // Two of five ran in parallel; fifty seconds of work in eighty.
  expect(report.parallel).toEqual({
    most: 3,
    share: 0.4,
    target: 0.6,
    savedSeconds: -30,
    delegates: 5,
  })
})

test('is empty for a parallel run without a delegate', () => {
  const report = parallelReport(logOf([0, 'run.started', begun(2)]), [], options)
  expect(report).toMatchObject({ how: 'interrupted', sessions: [], spend: { usd: 0 } })
  expect(report.parallel).toEqual({ most: 2, share: 0, target: 0.6, savedSeconds: 0, delegates: 0 })
})
