import { expect, test } from 'vitest'
import { initSession } from '../../../src/project/lifecycle/init-session.ts'
import { DelegateWorld } from '../delegate-world.ts'
import { WorkingWorld } from '../working-world.ts'

test('reports a conflict, and work rejected too often, to the parent', async () => {
  const world = new DelegateWorld()
  world.config('delegates:\n  send_back: 0\n')
  const { reading } = await initSession(world.workspace(), { name: 'parent' })
  const parent = reading.state.id
  const one = world.delegate('one', { commits: [{ 'a.txt': 'ours\n' }], order: { parent } })
  world.project.commit('theirs', { 'a.txt': 'theirs\n' })
  const statuses = () =>
    world.project
      .entries('delegate.reported', parent)
      .map((data) => (data as { status: string }).status)
  await world.mergeOne(one)
  expect(statuses()).toEqual(['conflicted'])
  one.move({ to: 'ready', commit: one.tip() })
  await world.mergeOne(one, { sendBack: async () => undefined })
  expect(statuses()).toEqual(['conflicted', 'parked'])
})

test('reports a restart to the parent, and a first start once', async () => {
  const world = new WorkingWorld()
  const { reading } = await initSession(world.workspace(), { name: 'parent' })
  const parent = reading.state.id
  const failing = { 'write-the-parser': [[{ failed: 'cannot' }]] }
  const made = await world.delegate(failing, { session: parent })
  const kinds = () =>
    world.project
      .journal(parent)
      .flatMap(({ kind, data }) =>
        kind.startsWith('delegate.') ? [`${kind} ${String(data.status ?? '')}`.trim()] : [],
      )
  expect(kinds()).toEqual(['delegate.begun', `delegate.reported ${made.status}`])
  const again = await world.worked(made)
  expect(kinds().slice(2)).toEqual(['delegate.begun', `delegate.reported ${again.status}`])
})
