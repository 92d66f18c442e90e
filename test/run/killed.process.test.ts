import { expect, test } from 'vitest'
import { expectNoneLeft } from '../support/processes.ts'
import { RunWorld, doing } from './run-world.ts'
import { runUntil } from './run-until.ts'

test.each([
  ['run.started', 1],
  ['session.opened', 1],
  ['run.planned', 1],
  ['conversation.opened', 1],
  ['attempt.started', 2],
  ['tool', 4],
  ['verify.started', 1],
  ['verify.ended', 2],
  ['turn.ended', 1],
  ['attempt.ended', 1],
  ['rotation.decided', 2],
  ['session.closed', 1],
] as const)(
  'resumes a runner killed at %s (%i): every task is done once and no process is left',
  async (kind, count) => {
    const world = new RunWorld()
    const tasks = await world.tasks('One', 'Two', 'Three')
    // The second goes into another session.
    const script = world.script({
      one: [doing('one', 90_000)],
      two: [doing('two')],
      three: [doing('three')],
    })
    const killed = await runUntil(
      world,
      ['--harness', 'rehearsal', '--script', script, '--verify', 'sleep 0.2'],
      { kind, count },
    )
    const [run] = world.runs()
    expect(killed.at(-1)!.kind).not.toBe('run.report')
    await expectNoneLeft(`STINT_RUN=${run}`)
    const resumed = await runUntil(world, ['--resume'])
    expect(resumed.at(-1)).toMatchObject({ kind: 'run.report', data: { how: 'finished' } })
    expect(world.closings()).toEqual(Object.fromEntries(tasks.map(({ id }) => [id, 1])))
    expect(await world.statuses()).toEqual({
      one: 'completed',
      two: 'completed',
      three: 'completed',
    })
    expect(world.subjects().toSorted()).toEqual(['do one', 'do three', 'do two'])
    expect(world.runs()).toEqual([run])
    // Every conversation that started is recorded as ended.
    const opened = world
      .logged('conversation.opened')
      .map(({ data }) => (data as { number: number }).number)
    expect(
      world.logged('conversation.ended').map(({ data }) => (data as { number: number }).number),
    ).toEqual(opened)
    const conversations = (kind: string) =>
      world.journalled(kind).map(({ data }) => data['conversation'])
    expect(conversations('conversation.ended')).toEqual(conversations('conversation.joined'))
  },
)
