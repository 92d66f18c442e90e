import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkDelegates, checkRuns } from '../../src/run/control/check-runs.ts'
import { shortId } from '../../src/journal/ids.ts'
import { thisProcess } from '../../src/run/loop/start-run.ts'
import { worktreesFolder } from '../../src/project/store/worktrees.ts'
import { git } from '../support/scratch.ts'
import { DelegateWorld, NOBODY } from './delegate-world.ts'

function checked(world: DelegateWorld) {
  const { paths } = world.workspace()
  return [...checkRuns(paths), ...checkDelegates(paths)].flatMap(({ details }) => details)
}

/** Extracts the commands from a finding. */
function follow(world: DelegateWorld, remark: string): void {
  for (const [, command] of remark.matchAll(/: git ((?:worktree remove|branch -d)[^(,;]*)/g))
    world.project.git(...command!.trim().split(' '))
}

test('reports a branch and worktree whose creator was killed, with the command that removes them', () => {
  const world = new DelegateWorld()
  world.delegate('thing')
  const tree = join(worktreesFolder(world.workspace().paths), 'delegate-0a1b2c')
  world.project.git('worktree', 'add', '--quiet', '-b', 'stint/other', tree)
  const [remark, ...others] = checked(world)
  expect(others).toEqual([])
  expect(remark).toContain(
    `${tree} was made for a delegate that was never begun: nothing uncommitted`,
  )
  follow(world, remark!)
  expect(checked(world)).toEqual([])
  expect(world.references('refs/heads/stint/')).toEqual(['refs/heads/stint/thing'])
})

test('reports what a killed merge left, with the command that removes it, but not a live merge', () => {
  const world = new DelegateWorld()
  const [left, now] = [world.delegate('left'), world.delegate('now')]
  const folder = worktreesFolder(world.workspace().paths)
  const begin = (delegate: typeof left, merger: typeof NOBODY) => {
    const tree = join(folder, `merge-${shortId(delegate.id)}`)
    world.project.git('worktree', 'add', '--quiet', '--detach', tree)
    const onto = world.commitOf('main')
    delegate.append('merge.begun', { target: 'main', onto, tip: delegate.tip(), merger, tree })
    return tree
  }
  const merge = begin(left, NOBODY)
  begin(now, thisProcess())
  const tried = join(folder, `try-${shortId(left.id)}-${NOBODY.pid}`)
  for (const tree of [tried, join(folder, `try-${shortId(left.id)}-${process.pid}`)])
    world.project.git('worktree', 'add', '--quiet', '--detach', tree)
  git(merge, 'commit', '--quiet', '--allow-empty', '-m', 'merge')
  const about = () => checked(world).filter((text) => text.includes('was left by'))
  expect(about()).toEqual([
    expect.stringContaining(`${merge} was left by a merge: `),
    expect.stringContaining(`${tried} was left by a merge that was only tried: `),
  ])
  expect(checked(world).join()).not.toContain('a run that is not known')
  for (const remark of about()) follow(world, remark)
  expect(about()).toEqual([])
})
