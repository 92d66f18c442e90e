// A realistic run: two sessions, a failure that is fixed, a parked task and a blocked one.
import type { Gauge, RunEvent, RunReport, Spend, TaskName } from '../../../src/run/entries.ts'

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

export const ATTEMPT = {
  attempt: 'a',
  session: REPORT.sessions[0]!.session,
  conversation: 1,
  base: 'b',
  sizeClass: 'medium',
  isFirst: true,
  since: '',
  text: 100,
} as const

export const OPENED = {
  session: REPORT.sessions[0]!.session,
  process: { pid: 1, startedAt: '', mark: '' },
  setup: 0,
}

export const STORY: readonly RunEvent[] = [
  {
    kind: 'run.planned',
    at: at(0),
    data: {
      run: RUN,
      harness: 'claude',
      model: 'claude-sonnet-4-5',
      branch: 'stint/run-3f9c1a',
      worktree: '/tmp/run-3f9c1a',
      tasks: Object.values(TASKS),
      isResumed: false,
      expectedSeconds: 2700,
    },
  },
  {
    kind: 'session.opened',
    at: at(1),
    data: {
      session: REPORT.sessions[0]!.session,
      name: 'login',
      number: 1,
      because: 'the first of the run',
      planned: [login, cookie],
    },
  },
  { kind: 'conversation.opened', at: at(2), data: { ...OPENED, number: 1 } },
  {
    kind: 'conversation.started',
    at: at(2),
    data: { number: 1, conversation: 'b7d0aa11-2233-4455-6677-8899aabbccdd' },
  },
  {
    kind: 'attempt.started',
    at: at(3),
    task: login,
    data: { ...ATTEMPT, task: login, number: 1, place: 'live conversation' },
  },
  { kind: 'turn.started', at: at(3), task: login, data: { why: 'task' } },
  {
    kind: 'text',
    at: at(9),
    data: { text: 'I will look at how the form is rendered now.\n\nThen I will change it.' },
  },
  {
    kind: 'tool',
    at: at(10),
    data: { name: 'Read', status: 'started', path: 'src/login/form.ts' },
  },
  {
    kind: 'tool',
    at: at(10),
    data: { name: 'Read', status: 'completed', path: 'src/login/form.ts' },
  },
  { kind: 'usage', at: at(12), data: { gauge: gauge(24_000), spend: spend(0.1, 0.1) } },
  {
    kind: 'tool',
    at: at(60),
    data: { name: 'Edit', status: 'started', path: 'src/login/form.ts' },
  },
  {
    kind: 'tool',
    at: at(90),
    data: { name: 'Bash', status: 'started', command: 'npm test -- login' },
  },
  {
    kind: 'tool',
    at: at(99),
    data: { name: 'Bash', status: 'failed', command: 'npm test -- login' },
  },
  { kind: 'usage', at: at(100), data: { gauge: gauge(41_000), spend: spend(0.3, 0.3) } },
  { kind: 'verify.started', at: at(240), task: login, data: { command: 'npm test' } },
  {
    kind: 'verify.ended',
    at: at(252),
    task: login,
    data: { passed: true, seconds: 12, summary: '48 passed' },
  },
  {
    kind: 'attempt.ended',
    at: at(255),
    task: login,
    data: {
      attempt: 'a',
      outcome: 'done',
      commit: 'a1b2c3d4e5f6',
      summary: 'The form posts by itself; two tests added',
      spend: spend(0.4, 0.41),
      seconds: 252,
    },
  },
  {
    kind: 'rotation.decided',
    at: at(256),
    task: cookie,
    data: {
      task: cookie.id,
      rule: 'cheaper',
      stay: true,
      because: 'at most 98k of 167k with it; re-reading costs $0.03, a fresh start $0.09',
    },
  },
  {
    kind: 'attempt.started',
    at: at(257),
    task: cookie,
    data: { ...ATTEMPT, task: cookie, number: 1, place: 'live conversation' },
  },
  { kind: 'usage', at: at(400), data: { gauge: gauge(88_000), spend: spend(1, 1.1) } },
  { kind: 'verify.started', at: at(500), task: cookie, data: { command: 'npm test' } },
  {
    kind: 'verify.ended',
    at: at(512),
    task: cookie,
    data: { passed: false, seconds: 12, summary: '1 of 48 failed: cookie.test.ts renews in time' },
  },
  {
    kind: 'attempt.ended',
    at: at(513),
    task: cookie,
    data: {
      attempt: 'a',
      outcome: 'failed',
      number: 1,
      reason: 'verify failed: npm test: 1 of 48',
      next: 'same conversation again',
    },
  },
  {
    kind: 'attempt.started',
    at: at(514),
    task: cookie,
    data: { ...ATTEMPT, task: cookie, number: 2, place: 'same conversation again' },
  },
  { kind: 'turn.started', at: at(514), task: cookie, data: { why: 'retry' } },
  { kind: 'stage', at: at(600), data: { stage: 'smart-zone', gauge: gauge(101_000) } },
  {
    kind: 'tool',
    at: at(640),
    data: { name: 'Edit', status: 'started', path: 'src/session/cookie.ts' },
  },
  {
    kind: 'tool',
    at: at(655),
    data: { name: 'Bash', status: 'started', command: 'npm test -- cookie' },
  },
  { kind: 'usage', at: at(660), data: { gauge: gauge(108_000), spend: spend(1.3, 1.5) } },
  { kind: 'text', at: at(700), data: { text: 'All 48 tests pass now. I am committing this.' } },
]

