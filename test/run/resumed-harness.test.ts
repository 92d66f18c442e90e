import { expect, test } from 'vitest'
import { findStintProgram } from '../../src/harness/process/find-program.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import { startRun } from '../../src/run/loop/start-run.ts'
import { RunWorld } from './run-world.ts'

test('resumes a run with its original agent, even when only the configuration named it', async () => {
  const world = new RunWorld()
  await world.tasks('One', 'Two')
  world.config(`run:\n  harness: acp:${process.execPath} ${findStintProgram()} rehearsal\n`)
  const run = async (resume: { resume?: true; maxTasks: number }) => {
    const workspace = new Workspace(world.project.root, { say: () => undefined, env: process.env })
    const { ended } = await startRun(workspace, resume, () => undefined)
    return (await ended).how
  }
  expect(await run({ maxTasks: 1 })).toBe('max tasks')
  world.config('')
  expect(await run({ resume: true, maxTasks: 2 })).toBe('finished')
  expect(Object.values(world.closings())).toEqual([1, 1])
})
