import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  AFTER_COMMAND,
  HOOK_COMMAND,
  STATUS_LINE_COMMAND,
  isStintCommand,
} from '../../src/harness/setup/hook-command.ts'
import { launcherPath, launcherText } from '../../src/harness/setup/launcher.ts'
import { scratchFolder } from '../support/scratch.ts'

const SHELLS = ['sh', 'bash', 'zsh', 'dash', 'busybox'].filter(
  (name) => spawnSync(name, ['-c', 'true']).error === undefined,
)
const EVENT = '{"hook_event_name":"Stop","text":"it\'s \\"quoted\\"\\n$HOME"}'

/** A machine with only the usual tools. */
function machine(name = 'machine') {
  const folder = join(scratchFolder(), name)
  const place = (...parts: string[]) => join(folder, ...parts)
  const project = place('project')
  const tools = place('tools')
  for (const path of [project, tools, place('home')]) mkdirSync(path, { recursive: true })
  symlinkSync(process.execPath, join(tools, 'node'))

  const write = (path: string, text: string, mode = 0o644) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    chmodSync(path, mode)
    return path
  }
  /** A program that prints its name, its arguments and its input. */
  const program = (path: string, says: string) =>
    write(
      path,
      `#!/usr/bin/env node\nprocess.stdout.write(${JSON.stringify(says)} + process.argv.slice(2).join() + require('fs').readFileSync(0, 'utf8') + process.env.STINT_HARNESS_PID)\n`,
      0o755,
    )
  const launcher = (home: string, hook: string, node = process.execPath) =>
    write(launcherPath(home), launcherText({ node, hook }))
  const environment = (extra: NodeJS.ProcessEnv = {}) => ({
    PATH: tools,
    HOME: place('home'),
    CLAUDE_PROJECT_DIR: project,
    ...extra,
  })
  return { place, project, tools, write, program, launcher, environment }
}

/** Runs a command as the harness does, with only the given environment. */
function run(shell: string, command: string, env: NodeJS.ProcessEnv, cwd: string) {
  const path = spawnSync('which', [shell], { encoding: 'utf8' }).stdout.trim()
  // Bash takes Node's pipe for a remote shell, and would read the user's configuration for those.
  const args = { busybox: ['sh', '-c'], bash: ['--norc', '-c'] }[shell] ?? ['-c']
  const ran = spawnSync(path, [...args, command], { cwd, env, input: EVENT, encoding: 'utf8' })
  return {
    stdout: ran.stdout,
    complained: ran.stderr,
    exitCode: ran.status,
    knowsItsHarness: ran.stdout.endsWith(String(process.pid)),
  }
}

const SILENCE = { stdout: '', complained: '', exitCode: 0 }