export const REST: readonly RunEvent[] = [
  {
    kind: 'attempt.ended',
    at: at(795),
    task: cookie,
    data: {
      attempt: 'a',
      outcome: 'done',
      commit: '9f8e7d6c5b4a',
      spend: spend(1, 1.14),
      seconds: 538,
    },
  },
  {
    kind: 'rotation.decided',
    at: at(796),
    task: rate,
    data: {
      task: rate.id,
      rule: 'cheaper',
      stay: false,
      because: 'past the smart zone: 108k of 100k',
    },
  },
  {
    kind: 'session.closed',
    at: at(797),
    data: {
      session: REPORT.sessions[0]!.session,
      name: 'login',
      because: 'past the smart zone with 108k tokens',
      done: 2,
      handoff: 'h1',
    },
  },
  {
    kind: 'session.opened',
    at: at(798),
    data: {
      session: REPORT.sessions[1]!.session,
      name: 'sweep',
      number: 2,
      because: 'goes on with rate-limit',
      planned: [rate, sweep],
    },
  },
  { kind: 'conversation.opened', at: at(799), data: { ...OPENED, number: 1, handoff: 'h1' } },
  {
    kind: 'conversation.started',
    at: at(799),
    data: { number: 1, conversation: 'c81e5500-2233-4455-6677-8899aabbccdd' },
  },
  {
    kind: 'attempt.started',
    at: at(800),
    task: rate,
    data: { ...ATTEMPT, task: rate, number: 1, place: 'live conversation' },
  },
  { kind: 'usage', at: at(900), data: { gauge: gauge(60_000), spend: spend(2, 2.4) } },
  {
    kind: 'attempt.ended',
    at: at(1200),
    task: rate,
    data: {
      attempt: 'a',
      outcome: 'done',
      commit: '77aa77bb77cc',
      spend: spend(0.8, 0.91),
      seconds: 400,
    },
  },
  {
    kind: 'attempt.started',
    at: at(1201),
    task: sweep,
    data: { ...ATTEMPT, task: sweep, number: 1, place: 'live conversation' },
  },
  {
    kind: 'context.compacted',
    at: at(1400),
    task: sweep,
    data: { attempt: 'a', conversation: 1, tokensBefore: 167_200 },
  },
  {
    kind: 'breaker.tripped',
    at: at(1500),
    task: sweep,
    data: { attempt: 'a', which: 'same error', detail: 'EBUSY: sessions.db, three times' },
  },
  {
    kind: 'attempt.ended',
    at: at(1501),
    task: sweep,
    data: {
      attempt: 'a',
      outcome: 'failed',
      number: 2,
      reason: 'the same error three times',
      next: 'fresh conversation',
    },
  },
  {
    kind: 'limit.reached',
    at: at(1600),
    data: { message: 'You have reached your 5-hour limit', resetsAt: at(5400), isWaiting: true },
  },
  {
    kind: 'task.parked',
    at: at(1700),
    task: sweep,
    data: {
      task: sweep.id,
      reason: 'npm test still fails: 2 of 48 tests, sweep.test.ts "two at once"',
      kept: 'stint/run-3f9c1a-sweep-race',
    },
  },
  {
    kind: 'attempt.ended',
    at: at(1720),
    task: totp,
    data: {
      attempt: 'a',
      outcome: 'blocked',
      reason: 'needs to know which provider sends the codes',
    },
  },
  { kind: 'stopping', at: at(1730), data: { how: 'after task' } },
  { kind: 'run.ended', at: at(1745), data: { how: 'waiting' } },
  { kind: 'run.report', at: at(1745), data: REPORT },
]
