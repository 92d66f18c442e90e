// Files that make a folder pass for a worktree of another repository of the user.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { clone, machine } from './clone.ts'

/** The user's other repository, with an untracked file in it. */
function withVictim() {
  const user = machine()
  const victim = join(user.folder, 'victim')
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', args, { cwd, env: user.env, encoding: 'utf8' })
  mkdirSync(victim)
  git(victim, 'init', '-q')
  git(victim, 'commit', '-qm', 'start', '--allow-empty')
  writeFileSync(join(victim, 'untracked.txt'), 'TOPSECRET')
  const place = (name: string) => {
    const path = join(user.folder, name)
    mkdirSync(path)
    return path
  }
  const expectUntouched = (folder = victim) => {
    const inside = readdirSync(folder).filter((name) => name !== '.git' && name !== 'untracked.txt')
    expect(inside).toEqual([])
    if (folder !== victim) return
    expect(git(victim, 'for-each-ref', 'refs/stint')).toBe('')
    expect(existsSync(join(victim, '.git', 'stint'))).toBe(false)
  }
  return { user, victim, git, place, expectUntouched }
}

const COMMANDS = [
  ['init', '--name', 'mine', '--goal', 'g'],
  ['checkpoint'],
  ['handoff', 'create'],
  ['setup', 'claude'],
]

test('HEAD, commondir and gitdir files in a clone do not lead to another repository', () => {
  const { user, victim, expectUntouched } = withVictim()
  const { cwd } = clone({
    'sub/HEAD': 'ref: refs/heads/nope\n',
    'sub/commondir': '../.git\n',
    'sub/gitdir': `${victim}/.git\n`,
    'evil/HEAD': 'ref: refs/heads/main\n',
    'evil/objects/x': '',
    'evil/refs/x': '',
    'evil/config': `[core]\n\tworktree = ${victim}\n`,
    'evil/worktrees/w/HEAD': 'ref: refs/heads/main\n',
    'evil/worktrees/w/commondir': '../..\n',
    'evil/worktrees/w/gitdir': `${victim}/.git\n`,
  })
  for (const folder of ['sub', 'evil', 'evil/worktrees/w'])
    for (const args of COMMANDS) user.in(join(cwd, folder)).start(args)
  expectUntouched()
  expect(existsSync(join(cwd, '.sessions'))).toBe(true)
})

describe('in an unpacked archive', () => {
  test.each(['file', 'link'])('a .git %s does not lead to another repository', (kind) => {
    const { user, victim, place, expectUntouched } = withVictim()
    const folder = place('archive')
    if (kind === 'link') symlinkSync(join(victim, '.git'), join(folder, '.git'))
    else writeFileSync(join(folder, '.git'), `gitdir: ${victim}/.git\n`)
    const refused = user.in(folder).start(COMMANDS[0]!)
    expect(refused.status).toBe(1)
    expect(refused.stderr).toContain('belongs to another folder')
    for (const args of COMMANDS) user.in(folder).start(args)
    expectUntouched()
  })

  test('a .git file does not lead to the worktree or submodule of another repository', () => {
    const { user, victim, place, git } = withVictim()
    git(victim, 'worktree', 'add', '-q', join(user.folder, 'linked'))
    const folder = place('archive')
    writeFileSync(join(folder, '.git'), `gitdir: ${victim}/.git/worktrees/linked\n`)
    for (const args of COMMANDS) expect(user.in(folder).start(args).status).toBe(1)
    expect(existsSync(join(victim, '.sessions'))).toBe(false)
    expect(git(victim, 'for-each-ref', 'refs/stint')).toBe('')
  })

  test.each(['config', 'config.worktree'])('core.worktree in %s leads nowhere', (name) => {
    const { user, git, place, expectUntouched } = withVictim()
    const [folder, outside] = [place('archive'), place('outside')]
    git(folder, 'init', '-q')
    git(folder, 'config', 'extensions.worktreeConfig', 'true')
    git(folder, 'config', '--file', join('.git', name), 'core.worktree', outside)
    for (const args of COMMANDS) expect(user.in(folder).start(args).status).toBe(1)
    expectUntouched(outside)
  })

  test('core.worktree of a bare repository leads nowhere', () => {
    const { user, git, place, expectUntouched } = withVictim()
    const [folder, outside] = [place('b'), place('outside')]
    git(folder, 'init', '-q', '--bare')
    git(folder, 'config', 'core.bare', 'false')
    execFileSync('git', ['config', '--file', 'config', 'core.worktree', outside], { cwd: folder })
    for (const args of COMMANDS) expect(user.in(folder).start(args).status).toBe(1)
    expectUntouched(outside)
  })

  test('a commondir file in .git leads nowhere', () => {
    const { user, victim, git, place, expectUntouched } = withVictim()
    const folder = place('archive')
    git(folder, 'init', '-q')
    writeFileSync(join(folder, '.git', 'commondir'), `${victim}/.git\n`)
    for (const args of COMMANDS) expect(user.in(folder).start(args).status).toBe(1)
    expectUntouched()
  })
})

test('commands that only read fetch nothing from the remote of an archive', () => {
  const { user, git, place } = withVictim()
  const folder = place('partial')
  const pwned = join(user.folder, 'pwned')
  git(folder, 'init', '-q')
  for (const text of ['one', 'two']) {
    writeFileSync(join(folder, 'f'), text)
    git(folder, 'add', 'f')
    git(folder, 'commit', '-qm', text)
  }
  const { start } = user.in(folder)
  start(['init', '--name', 'mine', '--goal', 'g'])
  for (const [key, value] of [
    ['core.repositoryformatversion', '1'],
    ['extensions.partialClone', 'origin'],
    ['remote.origin.promisor', 'true'],
    ['remote.origin.url', user.cwd],
    ['remote.origin.uploadpack', `touch ${pwned}; false`],
  ] as const)
    git(folder, 'config', key, value)
  for (const name of ['HEAD:f', 'HEAD~1']) {
    const id = git(folder, 'rev-parse', name).trim()
    rmSync(join(folder, '.git', 'objects', id.slice(0, 2), id.slice(2)), { force: true })
  }
  writeFileSync(join(folder, 'f'), 'three')
  for (const args of [['resume'], ['project', '--refresh'], ['list'], ['pack'], ['doctor']])
    start(args)
  expect(existsSync(pwned)).toBe(false)
})
