// A clone brings programs of its own: node_modules/.bin/stint, and tools for a PATH that has ./node_modules/.bin.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { program, terminal } from '../support/cli.ts'

/** A project whose own programs leave a file behind when they run. */
function clone() {
  const world = terminal()
  const ran = join(world.folder, 'ran')
  const bin = join(world.cwd, 'node_modules', '.bin')
  mkdirSync(bin, { recursive: true })
  for (const name of ['stint', 'node', 'dirname', 'sed']) {
    writeFileSync(join(bin, name), `#!/bin/sh\necho "$0" >>'${ran}'\n`)
    chmodSync(join(bin, name), 0o755)
  }
  const env = { ...world.env, PATH: `./node_modules/.bin:${world.env.PATH}` }
  const start = (command: string, args: readonly string[], input = '') =>
    spawnSync(command, args, { cwd: world.cwd, env, input, encoding: 'utf8' })
  return {
    ...world,
    start,
    stint: (...args: string[]) => start(process.execPath, [program, ...args]),
    programsRun: () => (existsSync(ran) ? readFileSync(ran, 'utf8') : ''),
    loseNode: () =>
      writeFileSync(
        join(world.env.STINT_STATE_HOME!, 'launcher'),
        `${join(world.folder, 'old-node')}\t${join(world.folder, 'hook.cjs')}\n`,
      ),
  }
}

interface Settings {
  readonly hooks: Readonly<Record<string, readonly { readonly hooks: readonly Hook[] }[]>>
  readonly statusLine: Hook
}

interface Hook {
  readonly command: string
}

test.each(['--user', '--shared'])(
  'setup --check runs no program of the clone after setup %s, even without the recorded Node',
  (scope) => {
    const { stint, programsRun, loseNode, env } = clone()
    stint('setup', 'claude', scope)
    stint('setup', '--check')
    loseNode()
    const check = stint('setup', '--check')
    expect(check.stdout).toContain('no launcher on this machine names a Stint and its Node')
    rmSync(env.STINT_STATE_HOME!, { recursive: true })
    stint('setup', '--check')
    expect(programsRun()).toBe('')
  },
)

test.each(['./node_modules/.bin', 'absolute'])(
  'git, bd and gh are not taken from the clone with its folder on the PATH: %s',
  (kind) => {
    const { cwd, env, folder } = clone()
    const bin = join(cwd, 'node_modules', '.bin')
    for (const name of ['git', 'bd', 'gh', 'xdg-open', 'ps', 'sh']) {
      writeFileSync(join(bin, name), `#!/bin/sh\necho "$0" >>'${folder}/ran'\n`)
      chmodSync(join(bin, name), 0o755)
    }
    const PATH = `${kind === 'absolute' ? bin : kind}:${process.env.PATH}`
    const ran = (...args: string[]) =>
      spawnSync(process.execPath, [program, ...args], { cwd, env: { ...env, PATH } })
    ran('init', '--name', 'n', '--goal', 'g')
    ran('checkpoint')
    ran('resume')
    ran('plan', '--backlog', 'beads')
    ran('plan', '--backlog', 'github')
    ran('doctor')
    ran('trust')
    expect(existsSync(join(folder, 'ran')) ? readFileSync(join(folder, 'ran'), 'utf8') : '').toBe(
      '',
    )
  },
)

test("the user's hooks run no program of the clone when the launcher's Node was removed", () => {
  const { stint, start, folder, cwd, programsRun, loseNode } = clone()
  stint('setup', 'claude', '--user')
  const path = join(folder, '.claude', 'settings.json')
  const { hooks, statusLine } = JSON.parse(readFileSync(path, 'utf8')) as Settings
  const commands = Object.values(hooks)
    .flat()
    .flatMap((group) => group.hooks)
  expect(commands.length).toBeGreaterThan(5)
  loseNode()
  const input = JSON.stringify({ hook_event_name: 'Stop', session_id: 'c', cwd })
  for (const { command } of [...commands, statusLine])
    expect(start('sh', ['-c', command], input)).toMatchObject({ status: 0, stdout: '', stderr: '' })
  expect(programsRun()).toBe('')
})

test('the server of .mcp.json runs no program of the clone, with Stint or without', () => {
  const { stint, start, cwd, env, programsRun, loseNode } = clone()
  stint('setup', 'claude', '--shared')
  const { mcpServers } = JSON.parse(readFileSync(join(cwd, '.mcp.json'), 'utf8')) as {
    mcpServers: { stint: { command: string; args: string[] } }
  }
  const initialize = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n'
  const { command, args } = mcpServers.stint
  expect(start(command, args, initialize).status).toBe(0)
  loseNode()
  expect(start(command, args, initialize).stdout).toContain('"version":"0"')
  rmSync(env.STINT_STATE_HOME!, { recursive: true })
  expect(start(command, args, initialize).stdout).toContain('"version":"0"')
  expect(programsRun()).toBe('')
})

test('setup replaces hooks and a server that would run the program of the clone', () => {
  const { stint, cwd, programsRun } = clone()
  const settings = join(cwd, '.claude', 'settings.json')
  stint('setup', 'claude', '--shared')
  const older = (path: string, from: string, to: string) => {
    const text = readFileSync(path, 'utf8')
    expect(text).toContain(from)
    writeFileSync(path, text.replaceAll(from, to))
  }
  older(settings, ' 2>/dev/null', ' || node_modules/.bin/stint hook 2>/dev/null')
  older(join(cwd, '.mcp.json'), 'while IFS', 'node_modules/.bin/stint mcp; while IFS')
  const check = stint('setup', '--check')
  expect(check.stdout).toContain('settings.json is from another version of Stint')
  expect(check.stdout).toContain('.mcp.json is from another version of Stint')
  stint('setup', 'claude', '--shared')
  for (const path of [settings, join(cwd, '.mcp.json')])
    expect(readFileSync(path, 'utf8')).not.toContain('node_modules')
  expect(programsRun()).toBe('')
})
