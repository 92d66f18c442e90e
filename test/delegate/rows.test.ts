// Rows and names of delegates, from generated logs.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
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
