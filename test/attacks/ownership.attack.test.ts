// Another user of the machine owns the folder that would be the project, such as /tmp.
import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, lchownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { requireOwnership } from '../../src/git/ownership.ts'
import { program } from '../support/cli.ts'
import { initRepository, scratchFolder } from '../support/scratch.ts'

const SOMEBODY = 61234
const isRoot = process.getuid?.() === 0

function world({ git = true } = {}) {
  const folder = scratchFolder()
  const shared = join(folder, 'shared')
  const cwd = join(shared, 'mine')
  const global = join(folder, 'gitconfig')
  writeFileSync(global, '')
  const env: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    HOME: folder,
    STINT_STATE_HOME: join(folder, 'state'),
    GIT_CONFIG_GLOBAL: global,
    GIT_CONFIG_SYSTEM: '/dev/null',
  }
  if (git) initRepository(shared)
  mkdirSync(cwd, { recursive: true })
  mkdirSync(join(shared, '.sessions', 'journal'), { recursive: true })
  const run = (args: readonly string[], more: NodeJS.ProcessEnv = {}) => {
    const options = { cwd, env: { ...env, ...more }, encoding: 'utf8' } as const
    const done = spawnSync(process.execPath, [program, ...args], options)
    return { status: done.status, printed: done.stdout + done.stderr }
  }
  const hook = () => {
    const input = JSON.stringify({
      session_id: 'c-1',
      cwd,
      hook_event_name: 'SessionStart',
      source: 'startup',
    })
    const file = join(dirname(program), 'hook.cjs')
    const done = spawnSync(process.execPath, [file], { cwd, env, input, encoding: 'utf8' })
    return { status: done.status, printed: done.stdout + done.stderr }
  }
  return { folder, shared, cwd, env, run, hook }
}

function giveAway(folder: string) {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    lchownSync(join(folder, name), SOMEBODY, SOMEBODY)
  chownSync(folder, SOMEBODY, SOMEBODY)
}

describe.skipIf(!isRoot)('a parent folder that another user owns', () => {
  test.each([{ git: true }, { git: false }])('is no project: git is $git', ({ git }) => {
    const w = world({ git })
    giveAway(w.shared)
    const before = readdirSync(w.shared, { recursive: true })
    for (const args of [['list'], ['init', '--name', 'x'], ['task', 'list'], ['profiles']]) {
      const ran = w.run(args)
      // Profiles need no project, and without git there is no folder to read them from.
      if (!git && args[0] === 'profiles') continue
      expect(ran.printed).toContain(`${w.shared} belongs to another user (id ${SOMEBODY}`)
      expect(ran.printed).toContain(`git config --global --add safe.directory '${w.shared}'`)
      expect(ran.status).toBe(1)
    }
    expect(w.hook()).toEqual({ status: 0, printed: '' })
    expect(readdirSync(w.shared, { recursive: true })).toEqual(before)
  })

  test.each(['.git', '.sessions', '.tasks'])('in part is no project either: %s', (name) => {
    const w = world()
    mkdirSync(join(w.shared, '.tasks'), { recursive: true })
    giveAway(join(w.shared, name))
    expect(w.run(['list']).printed).toContain(`${join(w.shared, name)} belongs to another user`)
  })

  test.each([{ git: true }, { git: false }])(
    'is used once the user lists it as a safe.directory of git: git is $git',
    ({ git }) => {
      const w = world({ git })
      giveAway(w.shared)
      const allow = (value: string) =>
        execFileSync('git', ['config', '--global', '--add', 'safe.directory', value], {
          env: w.env,
        })
      allow('/another/place')
      expect(w.run(['list']).status).toBe(1)
      allow(w.shared)
      expect(w.run(['list']).status).toBe(0)
      allow('')
      expect(w.run(['list']).status).toBe(1)
      allow('*')
      expect(w.run(['list']).status).toBe(0)
    },
  )

  test('does not list itself as safe', () => {
    const w = world()
    execFileSync('git', ['config', 'safe.directory', '*'], { cwd: w.shared, env: w.env })
    giveAway(w.shared)
    expect(w.run(['list']).status).toBe(1)
  })

  test('is used by root for the user who ran sudo', () => {
    const w = world()
    giveAway(w.shared)
    expect(w.run(['list'], { SUDO_UID: String(SOMEBODY) }).status).toBe(0)
    expect(w.run(['list'], { SUDO_UID: String(SOMEBODY + 1) }).status).toBe(1)
  })
})

// Without root no test can give a folder away, so here the process is somebody else.
describe('ownership', () => {
  const own = process.getuid!()

  test('is required of every path, and missing ones count as owned', () => {
    const folder = scratchFolder()
    const paths = [join(folder, 'missing'), folder]
    expect(() => requireOwnership(paths, [folder], { uid: own })).not.toThrow()
    expect(() => requireOwnership(paths, [folder], { uid: own + 1 })).toThrow(
      `${folder} belongs to another user (id ${own}, yours is ${own + 1})`,
    )
    expect(() => requireOwnership(paths, [folder], { uid: own + 1, sudoUid: own })).not.toThrow()
  })
})
