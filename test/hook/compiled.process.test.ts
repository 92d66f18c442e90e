import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  readFileSync,
  readdirSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PROBE_ANSWER, PROBE_EVENT } from '../../src/harness/setup/hook-command.ts'
import { addChecksum, removeChecksum } from '../../src/bin/start/checksummed-code.ts'
import { program } from '../support/cli.ts'
import { project } from './agent.ts'

const dist = dirname(program)

function runHook(
  world: ReturnType<typeof project>,
  event: string,
  folder = dist,
  node = process.execPath,
) {
  const { status, signal, stdout } = spawnSync(node, [join(folder, 'hook.cjs')], {
    cwd: world.cwd,
    env: world.env,
    input: JSON.stringify({
      session_id: 'c-1',
      cwd: world.cwd,
      hook_event_name: event,
      source: 'startup',
    }),
    encoding: 'utf8',
  })
  return { status, signal, stdout }
}

async function withCompiled() {
  const world = project()
  await world.stint('init', '--name', 'there', '--goal', 'Be there')
  const first = runHook(world, 'SessionStart')
  expect(first.stdout).toContain('Be there')
  const folder = join(world.folder, 'state', 'compiled')
  const name = readdirSync(folder).find((file) => file.startsWith('hook-handlers-'))!
  return { world, folder, cache: join(folder, name) }
}

const change = (path: string, changed: (bytes: Buffer) => Uint8Array) =>
  writeFileSync(path, changed(readFileSync(path)))

const DAMAGE: Readonly<Record<string, (path: string) => void>> = {
  'one page of zeroes near the start': (path) => change(path, (bytes) => bytes.fill(0, 4096, 8192)),
  'one page of zeroes in the middle': (path) =>
    change(path, (bytes) => bytes.fill(0, 40_960, 45_056)),
  'zeroes at its end': (path) => change(path, (bytes) => bytes.fill(0, 20_480)),
  'only zeroes': (path) => change(path, (bytes) => bytes.fill(0)),
  'a page of garbage': (path) => change(path, (bytes) => bytes.fill('garbage!', 16_384, 20_480)),
  'only garbage': (path) => change(path, (bytes) => bytes.fill('garbage!', 64)),
  'only its first half': (path) => change(path, (bytes) => bytes.subarray(0, bytes.length >> 1)),
  'one byte': (path) => truncateSync(path, 1),
  'no byte': (path) => truncateSync(path, 0),
  'no checksum': (path) => change(path, (bytes) => bytes.subarray(8)),
  'the code of another version': (path) =>
    change(path, (bytes) => {
      const code = Buffer.from(removeChecksum(bytes)!)
      // Where V8 stores its version hash.
      code.writeInt32LE(~code.readInt32LE(4), 4)
      return addChecksum(code)
    }),
}

describe('cached compiled code', () => {
  test.each(Object.keys(DAMAGE))(
    'with %s costs no response and is compiled again',
    async (kind) => {
      const { world, folder, cache } = await withCompiled()
      DAMAGE[kind]!(cache)
      const damaged = readFileSync(cache)
      expect(runHook(world, 'SessionStart')).toMatchObject({
        status: 0,
        signal: null,
        stdout: expect.stringContaining('Be there'),
      })
      const mended = readFileSync(cache)
      expect(mended.equals(damaged)).toBe(false)
      expect(removeChecksum(mended)).toBeDefined()
      expect(runHook(world, 'SessionStart')).toMatchObject({
        status: 0,
        signal: null,
        stdout: expect.stringContaining('Be there'),
      })
      // It was valid, so it was not compiled again.
      expect(readFileSync(cache).equals(mended)).toBe(true)
      // Only the handler: the fast program did not serve the event.
      expect(readdirSync(folder)).toHaveLength(1)
    },
  )

  test('is rejected when any disk block is empty or garbage, or the end is missing', async () => {
    const { cache } = await withCompiled()
    const whole = readFileSync(cache)
    const missed: string[] = []
    for (let at = 0; at < whole.length; at += 512) {
      for (const filling of ['\0', 'garbage!']) {
        const damaged = Buffer.from(whole).fill(filling, at, Math.min(whole.length, at + 512))
        if (!damaged.equals(whole) && removeChecksum(damaged) !== undefined)
          missed.push(`${at} ${filling}`)
      }
      if (removeChecksum(Buffer.from(whole.subarray(0, at))) !== undefined)
        missed.push(`cut at ${at}`)
    }
    expect(missed).toEqual([])
  })

  test('is not used by another build of the same version of Node', async () => {
    const { world, folder } = await withCompiled()
    const other = join(world.folder, 'node')
    copyFileSync(process.execPath, other)
    utimesSync(other, 1, 1)
    expect(runHook(world, 'SessionStart', dist, other)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('Be there'),
    })
    expect(readdirSync(folder)).toHaveLength(2)
  })
})

describe('the setup probe', () => {
  test('is answered if every program can be loaded', () => {
    expect(runHook(project(), PROBE_EVENT)).toEqual({
      status: 0,
      signal: null,
      stdout: PROBE_ANSWER,
    })
  })

  test('is not answered if one program cannot be loaded', () => {
    const world = project()
    const copy = join(world.folder, 'dist')
    cpSync(dist, copy, { recursive: true })
    const name = readdirSync(copy).find((file) => file.startsWith('hook-handlers-'))!
    writeFileSync(join(copy, name), 'half of a (')
    expect(runHook(world, PROBE_EVENT, copy)).toEqual({ status: 0, signal: null, stdout: '' })
  })
})
