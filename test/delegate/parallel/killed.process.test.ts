import { expect, test } from 'vitest'
import { doing } from '../../run/run-world.ts'
import { ParallelWorld } from './parallel-world.ts'
import { runUntil } from '../../run/run-until.ts'

test.each([
  ['run.started', 1],
  ['delegate.started', 2],
  ['tool', 3],
  ['delegate.ready', 1],
  // A kill point in the merge, after those of the work.
  ['verify.started', 4],
  ['delegate.merged', 2],
] as const)(
  'resumes a parallel runner killed at %s (%i): each task is merged and closed once, no process is left',
  async (kind, count) => {
    const world = new ParallelWorld()
    const tasks = await world.tasks('One', 'Two', 'Three')
    const script = world.script({
      one: [doing('one')],
      two: [doing('two')],
      three: [doing('three')],
    })
    const options = [
      '--harness',
      'rehearsal',
      '--parallel',
      '2',
      '--script',
      script,
      '--verify',
      'sleep 0.2',
    ]
    const killed = await runUntil(world, options, { kind, count })
    expect(killed.at(-1)!.kind).not.toBe('run.report')
    await world.expectNothingLeft()
    const resumed = await runUntil(world, ['--resume'])
    expect(resumed.at(-1)).toMatchObject({ kind: 'run.report', data: { how: 'finished' } })
    await world.expectNothingLeft()
    expect(world.closings()).toEqual(Object.fromEntries(tasks.map(({ id }) => [id, 1])))
    expect(await world.statuses()).toEqual({
      one: 'completed',
      two: 'completed',
      three: 'completed',
    })
    expect(world.delegateStatuses()).toEqual({ one: 'merged', two: 'merged', three: 'merged' })
    // Checked by content: uncommitted work of a killed agent is committed with another message.
    for (const name of ['one', 'two', 'three'])
      expect(world.merged(`${name}.txt`)).toBe(`${name}\n`)
    expect(
      world
        .subjects()
        .filter((subject) => subject.startsWith('Merge '))
        .toSorted(),
    ).toEqual(['Merge delegate one: One', 'Merge delegate three: Three', 'Merge delegate two: Two'])
    expect(world.runs()).toHaveLength(1)
  },
)
