import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { PROBE_ANSWER, PROBE_EVENT } from '../../src/harness/setup/hook-command.ts'
import { program } from '../support/cli.ts'
import { project } from './agent.ts'

const hook = join(dirname(program), 'hook.cjs')
const EVENT = JSON.stringify({
  session_id: 'c-1',
  cwd: '/',
  prompt: 'für'.repeat(100_000),
  hook_event_name: PROBE_EVENT,
})

function startHook(
  world: ReturnType<typeof project>,
  stdin: 'pipe' | number = 'pipe',
  flags: readonly string[] = [],
) {
  const child = spawn(process.execPath, [...flags, hook], {
    cwd: world.cwd,
    env: world.env,
    stdio: [stdin, 'pipe', 'ignore'],
  })
  let answer = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (answer += text))
  const ended = once(child, 'close').then(([status, signal]) => ({ status, signal, answer }))
  return { stdin: child.stdin!, ended }
}

function withoutBindings(world: ReturnType<typeof project>): readonly string[] {
  const preload = join(world.folder, 'without.cjs')
  writeFileSync(preload, 'process.binding = () => { throw new Error("gone") }\n')
  return ['--require', preload]
}

const ANSWERED = { status: 0, signal: null, answer: PROBE_ANSWER }

describe('an event is read', () => {
  test('from a socket', async () => {
    const { stdin, ended } = startHook(project())
    stdin.end(EVENT)
    expect(await ended).toEqual(ANSWERED)
  })

  test('in late chunks that split a character', async () => {
    const { stdin, ended } = startHook(project())
    const bytes = Buffer.from(EVENT)
    const within = bytes.indexOf('ü') + 1
    for (const piece of [bytes.subarray(0, 5), bytes.subarray(5, within), bytes.subarray(within)]) {
      await wait(120)
      stdin.write(piece)
    }
    await wait(50)
    stdin.end()
    expect(await ended).toEqual(ANSWERED)
  })

  test('from a pipe', () => {
    const world = project()
    const file = join(world.folder, 'event.json')
    writeFileSync(file, EVENT)
    const answer = execFileSync(
      '/bin/sh',
      ['-c', `cat "${file}" | "${process.execPath}" "${hook}"`],
      { env: world.env },
    )
    expect(answer.toString()).toBe(PROBE_ANSWER)
  })

  test('from a file', async () => {
    const world = project()
    const file = join(world.folder, 'event.json')
    writeFileSync(file, EVENT)
    const fd = openSync(file, 'r')
    expect(await startHook(world, fd).ended).toEqual(ANSWERED)
    closeSync(fd)
  })

  test('when Node does not expose its pipe binding', async () => {
    const world = project()
    const { stdin, ended } = startHook(world, 'pipe', withoutBindings(world))
    stdin.end(EVENT)
    expect(await ended).toEqual(ANSWERED)
  })
})

describe('an event that does not arrive', () => {
  test('is abandoned on a pipe', async () => {
    const world = project()
    const pipe = join(world.folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    // We hold it open for writing, so it never ends.
    const fd = openSync(pipe, 'r+')
    expect(await startHook(world, fd).ended).toEqual({ status: 0, signal: null, answer: '' })
    closeSync(fd)
  })

  test('is abandoned when Node does not expose its pipe binding', async () => {
    const world = project()
    const { ended } = startHook(world, 'pipe', withoutBindings(world))
    // The registered shell command turns the kill into success.
    expect(await ended).toEqual({ status: null, signal: 'SIGKILL', answer: '' })
  })

  test('is ignored without standard input', () => {
    const world = project()
    const { status, stdout } = spawnSync(process.execPath, [hook], {
      env: world.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    expect({ status, stdout: stdout.toString() }).toEqual({ status: 0, stdout: '' })
  })

  test('leaves a pipe that others read in blocking mode', () => {
    const world = project()
    const over = join(world.folder, 'over')
    const writer = `{ printf '{}'; until [ -e "${over}" ]; do sleep 0.1; done; printf 'the rest'; }`
    const reader = `{ "${process.execPath}" "${hook}"; : >"${over}"; cat; }`
    const { stdout } = spawnSync('/bin/sh', ['-c', `${writer} | ${reader}`], {
      env: world.env,
      encoding: 'utf8',
    })
    expect(stdout).toBe('the rest')
  })
})
