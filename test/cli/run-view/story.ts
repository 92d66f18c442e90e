// A run as it may well go: two sessions, a failure that is mended, a task that is parked, one that is blocked.
import type { Gauge, RunEvent } from '../../../src/run/events.ts'
import type { RunReport, Spend, TaskName } from '../../../src/run/report.ts'

export const RUN = '0199f0aa-7c3e-7b11-8a51-5e2d4c3f9c1a'

export function named(name: string, title: string): TaskName {
  return { id: `id-of-${name}`, name, title }
}

export const TASKS = {
  login: named('login-form', 'Show the login form without JavaScript'),
  cookie: named('session-cookie', 'Renew the session cookie before it expires'),
  rate: named('rate-limit', 'Limit the attempts at logging in, by account and by address'),
  sweep: named('sweep-race', 'Two sweeps at once remove a session twice'),
  docs: named('login-docs', 'Say in the docs how long a login lasts'),
  totp: named('totp', 'Ask for a second factor where the account has one'),
}

export function gauge(context: number, point: number | undefined = 167_000): Gauge {
  const rest = { context, smartZone: 100_000, stages: [75, 85, 90] }
  return point === undefined
    ? rest
    : { ...rest, window: 200_000, point, percent: Math.floor((context / point) * 100) }
}

export function spend(share: number, usd?: number): Spend {
  const used = { input: 1200, cacheWritten: 30_000, cacheRead: 1_200_000, output: 42_000 }
  const [input, cacheWritten, cacheRead, output] = [
    used.input,
    used.cacheWritten,
    used.cacheRead,
    used.output,
  ].map((each) => Math.round(each * share)) as [number, number, number, number]
  const spent = { input, cacheWritten, cacheRead, output }
  return usd === undefined ? spent : { ...spent, usd }
}

export function at(seconds: number): string {
  return new Date(Date.parse('2026-11-15T14:00:00.000Z') + seconds * 1000).toISOString()
}

const { login, cookie, rate, sweep, docs, totp } = TASKS

export const REPORT: RunReport = {
  run: RUN,
  harness: 'claude',
  models: ['claude-sonnet-4-5'],
  how: 'waiting',
  startedAt: at(0),
  seconds: 1745,
  prices: 'price list of 2026-11-15',
  branch: 'stint/run-3f9c1a',
  commits: 5,
  spend: spend(3, 3.37),
  compared: {
    boilerplateAvoided: 48_200,
    historyReread: 310_400,
    savedUsd: 0.34,
    profilesNotLoaded: 0,
  },
  sessions: [
    {
      session: '0199f0aa-7c3e-7b11-8a51-5e2d4cb7d0aa',
      name: 'login',
      conversations: 1,
      spend: spend(1.4, 1.55),
      seconds: 790,
      tasks: [
        {
          task: login,
          outcome: 'done',
          attempts: 1,
          spend: spend(0.4, 0.41),
          seconds: 252,
          commit: 'a1b2c3d4e5f6',
          added: 31_000,
          compactions: 0,
        },
        {
          task: cookie,
          outcome: 'done',
          attempts: 2,
          spend: spend(1, 1.14),
          seconds: 538,
          commit: '9f8e7d6c5b4a',
          added: 42_000,
          compactions: 0,
        },
      ],
    },
    {
      session: '0199f0aa-7c3e-7b11-8a51-5e2d4cc81e55',
      name: 'sweep',
      conversations: 2,
      spend: spend(1.6, 1.82),
      seconds: 930,
      tasks: [
        {
          task: rate,
          outcome: 'done',
          attempts: 1,
          spend: spend(0.8, 0.91),
          seconds: 400,
          commit: '77aa77bb77cc',
          added: 50_000,
          compactions: 0,
        },
        {
          task: sweep,
          outcome: 'parked',
          reason: 'npm test still fails: 2 of 48 tests, sweep.test.ts "two at once"',
          attempts: 3,
          spend: spend(0.8, 0.91),
          seconds: 530,
          compactions: 1,
        },
        {
          task: docs,
          outcome: 'open',
          reason: 'waits for sweep-race',
          attempts: 0,
          spend: spend(0, 0),
          seconds: 0,
          compactions: 0,
        },
        {
          task: totp,
          outcome: 'blocked',
          reason: 'needs to know which provider sends the codes',
          attempts: 1,
          spend: spend(0, 0),
          seconds: 20,
          compactions: 0,
        },
      ],
    },
  ],
}

