// What a run records besides the tasks themselves.
import { expect, test } from 'vitest'
import { RunWorld, doing } from './run-world.ts'

test('counts per conversation the profiles that no task needed', async () => {
  const world = new RunWorld()
  await world.tasks('Fix the crash', 'Two')
  const report = await world.run({ batch: 'one' })
  const notLoaded = world
    .logged('conversation.ended')
    .map(({ data }) => (data as { profilesNotLoaded: number }).profilesNotLoaded)
  expect(notLoaded).toHaveLength(2)
  expect(Math.min(...notLoaded)).toBeGreaterThan(0)
  expect(notLoaded[0]).toBeLessThan(notLoaded[1]!)
  expect(report.compared.profilesNotLoaded).toBe(notLoaded[0]! + notLoaded[1]!)
})

test('renders every document up to date after a run', async () => {
  const world = new RunWorld()
  await world.tasks('One', 'Two')
  await world.run({
    batch: 'one',
    script: world.script({ one: [doing('one')], two: [doing('two')] }),
  })
  expect(world.journalled('handoff.accepted')).toHaveLength(1)
  const { checks } = await world.project.run((project) => project.doctor())
  expect(checks.filter(({ status }) => status !== 'ok')).toEqual([])
})
