import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { DelegateWorld } from '../delegate-world.ts'

test('merges ready work into the checked-out target with a merge commit, and removes branch and worktree', async () => {
  const world = new DelegateWorld()
  const one = world.delegate('one')
  const two = world.delegate('two')
  const tips = [one.tip(), two.tip()]
  const outcomes = await world.merge([one, two])
  expect(outcomes).toMatchObject([
    { how: 'merged', name: 'one', target: 'main', commit: world.commitOf('main^') },
    { how: 'merged', name: 'two', target: 'main', commit: world.commitOf('main') },
  ])
  // Even the first, which contained the target: every commit the target was at was verified.
  expect(
    world.project.git('log', '--first-parent', '-2', '--format=%s', 'main').trim().split('\n'),
  ).toEqual(['Merge delegate two: write two', 'Merge delegate one: write one'])
  expect([world.commitOf('main^^2'), world.commitOf('main^2')]).toEqual(tips)
  expect(world.project.git('status', '--porcelain', '--', 'one.txt', 'two.txt')).toBe('')
  expect(world.project.read('one.txt') + world.project.read('two.txt')).toBe('one\ntwo\n')
  expect(one.steps()).toEqual(['ready', 'merge.begun', 'merge.landing', 'merged'])
  expect(one.state().move).toMatchObject({
    to: 'merged',
    target: 'main',
    summary: 'one is written',
  })
  expect(world.references('refs/heads')).toEqual(['refs/heads/main'])
  expect(world.references('refs/stint')).toEqual([])
  expect(world.worktrees()).toEqual([])
  expect([one.tree, two.tree].map((tree) => existsSync(tree))).toEqual([false, false])
  for (const tip of tips) expect(world.reachable()).toContain(tip)
})

test('merges without a configured git user name', async () => {
  const world = new DelegateWorld()
  const one = world.delegate('one')
  world.project.commit('theirs', { 'theirs.txt': 'theirs\n' })
  world.project.git('config', 'user.name', '')
  expect(await world.mergeOne(one)).toMatchObject({ how: 'merged' })
  expect(world.project.git('log', '-1', '--format=%an', 'main').trim()).toBe('Stint')
})
