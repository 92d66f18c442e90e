// A clone or a pull brings symbolic links in `.sessions` and `.tasks`.
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { program } from '../support/cli.ts'
import { clone, machine } from './clone.ts'
import { initRepository } from '../support/scratch.ts'

const SECRET = 'the private text of the user'
const STARTUP = `export EDITOR=vi # ${SECRET}\n`

let template: string
let session: string

interface Victim {
  readonly cwd: string
  /** The user's own files, outside the project. */
  readonly outside: string
  readonly env: NodeJS.ProcessEnv
}

function victimIn(folder: string): Victim {
  const env = {
    PATH: process.env.PATH,
    HOME: join(folder, 'home'),
    STINT_STATE_HOME: join(folder, 'state'),
  }
  return { cwd: join(folder, 'project'), outside: join(folder, 'home'), env }
}

function run({ cwd, env }: Victim, ...args: string[]) {
  const done = spawnSync(process.execPath, [program, ...args], { cwd, env, encoding: 'utf8' })
  return { status: done.status, printed: done.stdout + done.stderr }
}

function hook({ cwd, env }: Victim, name: string, fields: object) {
  const input = JSON.stringify({ session_id: 'c-1', cwd, hook_event_name: name, ...fields })
  const file = join(dirname(program), 'hook.cjs')
  const done = spawnSync(process.execPath, [file], { cwd, env, input, encoding: 'utf8' })
  return { status: done.status, printed: done.stdout + done.stderr }
}

/** Never through a link. */
function filesUnder(folder: string, top = folder): Readonly<Record<string, string>> {
  const entries = readdirSync(folder, { withFileTypes: true }).map((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return filesUnder(path, top)
    return entry.isFile() ? { [relative(top, path)]: readFileSync(path, 'latin1') } : {}
  })
  return Object.assign({}, ...entries) as Record<string, string>
}

function namesOfFilesWith(text: string, folder: string): readonly string[] {
  return Object.entries(filesUnder(folder)).flatMap(([name, content]) =>
    content.includes(text) ? [name] : [],
  )
}

beforeAll(() => {
  template = mkdtempSync(join(tmpdir(), 'stint-links-'))
  const victim = victimIn(template)
  mkdirSync(victim.outside)
  initRepository(victim.cwd)
  writeFileSync(join(victim.cwd, 'code.ts'), 'export {}\n')
  for (const args of [
    ['init', '--name', 'work'],
    ['log', '--progress', 'begun'],
    ['task', 'add', 'a task'],
    ['checkpoint'],
    ['handoff', 'create'],
    ['digest', 'run', 'echo', 'printed'],
  ])
    expect(run(victim, ...args)).toMatchObject({ status: 0 })
  writeFileSync(join(victim.cwd, '.sessions', 'config.yaml'), '# nothing\n')
  session = readdirSync(join(victim.cwd, '.sessions', 'journal'))[0]!
})

afterAll(() => rmSync(template, { recursive: true, force: true }))

