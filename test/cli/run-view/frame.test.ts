import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { finishedLines } from '../../../src/cli/print/run/show-run.ts'
import { renderFrame } from '../../../src/cli/print/run/frame.ts'
import { EMPTY_VIEW, applyEvent } from '../../../src/cli/print/run/view-state.ts'
import { displayWidth } from '../../../src/cli/print/terminal/layout.ts'
import { printedText } from '../../../src/cli/context/trusted-output.ts'
import type { RunEvent } from '../../../src/run/entries.ts'
import { awkwardText } from './awkward.ts'
import { ATTEMPT, OPENED, REST, STORY, TASKS, at, gauge, named, spend } from './story.ts'

beforeEach(() => void vi.stubEnv('TZ', 'UTC'))
afterEach(() => void vi.unstubAllEnvs())

const ALL = [...STORY, ...REST]

function drawn(
  events: readonly RunEvent[],
  seconds: number,
  size: { columns: number; rows?: number; color?: boolean },
): string {
  const state = events.reduce(applyEvent, EMPTY_VIEW)
  const lines = renderFrame(state, { rows: 30, color: false, ...size, now: at(seconds) })
  return printedText(lines.join('\n'))
}

describe('the live block', () => {
  test('shows run, tasks, session, task, gauge, spend and the last lines on 80 columns', () => {
    expect(drawn(STORY, 712, { columns: 80 })).toBe(
      `
── run 3f9c1a · claude, claude-sonnet-4-5 ───────────── 11m 52s of about 45m ──
tasks    ████░░░░░░░░░░░░░░░░░░░░  1 of 6 done · 5 open
session  1 login · conversation 1 (b7d0aa11) · branch stint/run-3f9c1a
task     session-cookie · Renew the session cookie before it expires
         7m 35s · attempt 2 · same conversation · told what failed
context  ███████████████████████████████╎██░░░░░┃░░░░░┃░┃░░░░░  64% · 108k/167k
                        smart zone 100k ╎       75    85 90
spent    41k in · 1.6M cached · 55k out · $1.50
───────────────────────────────────────────────────────────────────────────────
14:08:34 ▶ session-cookie: attempt 2, same conversation again
14:08:34 session-cookie: told what failed
14:10:00 past the smart zone: 60% · 101k/167k
14:10:40 Edit src/session/cookie.ts
14:10:55 $ npm test -- cookie
14:11:40 “All 48 tests pass now. I am committing this.”`.slice(1),
    )
  })

  test('stacks on 40 columns what does not fit side by side', () => {
    expect(drawn(STORY, 712, { columns: 40 })).toBe(
      `
── run 3f9c1a · claude, claude-sonn… ──
time     11m 52s of about 45m
tasks    █████░░░░░░░░░░░░░░░░░░░░░░░░░
         1 of 6 done · 5 open
session  1 login
         conversation 1 (b7d0aa11)
         branch stint/run-3f9c1a
task     session-cookie · Renew the se…
         7m 35s · attempt 2
         same conversation
         told what failed
context  64% · 108k/167k
         █████████████████╎█░░░┃░░┃░┃░░
          smart zone 100k ╎    75 85 90
spent    41k in · 1.6M cached · 55k out
         $1.50
───────────────────────────────────────
14:08 ▶ session-cookie: attempt 2, sam…
14:08 session-cookie: told what failed
14:10 past the smart zone: 60% · 101k/…
14:10 Edit src/session/cookie.ts
14:10 $ npm test -- cookie
14:11 “All 48 tests pass now. I am com…`.slice(1),
    )
  })

  test('shows what the run waits for and how many tasks failed', () => {
    const text = drawn(ALL.slice(0, -2), 1740, { columns: 80, rows: 40 })
    expect(text).toContain('3 of 6 done · 1 failed · 1 blocked · 1 open')
    expect(text).toContain('limit    waiting until 15:30 · You have reached your 5-hour limit')
    expect(text).toContain('stop     stopping · Ctrl-C again stops now')
  })

  test('keeps the most important rows on a short terminal, the task rather than the log', () => {
    const lines = drawn(STORY, 712, { columns: 80, rows: 7 }).split('\n')
    expect(lines.map((line) => line.slice(0, 8).trim())).toEqual([
      '── run 3',
      'tasks',
      'task',
      '',
      'context',
      '',
    ])
  })

  test('draws no bar and shows that the compaction point is unknown', () => {
    const noPoint: RunEvent = {
      kind: 'usage',
      at: at(1),
      data: {
        gauge: { context: 41_000, smartZone: 100_000, stages: [75] },
        spend: spend(1),
      },
    }
    const text = drawn([...STORY.slice(0, 4), noPoint], 10, { columns: 80 })
    expect(text).toContain('context  41k tokens · where it compacts is unknown')
    expect(text).toContain('cost unknown')
  })

  test('shows the expected time once the run takes longer', () => {
    expect(drawn(STORY, 3000, { columns: 80 })).toContain('50m 00s, expected 45m ──')
  })

  test('has colours only when asked for', () => {
    expect(drawn(STORY, 712, { columns: 80, color: false })).not.toContain('\u001B')
    expect(drawn(STORY, 712, { columns: 80, color: true })).toContain(
      '\u001B[36msession-cookie\u001B[39m',
    )
  })
})

