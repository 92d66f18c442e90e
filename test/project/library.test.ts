import { expect, test } from 'vitest'
import { openProject } from '../../src/library.ts'
import { gitProject } from '../support/project.ts'

test('the library returns the public projection of a session, its entries and its tasks', async () => {
  const { root } = gitProject()
  const project = openProject(root)
  const head = await project.init({ name: 'public', goal: 'Be read by programs' })
  expect(head).toMatchObject({ format: 'stint-state', name: 'public', counts: { steps: 0 } })
  const { session, entries } = await project.log({
    entries: [{ step: 'First' }, { done: 'First' }],
  })
  expect(session.counts).toMatchObject({ steps: 1, stepsDone: 1 })
  expect(entries.map(({ label, text }) => [label, text])).toContainEqual(['step done', 'First'])
  const held = await project.session()
  expect(held.append([{ progress: 'Held' }])).toMatchObject([{ text: 'Held', isRetracted: false }])
  expect(held.state().progress.items).toMatchObject([{ text: 'Held' }])
  held.close()
  const { checkpoint } = await project.checkpoint({ note: 'Here', code: false })
  expect(checkpoint).toMatchObject({ note: 'Here' })
  const whole = await project.view()
  expect(whole).toEqual(await project.open())
  expect(whole.checkpoints.items).toEqual(await project.checkpoints.list())
  expect((await project.entries()).map(({ text }) => text)).toContain('Held')
  const task = await project.tasks.add({ title: 'Write the guide', size: 'S' })
  expect(task).toMatchObject({ name: 'write-the-guide' })
  expect((await project.tasks.list()).tasks).toEqual([await project.tasks.show(task.id)])
  expect((await project.tasks.next()).tasks.map((found) => found.task.name)).toEqual([task.name])
  const { handoff } = await project.handoffs.create()
  expect(handoff).toMatchObject({ sessionName: 'public', number: 1 })
  expect((await project.pause({})).session.status).toBe('paused')
  expect((await project.resume({})).status).toBe('active')
  expect((await project.close({ how: 'completed' })).status).toBe('completed')
  project.dispose()
})
