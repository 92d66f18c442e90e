import { expect, test } from 'vitest'
import { discardDelegate } from '../../src/run/control/delegate-operations.ts'
import { git } from '../support/scratch.ts'
import { doing } from '../run/run-world.ts'
import { DelegateWorld } from './delegate-world.ts'
import { WorkingWorld } from './working-world.ts'
import { runMergeQueue } from '../../src/run/merge/merge-queue.ts'

const proved = (id: string) => `refs/stint/runs/${id}/proved`

test('keeps the proved commit until the target contains it', async () => {
  const world = new WorkingWorld()
  const refs = () =>
    world.project.git('for-each-ref', '--format=%(refname) %(objectname)', 'refs/stint').trim()
  const { id, ready } = await world.delegate({ 'write-the-parser': [doing('parser')] })
  expect(refs()).toBe(`${proved(id)} ${ready!.commit}`)
  await runMergeQueue(world.workspace(), [id], {}, () => {})
  expect(refs()).toBe('')
})

test('merges the proved commit even if the branch was reset to its base', async () => {
  const world = new DelegateWorld()
  const one = world.delegate('one')
  const made = one.tip()
  git(one.tree, 'reset', '--quiet', '--hard', 'main')
  world.project.commit('theirs', { 'theirs.txt': 'theirs\n' })
  expect(await world.mergeOne(one)).toMatchObject({ how: 'merged' })
  expect(world.commitOf('main^2')).toBe(made)
  expect(world.mergeMessages()).toContain(
    'one: stint/one is back where it began; the commit that was proved is merged',
  )
  expect(world.references('refs/heads')).toEqual(['refs/heads/main'])
  expect(world.references('refs/stint')).toEqual([])
})

test('merges a branch that differs from the proved commit as it is', async () => {
  const world = new DelegateWorld()
  const one = world.delegate('one')
  git(one.tree, 'reset', '--quiet', '--hard', 'main')
  const other = one.commit({ 'other.txt': 'other\n' })
  expect(await world.mergeOne(one)).toMatchObject({ how: 'merged' })
  expect(world.commitOf('main^2')).toBe(other)
})

test('keeps the proved commit on discard when the branch was reset', async () => {
  const world = new WorkingWorld()
  const { id, ready, run } = await world.delegate({ 'write-the-parser': [doing('parser')] })
  git(run.started.tree, 'reset', '--quiet', '--hard', run.started.base)
  const { move } = await discardDelegate(world.workspace(), world.now(id))
  expect(move).toMatchObject({ kept: `refs/stint/runs/${id}/discarded`, commit: ready!.commit })
  expect(world.project.git('for-each-ref', '--format=%(refname)', 'refs/stint').trim()).toBe(
    `refs/stint/runs/${id}/discarded`,
  )
})
