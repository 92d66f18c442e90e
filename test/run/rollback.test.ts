// Every state an agent can leave the run's worktree in: all work is saved, and only the run's branch moves.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { removeStaleLocks, runGit } from '../../src/git/run-git.ts'
import { findRepository } from '../../src/git/repository.ts'
import { findProjectPaths } from '../../src/project/store/project-paths.ts'
import {
  commitLeftWork,
  matchesSavedWork,
  saveAndRollBack,
  saveWork,
} from '../../src/run/worktree/rollback.ts'
import { removeTreeIfClean } from '../../src/run/worktree/remove-worktree.ts'
import {
  type RunTree,
  createRunTree,
  hiddenPaths,
  readTreeHead,
  restoreTree,
  uncommittedPaths,
} from '../../src/run/worktree/run-tree.ts'
import { gitProject } from '../support/project.ts'
import { git } from '../support/scratch.ts'

const RUN = '01999999999999999999999999'
const REF = `refs/stint/runs/${RUN}/attempt`

function world() {
  const project = gitProject()
  project.commit('start', { 'a.txt': 'a\n', '.gitignore': 'out/\nnode_modules/\n' })
  const place = findProjectPaths(project.root)
  const tree = createRunTree(place, RUN, undefined)
  const inTree = (...args: string[]) => git(tree.tree, ...args).trim()
  const write = (path: string, text: string) => writeFileSync(join(tree.tree, path), text)
  const commit = (name: string) => {
    write(name, `${name}\n`)
    inTree('add', '-A')
    inTree('commit', '-qm', name)
    return inTree('rev-parse', 'HEAD')
  }
  const setBack = (more: { leftBefore?: readonly string[]; tree?: RunTree } = {}) =>
    saveAndRollBack(more.tree ?? tree, {
      ref: REF,
      message: 'kept',
      base: tree.base,
      leftBefore: more.leftBefore ?? [],
    })
  const isBack = () => {
    expect(readTreeHead(tree.tree)).toEqual({ branch: tree.branch, commit: tree.base })
    expect(uncommittedPaths(tree.tree)).toEqual([])
    expect(inTree('status', '--short', '--branch')).toBe(`## ${tree.branch}`)
  }
  return { project, place, tree, inTree, write, commit, setBack, isBack }
}

test("rolls back only the run's branch and leaves the branch the agent switched to", () => {
  const { project, tree, inTree, write, commit, setBack, isBack } = world()
  const onRun = commit('run.txt')
  project.git('branch', 'precious')
  inTree('switch', '-q', 'precious')
  const precious = commit('precious.txt')
  write('loose.txt', 'loose\n')
  expect(setBack()).toEqual({ kept: REF, leftOut: [] })
  isBack()
  expect(inTree('rev-parse', 'precious')).toBe(precious)
  expect(inTree('show', `${REF}:loose.txt`)).toBe('loose')
  expect(inTree('rev-parse', `${REF}^`)).toBe(precious)
  expect(inTree('rev-parse', `${REF}-branch`)).toBe(onRun)
  expect(tree.base).not.toBe(onRun)
})

test.each<[string, (w: ReturnType<typeof world>) => void]>([
  [
    'a detached HEAD',
    ({ inTree, commit }) => void (inTree('switch', '-q', '--detach'), commit('b.txt')),
  ],
  ['an orphan branch', ({ inTree }) => void inTree('checkout', '-q', '--orphan', 'x')],
  [
    'an orphan branch that it emptied',
    ({ inTree }) => void (inTree('checkout', '-q', '--orphan', 'x'), inTree('rm', '-rqf', '.')),
  ],
  [
    'a branch of the run that it deleted',
    ({ inTree, tree }) => void (inTree('switch', '-qc', 'x'), inTree('branch', '-qD', tree.branch)),
  ],
  ['a merge with a conflict', (w) => void (clash(w), attempt(w, 'merge', 'other'))],
  ['a rebase with a conflict', (w) => void (clash(w), attempt(w, 'rebase', 'other'))],
  ['a cherry-pick with a conflict', (w) => void (clash(w), attempt(w, 'cherry-pick', 'other'))],
  ['a revert with a conflict', (w) => void (clash(w), attempt(w, 'revert', 'other'))],
  [
    'a bisection',
    (w) =>
      void (w.commit('b.txt'), w.commit('c.txt'), w.inTree('bisect', 'start', 'HEAD', w.tree.base)),
  ],
  [
    'a file marked assume-unchanged',
    ({ inTree, write }) =>
      void (inTree('update-index', '--assume-unchanged', 'a.txt'), write('a.txt', 'kept')),
  ],
  [
    'a file marked skip-worktree',
    ({ inTree, write }) =>
      void (inTree('update-index', '--skip-worktree', 'a.txt'), write('a.txt', 'kept')),
  ],
])('rolls back %s', (_, leave) => {
  const w = world()
  leave(w)
  expect(w.setBack().kept).toBe(REF)
  w.isBack()
  expect(hiddenPaths(w.tree.tree)).toEqual([])
  for (const name of [
    'rebase-merge',
    'rebase-apply',
    'MERGE_HEAD',
    'CHERRY_PICK_HEAD',
    'REVERT_HEAD',
    'sequencer',
    'BISECT_LOG',
  ])
    expect(existsSync(w.inTree('rev-parse', '--path-format=absolute', '--git-path', name))).toBe(
      false,
    )
})

