// Runs the real command and kills it at a given point.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { findStintProgram } from '../../src/harness/process/find-program.ts'
import type { RunWorld } from './run-world.ts'

interface Seen {
  readonly kind: string
  readonly data: { readonly how?: string; readonly run?: string }
}

export async function runUntil(
  world: Pick<RunWorld, 'project'>,
  args: readonly string[],
  killAt?: { readonly kind: string; readonly count: number },
): Promise<readonly Seen[]> {
  const child = spawn(process.execPath, [findStintProgram(), 'run', '--json', ...args], {
    cwd: world.project.root,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const seen: Seen[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    seen.push(JSON.parse(line) as Seen)
    if (
      killAt !== undefined &&
      seen.filter(({ kind }) => kind === killAt.kind).length >= killAt.count
    )
      child.kill('SIGKILL')
  }
  await exited
  return seen
}
