import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listRuns } from '../../../src/run/runs.ts'
import { scratchFolder } from '../../support/scratch.ts'
import { doing } from '../../run/run-world.ts'
import { ParallelWorld, meeting } from './parallel-world.ts'

test('merges each task when proved, closes it once, leaves the checkout alone, and reports one run', async () => {
  const world = new ParallelWorld()
  await world.tasks('One', 'Two', 'Three')
  const head = world.project.git('rev-parse', 'HEAD')
  const meet = meeting('one', 'two', 'three')
  const script = world.script({
    one: [[meet('one'), ...doing('one')]],
    two: [[meet('two'), ...doing('two')]],
    three: [[meet('three'), ...doing('three')]],
  })
  const report = await world.run({ script, verify: 'test -f a.txt' })
  expect(report.how).toBe('finished')
  expect(await world.statuses()).toEqual({ one: 'completed', two: 'completed', three: 'completed' })
  expect(world.delegateStatuses()).toEqual({ one: 'merged', two: 'merged', three: 'merged' })
  for (const name of ['one', 'two', 'three']) expect(world.merged(`${name}.txt`)).toBe(`${name}\n`)
  expect(Object.values(world.closings())).toEqual([1, 1, 1])
  expect(world.project.git('rev-parse', 'HEAD')).toBe(head)
  expect(world.project.git('status', '--porcelain', '--', ':!.tasks')).toBe('')
  // The worktrees and branches are gone.
  expect(world.of('delegate.started').map(({ worktree }) => existsSync(worktree))).toEqual([
    false,
    false,
    false,
  ])
  expect(existsSync(world.of('run.planned')[0]!.worktree!)).toBe(false)
  expect(world.project.git('branch', '--list', '--format=%(refname:short)', 'stint/*').trim()).toBe(
    world.branch(),
  )

  expect(report.parallel).toMatchObject({ most: 3, share: 1, target: 0.6, delegates: 3 })
  const tasks = report.sessions.flatMap((session) => session.tasks)
  expect(tasks.map(({ task, outcome }) => [task.name, outcome])).toEqual([
    ['one', 'done'],
    ['two', 'done'],
    ['three', 'done'],
  ])
  expect(report.spend.cacheWritten).toBe(
    tasks.reduce((sum, { spend }) => sum + spend.cacheWritten, 0),
  )
  const rows = listRuns(world.workspace())
  expect(rows).toMatchObject([
    { id: report.run, state: 'ended', how: 'finished', done: 3, failed: 0, open: 0 },
  ])

  // Each event names its delegate, and a task is done when it is merged.
  for (const name of ['one', 'two', 'three']) {
    const kinds = world.events.filter(({ delegate }) => delegate === name).map(({ kind }) => kind)
    const order = [
      'delegate.started',
      'attempt.started',
      'tool',
      'delegate.ready',
      'delegate.merged',
      'attempt.ended',
    ] as const
    const places = order.map((kind) => kinds.indexOf(kind))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(places).not.toContain(-1)
    expect(kinds.filter((kind) => kind === 'attempt.ended')).toHaveLength(1)
    expect(kinds).not.toContain('run.started')
    expect(kinds).not.toContain('run.ended')
  }
  // The reported spend is that of all delegates together.
  expect(Math.max(...world.of('usage').map(({ spend }) => spend.cacheWritten))).toBe(
    report.spend.cacheWritten,
  )
})

test('starts a dependent task once its dependency is merged, with that work', async () => {
  const world = new ParallelWorld()
  await world.tasks('One')
  await world.tasks({ title: 'Two', dependsOn: ['one'] }, 'Three')
  const script = world.script({
    one: [doing('one')],
    two: [[{ run: 'cp one.txt two.txt' }, { commit: 'two' }, { done: 'two' }]],
    three: [doing('three')],
  })
  const report = await world.run({ script })
  expect(report.how).toBe('finished')
  expect(world.merged('two.txt')).toBe('one\n')
  const order = world.events.filter(
    ({ kind }) => kind === 'delegate.merged' || kind === 'delegate.started',
  )
  const at = (kind: string, name: string) =>
    order.findIndex((event) => event.kind === kind && event.delegate === name)
  expect(at('delegate.started', 'two')).toBeGreaterThan(at('delegate.merged', 'one'))
  // Shared messages are printed once.
  expect(world.of('message').filter(({ text }) => text.includes('no verify command'))).toHaveLength(
    1,
  )
})