/** The same file with different content on the run's branch and on another. */
function clash({ inTree, write, commit }: ReturnType<typeof world>): void {
  inTree('switch', '-qc', 'other')
  write('a.txt', 'other\n')
  commit('other.txt')
  inTree('switch', '-q', '-')
  write('a.txt', 'run\n')
  commit('run.txt')
}

function attempt({ tree, inTree }: ReturnType<typeof world>, ...args: readonly string[]): void {
  expect(() => runGit(tree.tree, ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args])).toThrow(
    'failed',
  )
  expect(inTree('status', '--porcelain')).toContain('UU a.txt')
}

test('saves files hidden from git before rolling back', () => {
  const { inTree, write, setBack, isBack } = world()
  inTree('update-index', '--assume-unchanged', 'a.txt')
  write('a.txt', 'hidden\n')
  expect(setBack().kept).toBe(REF)
  isBack()
  expect(inTree('show', `${REF}:a.txt`)).toBe('hidden')
})

test('saves files that became ignored during the task before rolling back', () => {
  const { inTree, write, setBack, isBack } = world()
  inTree('rm', '-q', '--cached', 'a.txt')
  write('.gitignore', 'a.txt\n')
  write('a.txt', 'ignored\n')
  inTree('add', '-A')
  inTree('commit', '-qm', 'ignore')
  expect(setBack().kept).toBe(REF)
  isBack()
  expect(inTree('show', `${REF}:a.txt`)).toBe('ignored')
})

test("leaves a submodule's own changes in place and does not count them as the task's", () => {
  const { project, tree, inTree, write } = world()
  const other = gitProject()
  other.commit('start', { 's.txt': 's\n' })
  inTree('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', other.root, 'sub')
  inTree('commit', '-qm', 'sub')
  const base = inTree('rev-parse', 'HEAD')
  write('sub/s.txt', 'changed')
  write('b.txt', 'b')
  const work = { ref: REF, message: 'kept', base, leftBefore: [] }
  expect(saveAndRollBack(tree, work)).toEqual({ kept: REF, leftOut: ['sub'] })
  expect(uncommittedPaths(tree.tree)).toEqual(['sub'])
  expect(project.git('show', `${REF}:b.txt`)).toBe('b')
  expect(saveAndRollBack(tree, { ...work, ref: `${REF}-next`, leftBefore: ['sub'] })).toEqual({
    leftOut: [],
  })
})

test('removes more untracked files than fit on a command line', () => {
  const { tree, setBack, isBack } = world()
  const folder = join(tree.tree, ...Array.from({ length: 13 }, () => 'x'.repeat(240)))
  mkdirSync(folder, { recursive: true })
  for (let number = 0; number < 800; number += 1)
    writeFileSync(join(folder, `${number}`), `${number}`)
  expect(uncommittedPaths(tree.tree).join(' ').length).toBeGreaterThan(2 ** 21)
  setBack()
  isBack()
  expect(runGit(tree.tree, ['ls-tree', '-r', '--name-only', REF]).trim().split('\n')).toHaveLength(
    802,
  )
})

test('saves and removes a file whose name is not UTF-8', () => {
  const { tree, inTree, setBack, isBack } = world()
  writeFileSync(
    Buffer.concat([Buffer.from(`${tree.tree}/`), Buffer.from([0x61, 0xff, 0x62])]),
    'odd',
  )
  expect(setBack()).toEqual({ kept: REF, leftOut: [] })
  isBack()
  expect(inTree('ls-tree', '-r', '--name-only', REF).split('\n')).toHaveLength(3)
})