/** Awkward text in every field that a harness, a model or a backlog can set. */
const anyEvent: fc.Arbitrary<RunEvent> = fc
  .record({
    text: awkwardText,
    number: fc.nat({ max: 400_000 }),
    which: fc.nat({ max: 17 }),
    seconds: fc.nat({ max: 100_000 }),
    isOfDelegate: fc.boolean(),
  })
  .map(({ text, number, which, seconds, isOfDelegate }): RunEvent => {
    const task = { ...named(text, text), id: text }
    const when = at(seconds)
    const events: readonly RunEvent[] = [
      {
        kind: 'run.planned',
        at: when,
        data: {
          run: text,
          harness: text,
          model: text,
          branch: text,
          tasks: [task],
          isResumed: false,
        },
      },
      {
        kind: 'session.opened',
        at: when,
        data: { session: text, name: text, number, because: text, planned: [task] },
      },
      { kind: 'conversation.opened', at: when, data: { ...OPENED, number } },
      { kind: 'conversation.started', at: when, data: { conversation: text, number } },
      {
        kind: 'attempt.started',
        at: when,
        task,
        data: { ...ATTEMPT, task, number: 2, place: 'fresh conversation' },
      },
      { kind: 'text', at: when, data: { text } },
      { kind: 'tool', at: when, data: { name: text, status: 'started', command: text } },
      { kind: 'tool', at: when, data: { name: text, status: 'completed', path: text } },
      { kind: 'usage', at: when, data: { gauge: gauge(number), spend: spend(number) } },
      {
        kind: 'usage',
        at: when,
        data: {
          gauge: { ...gauge(number), smartZone: number, stages: [number, number + 1, 5] },
          spend: spend(1, number),
        },
      },
      { kind: 'verify.started', at: when, task, data: { command: text } },
      { kind: 'limit.reached', at: when, data: { message: text, resetsAt: text, isWaiting: true } },
      { kind: 'stopping', at: when, data: { how: 'after task' } },
      { kind: 'task.parked', at: when, task, data: { task: task.id, reason: text } },
      {
        kind: 'attempt.ended',
        at: when,
        task,
        data: {
          attempt: 'a',
          outcome: 'done',
          spend: spend(number, number),
          seconds,
          commit: text,
        },
      },
      {
        kind: 'delegate.started',
        at: when,
        delegate: text,
        task,
        data: { id: text, branch: text, worktree: text, isAgain: number % 2 === 0 },
      },
      { kind: 'delegate.ready', at: when, delegate: text, task, data: { summary: text } },
      {
        kind: 'delegate.conflicted',
        at: when,
        delegate: text,
        task,
        data: { because: text, files: [text], isSentBack: true },
      },
      {
        kind: 'delegate.parked',
        at: when,
        delegate: text,
        task,
        data: { because: text, next: text },
      },
    ]
    return { ...events[which]!, ...(isOfDelegate ? { delegate: text } : {}) }
  })

test('fits any terminal size after any events', () => {
  fc.assert(
    fc.property(
      fc.array(anyEvent, { maxLength: 12 }),
      fc.integer({ min: 1, max: 130 }),
      fc.integer({ min: 1, max: 50 }),
      (events, columns, rows) => {
        const state = events.reduce(applyEvent, EMPTY_VIEW)
        const lines = renderFrame(state, { columns, rows, color: true, now: at(50_000) })
        const staying = events.flatMap((event) => finishedLines(event, { columns, color: true }))
        expect(lines.length).toBeLessThanOrEqual(Math.max(1, rows - 1))
        for (const line of [...lines, ...staying]) {
          expect(displayWidth(line)).toBeLessThanOrEqual(Math.max(1, columns - 1))
          expect(line.replaceAll(/\u001B\[\d+m/g, '')).not.toMatch(
            /[\u0000-\u001F\u007F-\u009F\u2028\u2029]/,
          )
        }
      },
    ),
    { numRuns: 400 },
  )
})

describe('a finished task', () => {
  const done: RunEvent = {
    kind: 'attempt.ended',
    at: at(1),
    task: TASKS.login,
    data: {
      attempt: 'a',
      outcome: 'done',
      commit: 'a1b2c3d4e5',
      spend: spend(0.4, 0.41),
      seconds: 252,
    },
  }
  const lines = (event: RunEvent, columns: number) =>
    finishedLines(event, { columns, color: false })

  test('leaves a line with time, tokens, cost and commit', () => {
    expect(lines(done, 80)).toEqual([
      '✓ login-form                     4m 12s   509k tokens    $0.41  a1b2c3d',
    ])
  })

  test('drops whole figures on a narrow terminal', () => {
    expect(lines(done, 40)).toEqual(['✓ login-form          4m 12s    $0.41'])
  })

  test('shows when its model has no price', () => {
    expect(lines({ ...done, data: { ...done.data, spend: spend(0.4) } }, 80)[0]).toContain(
      'cost unknown',
    )
  })

  test('leaves the reason when it was parked', () => {
    expect(
      lines(
        {
          kind: 'task.parked',
          at: at(1),
          task: TASKS.sweep,
          data: { task: TASKS.sweep.id, reason: 'two tests\nfail' },
        },
        80,
      ),
    ).toEqual(['✗ sweep-race                    two tests fail'])
  })
})
