import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { PlainLog, jsonView } from '../../../src/cli/print/run/show-run.ts'
import type { RunEvent } from '../../../src/run/entries.ts'
import { awkwardText } from './awkward.ts'
import { ATTEMPT, REST, STORY, TASKS, at, gauge, spend } from './story.ts'

beforeEach(() => void vi.stubEnv('TZ', 'UTC'))
afterEach(() => void vi.unstubAllEnvs())

function logged(events: readonly RunEvent[]): readonly string[] {
  const log = new PlainLog()
  return events.flatMap((event) => log.lines(event))
}

const used = (context: number, seconds = 1): RunEvent => ({
  kind: 'usage',
  at: at(seconds),
  data: { gauge: gauge(context), spend: spend(1, 1) },
})

describe('off a terminal', () => {
  test('a run prints one timestamped line per event', () => {
    const lines = logged([...STORY, ...REST])
    expect(lines).toEqual(
      expect.arrayContaining([
        '14:00:00  run 3f9c1a started: 6 tasks with claude, claude-sonnet-4-5 on stint/run-3f9c1a',
        '14:00:03  ▶ login-form: Show the login form without JavaScript',
        '14:01:30  $ npm test -- login',
        '14:01:39  $ npm test -- login failed',
        '14:04:15  ✓ login-form done in 4m 12s, 509k tokens, $0.41, a1b2c3d: The form posts by itself; two tests added',
        '14:08:32  session-cookie: verify FAILED after 12s: 1 of 48 failed: cookie.test.ts renews in time',
        '14:08:33  session-cookie: attempt 1 failed: verify failed: npm test: 1 of 48; trying again in the same conversation',
        '14:10:00  past the smart zone: 60% · 101k/167k',
        '14:13:19  conversation 1 opened, with a handoff',
        '14:23:20  compacted in the middle of sweep-race, at 167k tokens',
        '14:25:00  sweep-race: stopped, the same error again and again: EBUSY: sessions.db, three times',
        '14:26:40  usage limit: waiting until 15:30; You have reached your 5-hour limit',
        '14:29:05  run ended: what is left waits for something that failed or is blocked; 3 done, 1 parked, 1 blocked, 1 open of 6, 29m 05s, $3.37',
      ]),
    )
    for (const line of lines) expect(line).toMatch(/^\d\d:\d\d:\d\d {2}\S/)
  })

  test("paths in the run's worktree are printed relative to it", () => {
    const [started] = STORY
    const root = '/tmp/run-3f9c1a'
    const read: RunEvent = {
      kind: 'tool',
      at: at(1),
      data: { name: 'Read', status: 'started', path: `${root}/src/a.ts` },
    }
    const other: RunEvent = {
      kind: 'tool',
      at: at(1),
      data: { name: 'Read', status: 'started', path: `${root}-other/src/a.ts` },
    }
    const ran: RunEvent = {
      kind: 'tool',
      at: at(1),
      data: { name: 'Bash', status: 'started', command: `cat ${root}/a ${root}/b` },
    }
    expect(logged([started!, read, other, ran]).slice(1)).toEqual([
      '14:00:01  Read src/a.ts',
      `14:00:01  Read ${root}-other/src/a.ts`,
      '14:00:01  $ cat a b',
    ])
  })

  test('usage is printed only after a change of five points', () => {
    // 5 points of 167k are 8350 tokens.
    const steps = Array.from({ length: 100 }, (_, index) => used(1000 + index * 500))
    expect(logged(steps)).toHaveLength(6)
    expect(logged([used(50_000), used(0)])).toHaveLength(1)
    expect(logged([used(50_000), used(50_100), used(50_200)])).toEqual([
      '14:00:01  ctx 29% · 50k/167k, spent 31k in, 1.2M cached, 42k out, $1.00',
    ])
  })

  test('the lower usage of a fresh conversation is printed', () => {
    expect(logged([used(100_000), used(20_000), used(21_000), used(30_000)])).toEqual([
      expect.stringContaining('ctx 59%'),
      expect.stringContaining('ctx 11%'),
      expect.stringContaining('ctx 17%'),
    ])
  })

  test('text from agents, tools and backlogs is one size-limited line without control characters', () => {
    fc.assert(
      fc.property(awkwardText, (text) => {
        const task = { ...TASKS.login, name: text, title: text }
        const events: readonly RunEvent[] = [
          { kind: 'text', at: at(0), data: { text } },
          { kind: 'message', at: at(0), data: { text } },
          { kind: 'tool', at: at(0), data: { name: text, status: 'failed', command: text } },
          { kind: 'tool', at: at(0), data: { name: text, status: 'started', path: text } },
          {
            kind: 'attempt.started',
            at: at(0),
            task,
            data: { ...ATTEMPT, task, number: 1, place: 'live conversation' },
          },
          {
            kind: 'task.parked',
            at: at(0),
            task,
            data: { task: task.id, reason: text, kept: text },
          },
          {
            kind: 'verify.ended',
            at: at(0),
            task,
            data: { passed: false, seconds: 1, summary: text },
          },
          { kind: 'limit.reached', at: at(0), data: { message: text, isWaiting: false } },
          {
            kind: 'session.opened',
            at: at(0),
            data: { session: text, name: text, number: 1, because: text, planned: [task, task] },
          },
        ]
        for (const line of logged(events)) {
          expect(line).not.toMatch(/[\u0000-\u001F\u007F-\u009F\u2028-\u202E\u2066-\u2069]/)
          expect(line.length).toBeLessThan(500)
        }
      }),
    )
  })
})

test('with --json every event is one line of JSON that parses back unchanged', () => {
  for (const event of [
    ...STORY,
    ...REST,
    { kind: 'text', at: at(0), data: { text: 'two\nlines\u2028three' } } as const,
  ]) {
    let printed = ''
    jsonView(
      (text) => (printed += text),
      () => {},
    ).take(event)
    expect(printed).toMatch(/^[^\n\r]+\n$/)
    expect(JSON.parse(printed)).toEqual(event)
  }
})