test('leaves what cannot be saved, and does not count it the next time', () => {
  const { tree, inTree, setBack } = world()
  const nested = join(tree.tree, 'nested')
  mkdirSync(nested)
  git(nested, 'init', '-q')
  writeFileSync(join(nested, 'n.txt'), 'n')
  expect(setBack()).toEqual({ kept: REF, leftOut: ['nested/'] })
  expect(existsSync(join(nested, 'n.txt'))).toBe(true)
  const leftBefore = uncommittedPaths(tree.tree)
  inTree('update-ref', '-d', REF)
  expect(setBack({ leftBefore })).toEqual({ leftOut: [] })
})

test('never overwrites saved work: after a runner was killed half-way both copies exist', () => {
  const { inTree, write, commit, setBack } = world()
  const first = commit('b.txt')
  expect(setBack()).toEqual({ kept: REF, leftOut: [] })
  expect(setBack()).toEqual({ kept: REF, leftOut: [] })
  write('c.txt', 'c')
  expect(setBack()).toEqual({ kept: `${REF}-2`, leftOut: [] })
  expect(inTree('rev-parse', REF)).toBe(first)
})

test('recognizes a tree by its saved copy, byte for byte', () => {
  const { tree, write, commit } = world()
  commit('b.txt')
  write('c.txt', 'c')
  const { kept } = saveWork(tree, { ref: REF, message: 'kept', base: tree.base, leftBefore: [] })
  expect([kept, matchesSavedWork(tree.tree, REF)]).toEqual([REF, true])
  write('c.txt', 'd')
  expect(matchesSavedWork(tree.tree, REF)).toBe(false)
  write('c.txt', 'c')
  expect(matchesSavedWork(tree.tree, REF)).toBe(true)
  commit('e.txt')
  expect(matchesSavedWork(tree.tree, REF)).toBe(false)
})

test.each<[string, (w: ReturnType<typeof world>) => void]>([
  ['removed', ({ tree }) => rmSync(tree.tree, { recursive: true })],
  [
    'removed with its branch',
    ({ tree, project }) =>
      void (project.git('worktree', 'remove', '--force', tree.tree),
      project.git('branch', '-D', tree.branch)),
  ],
  ['left without its .git', ({ tree }) => rmSync(join(tree.tree, '.git'))],
])('restores a worktree that was %s', (_, lose) => {
  const w = world()
  lose(w)
  expect(readTreeHead(w.tree.tree)).toBeUndefined()
  restoreTree(w.place, w.tree.tree, w.tree.branch, w.tree.base)
  w.isBack()
})

test('a failing git hook leaves no worktree and no branch behind', () => {
  const project = gitProject()
  project.commit('start', { 'a.txt': 'a\n' })
  writeFileSync(project.path('.git', 'hooks', 'post-checkout'), '#!/bin/sh\nexit 1\n', {
    mode: 0o755,
  })
  const place = findProjectPaths(project.root)
  expect(() => createRunTree(place, RUN, undefined)).toThrow('no worktree for stint/run-')
  expect(project.git('worktree', 'list').trim().split('\n')).toHaveLength(1)
  expect(project.git('branch', '--format=%(refname:short)').trim()).toBe('main')
  project.git('branch', 'mine')
  expect(() => createRunTree(place, RUN, 'mine')).toThrow('no worktree for mine')
  expect(project.git('branch', '--format=%(refname:short)').trim().split('\n')).toEqual([
    'main',
    'mine',
  ])
})

test('removes a worktree with only build output in it, and keeps one with other ignored files', () => {
  const { place, tree, inTree } = world()
  const messages: string[] = []
  mkdirSync(join(tree.tree, 'out'))
  writeFileSync(join(tree.tree, 'out', 'result.csv'), '1')
  expect(removeTreeIfClean(place, tree, (text) => messages.push(text))).toBe(false)
  expect(messages[0]).toContain('holds what is in no commit: out/')
  expect(inTree('status', '--porcelain')).toBe('')
  rmSync(join(tree.tree, 'out'), { recursive: true })
  mkdirSync(join(tree.tree, 'node_modules'))
  writeFileSync(join(tree.tree, 'node_modules', 'x.js'), '1')
  expect(removeTreeIfClean(place, tree, (text) => messages.push(text))).toBe(true)
  expect(existsSync(tree.tree)).toBe(false)
})

test('does not treat files outside a sparse checkout as hidden', () => {
  const { tree, inTree } = world()
  mkdirSync(join(tree.tree, 'big'))
  writeFileSync(join(tree.tree, 'big', 'b.txt'), 'b')
  inTree('add', '-A')
  inTree('commit', '-qm', 'big')
  const { status } = spawnSync('git', ['sparse-checkout', 'set', 'none'], { cwd: tree.tree })
  expect([status, existsSync(join(tree.tree, 'big'))]).toEqual([0, false])
  expect(hiddenPaths(tree.tree)).toEqual([])
  inTree('update-index', '--assume-unchanged', 'a.txt')
  expect(hiddenPaths(tree.tree)).toEqual(['a.txt'])
})

