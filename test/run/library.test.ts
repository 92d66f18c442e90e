import { expect, test } from 'vitest'
import type { RunEvent } from '../../src/library.ts'
import { RunWorld } from './run-world.ts'

test('a program plans a run, starts it, gets its events without secrets, and reads its report', async () => {
  const world = new RunWorld()
  await world.tasks('One', 'Two')
  const secret = `ghp_${'a1B2'.repeat(9)}`
  const script = world.script({
    one: [[{ say: `The token is ${secret}` }, { run: 'true' }, { blocked: 'no access' }]],
  })
  const events: RunEvent[] = []
  await world.project.run(
    async (project) => {
      const planned = await project.runs.plan({ harness: 'rehearsal' })
      expect(planned.sessions.map(({ tasks }) => tasks.map(({ task }) => task.name))).toEqual([
        ['one', 'two'],
      ])
      const handle = await project.runs.start({ harness: 'rehearsal', script }, (event) =>
        events.push(event),
      )
      const report = await handle.ended
      expect(report.how).toBe('waiting')
      expect(await project.runs.list()).toMatchObject([
        { id: report.run, done: 1, failed: 1, state: 'ended' },
      ])
      expect(await project.runs.report(report.run.slice(-6))).toEqual(report)
      await expect(project.runs.start({ harness: 'nobody' })).rejects.toMatchObject({
        code: 'NO_HARNESS',
      })
    },
    { env: process.env },
  )
  expect(events.at(-1)!.kind).toBe('run.report')
  expect(JSON.stringify(events)).toContain('The token is')
  expect(JSON.stringify(events)).not.toContain(secret)
})

test('a plan shows why each waiting task waits, and how to start it', async () => {
  const world = new RunWorld()
  await world.tasks('One', 'Two', { title: 'Three', dependsOn: ['two'] })
  const script = world.script({ one: [[{ blocked: 'no access' }]], two: [[{ lie: 'all done' }]] })
  await world.run({ script, onFailure: 'continue' })
  const { waiting } = await world.project.run((project) =>
    project.runs.plan({ harness: 'rehearsal' }),
  )
  expect(Object.fromEntries(waiting.map(({ task, reason }) => [task.name, reason]))).toEqual({
    one: 'blocked, and --task one takes it up: no access',
    two: 'failed, and --task two tries it again: nothing was committed',
    three: 'waits for two (failed)',
  })
})
