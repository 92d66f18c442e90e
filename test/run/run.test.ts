import { existsSync } from 'node:fs'
import { expect, onTestFinished, test, vi } from 'vitest'
import { attemptsThat } from '../support/run-events.ts'
import { RunWorld, doing } from './run-world.ts'

test('a run finishes its backlog in one conversation, on its own branch, outside the checkout', async () => {
  const world = new RunWorld()
  await world.tasks('One', 'Two', 'Three')
  const head = world.project.git('rev-parse', 'HEAD')
  const report = await world.run({ verify: 'test -f a.txt' })
  expect(report.how).toBe('finished')
  expect(world.of('run.planned')[0]!.expectedSeconds).toBeGreaterThan(60)
  expect(await world.statuses()).toEqual({ one: 'completed', two: 'completed', three: 'completed' })
  expect(
    report.sessions.map(({ conversations, tasks }) => [
      conversations,
      tasks.map(({ task, outcome }) => [task.name, outcome]),
    ]),
  ).toEqual([
    [
      1,
      [
        ['one', 'done'],
        ['two', 'done'],
        ['three', 'done'],
      ],
    ],
  ])
  expect(world.subjects()).toEqual(['rehearse one', 'rehearse two', 'rehearse three'])
  expect(world.project.git('rev-parse', 'HEAD')).toBe(head)
  expect(world.project.git('status', '--porcelain', '--', ':!.tasks')).toBe('')
  expect(existsSync(world.of('run.planned')[0]!.worktree!)).toBe(false)
  expect(Object.values(world.closings())).toEqual([1, 1, 1])
})

test('sends the set-up once: a second task costs only its own text', async () => {
  const world = new RunWorld()
  world.project.commit('rules', { 'AGENTS.md': 'Indent with tabs.\n' })
  await world.tasks('One', 'Two', 'Three')
  const report = await world.run()
  const attempts = world.logged('attempt.started').map(({ data }) => data as { text: number })
  expect(Math.max(...attempts.slice(1).map(({ text }) => text))).toBeLessThan(60)
  const { setup } = world.logged('conversation.opened')[0]!.data as { setup: number }
  expect(setup).toBeGreaterThan(300)
  expect(report.compared.boilerplateAvoided).toBe(2 * setup)
})

test('retries a task in the same conversation with the verify failure, and closes it once', async () => {
  const world = new RunWorld()
  await world.tasks('One')
  const script = world.script({
    one: [
      [{ write: { path: 'b.txt', text: 'b' } }, { commit: 'half' }, { done: 'done' }],
      doing('one'),
    ],
  })
  const report = await world.run({ script, verify: 'cat one.txt' })
  expect(world.failed().map(({ reason, next }) => [reason, next])).toEqual([
    ['cat one.txt ended with 1', 'same conversation again'],
  ])
  expect(report.sessions[0]!.tasks[0]).toMatchObject({ outcome: 'done', attempts: 2 })
  expect(report.sessions[0]!.conversations).toBe(1)
  expect(Object.values(world.closings())).toEqual([1])
})

test('a false report closes nothing: the task is retried, then tried in a fresh conversation, then parked', async () => {
  const world = new RunWorld()
  const [one] = await world.tasks('One', 'Other')
  await world.tasks({ title: 'Two', dependsOn: ['one'] })
  const script = world.script({ one: [[{ lie: 'all done' }]] })
  const report = await world.run({ script })
  expect(report.how).toBe('waiting')
  expect(await world.statuses()).toEqual({ one: 'failed', two: 'ready', other: 'completed' })
  expect(world.failed().map(({ next }) => next)).toEqual([
    'same conversation again',
    'fresh conversation',
    'parked',
  ])
  expect(world.of('task.parked')[0]).toMatchObject({
    task: { name: 'one' },
    reason: 'nothing was committed',
  })
  expect(world.closings()[one!.id]).toBeUndefined()
  expect(world.journalled('handoff.made').length).toBeGreaterThan(0)
})

test('saves the work of a parked task, and the next task starts without it', async () => {
  const world = new RunWorld()
  await world.tasks({ title: 'One', priority: 'P0' }, 'Two')
  const half = [
    { write: { path: 'half.txt', text: 'half' } },
    { commit: 'half' },
    { write: { path: 'loose.txt', text: 'loose' } },
    { failed: 'too hard' },
  ]
  const script = world.script({
    one: [half],
    two: [[{ run: 'ls > listing.txt' }, { commit: 'two' }, { done: 'two' }]],
  })
  const report = await world.run({ script, onFailure: 'continue' })
  const parked = report.sessions
    .flatMap(({ tasks }) => tasks)
    .find(({ task }) => task.name === 'one')!
  expect(parked).toMatchObject({ outcome: 'parked', reason: 'reported as failed: too hard' })
  expect(world.project.git('show', `${parked.kept}:loose.txt`)).toBe('loose')
  expect(world.project.git('show', `${parked.kept}:half.txt`)).toBe('half')
  expect(world.project.git('show', `${world.branch()}:listing.txt`)).toBe('a.txt\nlisting.txt\n')
})

