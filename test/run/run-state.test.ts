import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { mintId } from '../../src/journal/ids.ts'
import type { RunEntry, RunEntryData, RunEntryKind } from '../../src/run/entries.ts'
import { reportFrom } from '../../src/run/report.ts'
import { finishedTasksIn } from '../../src/run/runs.ts'
import { findUnstartedTasks } from '../../src/run/loop/task-selection.ts'
import { type RunState, foldRun, totalTokens } from '../../src/run/run-state.ts'
import type { Task } from '../../src/backlog/task.ts'

// Few names, so that entries collide.
const number = fc.constantFrom(1, 2)
const session = fc.constantFrom('s1', 's2')
const attempt = fc.constantFrom('a1', 'a2', 'a3')
const task = fc.constantFrom('t1', 't2')
const mark = fc.record({
  pid: fc.nat(),
  startedAt: fc.constantFrom('', '17'),
  mark: fc.constantFrom('', 'word'),
})
const tokens = fc.oneof(
  fc.nat(1_000_000),
  fc.integer({ max: -1 }),
  fc.constantFrom(Number.NaN, Infinity, 0.5),
)
const usage = fc.record({ input: tokens, cacheWritten: tokens, cacheRead: tokens, output: tokens })
const models = fc.dictionary(fc.constantFrom('claude-sonnet-4-5', 'own', 'constructor'), usage, {
  maxKeys: 2,
})

const DATA: { [K in RunEntryKind]: fc.Arbitrary<RunEntryData[K]> } = {
  'run.started': fc.record({
    options: fc.constant({}),
    harness: fc.constant('rehearsal'),
    source: fc.constant('.tasks'),
    tree: fc.constant('/tree'),
    branch: fc.constant('main'),
    base: fc.constant('0'.repeat(40)),
    isInPlace: fc.boolean(),
    runner: mark,
  }),
  'run.resumed': fc.record({ runner: mark }),
  'tree.ready': fc.constant({}),
  'session.opened': fc.record({
    session,
    name: fc.constant('one'),
    number,
    because: fc.constant(''),
  }),
  'session.closed': fc.record(
    { session, because: fc.constant(''), handoff: fc.constant('h') },
    { requiredKeys: ['session', 'because'] },
  ),
  'conversation.opened': fc.record({ number, session, process: mark, setup: fc.nat(5000) }),
  'conversation.started': fc.record({
    number,
    conversation: fc.constant('c'),
    model: fc.constant('own'),
    window: fc.nat(),
  }),
  'conversation.ended': fc.record({
    number,
    because: fc.constant(''),
    profilesNotLoaded: fc.nat(),
  }),
  'attempt.started': fc.record({
    attempt,
    task: task.map((id) => ({ id, name: id, title: id })),
    number,
    place: fc.constantFrom('live conversation', 'same conversation again', 'fresh conversation'),
    session,
    conversation: number,
    base: fc.constant('0'.repeat(40)),
    sizeClass: fc.constantFrom('small', 'medium', 'large'),
    context: fc.nat(200_000),
    isFirst: fc.boolean(),
    since: fc.constant(''),
    text: fc.nat(),
  }),
  'turn.ended': fc.record({
    attempt,
    conversation: number,
    how: fc.constant('done'),
    spent: models,
    requests: fc.oneof(fc.nat(50), fc.integer({ max: -1 })),
    costUsd: fc.double({ min: 0, noNaN: true }),
    seconds: fc.nat(),
  }),
  'context.compacted': fc.record({ attempt, conversation: number }),
  'breaker.tripped': fc.record({ attempt, which: fc.constant('silence'), detail: fc.constant('') }),
  'limit.reached': fc.record({ message: fc.constant('later') }),
  'attempt.ended': fc.record({
    attempt,
    outcome: fc.constantFrom('done', 'failed', 'blocked', 'interrupted'),
    added: fc.nat(),
  }),
  'work.kept': fc.record({ attempt, kept: fc.constant('refs/stint/runs/run/attempt') }),
  'task.parked': fc.record({ task, reason: fc.constant('too hard') }),
  'rotation.decided': fc.record({
    task,
    stay: fc.boolean(),
    rule: fc.constant(''),
    because: fc.constant(''),
  }),
  'delegate.begun': fc.record({ delegate: fc.constant('d1'), task }),
  'delegate.told': fc.record({ text: fc.string() }),
  'delegate.moved': fc.record({ to: fc.constantFrom('ready', 'failed', 'conflicted', 'merged') }),
  'merge.begun': fc.record({
    target: fc.constant('main'),
    onto: fc.constant('0'.repeat(40)),
    tip: fc.constant('1'.repeat(40)),
    merger: mark,
    tree: fc.constant('/merge'),
  }),
  'merge.landing': fc.record({
    target: fc.constant('main'),
    from: fc.constant('0'),
    to: fc.constant('1'),
  }),
  'run.ended': fc.record(
    {
      how: fc.constantFrom('finished', 'interrupted', 'waiting'),
      neverBegun: fc.record({
        count: tokens,
        tasks: fc.array(
          task.map((id) => ({ id, name: id, title: id })),
          { maxLength: 2 },
        ),
      }),
    },
    { requiredKeys: ['how'] },
  ),
}

