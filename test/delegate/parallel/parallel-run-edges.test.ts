import { expect, test } from 'vitest'
import { createDelegate } from '../../../src/run/delegate/create-delegate.ts'
import { planAnyRun } from '../../../src/run/parallel/schedule.ts'
import { processStartTime } from '../../../src/harness/process/spawn-guarded.ts'
import { mintId } from '../../../src/journal/ids.ts'
import { Claims } from '../../../src/run/loop/claims.ts'
import { RunLog } from '../../../src/run/run-log.ts'
import { thisProcess } from '../../../src/run/loop/start-run.ts'
import { doing } from '../../run/run-world.ts'
import { ParallelWorld } from './parallel-world.ts'

test('refuses what cannot be done in parallel before anything starts', async () => {
  const world = new ParallelWorld()
  await world.tasks('One')
  const refused = (options: Parameters<ParallelWorld['start']>[0]) =>
    expect(world.start({ parallel: 2, ...options })).rejects
  await refused({ parallel: 9 }).toMatchObject({ code: 'TOO_PARALLEL' })
  await refused({ parallel: 0 }).toMatchObject({ code: 'TOO_PARALLEL' })
  await refused({ parallel: 1.5 }).toMatchObject({ code: 'TOO_PARALLEL' })
  await refused({ permissions: 'ask', decide: async () => true }).toMatchObject({
    code: 'NOBODY_TO_ASK',
  })
  await refused({ verify: 'PASSWORD=hunter2hunter2 npm test' }).toMatchObject({
    code: 'VERIFY_REDACTED',
  })
  await refused({ tasks: ['nothing-like-it'] }).toMatchObject({ code: 'TASK_NOT_FOUND' })
  world.project.write('a.txt', 'changed')
  await refused({ isInPlace: true }).toMatchObject({ code: 'TREE_DIRTY' })
  expect(world.runs()).toEqual([])
  expect(world.delegates()).toEqual([])
})

test('resumes a run in its own mode, and refuses to resume a delegate as a run', async () => {
  const world = new ParallelWorld()
  await world.tasks('One', 'Two')
  const handle = await world.start({ once: true })
  const { run } = await handle.ended
  await expect(world.start({ resume: run, parallel: 2 })).rejects.toMatchObject({
    code: 'NOT_PARALLEL',
  })
  const { id } = await createDelegate(world.workspace(), {
    what: 'write the parser',
    harness: 'rehearsal',
  })
  await expect(world.start({ resume: id })).rejects.toMatchObject({ code: 'IS_DELEGATE' })
})

test('in place, the checked-out branch and its files get the work', async () => {
  const world = new ParallelWorld()
  await world.tasks('One', 'Two')
  const report = await world.run({
    isInPlace: true,
    script: world.script({ one: [doing('one')], two: [doing('two')] }),
  })
  expect(report.how).toBe('finished')
  expect(world.project.git('show', 'main:one.txt')).toBe('one\n')
  expect(world.project.read('two.txt')).toBe('two\n')
  expect(world.project.git('status', '--porcelain', '--', ':!.tasks')).toBe('')
})

test("marks merged tasks in the backlog file, in a commit on the run's branch", async () => {
  const world = new ParallelWorld()
  world.project.commit('list', { 'TODO.md': '- [ ] Write one\n- [ ] Write two\n' })
  const report = await world.run({ backlog: 'TODO.md' })
  expect(report.how).toBe('finished')
  expect(world.merged('TODO.md')).toBe('- [x] Write one\n- [x] Write two\n')
})

test('a failing set-up command ends the run with its output after the others are merged', async () => {
  const world = new ParallelWorld()
  // The set-up fails in the second worktree, while the agent in the first one works.
  const [first, failed] = ['first', 'failed'].map((name) => world.project.path('.sessions', name))
  world.config(
    `delegates:\n  setup: mkdir ${first} || { touch ${failed}; echo no such package; exit 3; }\n`,
  )
  const untilFailed = { run: `until [ -e ${failed} ]; do sleep 0.02; done` }
  await world.tasks('One', 'Two', 'Three')
  const handle = await world.start({
    parallel: 2,
    script: world.script({ one: [[untilFailed, ...doing('one')]] }),
  })
  await expect(handle.ended).rejects.toThrow('no such package')
  expect(await world.statuses()).toMatchObject({ one: 'completed', three: 'ready' })
  expect(world.logged('run.ended')).toHaveLength(1)
})

test('an error that concerns every delegate ends the run and is not blamed on one task', async () => {
  const world = new ParallelWorld()
  world.config('delegates:\n  env: ["URL=http://{host}/"]\n')
  await world.tasks('One')
  const handle = await world.start({ parallel: 2 })
  await expect(handle.ended).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  expect(world.logged('run.ended')).toHaveLength(1)
})