test('removes lock files of a killed git in its own worktree before committing or rolling back', () => {
  const { place, tree, inTree, write, setBack, isBack } = world()
  const lock = () => {
    for (const name of ['index.lock', 'HEAD.lock', `refs/heads/${tree.branch}.lock`])
      writeFileSync(resolve(tree.tree, inTree('rev-parse', '--git-path', name)), '')
  }
  write('loose.txt', 'loose\n')
  lock()
  const { commit } = commitLeftWork(place, RUN, tree)
  expect(readTreeHead(tree.tree)).toEqual({ branch: tree.branch, commit })
  expect(inTree('show', 'HEAD:loose.txt')).toBe('loose')
  lock()
  setBack()
  isBack()
})

test("keeps the lock files of the user's checkout", () => {
  const { project } = world()
  const lock = join(project.root, '.git', 'index.lock')
  writeFileSync(lock, '')
  removeStaleLocks(findRepository(project.root)!, 'main')
  expect(existsSync(lock)).toBe(true)
})

test('a secret that the agent left untracked ends in no commit and stays where it is', () => {
  const { tree, inTree, write, setBack } = world()
  write('.env', 'PASSWORD=1\n')
  write('b.txt', 'b\n')
  expect(setBack()).toEqual({ kept: REF, leftOut: ['.env'] })
  expect(inTree('ls-tree', '-r', '--name-only', REF).split('\n')).toContain('b.txt')
  expect(inTree('ls-tree', '-r', '--name-only', REF)).not.toContain('.env')
  expect(readFileSync(join(tree.tree, '.env'), 'utf8')).toBe('PASSWORD=1\n')
  expect(existsSync(join(tree.tree, 'b.txt'))).toBe(false)
})

test('a secret is not committed to the branch with the rest of the work', () => {
  const { place, tree, inTree, write } = world()
  write('id_rsa', 'key\n')
  write('b.txt', 'b\n')
  expect(commitLeftWork(place, RUN, tree)).toMatchObject({ leftOut: ['id_rsa'] })
  expect(inTree('ls-tree', '-r', '--name-only', 'HEAD')).toBe('.gitignore\na.txt\nb.txt')
  expect(uncommittedPaths(tree.tree)).toEqual(['id_rsa'])
})

test.each(['.env', 'config/.env'])(
  'a secret %s in the way of the base is saved, not lost',
  (path) => {
    const { place, project, inTree } = world()
    project.commit('tracked', { [path.split('/')[0]!]: 'tracked\n' })
    const tree = createRunTree(place, RUN, 'other', { name: 'other' })
    rmSync(join(tree.tree, path.split('/')[0]!))
    git(tree.tree, 'commit', '-qam', 'untracked now')
    mkdirSync(join(tree.tree, path, '..'), { recursive: true })
    writeFileSync(join(tree.tree, path), 'PASSWORD=1\n')
    const work = { ref: REF, message: 'kept', base: tree.base, leftBefore: [] }
    expect(saveAndRollBack(tree, work)).toEqual({ kept: REF, leftOut: [] })
    expect(inTree('show', `${REF}:${path}`)).toBe('PASSWORD=1')
  },
)

test('does nothing in a worktree whose .git leads elsewhere, which an agent can arrange', () => {
  const { project, place, tree, write } = world()
  write('b.txt', 'b\n')
  const other = join(project.root, 'fixtures', 'other')
  git(project.root, 'init', '-q', '--bare', other)
  git(other, 'config', 'core.bare', 'false')
  writeFileSync(join(tree.tree, '.git'), `gitdir: ${other}\n`)
  expect(() => commitLeftWork(place, RUN, tree)).toThrow(/not a worktree that Stint made/)
})

test.each(['outside', 'a link'])('nothing is done in a worktree that is %s', (kind) => {
  const { project, place, tree } = world()
  const elsewhere = join(project.root, 'elsewhere')
  git(project.root, 'worktree', 'add', '-q', elsewhere)
  if (kind === 'a link') {
    rmSync(tree.tree, { recursive: true })
    symlinkSync(elsewhere, tree.tree)
  }
  const own = kind === 'a link' ? tree : { ...tree, tree: elsewhere }
  writeFileSync(join(elsewhere, 'private.txt'), 'x\n')
  expect(() => commitLeftWork(place, RUN, own)).toThrow(/not a worktree that Stint made/)
  expect(git(elsewhere, 'status', '--short').trim()).toBe('?? private.txt')
})
