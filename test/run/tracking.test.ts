import { expect, test } from 'vitest'
import { RunWorld } from './run-world.ts'

test('a resumed run keeps its tracking level, however few tasks are left', async () => {
  const world = new RunWorld()
  await world.tasks('One', 'Two', 'Three', 'Four', 'Five', 'Six')
  await world.run({ maxTasks: 4 })
  const report = await world.run({ resume: true, maxTasks: 9 })
  expect(report.how).toBe('finished')
  expect(world.journalled('turn.ended')).toHaveLength(6)
  const notes = world.journalled('checkpoint.made').map(({ data }) => data['note'])
  expect(notes.filter((note) => String(note).endsWith('is done'))).toHaveLength(6)
})