test('finds a delegate that was created but not recorded', async () => {
  const world = new ParallelWorld()
  await world.tasks('One', 'Two')
  const script = world.script({ one: [doing('one')], two: [doing('two')] })
  const { run } = await world.run({ script, maxTasks: 1 })
  const workspace = world.workspace()
  const part = { run, target: world.branch() }
  const { id } = await createDelegate(
    workspace,
    { what: 'Two', task: 'two', harness: 'rehearsal', script },
    part,
  )
  expect((await world.run({ resume: run, maxTasks: 9 })).how).toBe('finished')
  expect(world.delegates().map((one) => [one.order.name, one.status])).toEqual([
    ['one', 'merged'],
    ['two', 'merged'],
  ])
  const noted = new RunLog(workspace.paths, run, workspace.config)
    .read()
    .filter(({ kind }) => kind === 'delegate.begun')
  expect(noted.map(({ data }) => (data as { delegate: string }).delegate)).toContain(id)
})

test('resumes a finally failed task once the user has reopened it', async () => {
  const world = new ParallelWorld()
  await world.tasks('One')
  const { run } = await world.run({
    script: world.script({ one: [[{ failed: 'no' }]] }),
    onFailure: 'continue',
  })
  expect((await world.run({ resume: run })).how).toBe('waiting')
  expect(world.of('delegate.started')).toHaveLength(1)
  await world.project.run((project) => project.tasks.move('one', 'ready'))
  world.script({ one: [doing('one')] })
  expect((await world.run({ resume: run })).how).toBe('finished')
  expect(world.delegates()).toHaveLength(1)
})

test('does not touch tasks of another run or delegate', async () => {
  const world = new ParallelWorld()
  const [one] = await world.tasks('One', 'Two', 'Three', 'Four')
  const workspace = world.workspace()
  const others = new Claims(workspace.paths, mintId(undefined), thisProcess())
  others.claim(one!.id)
  await createDelegate(workspace, { what: 'Two', task: 'two', harness: 'rehearsal' })
  const report = await world.run({ maxSessions: 1 })
  // And no more sessions are started than allowed.
  expect(report.how).toBe('max sessions')
  expect(world.of('delegate.started').map(({ delegate }) => delegate)).toEqual(['three'])
  expect(world.project.messages).toContain(
    'two is left: two is with the delegate two, which is running',
  )
  others.releaseAll()
})

test('does not touch a delegate restarted elsewhere, and starts a discarded one again', async () => {
  const world = new ParallelWorld()
  await world.tasks('One', 'Two')
  const script = world.script({ one: [[{ hang: true }]], two: [[{ hang: true }]] })
  const handle = await world.start({ script, parallel: 2 })
  await expect.poll(() => world.of('turn.started').length).toBe(2)
  handle.stop('now')
  const { run } = await handle.ended
  await world.expectNothingLeft()
  const [one, two] = world.delegates()
  const { config, paths } = world.workspace()
  const runner = { pid: process.ppid, startedAt: processStartTime(process.ppid), mark: '' }
  new RunLog(paths, one!.id, config).append('run.resumed', { runner })
  new RunLog(paths, two!.id, config).append('delegate.moved', { to: 'discarded' })
  world.script({ one: [doing('one')], two: [doing('two')] })
  const report = await world.run({ resume: run })
  expect(report.how).toBe('waiting')
  expect(world.project.messages).toContain(
    'one is running elsewhere, and left to that (stint delegate show one)',
  )
  expect(world.delegates().map(({ order, status }) => [order.name, status])).toEqual([
    ['one', 'running'],
    ['two', 'discarded'],
    ['two-2', 'merged'],
  ])
})

test('the plan shows what starts when, what waits for what, and the parallel share', async () => {
  const world = new ParallelWorld()
  await world.tasks(
    'One',
    { title: 'Two', description: 'In `a.txt`' },
    { title: 'Three', description: 'In a.txt' },
  )
  await world.tasks({ title: 'Four', dependsOn: ['one'] })
  const { parallel, sessions } = await planAnyRun(world.workspace(), {
    harness: 'rehearsal',
    parallel: 3,
  })
  const waves = parallel!.waves.map(({ tasks }) =>
    tasks.map(({ task, because }) => [task.name, ...(because === undefined ? [] : [because])]),
  )
  expect(waves).toEqual([
    [['one'], ['two']],
    [
      ['four', 'waits for one'],
      ['three', 'goes after two, which probably changes a.txt too'],
    ],
  ])
  expect(parallel).toMatchObject({ most: 3, share: 1, target: 0.6 })
  expect(parallel!.waves[0]!.at).toBe(0)
  expect(parallel!.seconds).toBeLessThan(sessions.reduce((sum, { seconds }) => sum + seconds, 0))
  expect((await planAnyRun(world.workspace(), { harness: 'rehearsal' })).parallel).toBeUndefined()
  expect(world.runs()).toEqual([])
})