export const STORY: readonly RunEvent[] = [
  {
    type: 'run.started',
    at: at(0),
    run: RUN,
    harness: 'claude',
    model: 'claude-sonnet-4-5',
    branch: 'stint/run-3f9c1a',
    worktree: '/tmp/run-3f9c1a',
    tasks: Object.values(TASKS),
    isResumed: false,
    expectedSeconds: 2700,
  },
  {
    type: 'session.opened',
    at: at(1),
    session: REPORT.sessions[0]!.session,
    name: 'login',
    number: 1,
    because: 'the first of the run',
    planned: [login, cookie],
  },
  {
    type: 'conversation.opened',
    at: at(2),
    conversation: 'b7d0aa11-2233-4455-6677-8899aabbccdd',
    number: 1,
  },
  { type: 'task.started', at: at(3), task: login, attempt: 1, place: 'live conversation' },
  { type: 'turn.started', at: at(3), task: login, why: 'task' },
  {
    type: 'text',
    at: at(9),
    text: 'I will look at how the form is rendered now.\n\nThen I will change it.',
  },
  { type: 'tool', at: at(10), name: 'Read', status: 'started', path: 'src/login/form.ts' },
  { type: 'tool', at: at(10), name: 'Read', status: 'completed', path: 'src/login/form.ts' },
  { type: 'usage', at: at(12), gauge: gauge(24_000), spend: spend(0.1, 0.1) },
  { type: 'tool', at: at(60), name: 'Edit', status: 'started', path: 'src/login/form.ts' },
  { type: 'tool', at: at(90), name: 'Bash', status: 'started', command: 'npm test -- login' },
  { type: 'tool', at: at(99), name: 'Bash', status: 'failed', command: 'npm test -- login' },
  { type: 'usage', at: at(100), gauge: gauge(41_000), spend: spend(0.3, 0.3) },
  { type: 'verify.started', at: at(240), task: login, command: 'npm test' },
  {
    type: 'verify.ended',
    at: at(252),
    task: login,
    passed: true,
    seconds: 12,
    summary: '48 passed',
  },
  {
    type: 'task.done',
    at: at(255),
    task: login,
    commit: 'a1b2c3d4e5f6',
    summary: 'The form posts by itself; two tests added',
    spend: spend(0.4, 0.41),
    seconds: 252,
  },
  {
    type: 'rotation',
    at: at(256),
    stay: true,
    because: 'at most 98k of 167k with it; re-reading costs $0.03, a fresh start $0.09',
    next: cookie,
  },
  { type: 'task.started', at: at(257), task: cookie, attempt: 1, place: 'live conversation' },
  { type: 'usage', at: at(400), gauge: gauge(88_000), spend: spend(1, 1.1) },
  { type: 'verify.started', at: at(500), task: cookie, command: 'npm test' },
  {
    type: 'verify.ended',
    at: at(512),
    task: cookie,
    passed: false,
    seconds: 12,
    summary: '1 of 48 failed: cookie.test.ts renews in time',
  },
  {
    type: 'attempt.failed',
    at: at(513),
    task: cookie,
    attempt: 1,
    reason: 'verify failed: npm test: 1 of 48',
    // eslint-disable-next-line unicorn/no-thenable
    next: 'same conversation again',
  },
  { type: 'task.started', at: at(514), task: cookie, attempt: 2, place: 'same conversation again' },
  { type: 'turn.started', at: at(514), task: cookie, why: 'retry' },
  { type: 'stage', at: at(600), stage: 'smart-zone', gauge: gauge(101_000) },
  { type: 'tool', at: at(640), name: 'Edit', status: 'started', path: 'src/session/cookie.ts' },
  { type: 'tool', at: at(655), name: 'Bash', status: 'started', command: 'npm test -- cookie' },
  { type: 'usage', at: at(660), gauge: gauge(108_000), spend: spend(1.3, 1.5) },
  { type: 'text', at: at(700), text: 'All 48 tests pass now. I am committing this.' },
]

/** The rest, to the end. */
export const REST: readonly RunEvent[] = [
  {
    type: 'task.done',
    at: at(795),
    task: cookie,
    commit: '9f8e7d6c5b4a',
    spend: spend(1, 1.14),
    seconds: 538,
  },
  {
    type: 'rotation',
    at: at(796),
    stay: false,
    because: 'past the smart zone: 108k of 100k',
    next: rate,
  },
  {
    type: 'session.closed',
    at: at(797),
    session: REPORT.sessions[0]!.session,
    name: 'login',
    because: 'past the smart zone with 108k tokens',
    done: 2,
    handoff: 'h1',
  },
  {
    type: 'session.opened',
    at: at(798),
    session: REPORT.sessions[1]!.session,
    name: 'sweep',
    number: 2,
    because: 'goes on with rate-limit',
    planned: [rate, sweep],
  },
  {
    type: 'conversation.opened',
    at: at(799),
    conversation: 'c81e5500-2233-4455-6677-8899aabbccdd',
    number: 1,
    handoff: 'h1',
  },
  { type: 'task.started', at: at(800), task: rate, attempt: 1, place: 'live conversation' },
  { type: 'usage', at: at(900), gauge: gauge(60_000), spend: spend(2, 2.4) },
  {
    type: 'task.done',
    at: at(1200),
    task: rate,
    commit: '77aa77bb77cc',
    spend: spend(0.8, 0.91),
    seconds: 400,
  },
  { type: 'task.started', at: at(1201), task: sweep, attempt: 1, place: 'live conversation' },
  { type: 'compaction', at: at(1400), task: sweep, tokensBefore: 167_200 },
  {
    type: 'breaker',
    at: at(1500),
    task: sweep,
    which: 'same error',
    detail: 'EBUSY: sessions.db, three times',
  },
  {
    type: 'attempt.failed',
    at: at(1501),
    task: sweep,
    attempt: 2,
    reason: 'the same error three times',
    // eslint-disable-next-line unicorn/no-thenable
    next: 'fresh conversation',
  },
  {
    type: 'limit',
    at: at(1600),
    message: 'You have reached your 5-hour limit',
    resetsAt: at(5400),
    isWaiting: true,
  },
  {
    type: 'task.parked',
    at: at(1700),
    task: sweep,
    reason: 'npm test still fails: 2 of 48 tests, sweep.test.ts "two at once"',
    kept: 'stint/run-3f9c1a-sweep-race',
  },
  {
    type: 'task.blocked',
    at: at(1720),
    task: totp,
    reason: 'needs to know which provider sends the codes',
  },
  { type: 'stopping', at: at(1730), how: 'after task' },
  { type: 'run.ended', at: at(1745), how: 'waiting', report: REPORT },
]