test('works on tasks that name the same file one after the other', async () => {
  const world = new ParallelWorld()
  await world.tasks(
    { title: 'One', description: 'Change `a.txt`' },
    { title: 'Two', description: 'Change a.txt too' },
    { title: 'Three', description: 'Write `docs/three.md`' },
  )
  const append = (name: string) => [
    { run: `echo ${name} >> a.txt` },
    { commit: name },
    { done: name },
  ]
  const report = await world.run({
    script: world.script({ one: [append('one')], two: [append('two')], three: [doing('three')] }),
  })
  expect(report.how).toBe('finished')
  expect(world.of('delegate.conflicted')).toEqual([])
  expect(world.merged('a.txt')).toBe('a\none\ntwo\n')
  expect(world.of('delegate.started').map(({ delegate }) => delegate)).toEqual([
    'one',
    'three',
    'two',
  ])
})

/** Merges the run's current branch, preferring its own side in conflicts. */
const MEND = {
  run: "git merge --quiet --no-edit -X ours $(git branch --list 'stint/run-??????' --format='%(refname:short)')",
}

test('returns a conflict for rework in the same run, where it is fixed and merged', async () => {
  const world = new ParallelWorld()
  await world.tasks('One', 'Two')
  const meet = meeting('one', 'two')
  const work = (name: string) => [
    [
      meet(name),
      { write: { path: 'shared.txt', text: `${name}\n` } },
      { commit: name },
      { done: name },
    ],
    [MEND, { done: `${name}, with the other` }],
  ]
  const report = await world.run({ script: world.script({ one: work('one'), two: work('two') }) })
  expect(report.how).toBe('finished')
  expect(world.of('delegate.conflicted')).toMatchObject([
    { files: ['shared.txt'], isSentBack: true },
  ])
  expect(world.of('delegate.started').map(({ isAgain }) => isAgain)).toEqual([false, false, true])
  expect(await world.statuses()).toEqual({ one: 'completed', two: 'completed' })
  expect(Object.values(world.closings())).toEqual([1, 1])
  // Both commits are in the branch's history.
  expect(world.subjects()).toEqual(expect.arrayContaining(['one', 'two']))
})

test('parks work rejected too often on its branch, its dependents wait, and the others are merged', async () => {
  const world = new ParallelWorld()
  world.config('delegates:\n  send_back: 0\n')
  await world.tasks('One', 'Two', 'Three')
  await world.tasks({ title: 'Four', dependsOn: ['one', 'two'] })
  const meet = meeting('one', 'two')
  const work = (name: string) => [
    [
      meet(name),
      { write: { path: 'shared.txt', text: `${name}\n` } },
      { commit: name },
      { done: name },
    ],
  ]
  const report = await world.run({
    script: world.script({ one: work('one'), two: work('two'), three: [doing('three')] }),
  })
  expect(report.how).toBe('waiting')
  expect(world.of('delegate.parked')).toHaveLength(1)
  const { delegate: parked = '', task } = world.of('delegate.parked')[0]!
  const statuses = await world.statuses()
  expect(statuses).toMatchObject({ [task.name]: 'failed', three: 'completed', four: 'ready' })
  expect(Object.values(statuses).filter((status) => status === 'completed')).toHaveLength(2)
  expect(world.delegateStatuses()[parked]).toBe('parked')
  const { branch } = world.of('delegate.started').find((event) => event.delegate === parked)!
  expect(world.project.git('show', `${branch}:shared.txt`)).toBe(`${parked}\n`)
  const outcomes = report.sessions.flatMap(({ tasks }) => tasks).map(({ outcome }) => outcome)
  expect(outcomes.toSorted()).toEqual(['done', 'done', 'parked'])
})

test('parks a finally failed task, its dependents wait, and the others are merged', async () => {
  const world = new ParallelWorld()
  await world.tasks('One', 'Two')
  await world.tasks({ title: 'Three', dependsOn: ['one'] })
  const report = await world.run({
    script: world.script({ one: [[{ lie: 'all done' }]], two: [doing('two')] }),
  })
  expect(report.how).toBe('waiting')
  expect(await world.statuses()).toEqual({ one: 'failed', two: 'completed', three: 'ready' })
  expect(
    report.sessions.flatMap(({ tasks }) => tasks).map(({ task, outcome }) => [task.name, outcome]),
  ).toEqual([
    ['one', 'parked'],
    ['two', 'done'],
  ])
})

