import { expect, test } from 'vitest'
import { RunWorld, doing } from './run-world.ts'

test('hands off to a fresh conversation before a full context is compacted in mid-task', async () => {
  const world = new RunWorld()
  await world.tasks('One')
  const script = world.script({ one: [[{ usage: 165_000 }, { hang: true }], doing('one')] })
  const report = await world.run({ script })
  expect(report.how).toBe('finished')
  expect(report.sessions).toHaveLength(1)
  expect(report.sessions[0]!.conversations).toBe(2)
  expect(world.journalled('handoff.made')).toHaveLength(1)
  expect(world.journalled('handoff.accepted')).toHaveLength(1)
  expect(world.of('stage').map(({ stage }) => stage)).toContain(90)
  expect(world.of('context.compacted')).toEqual([])
})

test('starts the next session with a handoff once the smart zone is passed', async () => {
  const world = new RunWorld()
  await world.tasks('One', 'Two')
  const report = await world.run({ script: world.script({ one: [doing('one', 90_000)] }) })
  expect(report.sessions.map(({ tasks }) => tasks.map(({ task }) => task.name))).toEqual([
    ['one'],
    ['two'],
  ])
  expect(world.of('rotation.decided')[1]).toMatchObject({ stay: false })
  expect(world.of('session.closed')[0]!.handoff).toBeDefined()
  expect(world.journalled('handoff.accepted')).toHaveLength(1)
  expect(world.journalled('session.closed')).toHaveLength(2)
  expect(world.of('session.closed').map(({ done }) => done)).toEqual([1, 1])
  const { checks } = await world.project.run((project) => project.doctor())
  const views = checks.filter(({ check }) => check === 'documents' || check === 'other views')
  expect(views.map(({ status }) => status)).toEqual(['ok', 'ok'])
})

test.each([
  [{ maxTasks: 2 }, 'max tasks', 2, ['three']],
  [{ once: true }, 'max tasks', 1, ['two', 'three']],
  [{ batch: 'one', maxSessions: 1 }, 'max sessions', 1, ['two', 'three']],
] as const)(
  'a run with %o ends at that limit and reports the tasks it never started',
  async (options, how, done, left) => {
    const world = new RunWorld()
    await world.tasks('One', 'Two', 'Three')
    const report = await world.run(options)
    expect([report.how, Object.values(world.closings()).length]).toEqual([how, done])
    expect(report.neverBegun).toMatchObject({
      count: left.length,
      tasks: left.map((name) => ({ name })),
    })
    const resumed = await world.run({ resume: true, maxTasks: 9, maxSessions: 9 })
    expect([resumed.how, resumed.neverBegun]).toEqual(['finished', undefined])
  },
)

test('stops in mid-task when the budget is used up, and continues when it is raised', async () => {
  const world = new RunWorld()
  await world.tasks('One')
  const script = world.script({
    one: [[{ usage: 5000 }, { usage: 5000 }, { hang: true }], doing('one')],
  })
  const report = await world.run({ script, budgetTokens: 20_000 })
  expect(report.how).toBe('budget tokens')
  expect((await world.run({ resume: true, budgetTokens: 900_000 })).how).toBe('finished')
})

test('a run stopped at once leaves no process and resumes where it was', async () => {
  const world = new RunWorld({ agent: 'process' })
  await world.tasks('One', 'Two')
  const script = world.script({
    one: [[{ write: { path: 'one.txt', text: '1' } }, { hang: true }], doing('one')],
  })
  const handle = await world.start({ script })
  await expect.poll(() => world.of('tool').length).toBeGreaterThan(0)
  handle.stop('now')
  const stopped = await handle.ended
  expect(stopped.how).toBe('interrupted')
  expect(world.carriers(stopped.run)).toEqual([])
  const resumed = await world.run({ resume: true })
  expect(resumed.how).toBe('finished')
  expect(Object.values(world.closings())).toEqual([1, 1])
})

