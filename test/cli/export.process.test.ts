import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { program, terminal } from '../support/cli.ts'
import { sessionJsonProblems } from '../support/session-json-checker.ts'
import { agreeTo } from '../support/trust.ts'

type Terminal = ReturnType<typeof terminal>

function run(world: Terminal, ...args: string[]) {
  return spawnSync(process.execPath, [program, ...args], {
    cwd: world.cwd,
    env: world.env,
    encoding: 'utf8',
  })
}

/** Starts a command and resolves with its exit code. */
function start(world: Terminal, ...args: string[]): Promise<number | null> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: world.cwd,
    env: world.env,
    stdio: 'ignore',
  })
  return new Promise((resolve) => child.on('exit', resolve))
}

function bigSession(): Terminal {
  const world = terminal()
  run(world, 'init', '--name', 'big')
  run(world, 'log', ...Array.from({ length: 8 }, (_, n) => ['--step', `Step ${n}`]).flat())
  return world
}

describe('concurrent exports', () => {
  test('into one file leave a complete file at every moment, which the next export may overwrite', async () => {
    const world = bigSession()
    const path = join(world.cwd, 'session.json')
    expect(
      run(world, 'export', '--format', 'session-json', '--output', 'session.json').status,
    ).toBe(0)
    const writers = Array.from({ length: 6 }, async (_, n) => {
      // Each writes different content, so that a mixture would be detected.
      await start(world, 'log', '--step', `Of writer ${n} ${'x'.repeat(5000)}`)
      return start(world, 'export', '--format', 'session-json', '--output', 'session.json')
    })
    const running = new Set(writers)
    for (const writer of writers) void writer.finally(() => running.delete(writer))
    let reads = 0
    while (running.size > 0) {
      expect(sessionJsonProblems(JSON.parse(readFileSync(path, 'utf8')))).toEqual([])
      reads += 1
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    expect(await Promise.all(writers)).toEqual([0, 0, 0, 0, 0, 0])
    expect(reads).toBeGreaterThan(0)
    expect(
      run(world, 'export', '--format', 'session-json', '--output', 'session.json').status,
    ).toBe(0)
    expect(readdirSync(world.cwd).filter((name) => name.endsWith('.tmp'))).toEqual([])
    run(world, 'close', '--complete')
    expect(existsSync(path)).toBe(false)
  })

  test('never overwrite a file that another program creates meanwhile', async () => {
    const world = bigSession()
    writeFileSync(join(world.cwd, 'mine.json'), 'mine')
    const codes = await Promise.all(
      [1, 2, 3].map(() => start(world, 'export', '--format', 'json', '--output', 'mine.json')),
    )
    expect(codes).toEqual([1, 1, 1])
    expect(readFileSync(join(world.cwd, 'mine.json'), 'utf8')).toBe('mine')
  })
})

test('several commands that close a session at once write one workflow log', async () => {
  const world = bigSession()
  writeFileSync(join(world.cwd, '.sessions', 'config.yaml'), 'workflow_log: on\n')
  agreeTo(world.cwd, world.env)
  const codes = await Promise.all(
    [1, 2, 3, 4].map(() => start(world, 'close', '--complete', '--session', 'big')),
  )
  expect(codes).toContain(0)
  expect(codes.filter((code) => code !== 0 && code !== 1)).toEqual([])
  expect(readdirSync(join(world.cwd, 'log', 'workflow'))).toHaveLength(1)
})
