import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { PlainLog, finishedLines } from '../../../src/cli/print/run/show-run.ts'
import { renderFrame } from '../../../src/cli/print/run/frame.ts'
import { EMPTY_VIEW, applyEvent } from '../../../src/cli/print/run/view-state.ts'
import type { RunEvent, TaskName } from '../../../src/run/entries.ts'
import { STORY, TASKS, at, gauge, spend } from './story.ts'

beforeEach(() => void vi.stubEnv('TZ', 'UTC'))
afterEach(() => void vi.unstubAllEnvs())

const plan = STORY[0] as RunEvent<'run.planned'>
const started: RunEvent = { ...plan, data: { ...plan.data, parallel: 2 } }
const begun = (task: TaskName, seconds: number, isAgain = false): RunEvent => ({
  kind: 'delegate.started',
  at: at(seconds),
  delegate: task.name,
  task,
  data: {
    id: `id-${task.name}`,
    branch: `stint/run-3f9c1a-parts/${task.name}`,
    worktree: `/trees/${task.name}`,
    isAgain,
  },
})
const { cookie, login } = TASKS

/** Two parallel tasks: one is ready, the other was returned for rework. */
const TWO: readonly RunEvent[] = [
  started,
  begun(login, 1),
  begun(cookie, 2),
  {
    kind: 'usage',
    at: at(9),
    delegate: login.name,
    data: { gauge: gauge(41_000), spend: spend(1, 1) },
  },
  {
    kind: 'usage',
    at: at(10),
    delegate: cookie.name,
    data: { gauge: gauge(83_500), spend: spend(2, 2) },
  },
  {
    kind: 'delegate.ready',
    at: at(100),
    delegate: login.name,
    task: login,
    data: { summary: 'The form posts by itself' },
  },
  {
    kind: 'delegate.conflicted',
    at: at(200),
    delegate: cookie.name,
    task: cookie,
    data: { because: 'conflicts in src/a.ts', files: ['src/a.ts'], isSentBack: true },
  },
  begun(cookie, 201, true),
  {
    kind: 'tool',
    at: at(205),
    delegate: cookie.name,
    data: { name: 'Edit', status: 'started', path: `/trees/${cookie.name}/src/a.ts` },
  },
]

const drawn = (events: readonly RunEvent[], columns = 80) =>
  renderFrame(events.reduce(applyEvent, EMPTY_VIEW), {
    rows: 30,
    columns,
    color: false,
    now: at(260),
  })

describe('parallel tasks', () => {
  test('have a line each with task, time, context and activity', () => {
    const tool = TWO.at(-1) as RunEvent<'tool'>
    const ended: RunEvent = { ...tool, at: at(206), data: { ...tool.data, status: 'completed' } }
    const lines = drawn([...TWO, ended])
    const first = lines.findIndex((line) => line.startsWith('at work'))
    expect(lines.slice(first, first + 2)).toEqual([
      'at work  login-form      4m 19s  24%  ready, to be merged in its turn',
      '         session-cookie     59s       Edit src/a.ts',
    ])
    expect(lines.filter((line) => line.endsWith('[session-cookie] Edit src/a.ts'))).toHaveLength(1)
    expect(lines.filter((line) => line.endsWith('Edit src/a.ts'))).toHaveLength(2)
    // The total spend, and no session.
    expect(lines.join('\n')).toContain('spent    62k in · 2.4M cached · 84k out · $2.00')
    expect(lines.some((line) => line.startsWith('session') && line.includes('conversation'))).toBe(
      false,
    )
  })

  test('disappear when done, and count when merged', () => {
    const merged: RunEvent = {
      kind: 'attempt.ended',
      at: at(300),
      delegate: login.name,
      task: login,
      data: { attempt: 'a', outcome: 'done', spend: spend(1, 1), seconds: 99 },
    }
    const lines = drawn([...TWO, merged]).join('\n')
    expect(drawn(TWO).join('\n')).toContain('0 of 6 done')
    expect(lines).toContain('1 of 6 done')
    expect(lines).not.toContain('login-form  ')
    expect(drawn([started]).join('\n')).toContain('at work  choosing the next one')
  })

  test('fit on a narrow terminal', () => {
    for (let columns = 1; columns < 80; columns += 1)
      for (const line of drawn(TWO, columns))
        expect(line.length).toBeLessThanOrEqual(Math.max(1, columns - 1))
  })

  test('are named in log lines that do not name the task anyway', () => {
    const log = new PlainLog()
    const lines = TWO.flatMap((event) => log.lines(event))
    expect(lines).toEqual([
      '14:00:00  run 3f9c1a started: 6 tasks with claude, claude-sonnet-4-5 on stint/run-3f9c1a, 2 at once',
      '14:00:01  login-form: with a delegate of its own, on stint/run-3f9c1a-parts/login-form',
      '14:00:02  session-cookie: with a delegate of its own, on stint/run-3f9c1a-parts/session-cookie',
      '14:00:09  [login-form] ctx 24% · 41k/167k, spent 31k in, 1.2M cached, 42k out, $1.00',
      '14:00:10  [session-cookie] ctx 50% · 84k/167k, spent 62k in, 2.4M cached, 84k out, $2.00',
      '14:01:40  login-form: ready to be merged: The form posts by itself',
      '14:03:20  session-cookie: not merged: conflicts in src/a.ts; given back to be mended',
      '14:03:21  session-cookie: begun again',
      '14:03:25  [session-cookie] Edit src/a.ts',
    ])
  })

  test('leave no line about the end of their sessions', () => {
    const closed: RunEvent = {
      kind: 'session.closed',
      at: at(1),
      data: { session: 's', name: 'n', because: 'finished', done: 1 },
    }
    expect(finishedLines(closed, { columns: 80, color: false })).toHaveLength(1)
    expect(finishedLines({ ...closed, delegate: 'one' }, { columns: 80, color: false })).toEqual([])
  })
})