describe.each(SHELLS)('the hook command in %s', (shell) => {
  test('succeeds silently where there is no Stint', () => {
    const { environment, project } = machine()
    expect(run(shell, HOOK_COMMAND, environment(), project)).toMatchObject(SILENCE)
    expect(run(shell, STATUS_LINE_COMMAND, environment(), project)).toMatchObject(SILENCE)
  })

  test('succeeds silently without HOME, PATH or a project', () => {
    const { project } = machine()
    expect(run(shell, HOOK_COMMAND, {}, project)).toMatchObject(SILENCE)
  })

  test.each([
    [
      'the default state home',
      (at: (...parts: string[]) => string) => ({
        home: at('home', '.local', 'state', 'stint'),
        env: {},
      }),
    ],
    [
      'XDG_STATE_HOME',
      (at: (...parts: string[]) => string) => ({
        home: at('x', 'stint'),
        env: { XDG_STATE_HOME: at('x') },
      }),
    ],
    [
      'STINT_STATE_HOME',
      (at: (...parts: string[]) => string) => ({
        home: at('own'),
        env: { STINT_STATE_HOME: at('own') },
      }),
    ],
    [
      'STINT_STATE_HOME without HOME',
      (at) => ({ home: at('own'), env: { STINT_STATE_HOME: at('own'), HOME: undefined } }),
    ],
  ])('runs the hook by the launcher in %s, with standard input passed on', (_, where) => {
    const { place, program, launcher, environment, project } = machine()
    const { home, env } = where(place)
    launcher(home, program(place('dist', 'hook.cjs'), 'launched:'))
    program(place('tools', 'stint'), 'from the PATH:')
    const ran = run(shell, HOOK_COMMAND, environment({ PATH: '', ...env }), project)
    expect(ran).toMatchObject({ exitCode: 0, complained: '', knowsItsHarness: true })
    expect(ran.stdout).toContain(`launched:hook${EVENT}`)
    expect(run(shell, STATUS_LINE_COMMAND, environment(env), project).stdout).toContain(
      `launched:statusline${EVENT}`,
    )
  })

  test.each([
    "it's a folder",
    'two  spaces',
    '"double"',
    '$(touch oops)',
    'back`tick',
    ' blanks ',
    'ünï🚀',
  ])('works in a folder called %j', (name) => {
    const { place, program, launcher, environment, project } = machine(name)
    launcher(
      place('home', '.local', 'state', 'stint'),
      program(place('dist', 'hook.cjs'), 'launched:'),
    )
    expect(run(shell, HOOK_COMMAND, environment(), project)).toMatchObject({
      exitCode: 0,
      complained: '',
      knowsItsHarness: true,
    })
  })

  test.each(['node', 'hook', 'launcher'] as const)(
    'does nothing when the %s is missing, for any project and PATH',
    (gone) => {
      const { place, program, launcher, environment, project } = machine()
      const hook = program(place('dist', 'hook.cjs'), 'launched:')
      const node = place('old-node')
      symlinkSync(process.execPath, node)
      const written = launcher(place('home', '.local', 'state', 'stint'), hook, node)
      program(place('tools', 'stint'), 'from the PATH:')
      program(join(project, 'node_modules', '.bin', 'stint'), 'of the project:')
      const PATH = `./node_modules/.bin:${place('tools')}:/usr/bin:/bin`
      expect(run(shell, HOOK_COMMAND, environment({ PATH }), project).stdout).toContain('launched:')
      rmSync({ node, hook, launcher: written }[gone])
      for (const command of [HOOK_COMMAND, AFTER_COMMAND, STATUS_LINE_COMMAND])
        expect(run(shell, command, environment({ PATH }), project)).toMatchObject(SILENCE)
    },
  )

  test.each(['STINT_STATE_HOME', 'XDG_STATE_HOME'])(
    'reads no launcher from the project when %s is relative',
    (variable) => {
      const { program, place, launcher, environment, project } = machine()
      const hook = program(place('dist', 'hook.cjs'), 'launched:')
      launcher(join(project, 'x'), hook)
      launcher(join(project, 'x', 'stint'), hook)
      const ran = run(shell, HOOK_COMMAND, environment({ [variable]: 'x' }), project)
      expect(ran).toMatchObject(SILENCE)
    },
  )

  test('ends a hook that keeps computing', () => {
    const { place, write, launcher, environment, project } = machine()
    const script = 'for (;;);'
    launcher(place('home', '.local', 'state', 'stint'), write(place('dist', 'hook.cjs'), script))
    const quick = HOOK_COMMAND.replace(/ulimit -t \d+/, 'ulimit -t 1')
    expect(quick).not.toBe(HOOK_COMMAND)
    expect(run(shell, quick, environment(), project)).toMatchObject(SILENCE)
  })

  test.each([
    'process.exit(2)',
    "throw new Error('oh')",
    "process.kill(process.pid, 'SIGKILL')",
    'not JavaScript at all (',
  ])('succeeds silently when the hook ends by %j', (script) => {
    const { place, write, launcher, environment, project } = machine()
    launcher(place('home', '.local', 'state', 'stint'), write(place('dist', 'hook.cjs'), script))
    expect(run(shell, HOOK_COMMAND, environment(), project)).toMatchObject(SILENCE)
  })

  test('succeeds silently where the launcher is a folder, or empty', () => {
    const { place, write, environment, project } = machine()
    const path = launcherPath(place('home', '.local', 'state', 'stint'))
    mkdirSync(path, { recursive: true })
    expect(run(shell, HOOK_COMMAND, environment(), project)).toMatchObject(SILENCE)
    rmSync(path, { recursive: true })
    write(path, '')
    expect(run(shell, HOOK_COMMAND, environment(), project)).toMatchObject(SILENCE)
  })
})

describe('the hook command', () => {
  test('is one line, holds no path of this machine and is recognised as ours', () => {
    for (const command of [HOOK_COMMAND, STATUS_LINE_COMMAND]) {
      expect(command).not.toMatch(/\n|\/Users|\/home|node_modules\/stint/)
      expect(isStintCommand(command)).toBe(true)
    }
    for (const other of ['stint hook', 'echo hook.sh', undefined, 3, {}])
      expect(isStintCommand(other)).toBe(false)
  })
})
