import { expect, test } from 'vitest'
import { RunWorld, doing } from './run-world.ts'

test('a task reported as the context fills up needs no other conversation', async () => {
  const world = new RunWorld()
  await world.tasks('One')
  const script = world.script({ one: [[...doing('one'), { usage: 165_000 }, { hang: true }]] })
  const report = await world.run({ script })
  expect(report.sessions.map(({ conversations }) => conversations)).toEqual([1])
  expect(report.sessions[0]!.tasks[0]).toMatchObject({ outcome: 'done', attempts: 1 })
  expect(world.of('turn.started')).toHaveLength(1)
})

test('a task reported as the context fills up but not done continues in a fresh conversation', async () => {
  const world = new RunWorld()
  await world.tasks('One')
  const script = world.script({
    one: [[{ done: 'all of it' }, { usage: 165_000 }, { hang: true }], doing('one')],
  })
  await world.run({ script })
  expect(world.failed()).toMatchObject([
    { reason: 'nothing was committed', next: 'fresh conversation' },
  ])
  expect(world.of('conversation.opened')).toHaveLength(2)
  expect(Object.values(world.closings())).toEqual([1])
})

test('cuts off a turn compacted repeatedly without changes, and finishes the task in a fresh conversation', async () => {
  const world = new RunWorld()
  await world.tasks('One', 'Two')
  const again = [{ usage: 9000 }, { compact: true }]
  // The runner reads the files after each compaction.
  const changing = ['a', 'b', 'c', 'd', 'e'].flatMap((text) => [
    ...again,
    world.untilHandled(),
    { write: { path: 'one.txt', text } },
  ])
  const script = world.script({
    one: [[...changing, ...doing('one')]],
    two: [[...again, ...again, ...again, ...again, { hang: true }], doing('two')],
  })
  await world.run({ script })
  expect(world.of('breaker.tripped')).toMatchObject([{ task: { name: 'two' }, which: 'no change' }])
  expect(world.failed().map(({ task, next }) => [task.name, next])).toEqual([
    ['two', 'fresh conversation'],
  ])
  expect(Object.values(world.closings())).toEqual([1, 1])
})