/** A copy of a project whose journals are the user's own, as before a pull that brings links. */
function projectToPullInto(): Victim {
  const folder = mkdtempSync(join(tmpdir(), 'stint-links-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(template, folder, { recursive: true })
  return victimIn(folder)
}

const COMMANDS = [
  ['task', 'list'],
  ['log', '--progress', 'further', '--session', 'work'],
  ['checkpoint', '--session', 'work'],
  ['handoff', 'create', '--session', 'work'],
  ['digest', 'run', 'echo', 'other'],
  ['purge', 'nothing holds this'],
  ['doctor', '--repair'],
  ['close', '--complete', '--session', 'work'],
]

/** Runs what the user or the agent might run next, and returns all that was printed. */
function useEverything(victim: Victim): string {
  const events = {
    SessionStart: { source: 'startup' },
    UserPromptSubmit: { prompt: 'continue with the work' },
    PostToolUse: {
      tool_name: 'Edit',
      tool_input: { file_path: join(victim.cwd, 'code.ts') },
      tool_response: {},
    },
  }
  const ran = [
    ...Object.entries(events).map(([name, fields]) => hook(victim, name, fields)),
    ...COMMANDS.map((args) => run(victim, ...args)),
  ]
  expect(ran.filter(({ status }) => status === 70)).toEqual([])
  return ran.map(({ printed }) => printed).join('\n')
}

const FOLDERS = [
  '.sessions',
  '.sessions/journal',
  '.sessions/journal/ID',
  '.sessions/journal/ID/entries',
  '.sessions/journal/ID/handoffs',
  '.sessions/backlog',
  '.sessions/open',
  '.sessions/touched',
  '.sessions/active',
  '.sessions/artifacts',
  '.sessions/conversations',
  '.sessions/runs',
  '.tasks',
  '.tasks/active',
]

const FILES = [
  '.sessions/backlog/log.jsonl',
  '.sessions/journal/ID/log.jsonl',
  '.sessions/journal/ID/snapshot.json',
  '.sessions/journal/ID/progress.md',
  '.sessions/journal/ID/handoffs/1.md',
  '.sessions/active/DOCUMENT',
  '.sessions/open/ID',
  '.sessions/config.yaml',
  '.sessions/index.db',
  '.sessions/index.db-wal',
  '.sessions/index.db-journal',
  '.sessions/index.db.lock',
  '.sessions/touched/ID',
  '.sessions/.gitignore',
  '.sessions/artifacts/runs.jsonl',
  '.tasks/active/TASK',
]

/** Those that only cache something are dropped or replaced without a word. */
const SILENT = new Set([
  '.sessions/journal/ID/snapshot.json',
  '.sessions/journal/ID/entries',
  '.sessions/touched/ID',
])

function pathIn({ cwd }: Victim, name: string): string {
  const only = (folder: string) =>
    readdirSync(join(cwd, folder)).find((one) => one.endsWith('.md'))!
  return join(
    cwd,
    name
      .replace('ID', session)
      .replace('DOCUMENT', () => only('.sessions/active'))
      .replace('TASK', () => only('.tasks/active')),
  )
}

describe('a link that a pull brings', () => {
  test.each(FOLDERS)('at %s is not followed', (name) => {
    const victim = projectToPullInto()
    const path = pathIn(victim, name)
    const target = join(victim.outside, 'notes')
    mkdirSync(path, { recursive: true })
    renameSync(path, target)
    writeFileSync(join(target, 'private.md'), `${SECRET}\n`)
    symlinkSync(target, path)
    const before = filesUnder(victim.outside)
    const printed = useEverything(victim)
    expect(filesUnder(victim.outside)).toEqual(before)
    expect(namesOfFilesWith(SECRET, victim.cwd)).toEqual([])
    expect(printed).not.toContain(SECRET)
    if (!SILENT.has(name)) expect(printed).toContain(`is a symbolic link to ${target}`)
  })

  test.each(FILES)('at %s is neither read nor written through', (name) => {
    const victim = projectToPullInto()
    const path = pathIn(victim, name)
    const target = join(victim.outside, 'startup.sh')
    writeFileSync(target, STARTUP)
    rmSync(path, { force: true })
    symlinkSync(target, path)
    const before = filesUnder(victim.outside)
    const printed = useEverything(victim)
    expect(filesUnder(victim.outside)).toEqual(before)
    expect(namesOfFilesWith(SECRET, victim.cwd)).toEqual([])
    expect(printed).not.toContain(SECRET)
    if (!SILENT.has(name)) expect(printed).toContain('is a symbolic link to ')
  })

  test('to a file that does not exist yet creates none', () => {
    const victim = projectToPullInto()
    const path = pathIn(victim, '.sessions/backlog/log.jsonl')
    rmSync(path)
    symlinkSync(join(victim.outside, '.profile'), path)
    useEverything(victim)
    expect(filesUnder(victim.outside)).toEqual({})
  })

  test('is reported with its target and a fix, and the hook error is stored', () => {
    const victim = projectToPullInto()
    const path = pathIn(victim, '.sessions/config.yaml')
    rmSync(path)
    symlinkSync('/dev/zero', path)
    expect(run(victim, 'list')).toEqual({
      status: 1,
      printed: `stint: ${path} is a symbolic link to /dev/zero; Stint follows no links in .sessions and .tasks, because a cloned repository can have them lead anywhere\n  if you did not make it, remove it: rm '${path}'; if you did, put the real file or folder in its place\n`,
    })
    expect(hook(victim, 'SessionStart', { source: 'startup' })).toEqual({ status: 0, printed: '' })
    const errors = join(victim.cwd, '.git', 'stint', 'conversations', 'troubles.jsonl')
    expect(readFileSync(errors, 'utf8')).toContain('is a symbolic link to /dev/zero')
  })
})

describe('links of the user', () => {
  test('on the way to the project are followed', () => {
    const victim = projectToPullInto()
    const link = join(victim.outside, 'link')
    symlinkSync(victim.cwd, link)
    expect(run({ ...victim, cwd: link }, 'list').printed).toContain('work')
  })
})

describe('setup', () => {
  const settings = '.claude/settings.local.json'

  function linked(): Victim & { readonly target: string } {
    const victim = projectToPullInto()
    const target = join(victim.outside, 'settings.json')
    writeFileSync(target, '{}\n')
    mkdirSync(join(victim.cwd, '.claude'))
    symlinkSync(target, join(victim.cwd, settings))
    return { ...victim, target }
  }

  test.each([[['claude']], [['claude', '--remove']]])(
    'does not write through a link that leads out of the project: %s',
    (args) => {
      const victim = linked()
      if (args.includes('--remove')) run(victim, 'setup', 'claude', '--yes')
      const before = readFileSync(victim.target, 'utf8')
      const ran = run(victim, 'setup', ...args)
      expect(ran.status).toBe(1)
      expect(ran.printed).toContain(
        `${join(victim.cwd, settings)} leads through a symbolic link to ${victim.target}`,
      )
      expect(readFileSync(victim.target, 'utf8')).toBe(before)
    },
  )

  test('does not write into a linked folder', () => {
    const victim = projectToPullInto()
    mkdirSync(join(victim.outside, 'folder'))
    symlinkSync(join(victim.outside, 'folder'), join(victim.cwd, '.claude'))
    expect(run(victim, 'setup', 'claude').status).toBe(1)
    expect(filesUnder(victim.outside)).toEqual({})
  })

  test('does not write through a link into the git directory', () => {
    const victim = projectToPullInto()
    symlinkSync('.git/hooks/post-checkout', join(victim.cwd, 'CLAUDE.md'))
    expect(run(victim, 'setup', 'claude', '--instructions').status).toBe(1)
    expect(() => lstatSync(join(victim.cwd, '.git', 'hooks', 'post-checkout'))).toThrow('ENOENT')
  })

  test('writes through it with --yes', () => {
    const victim = linked()
    expect(run(victim, 'setup', 'claude', '--yes').status).toBe(0)
    expect(readFileSync(victim.target, 'utf8')).toContain('"hooks"')
    expect(lstatSync(join(victim.cwd, settings)).isSymbolicLink()).toBe(true)
  })

  test('writes through a link that stays in the project', () => {
    const victim = projectToPullInto()
    writeFileSync(join(victim.cwd, 'AGENTS.md'), '# Agents\n')
    symlinkSync('AGENTS.md', join(victim.cwd, 'CLAUDE.md'))
    expect(run(victim, 'setup', 'claude', '--instructions').status).toBe(0)
    expect(readFileSync(join(victim.cwd, 'AGENTS.md'), 'utf8')).toContain('stint')
  })
})

describe('links beside .sessions that a clone brings', () => {
  test('are not read as profiles, also not to show what would be agreed to', () => {
    const user = clone({ 'a.txt': 'a' }, (stranger) => {
      mkdirSync(stranger.path('.agents'))
      mkdirSync(stranger.path('.claude'))
      symlinkSync('../../outside.md', stranger.path('.agents', 'x.md'))
      symlinkSync('../../outside', stranger.path('.claude', 'agents'))
    })
    writeFileSync(join(user.folder, 'outside.md'), SECRET)
    mkdirSync(join(user.folder, 'outside'))
    writeFileSync(join(user.folder, 'outside', 'y.md'), SECRET)
    for (const args of [['trust', '--json'], ['trust'], ['trust', '--yes'], ['profiles']]) {
      const { stdout, stderr } = user.start(args)
      expect(stdout + stderr).not.toContain(SECRET)
    }
  })

  test('do not lead an export out of the project, also not with --force', () => {
    const user = clone({ 'a.txt': 'a' }, (stranger) =>
      symlinkSync('../outside', stranger.path('dirlink')),
    )
    mkdirSync(join(user.folder, 'outside'))
    user.start(['init', '--name', 'mine', '--goal', 'g'])
    for (const more of [[], ['--force']]) {
      const args = ['export', '--format', 'markdown', '--output', 'dirlink/a.md', ...more]
      const refused = user.start(args)
      expect(refused.status).toBe(1)
      expect(refused.stderr).toContain(join(user.folder, 'outside', 'a.md'))
    }
    expect(readdirSync(join(user.folder, 'outside'))).toEqual([])
    const named = join(user.folder, 'outside', 'a.md')
    expect(user.start(['export', '--format', 'markdown', '--output', named]).status).toBe(0)
  })

  test('are not followed by an import of a folder', () => {
    const user = machine()
    const conversation = (id: string, text: string) =>
      `${JSON.stringify({ type: 'user', uuid: id, sessionId: id, cwd: user.cwd, timestamp: '2026-01-01T00:00:00.000Z', message: { role: 'user', content: text } })}\n`
    const [own, other] = ['11111111', '22222222'].map((id) => `${id}-1111-4111-8111-111111111111`)
    for (const folder of ['transcripts', 'private']) mkdirSync(join(user.folder, folder))
    writeFileSync(join(user.folder, 'transcripts', `${own}.jsonl`), conversation(own!, 'MINE'))
    writeFileSync(join(user.folder, 'private', `${other}.jsonl`), conversation(other!, SECRET))
    symlinkSync('../private', join(user.folder, 'transcripts', 'link'))
    symlinkSync(`../private/${other}.jsonl`, join(user.folder, 'transcripts', `${other}.jsonl`))
    user.start(['init', '--name', 'mine', '--goal', 'g'])
    user.start(['import', 'claude', join(user.folder, 'transcripts')])
    const { stdout } = user.start(['history', '--all'])
    expect(stdout).toContain('MINE')
    expect(stdout).not.toContain(SECRET)
  })
})
