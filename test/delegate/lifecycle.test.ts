import { expect, test } from 'vitest'
import { projectDelegates } from '../../src/run/control/project-runs.ts'
import { runMergeQueue } from '../../src/run/merge/merge-queue.ts'
import { doing } from '../run/run-world.ts'
import { WorkingWorld } from './working-world.ts'

async function withParent() {
  const world = new WorkingWorld()
  const { reading } = await world.project.run((project) => project.init({ name: 'feature' }))
  const parent = reading.state.id
  const merge = (id: string) => runMergeQueue(world.workspace(), [id], {}, () => {})
  const reported = () =>
    world.project
      .entries('delegate.reported', parent)
      .map((data) => (data as { status: string }).status)
  return { world, parent, merge, reported }
}

test('reports a conflict to the parent session, and closes the task only after rework and merge', async () => {
  const { world, parent, merge, reported } = await withParent()
  const [task] = await world.tasks('Parse dates')
  const resolve = {
    run: 'git merge -q main || (echo both > dates.txt && git add -A && git commit -qm "merge main")',
  }
  const script = { 'parse-dates': [doing('dates'), [resolve, { done: 'both hold' }]] }
  const state = await world.delegate(script, { task: 'parse-dates', what: '' })
  expect(state.run.started.branch).toBe('stint/feature/parse-dates')
  world.project.commit('theirs', { 'dates.txt': 'theirs\n' })
  expect(await merge(state.id)).toMatchObject([
    { how: 'conflicted', files: ['dates.txt'], next: 'stint delegate retry parse-dates' },
  ])
  expect(reported()).toEqual(['ready', 'conflicted'])
  expect(world.closings()).toEqual({})

  expect(await world.worked(state)).toMatchObject({ status: 'ready', rejected: 1 })
  expect(world.project.entries('delegate.begun', parent)).toHaveLength(2)
  expect(world.closings()).toEqual({})
  const [outcome] = await merge(state.id)
  expect(outcome).toMatchObject({ how: 'merged' })
  expect(world.closings()).toEqual({ [task!.id]: 1 })
  expect(reported()).toEqual(['ready', 'conflicted', 'ready', 'merged'])
  expect(world.project.read('dates.txt')).toBe('both\n')
  expect((await world.statuses())['parse-dates']).toBe('completed')
})

test('a run leaves a task to its delegate until that is merged or discarded', async () => {
  const { world } = await withParent()
  await world.tasks('Parse dates', 'Print dates')
  const state = await world.delegate(
    { 'parse-dates': [doing('dates')] },
    { task: 'parse-dates', what: '' },
  )
  const report = await world.run({ script: world.script({ 'print-dates': [doing('print')] }) })
  expect(report.sessions.flatMap(({ tasks }) => tasks).map(({ task }) => task.name)).toEqual([
    'print-dates',
  ])
  expect(
    world
      .of('message')
      .map(({ text }) => text)
      .join('\n'),
  ).toContain('parse-dates is left to the delegate parse-dates')
  await expect(world.made({ task: 'parse-dates' })).rejects.toMatchObject({
    code: 'TASK_DELEGATED',
  })
  await projectDelegates(world.workspace()).discard([state.id])
  const again = await world.run({ script: world.script({ 'parse-dates': [doing('dates')] }) })
  expect(again.sessions.flatMap(({ tasks }) => tasks)).toMatchObject([
    { task: { name: 'parse-dates' }, outcome: 'done' },
  ])
})

test('discarded work can be recovered, and its session records the discard', async () => {
  const { world, reported } = await withParent()
  const state = await world.delegate({ 'write-the-parser': [doing('parser')] })
  const tip = state.ready!.commit!
  const [row] = await projectDelegates(world.workspace()).discard([])
  expect(row).toMatchObject({ status: 'discarded', kept: `refs/stint/runs/${state.id}/discarded` })
  expect(world.project.git('branch', '--list', 'stint/*')).toBe('')
  expect(world.project.git('rev-parse', row!.kept!).trim()).toBe(tip)
  expect(reported()).toEqual(['ready', 'discarded'])
  await expect(world.worked(state)).rejects.toMatchObject({ code: 'DELEGATE_OVER' })
})
