// Runs the real command and kills it at a given point.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { expect } from 'vitest'
import { findStintProgram } from '../../src/harness/process/find-program.ts'
import { KILL_AT_EVENT } from '../support/processes.ts'
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
  const preload = killAt === undefined ? [] : ['--require', KILL_AT_EVENT]
  const child = spawn(
    process.execPath,
    [...preload, findStintProgram(), 'run', '--json', ...args],
    {
      cwd: world.project.root,
      env: { ...process.env, KILL_AT_EVENT: `${killAt?.kind} ${killAt?.count}` },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  const exited = new Promise((resolve) => child.once('exit', (_code, signal) => resolve(signal)))
  const seen: Seen[] = []
  for await (const line of createInterface({ input: child.stdout }))
    seen.push(JSON.parse(line) as Seen)
  expect(await exited).toBe(killAt === undefined ? null : 'SIGKILL')
  return seen
}
