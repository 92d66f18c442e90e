// Tasks that a stranger wrote reach an agent only after the user agreed to them.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { clone, machine } from './clone.ts'

const RUN = ['run', '--harness', 'rehearsal']
const ID = '01a1ee57-65d0-729e-83f0-e2a36d021ac6'
const FILE = `.tasks/active/evil-task-${ID}.md`
const TASK = `---\nid: ${ID}\nshortname: evil-task\ntitle: EVIL\npriority: P2\nsize: M\nstatus: ready\n---\n\n## Description\n\nEVIL\n`

type Machine = Pick<ReturnType<typeof machine>, 'start' | 'path' | 'cwd' | 'env'>

function gitIn({ env }: Pick<Machine, 'env'>, cwd: string, ...args: string[]) {
  return execFileSync('git', args, { cwd, env, encoding: 'utf8' })
}

function write(folder: string, path: string, text: string) {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

function expectRefused(user: Machine) {
  const ran = user.start(RUN)
  expect({ status: ran.status, stderr: ran.stderr }).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/evil-task[\s\S]*stint trust/),
  })
  expect(gitIn(user, user.cwd, 'log', '--all', '--format=%s')).not.toContain('evil-task')
}

function expectAgreed(user: Machine) {
  expect(user.start(['trust']).stdout).toContain('EVIL')
  expect(user.start(['trust', '--yes']).status).toBe(0)
  expect(user.start(RUN).stderr).not.toContain('not agreed')
  expect(gitIn(user, user.cwd, 'log', '--all', '--format=%s')).toContain('evil-task')
}

describe('a task that came with the repository is run only after consent', () => {
  test('when a clone brings an empty run folder', () => {
    const user = clone({
      '.sessions/runs/01a1ee57-64aa-711c-b50d-332f4dff6d1e/x': '',
      [FILE]: TASK,
    })
    expect(user.start(['trust']).status).toBe(1)
    expectRefused(user)
    expectAgreed(user)
  })

  test('when a later pull brings it', () => {
    const user = clone({ 'a.txt': 'a' })
    user.start(['task', 'add', 'My own task'])
    expect(user.start(RUN).status).toBe(0)
    const origin = gitIn(user, user.cwd, 'remote', 'get-url', 'origin').trim()
    write(origin, FILE, TASK)
    gitIn(user, origin, 'add', '-f', '.')
    gitIn(user, origin, 'commit', '-qm', 'a task')
    gitIn(user, user.cwd, 'pull', '-q', '--no-rebase')
    expectRefused(user)
    expectAgreed(user)
  })

  test('when a later pull changes the text of a task that the user agreed to', () => {
    const user = clone({ [FILE]: TASK.replaceAll('EVIL', 'harmless') })
    expect(user.start(['trust', '--yes']).status).toBe(0)
    const origin = gitIn(user, user.cwd, 'remote', 'get-url', 'origin').trim()
    write(origin, FILE, TASK)
    gitIn(user, origin, 'commit', '-qam', 'another text')
    gitIn(user, user.cwd, 'pull', '-q', '--no-rebase')
    expectRefused(user)
    expectAgreed(user)
  })

  test('when an archive brings it untracked', () => {
    const user = machine()
    write(user.cwd, FILE, TASK)
    utimesSync(user.path(FILE), 1_700_000_000, 1_700_000_000)
    expectRefused(user)
    expectAgreed(user)
  })

  test('when the journal of a stranger brings it', () => {
    const user = clone({}, (stranger) => {
      stranger.start(['init', '--name', 'theirs', '--goal', 'g'])
      write(stranger.cwd, FILE, TASK)
      stranger.start(['task', 'list'])
    })
    gitIn(user, user.cwd, 'rm', '-rq', '.tasks')
    gitIn(user, user.cwd, 'commit', '-qm', 'no files')
    expectRefused(user)
    expectAgreed(user)
  })

  test('when the user agreed to journals, and a later pull adds it to one', () => {
    const user = clone({}, (stranger) => {
      stranger.start(['task', 'add', 'harmless'])
    })
    expect(user.start(['trust', '--yes']).status).toBe(0)
    const stranger = machine().in(gitIn(user, user.cwd, 'remote', 'get-url', 'origin').trim())
    write(stranger.cwd, FILE, TASK)
    expect(stranger.start(['trust', '--yes']).status).toBe(0)
    stranger.start(['task', 'list'])
    gitIn(user, stranger.cwd, 'rm', '-rq', '--cached', '.tasks')
    gitIn(user, stranger.cwd, 'add', '-f', '.sessions/backlog')
    gitIn(user, stranger.cwd, 'commit', '-qm', 'more')
    gitIn(user, user.cwd, 'checkout', '-q', '.')
    gitIn(user, user.cwd, 'pull', '-q', '--no-rebase')
    expectRefused(user)
    expectAgreed(user)
  })
})

test('a task that the user wrote is run without a question: by command and by hand', () => {
  const user = machine()
  user.start(['task', 'add', 'By command'])
  write(user.cwd, '.tasks/active/by-hand.md', '# By hand\n\nWrite a line.\n')
  const ran = user.start(RUN)
  expect({ status: ran.status, stderr: ran.stderr }).toMatchObject({ status: 0 })
  // Committed by the user, changed by a command: still the user's.
  gitIn(user, user.cwd, 'add', '-f', '.tasks')
  gitIn(user, user.cwd, 'commit', '-qm', 'tasks')
  user.start(['task', 'add', 'Another'])
  expect(user.start(RUN).status).toBe(0)
  expect(existsSync(user.path('.tasks', 'active', 'by-hand.md'))).toBe(false)
})
