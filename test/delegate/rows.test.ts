// Rows and names of delegates, from generated logs.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runLogPaths } from '../../src/project/store/run-files.ts'
import { projectDelegates } from '../../src/run/control/project-runs.ts'
import { scratchFolder } from '../support/scratch.ts'
import { DelegateWorld } from './delegate-world.ts'

/** The git commands run meanwhile, from git's own trace. */
async function gitCalls(work: () => Promise<unknown>): Promise<readonly string[]> {
  const path = join(scratchFolder(), 'trace')
  process.env.GIT_TRACE2_EVENT = path
  try {
    await work()
  } finally {
    delete process.env.GIT_TRACE2_EVENT
  }
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"event":"start"'))
}

describe('reading an orphaned delegate', () => {
  test('changes nothing, and prints the command that records how it ended', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one', { status: 'running' })
    writeFileSync(join(one.tree, 'left.txt'), 'left\n')
    const workspace = world.workspace()
    const log = runLogPaths(workspace.paths, one.id).path
    const before = [readFileSync(log, 'utf8'), one.tip()]
    const delegates = projectDelegates(workspace)
    const [row] = await delegates.list()
    expect(row).toMatchObject({ isOrphaned: true, next: 'stint doctor --repair' })
    await delegates.show('one')
    await delegates.wait(['one'])
    await delegates.wait()
    await delegates.merge(['one'], { isDryRun: true })
    await world.project.run((project) => project.doctor())
    expect([readFileSync(log, 'utf8'), one.tip()]).toEqual(before)
    await world.project.run((project) => project.doctor({ repair: true }))
    expect(one.state().status).toBe('failed')
    expect(one.tip()).not.toBe(before[1])
  })
})

describe('the commits of a delegate', () => {
  test('are read from git while they can change, and from the log once it is merged or discarded', async () => {
    const world = new DelegateWorld()
    const [merged, given, ready] = ['merged', 'given', 'ready'].map((name) =>
      world.delegate(name, { commits: [{ [`${name}.txt`]: '1\n' }, { [`${name}.txt`]: '2\n' }] }),
    )
    const delegates = projectDelegates(world.workspace())
    await world.mergeOne(merged!)
    await delegates.discard([given!.id])
    const counts = async () =>
      (await delegates.list()).map(({ name, commits }) => `${name} ${commits}`)
    expect(await counts()).toEqual(['merged 2', 'given 2', 'ready 2'])
    ready!.commit({ 'more.txt': 'more\n' })
    const calls = await gitCalls(async () =>
      expect(await counts()).toEqual(['merged 2', 'given 2', 'ready 3']),
    )
    expect(calls.filter((call) => call.includes('rev-list'))).toHaveLength(1)
  })
})

describe('discarding a delegate', () => {
  test('requires its full name from every caller', async () => {
    const world = new DelegateWorld()
    const { id } = world.delegate('thing')
    const delegates = projectDelegates(world.workspace())
    await expect(delegates.discard(['thin'])).rejects.toMatchObject({ code: 'DELEGATE_INEXACT' })
    await expect(delegates.discard([id.slice(0, 10)])).rejects.toMatchObject({
      code: 'DELEGATE_INEXACT',
    })
    expect(await delegates.list()).toMatchObject([{ status: 'ready' }])
    expect(await delegates.discard(['thing'])).toMatchObject([{ status: 'discarded' }])
  })
})
