import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { stintProgram } from '../../../src/harness/rehearsal/stint-program.ts'
import { doing } from '../../run/run-world.ts'
import { ParallelWorld } from './parallel-world.ts'

interface Seen {
  readonly type: string
  readonly how?: string
}

/** The command as a person starts it; killed at an event when that comes. */
async function stint(
  world: ParallelWorld,
  args: readonly string[],
  killAt?: { type: string; count: number },
): Promise<readonly Seen[]> {
  const child = spawn(process.execPath, [stintProgram(), 'run', '--json', ...args], {
    cwd: world.project.root,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const seen: Seen[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    seen.push(JSON.parse(line) as Seen)
    if (killAt !== undefined && seen.filter(({ type }) => type === killAt.type).length >= killAt.count) child.kill('SIGKILL')
  }
  await exited
  return seen
}

test.each([
  ['run.started', 1],
  ['delegate.started', 2],
  ['tool', 3],
  ['delegate.ready', 1],
  // Behind those of the work, one of a merge.
  ['verify.started', 4],
  ['delegate.merged', 2],
] as const)(
  'a runner of several killed at %s (%i) is resumed: every task is merged and closed once, and no process is left',
  async (type, count) => {
    const world = new ParallelWorld()
    const tasks = await world.tasks('One', 'Two', 'Three')
    const script = world.script({ one: [doing('one')], two: [doing('two')], three: [doing('three')] })
    const options = ['--harness', 'rehearsal', '--parallel', '2', '--script', script, '--verify', 'sleep 0.2']
    const killed = await stint(world, options, { type, count })
    expect(killed.at(-1)!.type).not.toBe('run.ended')
    await world.expectNothingLeft()
    const resumed = await stint(world, ['--resume'])
    expect(resumed.at(-1)).toMatchObject({ type: 'run.ended', how: 'finished' })
    await world.expectNothingLeft()
    expect(world.closings()).toEqual(Object.fromEntries(tasks.map(({ id }) => [id, 1])))
    expect(await world.statuses()).toEqual({ one: 'completed', two: 'completed', three: 'completed' })
    expect(world.standing()).toEqual({ one: 'merged', two: 'merged', three: 'merged' })
    expect(
      world
        .subjects()
        .filter((subject) => subject.startsWith('do '))
        .toSorted(),
    ).toEqual(['do one', 'do three', 'do two'])
    expect(world.runs()).toHaveLength(1)
  },
)
