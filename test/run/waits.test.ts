// Runs that wait, on a clock that jumps: a pause takes no time, and no limit depends on how fast the machine is.
import { beforeEach, expect, test, vi } from 'vitest'
import { RunWorld, doing } from './run-world.ts'

const clock = vi.hoisted(() => ({ ahead: 0, pauses: [] as number[] }))

vi.mock('node:timers/promises', async (original) => {
  const real = await original<typeof import('node:timers/promises')>()
  const setTimeout: typeof real.setTimeout = (ms = 0, value, options) => {
    // What does not keep the process alive is the patience of a race, and no pause.
    if (options?.ref === false) return real.setTimeout(ms, value, options)
    clock.ahead += ms
    clock.pauses.push(ms)
    return real.setTimeout(0, value, options)
  }
  return { ...real, setTimeout }
})

const now = Date.now.bind(Date)

beforeEach(() => {
  Object.assign(clock, { ahead: 0, pauses: [] })
  vi.spyOn(Date, 'now').mockImplementation(() => now() + clock.ahead)
})

test('waits out a usage limit, or ends the run so that it can be resumed', async () => {
  const world = new RunWorld()
  await world.tasks('One')
  const soon = () => new Date(Date.now() + 1500).toISOString()
  const waited = await world.run({
    script: world.script({ one: [[{ limit: soon() }], doing('one')] }),
  })
  expect(waited.how).toBe('finished')
  expect(world.of('limit.reached')[0]).toMatchObject({ isWaiting: true })

  await world.tasks('Two')
  const script = world.script({ two: [[{ limit: soon() }], doing('two')] })
  const ended = await world.run({ script, onLimit: 'end' })
  expect(ended.how).toBe('usage limit')
  const resumed = await world.run({ resume: true })
  expect([resumed.run, resumed.how]).toEqual([ended.run, 'finished'])
})

test("waiting for a usage limit does not use up the task's time, and retries pause in between", async () => {
  const world = new RunWorld()
  world.config('run:\n  task_minutes: 5\n')
  await world.tasks('One')
  const past = new Date(Date.now() - 1000).toISOString()
  const later = new Date(Date.now() + 600_000).toISOString()
  const report = await world.run({
    script: world.script({
      one: [[{ limit: past }], [{ limit: past }], [{ limit: later }], doing('one')],
    }),
  })
  expect(report.how).toBe('finished')
  expect(world.of('limit.reached')).toHaveLength(3)
  expect(clock.pauses.slice(0, 2)).toEqual([1000, 4000])
  expect(clock.ahead).toBeGreaterThan(300_000)
  expect(world.of('task.parked')).toEqual([])
})

test('a model that keeps failing ends the run and fails no task', async () => {
  const world = new RunWorld()
  await world.tasks('One')
  const report = await world.run({ script: world.script({ one: [[{ fail: 'overloaded' }]] }) })
  expect(report.how).toBe('harness failed')
  expect(await world.statuses()).toEqual({ one: 'in_progress' })
})

test('parks a task that exceeds its time limit, and the others continue', async () => {
  const world = new RunWorld()
  world.config('run:\n  task_minutes: 5\n')
  await world.tasks({ title: 'One', priority: 'P0' }, 'Two')
  world.onEvent = ({ kind, data }) => {
    // The time of the first task is over when its turn begins.
    if (kind === 'attempt.started' && data.number === 1 && data.task.name === 'one')
      clock.ahead += 301_000
  }
  await world.run({ script: world.script({ one: [[{ hang: true }]] }) })
  expect(world.of('breaker.tripped')[0]).toMatchObject({ which: 'time' })
  expect(await world.statuses()).toEqual({ one: 'failed', two: 'completed' })
  expect(world.of('attempt.started').map(({ task }) => task.name)).toEqual(['one', 'two'])
})
