// Another user of the machine reads what Stint keeps.
import { spawnSync } from 'node:child_process'
import { chmodSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { program } from '../support/cli.ts'
import { initRepository, scratchFolder } from '../support/scratch.ts'

function world({ git = true } = {}) {
  const folder = scratchFolder()
  const cwd = join(folder, 'project')
  const state = join(folder, 'local', 'stint')
  const env = { PATH: process.env.PATH, HOME: folder, STINT_STATE_HOME: state }
  if (git) initRepository(cwd)
  else mkdirSync(cwd)
  writeFileSync(join(cwd, 'code.ts'), 'export {}\n')
  const shell = (command: string, input = '') => {
    const done = spawnSync('/bin/sh', ['-c', command], { cwd, env, input, encoding: 'utf8' })
    if (done.status !== 0) throw new Error(done.stdout + done.stderr)
  }
  const stint = `'${process.execPath}' '${program}'`
  return { folder, cwd, state, shell, stint }
}

type World = ReturnType<typeof world>

/** Everything that is kept, made under a umask that lets everybody read. */
function fill({ shell, stint, cwd }: World) {
  const event = (name: string, fields: object) =>
    JSON.stringify({ session_id: 'c-1', cwd, hook_event_name: name, ...fields })
  const hook = `'${process.execPath}' '${program.replace(/stint\.js$/, 'hook.cjs')}'`
  const use = `umask 0; ${stint}`
  shell(`umask 0; ${hook}`, event('SessionStart', { source: 'startup' }))
  shell(`${use} init --name work`)
  shell(`umask 0; ${hook}`, event('UserPromptSubmit', { prompt: 'go on' }))
  shell(`${use} log --progress begun`)
  shell(`${use} task add 'a task'`)
  shell(`${use} checkpoint`)
  shell(`${use} handoff create`)
  shell(`${use} digest run echo printed`)
  shell(`${use} list`)
  shell(`${use} setup claude`)
}

/** The paths that others may use in any way. */
function openToOthers(folder: string, top: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return [folder, ...names.map((name) => join(folder, name))]
    .filter((path) => (lstatSync(path).mode & 0o077) !== 0)
    .map((path) => relative(top, path))
    .toSorted()
}

const kept = ({ cwd, state }: World) =>
  [join(cwd, '.sessions'), join(cwd, '.git', 'stint'), state].filter(
    (path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined,
  )

test.each([{ git: true }, { git: false }])(
  'no stored file is readable by other users under any umask: git is $git',
  (options) => {
    const w = world(options)
    fill(w)
    expect(kept(w).flatMap((folder) => openToOthers(folder, w.folder))).toEqual([])
    expect(readdirSync(join(w.cwd, '.sessions'))).toContain('index.db')
  },
)

test('what an earlier version left open is closed by the next command', () => {
  const w = world()
  fill(w)
  for (const folder of kept(w)) openUp(folder)
  w.shell(`umask 0; ${w.stint} list`)
  expect(kept(w).flatMap((folder) => openToOthers(folder, w.folder))).toEqual([])
})

test('doctor --repair closes a file that a checkout opened', () => {
  const w = world()
  fill(w)
  const [session] = readdirSync(join(w.cwd, '.sessions', 'journal'))
  chmodSync(join(w.cwd, '.sessions', 'journal', session!, 'log.jsonl'), 0o644)
  w.shell(`${w.stint} doctor --repair`)
  expect(kept(w).flatMap((folder) => openToOthers(folder, w.folder))).toEqual([])
})

test('a checkpoint keeps the content of a private file from other users', () => {
  const w = world()
  const git = (...args: string[]) =>
    spawnSync('git', args, { cwd: w.cwd, encoding: 'utf8' }).stdout.trim()
  writeFileSync(join(w.cwd, 'private.txt'), 'PRIVATE', { mode: 0o600 })
  writeFileSync(join(w.cwd, 'public.txt'), 'PUBLIC', { mode: 0o644 })
  chmodSync(join(w.cwd, 'public.txt'), 0o644)
  w.shell(`umask 022; ${w.stint} init --name work; ${w.stint} checkpoint`)
  const ref = git('for-each-ref', '--format=%(refname)', 'refs/stint').split('\n')[0]
  const object = (name: string) => {
    const id = git('rev-parse', `${ref}:${name}`)
    return join(w.cwd, '.git', 'objects', id.slice(0, 2), id.slice(2))
  }
  const mode = (path: string) => lstatSync(path).mode & 0o777
  expect(mode(object('private.txt'))).toBe(0o400)
  expect(mode(object('public.txt'))).toBe(0o444)
  // A later commit of anybody may put an object beside it.
  expect(mode(dirname(object('private.txt')))).toBe(mode(join(w.cwd, '.git', 'objects')))
  expect(git('show', `${ref}:private.txt`)).toBe('PRIVATE')
})

test("tasks, exports and agents' settings keep the mode of the umask, and others write in none", () => {
  const w = world()
  fill(w)
  w.shell(`umask 022; ${w.stint} export --format markdown --output out/session.md`)
  const mode = (...parts: string[]) => lstatSync(join(w.cwd, ...parts)).mode & 0o777
  expect(mode('.tasks')).toBe(0o755)
  expect(mode('.tasks', 'active')).toBe(0o755)
  expect(mode('.claude')).toBe(0o755)
  expect(mode('.claude', 'settings.local.json')).toBe(0o644)
  expect(mode('out')).toBe(0o755)
  chmodSync(join(w.cwd, '.tasks'), 0o755)
  const [task] = readdirSync(join(w.cwd, '.tasks', 'active'))
  chmodSync(join(w.cwd, '.tasks', 'active', task!), 0o644)
  w.shell(`${w.stint} task start 'a-task'`)
  w.shell(`${w.stint} doctor --repair`)
  expect(mode('.tasks')).toBe(0o755)
  expect(mode('.tasks', 'active', task!)).toBe(0o644)
})

function openUp(folder: string) {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    chmodSync(join(folder, name), 0o777)
  chmodSync(folder, 0o777)
}
