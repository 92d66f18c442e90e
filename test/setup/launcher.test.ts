import type { SetupRequest } from '../../src/harness/contract/setup.ts'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { launcherPath, launcherText, parseLauncher } from '../../src/harness/setup/launcher.ts'
import { findHookProgram, stintVersion } from '../../src/harness/process/find-program.ts'
import { setUpClaude } from '../../src/harness/claude/setup.ts'
import { scratchFolder } from '../support/scratch.ts'

const REQUEST: SetupRequest = {
  into: 'local',
  remove: false,
  dryRun: false,
  notify: false,
  instructions: false,
  statusLine: true,
  tokenEfficientTools: false,
  mcp: 'no',
}

/** An installed Stint, and two projects on the machine. */
function machine() {
  const folder = scratchFolder()
  const hook = join(folder, "it's here", 'dist', 'hook.cjs')
  mkdirSync(join(hook, '..', 'chunks'), { recursive: true })
  writeFileSync(hook, '')
  writeFileSync(join(hook, '..', '..', 'package.json'), '{"version":"1.2.3"}')
  const env = { STINT_STATE_HOME: join(folder, 'state'), HOME: folder }
  const launcher = launcherPath(env.STINT_STATE_HOME)
  const program = { node: process.execPath, hook }
  const project = (name: string) => {
    mkdirSync(join(folder, name), { recursive: true })
    const environment = { root: join(folder, name), gitCommonDir: undefined, env }
    return (change: Partial<SetupRequest> = {}, using = program) =>
      setUpClaude({ ...REQUEST, ...change }, environment, using)
  }
  return { folder, hook, env, launcher, program, project }
}

describe('the launcher', () => {
  test('is written by a setup, and names this Stint and its Node', async () => {
    const { project, launcher, program } = machine()
    await project('a')()
    expect(parseLauncher(readFileSync(launcher, 'utf8'))).toEqual(program)
  })

  test('is updated by the next setup, though nothing else changes', async () => {
    const { project, launcher, program } = machine()
    await project('a')()
    const moved = { ...program, node: '/another/node' }
    const { changes } = await project('a')({}, moved)
    expect(changes.map(({ path }) => path)).toEqual([launcher])
    expect(parseLauncher(readFileSync(launcher, 'utf8'))).toEqual(moved)
    expect((await project('a')({}, moved)).changes).toEqual([])
  })

  test('stays as long as anything on this machine is set up', async () => {
    const { project, launcher, env } = machine()
    await project('a')()
    await project('b')()
    await project('a')({ remove: true })
    expect(existsSync(launcher)).toBe(true)
    await project('b')({ remove: true })
    expect(existsSync(launcher)).toBe(false)
    expect(readdirSync(join(env.STINT_STATE_HOME, 'setup'))).toEqual([])
  })

  test('is removed with a plugin, and the compiled code too, when nothing else is set up', async () => {
    const { project, launcher, env, folder } = machine()
    const compiled = join(env.STINT_STATE_HOME, 'compiled')
    const plugin = { into: { plugin: join(folder, 'mine') } }
    await project('a')(plugin)
    await project('a')()
    mkdirSync(compiled, { recursive: true })
    await project('a')({ remove: true })
    expect(existsSync(launcher)).toBe(true)
    await project('a')({ ...plugin, remove: true })
    expect([existsSync(launcher), existsSync(compiled)]).toEqual([false, false])
    expect((await project('a')({ ...plugin, remove: true })).changes).toEqual([])
  })

  test('is not written by a Stint that runs from its sources, and setup reports it', async () => {
    const { launcher, folder, env } = machine()
    const environment = { root: folder, gitCommonDir: undefined, env }
    const { notes } = await setUpClaude(REQUEST, environment)
    expect(notes).toContainEqual(expect.stringContaining('runs from its sources'))
    expect(existsSync(launcher)).toBe(false)
  })

  test('is not written for a path with a line break or tab, and setup reports it', async () => {
    const { project, launcher, program } = machine()
    const { notes } = await project('a')({}, { ...program, hook: '/new\nline/hook.cjs' })
    expect(notes).toContainEqual(expect.stringContaining('line break or a tab'))
    expect(existsSync(launcher)).toBe(false)
  })

  test('of a Stint in the npx cache is noted as temporary', async () => {
    const { project, program } = machine()
    const { notes } = await project('a')(
      {},
      { ...program, hook: '/home/x/.npm/_npx/ab12/node_modules/stint/dist/hook.cjs' },
    )
    expect(notes).toContainEqual(expect.stringContaining('cache of npx'))
  })

  test.each(["it's", 'a "b" $c `d`', ' blank ', "''"])(
    'can be parsed again for a folder called %j',
    (name) => {
      const program = { node: `/${name}/node`, hook: `/${name}/hook.cjs` }
      expect(parseLauncher(launcherText(program))).toEqual(program)
      expect(parseLauncher('something else')).toBeUndefined()
    },
  )
})

describe('the running Stint', () => {
  test('is found from its entry point and from any of its chunks', () => {
    const { hook } = machine()
    for (const piece of ['stint.js', join('chunks', 'setup-claude-abc.js')]) {
      const from = pathToFileURL(join(hook, '..', piece)).href
      expect(findHookProgram(from, '/usr/bin/node')).toEqual({ node: '/usr/bin/node', hook })
      expect(stintVersion(from)).toBe('1.2.3')
    }
    rmSync(hook)
    expect(findHookProgram(pathToFileURL(join(hook, '..', 'stint.js')).href)).toBeUndefined()
  })
})