const at = fc.constantFrom(
  '2025-01-01T00:00:00.000Z',
  '2025-01-01T01:00:00.000Z',
  '2024-06-01T00:00:00.000Z',
  'no time',
  '',
)

function entryOf(kind: RunEntryKind): fc.Arbitrary<RunEntry> {
  const data: fc.Arbitrary<RunEntryData[RunEntryKind]> = DATA[kind]
  return fc
    .record({ at, data })
    .map((rest) => ({ id: mintId(undefined), kind, ...rest }) as RunEntry)
}

// Attempts and turns are the most frequent, as in a real run.
const KINDS: readonly RunEntryKind[] = [
  ...(Object.keys(DATA) as RunEntryKind[]),
  'attempt.started',
  'turn.ended',
  'turn.ended',
]
const entry = fc.oneof(...KINDS.map(entryOf))
const beginning = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(entryOf('run.started'), entryOf('attempt.started')) },
  fc.tuple(),
)

/** In any order, some of them twice. */
const anyEntries = fc
  .tuple(beginning, fc.array(entry, { maxLength: 30 }))
  .map((parts) => parts.flat())
  .chain((entries) => fc.tuple(fc.constant(entries), fc.subarray(entries)))
  .map(([entries, again]) => [...entries, ...again])

/** With a field removed or replaced. */
const spoilt = fc
  .tuple(entry, fc.nat(), fc.option(fc.jsonValue(), { nil: undefined }))
  .map(([whole, which, instead]) => {
    const names = Object.keys(whole.data)
    return {
      ...whole,
      data: { ...whole.data, [names[which % names.length]!]: instead },
    } as unknown as RunEntry
  })

const foreign = fc
  .record({
    kind: fc.constantFrom('run.dreamt', '__proto__', 'constructor', ''),
    at,
    data: fc.dictionary(fc.string(), fc.jsonValue()),
  })
  .map((rest) => ({ id: mintId(undefined), ...rest }) as unknown as RunEntry)

function everythingOf(state: RunState | undefined): readonly number[] {
  if (state === undefined) return []
  const report = reportFrom(state, { run: 'r', prices: [], isRunning: false, commits: 0 })
  const spent = [
    ...state.attempts.flatMap((one) => Object.values(one.spent)),
    report.spend,
    ...report.sessions.map(({ spend }) => spend),
  ]
  return [
    report.neverBegun?.count ?? 0,
    ...spent.map(totalTokens),
    ...state.attempts.flatMap((one) => [one.requests, one.seconds, one.compactions]),
    state.seconds,
  ]
}

test('folds entries in any order, some twice, and no count is ever negative', () => {
  fc.assert(
    fc.property(anyEntries, (entries) => {
      const state = foldRun(entries)
      expect(state === undefined).toBe(!entries.some(({ kind }) => kind === 'run.started'))
      expect(everythingOf(state).filter((count) => !(count >= 0))).toEqual([])
    }),
    { numRuns: 500 },
  )
})

