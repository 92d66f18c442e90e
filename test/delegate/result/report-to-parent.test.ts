import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { reportStartToParent, reportToParent } from '../../../src/run/delegate/parent-journal.ts'
import { reconcileDelegates } from '../../../src/run/merge/reconcile.ts'
import { closeSession } from '../../../src/project/lifecycle/pause-and-close.ts'
import { JournalledWorld } from './journalled-world.ts'

describe("a parent's journal", () => {
  test('records the start and the outcome of a delegate once each', async () => {
    const world = new JournalledWorld()
    const parent = await world.parent()
    const delegate = world.delegate({
      name: 'tests',
      parent,
      as: 'tests',
      group: 'g',
      what: 'write the tests',
    })
    await reportStartToParent(world.workspace, delegate.state)
    await reportStartToParent(world.workspace, delegate.state)
    const commit = delegate.commit('test/login.test.ts')
    delegate.used(100)
    delegate.used(20)
    const ready = delegate.moved('ready', { commit, summary: 'twelve tests, all red' })
    await reportToParent(world.workspace, ready)
    await reportToParent(world.workspace, ready)

    expect(world.project.entries('delegate.begun', parent)).toEqual([
      {
        delegate: delegate.id,
        name: 'tests',
        what: 'write the tests',
        as: 'tests',
        group: 'g',
        branch: 'stint/tests',
      },
    ])
    expect(world.project.entries('delegate.reported', parent)).toEqual([
      {
        delegate: delegate.id,
        name: 'tests',
        status: 'ready',
        what: 'write the tests',
        branch: 'stint/tests',
        summary: 'twelve tests, all red',
        commit,
        files: ['test/login.test.ts'],
        usage: { input: 120, cacheWritten: 0, cacheRead: 0, output: 2 },
      },
    ])
    expect(world.project.journal(parent).at(-1)!.by).toBe('delegate')
    const [line] = world.stateOf(parent).delegates.items
    expect(line).toMatchObject({
      name: 'tests',
      status: 'ready',
      text: 'write the tests',
      summary: 'twelve tests, all red',
    })
  })

  test('records the same outcome again after a restart', async () => {
    const world = new JournalledWorld()
    const parent = await world.parent()
    const delegate = world.delegate({ name: 'tests', parent })
    await reportStartToParent(world.workspace, delegate.state)
    await reportToParent(
      world.workspace,
      delegate.moved('conflicted', { onto: 'abc', because: 'a.txt', files: ['a.txt'] }),
    )
    await reportStartToParent(world.workspace, delegate.resumed())
    expect(world.stateOf(parent).delegates.items[0]).not.toHaveProperty('because')
    await reportToParent(
      world.workspace,
      delegate.moved('conflicted', { onto: 'def', because: 'b.txt' }),
    )

    expect(world.project.entries('delegate.begun', parent)).toHaveLength(2)
    expect(world.project.entries('delegate.reported', parent)).toMatchObject([
      { because: 'a.txt' },
      { because: 'b.txt' },
    ])
  })

  test('records nothing while the delegate is running', async () => {
    const world = new JournalledWorld()
    const parent = await world.parent()
    const delegate = world.delegate({ name: 'tests', parent })
    await reportToParent(world.workspace, delegate.state)
    expect(world.project.entries('delegate.reported', parent)).toEqual([])
  })

  test('does not count files that came from the target as changed by the delegate', async () => {
    const world = new JournalledWorld()
    const parent = await world.parent()
    const delegate = world.delegate({ name: 'tests', parent })
    delegate.commit('own.txt')
    world.project.commit('meanwhile', { 'others.txt': 'x\n' })
    delegate.takeIn('main')
    await reportToParent(world.workspace, delegate.moved('ready'))
    expect(world.project.entries('delegate.reported', parent)).toMatchObject([
      { files: ['own.txt'] },
    ])
  })

  test('accepts the report after it was closed, and stays closed', async () => {
    const world = new JournalledWorld()
    const parent = await world.parent()
    const delegate = world.delegate({ name: 'tests', parent })
    await closeSession(world.workspace, { session: parent, how: 'completed' })
    await reportToParent(world.workspace, delegate.moved('failed', { because: 'gave up' }))
    const { state } = world.workspace.session(parent).read()
    expect(state.status).toBe('completed')
    expect(state.delegates.items).toMatchObject([{ status: 'failed', because: 'gave up' }])
    expect(world.project.documentPath(parent)).toContain('archive')
  })

  test('is not recreated when it is missing, and is not required', async () => {
    const world = new JournalledWorld()
    const parent = await world.parent()
    const delegate = world.delegate({ name: 'tests', parent })
    rmSync(world.project.path('.sessions', 'journal', parent), { recursive: true })
    rmSync(world.workspace.session(parent).log.paths.link!, { force: true })
    await reportStartToParent(world.workspace, delegate.state)
    await reportToParent(world.workspace, delegate.moved('ready'))
    expect(existsSync(world.project.path('.sessions', 'journal', parent, 'log.jsonl'))).toBe(false)
    await reportToParent(world.workspace, world.delegate({ name: 'alone' }).moved('ready'))
  })

  test('gets what a killed process could not record, and nothing twice', async () => {
    const world = new JournalledWorld()
    const parent = await world.parent()
    const told = world.delegate({ name: 'told', parent })
    await reportStartToParent(world.workspace, told.state)
    await reportToParent(world.workspace, told.moved('ready'))
    const missed = world.delegate({ name: 'missed', parent })
    await reportStartToParent(world.workspace, missed.state)
    missed.moved('ready', { summary: 'unheard' })
    const before = world.project.entries('delegate.reported', parent)
    await reconcileDelegates(world.workspace)
    expect(world.project.entries('delegate.reported', parent)).toEqual([
      ...before,
      expect.objectContaining({ summary: 'unheard' }),
    ])
    const after = world.project.journal(parent)
    await reconcileDelegates(world.workspace)
    expect(world.project.journal(parent)).toEqual(after)
  })

  test('that cannot be written does not fail the command', async () => {
    const world = new JournalledWorld()
    const parent = await world.parent()
    const delegate = world.delegate({ name: 'tests', parent })
    const path = world.project.path('.sessions', 'journal', parent, 'log.jsonl')
    rmSync(world.workspace.session(parent).log.paths.link!, { force: true })
    rmSync(path)
    mkdirSync(path)
    await reportToParent(world.workspace, delegate.moved('ready'))
    expect(world.project.messages.join()).toContain('could not be told')
  })
})
