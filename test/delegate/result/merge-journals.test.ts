import { describe, expect, test } from 'vitest'
import { mergeJournals, reportStartToParent } from '../../../src/run/delegate/parent-journal.ts'
import { moveTask } from '../../../src/project/tasks/project-backlog.ts'
import { closeSession } from '../../../src/project/lifecycle/pause-and-close.ts'
import { RunSession } from '../../../src/run/attempt/run-session.ts'
import { JournalledWorld, draft } from './journalled-world.ts'

async function worldWithTask() {
  const world = new JournalledWorld()
  const task = await world.project.run((project) =>
    project.tasks.add({ title: 'Tests of the login', size: 'S' }),
  )
  const status = async () =>
    (await world.project.run((project) => project.tasks.list())).tasks.find(
      ({ id }) => id === task.id,
    )!.status
  return { world, task: task.id, status }
}

describe('when the work of a delegate is merged', () => {
  test('copies its findings to the parent under its name, and closes the task with the same write', async () => {
    const { world, task, status } = await worldWithTask()
    const parent = await world.parent()
    const delegate = world.delegate({ name: 'tests', parent, task, output: 'test/login.test.ts' })
    await delegate.session([
      draft('decision.made', {
        title: 'Runner',
        context: 'no runner yet',
        options: 'vitest, jest',
        choice: 'vitest',
        rationale: 'fast',
      }),
      draft('discovery.made', { text: 'the clock is mocked' }),
    ])
    const blocker = world.workspace.session(parent).mint()
    await delegate.session([
      draft('gotcha.found', { text: 'cookies expire at midnight' }),
      { ...draft('blocker.raised', { text: 'was solved' }), id: blocker },
      draft('blocker.resolved', { blocker }),
      draft('blocker.raised', { text: 'staging is down' }),
      draft('deliverable.set', { path: 'notes.md' }),
      draft('deliverable.set', { path: 'dropped.md' }),
      draft('deliverable.dropped', { path: 'dropped.md' }),
      draft('next.added', { text: 'its own next step' }),
    ])
    delegate.commit('test/login.test.ts')
    delegate.moved('ready', { summary: 'twelve tests' })
    const landed = delegate.merged()
    const before = world.project.journal(parent)
    await mergeJournals(world.workspace, delegate.state, landed)

    const written = world.project.journal(parent).slice(before.length)
    const state = world.stateOf(parent)
    expect(state.decisions.items).toMatchObject([
      {
        text: 'Runner',
        context: 'no runner yet',
        options: 'vitest, jest',
        choice: 'vitest',
        rationale: 'fast',
        whose: 'tests',
      },
    ])
    expect(state.discoveries.items).toMatchObject([
      { text: 'the clock is mocked', gotcha: false, whose: 'tests' },
      { text: 'cookies expire at midnight', gotcha: true, whose: 'tests' },
    ])
    expect(state.blockers.items).toMatchObject([{ text: 'staging is down', whose: 'tests' }])
    expect(state.next.items).toEqual([])
    expect(state.changedFiles.items.map(({ text }) => text)).toEqual(['test/login.test.ts'])
    expect(state.commits.items).toMatchObject([
      { commit: landed.commit, text: 'merge stint/tests' },
    ])
    expect(state.delegates.items).toMatchObject([
      { name: 'tests', status: 'merged', commit: landed.commit, summary: 'twelve tests' },
    ])
    expect(world.project.entries('delegate.reported', parent)).toMatchObject([
      { deliverables: ['test/login.test.ts', 'notes.md'], files: ['test/login.test.ts'] },
    ])
    expect(written.at(-1)).toMatchObject({
      kind: 'task.moved',
      by: 'run',
      data: { task, status: 'completed', summary: 'twelve tests' },
    })
    expect(RunSession.findClosingCommit(world.workspace, parent, task)).toBe(landed.commit)
    expect(await status()).toBe('completed')
    expect(written.every(({ once }) => once !== undefined)).toBe(true)
  })

  test('repeating it changes nothing, and does not close a reopened task', async () => {
    const { world, task, status } = await worldWithTask()
    const parent = await world.parent()
    const delegate = world.delegate({ name: 'tests', parent, task })
    await reportStartToParent(world.workspace, delegate.state)
    await delegate.session([draft('decision.made', { title: 'Runner', choice: 'vitest' })])
    delegate.commit('test/a.ts')
    const landed = delegate.merged()
    await mergeJournals(world.workspace, delegate.state, landed)
    const once = world.project.journal(parent)
    await mergeJournals(
      world.workspace,
      delegate.moved('merged', { commit: landed.commit }),
      landed,
    )
    expect(world.project.journal(parent)).toEqual(once)

    await moveTask(world.workspace, task, 'ready')
    await mergeJournals(world.workspace, delegate.state, landed)
    expect(await status()).toBe('ready')
  })

  test('a merge recorded by two processes counts once', async () => {
    const { world, task } = await worldWithTask()
    const parent = await world.parent()
    const delegate = world.delegate({ name: 'tests', parent, task })
    await delegate.session([draft('gotcha.found', { text: 'cookies expire' })])
    const landed = delegate.merged()
    await mergeJournals(world.workspace, delegate.state, landed)
    const recorded = world.project.journal(parent).filter(({ once }) => once !== undefined)
    world.append(
      parent,
      recorded.map(({ kind, by, once, data }) => ({ kind, by, once, data }) as never),
    )
    const state = world.stateOf(parent)
    expect(state.discoveries.items).toHaveLength(1)
    expect(state.delegates.items).toHaveLength(1)
  })

  test("the parent's branch is not mistaken for the target", async () => {
    const { world, task } = await worldWithTask()
    const parent = await world.parent()
    const { git } = world.stateOf(parent)
    const delegate = world.delegate({ name: 'tests', parent, task })
    delegate.commit('b.txt')
    await mergeJournals(world.workspace, delegate.state, {
      ...delegate.merged(),
      target: 'elsewhere',
    })
    expect(world.stateOf(parent).git).toEqual(git)
  })

  test('without a parent its own last session closes the task, though it is closed itself', async () => {
    const { world, task, status } = await worldWithTask()
    const delegate = world.delegate({ name: 'tests', task })
    await delegate.session()
    const last = await delegate.session([draft('gotcha.found', { text: 'cookies expire' })])
    await closeSession(world.workspaceAt(delegate.tree), { session: last, how: 'completed' })
    delegate.commit('test/a.ts')
    const landed = delegate.merged()
    await mergeJournals(world.workspace, delegate.state, landed)
    await mergeJournals(world.workspace, delegate.state, landed)
    const state = world.stateOf(last)
    expect(state.status).toBe('completed')
    expect(state.discoveries.items).toHaveLength(1)
    expect(state.commits.items).toMatchObject([{ commit: landed.commit }])
    expect(state.delegates.items).toMatchObject([{ name: 'tests', status: 'merged' }])
    expect(await status()).toBe('completed')
  })

  test('without any journal the backlog closes the task', async () => {
    const { world, task, status } = await worldWithTask()
    const delegate = world.delegate({ name: 'tests', task })
    delegate.commit('test/a.ts')
    const landed = delegate.merged()
    await mergeJournals(world.workspace, delegate.state, landed)
    await mergeJournals(world.workspace, delegate.state, landed)
    expect(await status()).toBe('completed')
  })

  test("what a delegate's delegate learned carries that delegate's name", async () => {
    const { world } = await worldWithTask()
    const parent = await world.parent()
    const outer = world.delegate({ name: 'outer', parent })
    const middle = await outer.session()
    const inner = world.delegate({ name: 'inner', parent: middle })
    await inner.session([draft('gotcha.found', { text: 'deep' })])
    await mergeJournals(world.workspace, inner.state, inner.merged())
    await mergeJournals(world.workspace, outer.state, outer.merged())
    expect(world.stateOf(parent).discoveries.items).toMatchObject([
      { text: 'deep', whose: 'inner' },
    ])
  })

  test('a log that names a path instead of a journal is not followed', async () => {
    const { world } = await worldWithTask()
    const parent = await world.parent()
    const log = world.project.read('.sessions', 'journal', parent, 'log.jsonl')
    world.project.write('outside/log.jsonl', log)
    const delegate = world.delegate({ name: 'tests', parent: '../../outside' })
    await mergeJournals(world.workspace, delegate.state, delegate.merged())
    expect(world.project.read('outside', 'log.jsonl')).toBe(log)
    expect(world.project.names('outside')).toEqual(['log.jsonl'])
  })
})