test('folds entries with missing or wrong fields', () => {
  fc.assert(
    fc.property(
      beginning,
      fc.array(fc.oneof(entry, spoilt), { maxLength: 30 }),
      (begun, others) => {
        const state = foldRun([...begun, ...others])
        expect(everythingOf(state).filter((count) => !(count >= 0))).toEqual([])
        if (state !== undefined) finishedTasksIn(state)
      },
    ),
    { numRuns: 1000 },
  )
})

test('ignores entries of unknown kinds', () => {
  fc.assert(
    fc.property(
      anyEntries,
      fc.array(fc.tuple(fc.nat(), foreign), { minLength: 1, maxLength: 5 }),
      (entries, others) => {
        const mixed = [...entries]
        for (const [where, other] of others) mixed.splice(where % (mixed.length + 1), 0, other)
        // They only advance `lastAt`.
        const timeless = (state: RunState | undefined) => ({ ...state, lastAt: '', seconds: 0 })
        expect(timeless(foldRun(mixed))).toEqual(timeless(foldRun(entries)))
      },
    ),
  )
})

test('counts the tokens of a run from its turns', () => {
  const turn = DATA['turn.ended'].map((data) => ({
    ...data,
    attempt: 'a1',
    spent: { own: { input: 1, cacheWritten: 2, cacheRead: 3, output: 4 } },
  }))
  fc.assert(
    fc.property(
      DATA['run.started'],
      DATA['attempt.started'],
      fc.array(turn, { maxLength: 9 }),
      (run, begun, turns) => {
        const made = (kind: RunEntryKind, data: unknown) =>
          ({ id: mintId(undefined), at: '', kind, data }) as RunEntry
        const started = made('attempt.started', { ...begun, attempt: 'a1' })
        const state = foldRun([
          made('run.started', run),
          started,
          ...turns.map((data) => made('turn.ended', data)),
        ])
        expect(Object.values(state!.attempts[0]!.spent).map(totalTokens)).toEqual(
          turns.length === 0 ? [] : [10 * turns.length],
        )
      },
    ),
  )
})

test('reports a run as waiting from the turn that hit the limit until it does anything else', () => {
  const at = '2026-03-02T12:00:00.000Z'
  const made = (kind: RunEntryKind, data: unknown = {}) =>
    ({ id: mintId(undefined), at, kind, data }) as RunEntry
  const started = {
    options: {},
    harness: 'h',
    source: 's',
    tree: '/t',
    branch: 'b',
    base: '0',
    isInPlace: false,
    runner: {},
  }
  const resetsAt = '2026-03-02T14:30:00.000Z'
  const limit = made('limit.reached', { message: 'later', resetsAt })
  const turn = made('turn.ended', {
    attempt: 'a1',
    conversation: 1,
    how: 'failed',
    spent: {},
    requests: 0,
  })
  const waits = (...entries: RunEntry[]) =>
    foldRun([made('run.started', started), ...entries])!.waitsUntil
  expect(waits(turn)).toBeUndefined()
  expect(waits(limit)).toBe(resetsAt)
  expect(waits(turn, limit, turn)).toBe(resetsAt)
  expect(waits(limit, turn, turn)).toBeUndefined()
  expect(waits(limit, turn, made('run.resumed', { runner: {} }))).toBeUndefined()
  expect(waits(limit, turn, made('run.ended', { how: 'usage limit' }))).toBeUndefined()
  expect(waits(made('limit.reached', { message: 'later' }))).toBe('2026-03-02T12:15:00.000Z')
  expect(waits(made('limit.reached', { message: 'later', resetsAt: 'soon' }))).toBe(
    '2026-03-02T12:15:00.000Z',
  )
})

test('lists tasks neither tried nor delegated as not started, with the first name and the count', () => {
  const tasks = Array.from(
    { length: 400 },
    (_, index) => ({ id: `t${index}`, shortname: `task-${index}`, title: 'T' }) as Task,
  )
  const state = {
    attempts: [{ started: { task: { id: 't0' } } }],
    delegates: [{ delegate: 'd', task: 't1' }],
  } as unknown as RunState
  const left = findUnstartedTasks(tasks, state)!
  expect([left.count, left.tasks.length, left.tasks[0]]).toEqual([
    398,
    300,
    { id: 't2', name: 'task-2', title: 'T' },
  ])
  expect(findUnstartedTasks(tasks.slice(0, 2), state)).toBeUndefined()
})