test('asks once for a report when a turn ends without one', async () => {
  const world = new RunWorld()
  await world.tasks('One')
  const script = world.script({
    one: [
      [{ write: { path: 'one.txt', text: '1' } }, { commit: 'one' }, { say: 'there' }],
      [{ done: 'it is there' }],
    ],
  })
  const report = await world.run({ script })
  expect(world.of('turn.started').map(({ why }) => why)).toEqual(['task', 'asked'])
  expect(report.sessions[0]!.tasks[0]).toMatchObject({ outcome: 'done', attempts: 1 })
})

test('leaves a blocked task with its reason, and the others continue', async () => {
  const world = new RunWorld()
  await world.tasks({ title: 'One', priority: 'P0' }, 'Two')
  const report = await world.run({
    script: world.script({ one: [[{ blocked: 'no access to the server' }]] }),
  })
  expect(await world.statuses()).toEqual({ one: 'blocked', two: 'completed' })
  expect(attemptsThat(world.events, 'blocked')[0]).toMatchObject({
    reason: 'no access to the server',
  })
  expect(report.how).toBe('waiting')
})

test('keeps a task open for uncommitted work, an unticked checklist or another branch', async () => {
  const world = new RunWorld()
  await world.tasks(
    'Dirty',
    { title: 'Listed', checklist: [{ item: 'tests', done: false }] },
    'Away',
  )
  const script = world.script({
    dirty: [
      [
        { write: { path: 'x.txt', text: 'x' } },
        { commit: 'x' },
        { write: { path: 'y.txt', text: 'y' } },
        { done: 'x' },
      ],
    ],
    listed: [doing('listed')],
    away: [
      [{ run: 'git switch --quiet -c elsewhere' }, ...doing('away')],
      [{ run: 'git switch --quiet -' }, { failed: 'sorry' }],
    ],
  })
  await world.run({ script, onFailure: 'continue' })
  const reasons = Object.fromEntries(
    world.of('task.parked').map(({ task, reason }) => [task.name, reason]),
  )
  expect(reasons['dirty']).toBe('not committed: y.txt')
  expect(reasons['listed']).toBe('not ticked: tests')
  expect(reasons['away']).toContain('HEAD is on elsewhere')
})

test('accepts a task whose checklist is ticked', async () => {
  const world = new RunWorld()
  await world.tasks({ title: 'Listed', checklist: [{ item: 'tests', done: false }] })
  await world.run({
    script: world.script({ listed: [[{ run: 'stint task check listed 1' }, ...doing('listed')]] }),
  })
  expect(await world.statuses()).toEqual({ listed: 'completed' })
})

/** Timers of this length expire when the returned function is called, so no limit depends on how fast the machine is. */
function expireOnDemand(ms: number): () => void {
  const pending = new Map<unknown, () => void>()
  const { setTimeout, clearTimeout } = globalThis
  const start = (ring: () => void, after?: number, ...args: []) => {
    const timer = setTimeout(ring, after, ...args)
    if (after === ms) pending.set(timer, ring)
    return timer
  }
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(start as typeof setTimeout)
  vi.spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => {
    pending.delete(timer)
    clearTimeout(timer)
  })
  onTestFinished(() => void vi.restoreAllMocks())
  return () => {
    for (const ring of pending.values()) ring()
  }
}

test('stops a silent agent, and finishes the task in a fresh conversation', async () => {
  const world = new RunWorld()
  world.config('run:\n  silence_minutes: 7\n')
  await world.tasks('One')
  const expire = expireOnDemand(7 * 60_000)
  world.onEvent = ({ kind, data }) => {
    if (kind === 'tool' && data.status === 'completed' && data.command === 'echo begun') expire()
  }
  const report = await world.run({
    script: world.script({ one: [[{ run: 'echo begun' }, { hang: true }], doing('one')] }),
  })
  expect(world.of('breaker.tripped')[0]).toMatchObject({ which: 'silence' })
  expect(world.of('attempt.started').map(({ place }) => place)).toEqual([
    'live conversation',
    'fresh conversation',
  ])
  expect(report.how).toBe('finished')
})

test('restarts a killed agent program, which continues the task', async () => {
  const world = new RunWorld({ agent: 'process' })
  await world.tasks('One', 'Two')
  const script = world.script({
    one: [
      [{ write: { path: 'one.txt', text: '1' } }, { commit: 'one' }, { die: true }],
      [{ done: 'one' }],
    ],
  })
  const report = await world.run({ script })
  expect(report.how).toBe('finished')
  expect(report.sessions[0]).toMatchObject({ conversations: 2 })
  expect(world.subjects()).toEqual(['one', 'rehearse two'])
  expect(Object.values(world.closings())).toEqual([1, 1])
})

test('survives a compaction in mid-task, reports it and records it in the journal', async () => {
  const world = new RunWorld()
  await world.tasks('One')
  const script = world.script({
    one: [[{ usage: 9000 }, { compact: true }, { say: 'where was I?' }], doing('one')],
  })
  const report = await world.run({ script })
  expect(world.of('context.compacted')).toHaveLength(1)
  expect(world.journalled('context.compacted')).toHaveLength(1)
  expect(report.sessions[0]!.tasks[0]).toMatchObject({ outcome: 'done', compactions: 1 })
})