test('counts the spend of all delegates together, and resumes a run that ended over budget', async () => {
  const world = new ParallelWorld()
  await world.tasks('One', 'Two', 'Three')
  const meet = meeting('one', 'two', 'three')
  const work = (name: string) => [
    [meet(name), { usage: 4000 }, meet(`${name}-used`, `${name}-used`), ...doing(name)],
  ]
  const script = world.script({ one: work('one'), two: work('two'), three: work('three') })
  // Each alone stays far below the budget.
  const report = await world.run({ script, budgetTokens: 60_000 })
  expect(report.how).toBe('budget tokens')
  expect(Object.values(await world.statuses())).not.toEqual(['completed', 'completed', 'completed'])
  const resumed = await world.run({ resume: true, budgetTokens: 10_000_000, script })
  expect(resumed.how).toBe('finished')
  expect(Object.values(world.closings())).toEqual([1, 1, 1])
  expect(world.delegates()).toHaveLength(3)
})

test('starts no more tasks than the maximum', async () => {
  const world = new ParallelWorld()
  await world.tasks('One', 'Two', 'Three', 'Four')
  const report = await world.run({ maxTasks: 2 })
  expect(report.how).toBe('max tasks')
  expect(world.of('delegate.started')).toHaveLength(2)
  expect((await world.run({ resume: true, maxTasks: 9 })).how).toBe('finished')
  expect(Object.values(world.closings())).toEqual([1, 1, 1, 1])
})

test('asked to stop after its tasks, starts no more and merges those that run', async () => {
  const world = new ParallelWorld()
  await world.tasks('One', 'Two', 'Three')
  const gate = join(scratchFolder(), 'open')
  const work = (name: string) => [
    [{ run: `until [ -e ${gate} ]; do sleep 0.05; done` }, ...doing(name)],
  ]
  const script = world.script({ one: work('one'), two: work('two'), three: work('three') })
  const handle = await world.start({ parallel: 2, script })
  await expect.poll(() => world.of('tool').length).toBe(2)
  handle.stop('after task')
  writeFileSync(gate, '')
  expect((await handle.ended).how).toBe('interrupted')
  expect(await world.statuses()).toEqual({ one: 'completed', two: 'completed', three: 'ready' })
  expect((await world.run({ resume: true })).how).toBe('finished')
})

test('asked to stop now, ends all of them at once and resumes each where it was', async () => {
  const world = new ParallelWorld()
  await world.tasks('One', 'Two', 'Three')
  const half = (name: string) => [
    [{ write: { path: `${name}-half.txt`, text: 'half' } }, { run: 'true' }, { hang: true }],
  ]
  const script = world.script({ one: half('one'), two: half('two') })
  const handle = await world.start({ parallel: 2, script })
  await expect
    .poll(() => world.of('tool').filter(({ command }) => command === 'true').length)
    .toBeGreaterThan(1)
  handle.stop('now')
  expect((await handle.ended).how).toBe('interrupted')
  await world.expectNothingLeft()
  expect(world.delegateStatuses()).toEqual({ one: 'failed', two: 'failed' })
  world.script({ one: [doing('one')], two: [doing('two')] })
  const report = await world.run({ resume: true, parallel: 2 })
  expect(report.how).toBe('finished')
  expect(world.delegateStatuses()).toEqual({ one: 'merged', two: 'merged', three: 'merged' })
  expect(world.merged('one-half.txt')).toBe('half')
  expect(Object.values(world.closings())).toEqual([1, 1, 1])
})

test('ends every delegate when the time of the run is up, and resumes them later', async () => {
  const world = new ParallelWorld()
  await world.tasks('One', 'Two')
  const script = world.script({ one: [[{ hang: true }]], two: [[{ hang: true }]] })
  const report = await world.run({ script, maxMinutes: 0.1 })
  expect(report.how).toBe('max minutes')
  world.script({})
  expect((await world.run({ resume: true, maxMinutes: 10 })).how).toBe('finished')
})