test('a run asked to stop finishes its task', async () => {
  const world = new RunWorld()
  await world.tasks('One', 'Two')
  const stopped = world.project.path('.sessions', 'stopped')
  const untilStopped = { run: `until [ -e ${stopped} ]; do sleep 0.02; done` }
  const handle = await world.start({
    script: world.script({ one: [[untilStopped, ...doing('one')]] }),
  })
  await expect.poll(() => world.of('tool').length).toBeGreaterThan(0)
  handle.stop('after task')
  world.project.write('.sessions/stopped', '')
  expect((await handle.ended).how).toBe('interrupted')
  expect(await world.statuses()).toEqual({ one: 'completed', two: 'ready' })
})

test('two runs at once never work on the same task', async () => {
  const world = new RunWorld()
  await world.tasks('One', 'Two', 'Three', 'Four')
  const [first, second] = await Promise.all([world.run(), world.run()])
  expect(Object.values(world.closings())).toEqual([1, 1, 1, 1])
  const worked = [first, second].flatMap(({ sessions }) =>
    sessions.flatMap(({ tasks }) => tasks.map(({ task }) => task.name)),
  )
  expect(worked.toSorted()).toEqual(['four', 'one', 'three', 'two'])
})

test('a run in place requires a clean tree and works on its branch', async () => {
  const world = new RunWorld()
  await world.tasks('One')
  world.project.write('a.txt', 'changed')
  await expect(world.start({ isInPlace: true })).rejects.toThrow('1 path is not committed: a.txt')
  world.project.git('checkout', '--quiet', 'a.txt')
  await world.run({ isInPlace: true })
  expect(world.project.git('log', '-1', '--format=%s').trim()).toBe('rehearse one')
  expect(world.of('run.planned')[0]!.worktree).toBe(world.project.root)
  expect(world.of('run.report')[0]!.branch).toBeUndefined()
})

test('works through a backlog file, marks its tasks done there, and does not repeat them', async () => {
  const world = new RunWorld()
  world.project.commit('plan', {
    'TODO.md':
      '# Work\n\n- [ ] First thing {#first}\n- [ ] Second thing {#second} (depends: [first])\n',
  })
  await world.run({ backlog: 'TODO.md' })
  expect(world.project.git('show', `${world.branch()}:TODO.md`)).toContain('- [x] First thing')
  expect(world.subjects()).toEqual([
    'rehearse first',
    'backlog: first is done',
    'rehearse second',
    'backlog: second is done',
  ])
  expect((await world.run({ backlog: 'TODO.md' })).how).toBe('nothing to do')
  expect(world.of('run.report')[0]!.backlog).toBe(world.project.path('TODO.md'))
})

test('resumes a killed run only when its runner has ended', async () => {
  const world = new RunWorld()
  await world.tasks('One')
  const handle = await world.start({ script: world.script({ one: [[{ hang: true }]] }) })
  await expect.poll(() => world.of('turn.started').length).toBe(1)
  await expect(world.start({ resume: world.runs()[0]! })).rejects.toThrow('is running')
  handle.stop('now')
  await handle.ended
})

test('reopens a task the agent closed itself, and closes it by its proof', async () => {
  const world = new RunWorld()
  const [, two] = await world.tasks({ title: 'One', priority: 'P0' }, 'Two')
  const script = world.script({
    one: [[{ run: 'env -u STINT_RUN stint task done two' }, ...doing('one')]],
  })
  await world.run({ script })
  const messages = world.of('message').map(({ text }) => text)
  expect(messages).toContain(
    'two was closed by somebody else while this run went on, without its proof; it is open again',
  )
  expect(world.subjects()).toEqual(['do one', 'rehearse two'])
  expect(
    world
      .journalled('task.moved')
      .filter(({ data }) => data['task'] === two!.id)
      .map(({ data }) => data['status'])
      .at(-1),
  ).toBe('completed')
})
