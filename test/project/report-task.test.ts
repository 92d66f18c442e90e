import { rmSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { mintId } from '../../src/journal/ids.ts'
import { BACKLOG_ID } from '../../src/session/entries.ts'
import { readLog } from '../../src/journal/read-log.ts'
import { terminal } from '../support/cli.ts'
import { type World, gitProject } from '../support/project.ts'

const RUN = mintId(undefined)

/** A project with a task, a session that a run opened for it, and the environment of the run's agent. */
async function runningProject(list?: unknown) {
  const world = gitProject()
  const task = await world.run((project) =>
    project.tasks.add({
      title: 'Fix the sweep bug',
      checklist: [
        { item: 'Reproduce', done: false },
        { item: 'Mend', done: false },
      ],
    }),
  )
  const { reading } = await world.run((project) =>
    project.init({ tasks: [task.id], name: 'run-1' }),
  )
  const tasks = [
    { id: task.id, name: task.shortname, title: task.title },
    { id: 'bd-7f3a', name: 'bd-7f3a', title: 'A task of another backlog' },
    {
      id: 'owner/repo#12',
      name: '#12',
      title: 'An issue',
      checklist: [{ item: 'Say so' }, { item: 'Prove it' }],
    },
  ]
  world.write(
    `.sessions/runs/${RUN}/tasks.json`,
    JSON.stringify(list ?? { current: task.id, tasks }),
  )
  const env = { STINT_RUN: RUN, STINT_SESSION: reading.state.id }
  return { world, task, env, session: reading.state.id }
}

const report = (
  world: World,
  env: NodeJS.ProcessEnv,
  name: string,
  status: 'completed' | 'blocked' | 'failed' = 'completed',
) =>
  world.run(
    (project) => project.tasks.report(name, status, { summary: 'All \u001B[31mgreen\u001B[0m' }),
    { env },
  )

/** Every entry that moved a task, in all journals. */
function moves(world: World): readonly unknown[] {
  const logs = world
    .names('.sessions', 'journal')
    .map((id) => world.path('.sessions', 'journal', id, 'log.jsonl'))
  return [...logs, world.path('.sessions', 'backlog', 'log.jsonl')]
    .flatMap((path) => readLog(path).records)
    .flatMap(({ kind, data }) => (kind === 'task.moved' ? [data.status] : []))
}

describe('a task reported in a run', () => {
  test("is recorded as a claim in the run's session, and its status stays", async () => {
    const { world, task, env, session } = await runningProject()
    const before = moves(world)
    const reported = await report(world, env, task.shortname)
    expect(reported).toEqual({
      run: RUN,
      session,
      task: task.id,
      name: task.shortname,
      status: 'completed',
      summary: 'All green',
    })
    expect(world.entries('task.reported', session)).toEqual([
      { task: task.id, status: 'completed', run: RUN, summary: 'All green' },
    ])
    expect(moves(world)).toEqual(before)
    expect((await world.run((project) => project.tasks.show(task.id))).status).toBe('in_progress')
  })

  test.each(['bd-7f3a', 'BD-7F3A', '#12', '12', 'owner/repo#12', 'repo#12'])(
    'may belong to another backlog: %s',
    async (name) => {
      const { world, env, session } = await runningProject()
      const { current, task } = await report(world, env, name, 'blocked')
      expect(['bd-7f3a', 'owner/repo#12']).toContain(task)
      expect(current).toBe('fix-the-sweep-bug')
      expect(world.entries('task.reported', session)).toMatchObject([{ task, status: 'blocked' }])
    },
  )

  test("is refused when the run does not have it, listing the run's tasks", async () => {
    const { world, env } = await runningProject()
    await expect(report(world, env, 'fix-everything')).rejects.toMatchObject({
      code: 'TASK_NOT_FOUND',
      message: expect.stringMatching(
        /fix-the-sweep-bug: Fix the sweep bug\n {2}bd-7f3a: A task of another backlog\n {2}#12: An issue/,
      ),
    })
  })

  test('is refused when two tasks match', async () => {
    const tasks = [
      { id: 'a-1', name: 'same' },
      { id: 'a-2', name: 'same' },
    ]
    const { world, env } = await runningProject({ tasks })
    await expect(report(world, env, 'same')).rejects.toMatchObject({ code: 'TASK_AMBIGUOUS' })
  })

  test.each([
    ['a list', [1, 2], 'NO_RUN'],
    ['text', 'tasks', 'NO_RUN'],
    ['no tasks', { tasks: 'none' }, 'TASK_NOT_FOUND'],
    [
      'things that are no tasks',
      { current: 7, tasks: [null, 1, { name: 'x' }, { id: {} }] },
      'TASK_NOT_FOUND',
    ],
  ])('is refused with a clear error when the task list holds %s', async (_what, list, code) => {
    const { world, env } = await runningProject(list)
    await expect(report(world, env, 'x')).rejects.toMatchObject({ code })
  })

  test('reads no file outside the runs folder for any run name', async () => {
    const { world, env } = await runningProject()
    world.write('.sessions/tasks.json', JSON.stringify({ tasks: [{ id: 'x', name: 'x' }] }))
    for (const run of ['..', '../..', `${RUN}/../..`, 'x']) {
      await expect(report(world, { ...env, STINT_RUN: run }, 'x')).rejects.toMatchObject({
        code: 'NO_RUN',
      })
    }
  })

  test("goes to the run's session, which must be open", async () => {
    const { world, task, env, session } = await runningProject()
    await expect(report(world, { STINT_RUN: RUN }, task.id)).rejects.toMatchObject({
      code: 'NO_SESSION',
    })
    await expect(
      report(world, { ...env, STINT_SESSION: 'nowhere' }, task.id),
    ).rejects.toMatchObject({ code: 'NO_SESSION' })
    await world.run((project) => project.close({ session, how: 'abandoned' }))
    await expect(report(world, env, task.id)).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
  })

  test("can be reported from the run's worktree", async () => {
    const { world, task, env, session } = await runningProject()
    const tree = `${world.root}-tree`
    onTestFinished(() => rmSync(tree, { recursive: true, force: true }))
    world.git('worktree', 'add', '--quiet', '-b', 'stint/run', tree)
    await world.run((project) => project.tasks.report(task.shortname, 'failed'), { env, cwd: tree })
    expect(world.entries('task.reported', session)).toEqual([
      { task: task.id, status: 'failed', run: RUN },
    ])
  })

  test('is refused outside a run', async () => {
    const { world, task } = await runningProject()
    await expect(report(world, {}, task.id)).rejects.toMatchObject({ code: 'NOT_IN_RUN' })
  })

  test('is redacted', async () => {
    const { world, task, env, session } = await runningProject()
    const secret = `ghp_${'a1B2'.repeat(9)}`
    await world.run(
      (project) => project.tasks.report(task.id, 'completed', { summary: `with ${secret}` }),
      { env },
    )
    expect(JSON.stringify(world.entries('task.reported', session))).not.toContain(secret)
  })
})

describe('an item ticked in a run', () => {
  test("is found by number in the backlog's task and ticked there", async () => {
    const { world, task, env } = await runningProject()
    await world.run((project) => project.tasks.checkInRun(task.shortname, '2'), { env })
    expect(
      (await world.run((project) => project.tasks.show(task.id))).checklist.map(({ done }) => done),
    ).toEqual([false, true])
  })

  test('is recorded under the id of a task from another backlog', async () => {
    const { world, env, session } = await runningProject()
    await world.run((project) => project.tasks.checkInRun('#12', '2'), { env })
    await world.run((project) => project.tasks.checkInRun('bd-7f3a', 'the first one', false), {
      env,
    })
    expect(world.entries('task.checked', session)).toEqual([
      { task: 'owner/repo#12', item: 'Prove it', done: true },
      { task: 'bd-7f3a', item: 'the first one', done: false },
    ])
  })

  test('is refused when the checklist does not have it', async () => {
    const { world, env } = await runningProject()
    await expect(
      world.run((project) => project.tasks.checkInRun('#12', '3'), { env }),
    ).rejects.toMatchObject({ code: 'NO_ITEM' })
    await expect(
      world.run((project) => project.tasks.checkInRun('bd-7f3a', ' '), { env }),
    ).rejects.toMatchObject({
      code: 'EMPTY_TEXT',
    })
  })
})

describe('an agent in a run cannot', () => {
  const attempts: Readonly<
    Record<string, (task: string, session: string) => Parameters<World['run']>[0]>
  > = {
    'move a task': (task) => (project) => project.tasks.move(task, 'completed'),
    'complete its session, and its tasks with it': () => (project) =>
      project.close({ how: 'completed' }),
    'abandon its session': () => (project) => project.close({ how: 'abandoned' }),
    'pause its session': () => (project) => project.pause(),
    'reopen a session': (_task, session) => (project) => project.reopen({ session }),
    'rewrite what is recorded': () => (project) => project.purge({ text: 'Fix the sweep bug' }),
    'begin another in its place': () => (project) => project.init({ name: 'mine', force: true }),
  }

  test.each(Object.keys(attempts))('%s', async (what) => {
    const { world, task, env, session } = await runningProject()
    const before = world.journal(session)
    for (const run of [RUN, 'not an id']) {
      const attempt = world.run(attempts[what]!(task.id, session), {
        env: { ...env, STINT_RUN: run },
      })
      await expect(attempt).rejects.toMatchObject({ code: 'IN_RUN' })
    }
    expect(world.journal(session)).toEqual(before)
    expect(world.names('.sessions', 'journal')).toEqual([session])
  })
})

describe('the command line in a run', () => {
  async function shell() {
    const world = terminal()
    await world.stint('task', 'add', 'Fix the sweep bug', '--checklist', 'Mend')
    const { id } = (
      await world.stint('init', '--task', 'fix-the-sweep-bug', '--name', 'run-1', '--json')
    ).json<{ id: string }>()
    const [task] = (await world.stint('task', 'list', '--json')).json<{ id: string }[]>()
    const { mkdirSync, writeFileSync } = await import('node:fs')
    const folder = `${world.cwd}/.sessions/runs/${RUN}`
    mkdirSync(folder, { recursive: true })
    const tasks = [
      { id: task!.id, name: 'fix-the-sweep-bug', title: 'Fix the sweep bug' },
      { id: 't-2', name: 'other', title: 'Another' },
    ]
    writeFileSync(`${folder}/tasks.json`, JSON.stringify({ current: task!.id, tasks }))
    const env = { ...world.env, STINT_RUN: RUN, STINT_SESSION: id }
    return { ...world, agent: (...args: string[]) => world.run(args, { env }) }
  }

  test.each([
    [
      'done',
      'reported: fix-the-sweep-bug done — it is closed when verify passes and the work is committed\n',
    ],
    ['blocked', 'reported: fix-the-sweep-bug blocked — the run sets it aside and goes on\n'],
    ['failed', 'reported: fix-the-sweep-bug failed — the run decides whether it is tried again\n'],
  ])('prints the next step after task %s for the agent', async (verb, answer) => {
    const world = await shell()
    const output = await world.agent('task', verb, 'fix-the-sweep-bug', '--summary', 'Mended')
    expect(output).toMatchObject({ exitCode: 0, stdout: answer, stderr: '' })
    expect((await world.stint('task', 'show', 'fix-the-sweep-bug', '--json')).json()).toMatchObject(
      { status: 'in_progress' },
    )
  })

  test('reports when a report is not about the current task', async () => {
    const world = await shell()
    const output = await world.agent('task', 'done', 'other')
    expect(output.exitCode).toBe(0)
    expect(output.stderr).toContain('other is not the task at hand, which is fix-the-sweep-bug')
    expect((await world.agent('task', 'done', 'other', '--json')).json()).toMatchObject({
      task: 't-2',
      status: 'completed',
    })
  })

  test('ticks items', async () => {
    const world = await shell()
    const output = await world.agent('task', 'check', 'fix-the-sweep-bug', '1')
    expect(output.stdout).toBe('ticked: fix-the-sweep-bug: Mend\n')
    expect(
      (await world.agent('task', 'check', 'fix-the-sweep-bug', '1', '--undo')).stdout,
    ).toContain('unticked')
  })

  test('refuses to close the session and prints the alternative', async () => {
    const world = await shell()
    for (const args of [
      ['close', '--complete'],
      ['init', '--name', 'mine', '--force'],
      ['task', 'start', 'fix-the-sweep-bug'],
      ['run', '--harness', 'rehearsal'],
      ['run', '--resume'],
      ['setup', 'claude'],
      ['purge', 'sweep bug'],
    ]) {
      const { exitCode, stderr } = await world.agent(...args)
      expect({ exitCode, stderr }).toEqual({
        exitCode: 1,
        stderr: expect.stringMatching(/left to the run, or to a person\n {2}stint task done NAME/),
      })
    }
  })
})

test('a report changes neither session nor backlog', async () => {
  const { world, task, env, session } = await runningProject()
  const before = await world.view(session)
  const file = world.read('.tasks', 'active', `fix-the-sweep-bug-${task.id}.md`)
  await report(world, env, task.id)
  const {
    entryCount: _count,
    lastId: _last,
    updatedAt: _at,
    ...after
  } = (await world.view(session)).state
  const { entryCount: _count0, lastId: _last0, updatedAt: _at0, ...first } = before.state
  expect(after).toEqual(first)
  await world.run((project) => project.tasks.list())
  expect(
    world.read('.tasks', 'active', `fix-the-sweep-bug-${task.id}.md`).replace(/<!--.*-->/, ''),
  ).toBe(file.replace(/<!--.*-->/, ''))
  expect(world.names('.sessions', 'journal')).not.toContain(BACKLOG_ID)
})
