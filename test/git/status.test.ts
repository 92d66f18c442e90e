import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { dirtyPaths, measureDrift } from '../../src/git/status.ts'
import { git, newRepository, temporaryFolder, write } from './world.ts'

describe('dirty paths', () => {
  test('staged, changed, renamed and untracked paths count, those of the journal do not', () => {
    const root = newRepository({
      'a.txt': 'one\n',
      'b.txt': 'a longer text that is recognised when it moves\n',
    })
    write(root, 'a.txt', 'two\n')
    git(root, 'mv', 'b.txt', 'c ü.txt')
    write(root, 'folder/d.txt', 'x')
    write(root, 'folder/e.txt', 'x')
    write(root, '.sessions/log.jsonl', '{}')
    expect(dirtyPaths(root).sort()).toEqual([
      'a.txt',
      'b.txt',
      'c ü.txt',
      'folder/d.txt',
      'folder/e.txt',
    ])
    expect(dirtyPaths(newRepository())).toEqual([])
  })
})

describe('drift', () => {
  const commit = (root: string, subject: string) =>
    git(root, 'commit', '-q', '--allow-empty', '-m', subject)
  const head = (root: string) => git(root, 'rev-parse', 'HEAD')

  test('nothing happened', () => {
    const root = newRepository()
    expect(measureDrift(root, head(root), { branch: 'main' })).toEqual({
      from: head(root),
      to: head(root),
      commits: 0,
      subjects: [],
      history: 'kept',
      branchThen: 'main',
      branchNow: 'main',
      hasBranchChanged: false,
      dirty: 0,
    })
  })

  test('commits since are counted, and the newest ten are named', () => {
    const root = newRepository()
    const from = head(root)
    for (let i = 1; i <= 12; i += 1) commit(root, `commit ${i}`)
    write(root, 'a.txt', 'two\n')
    const moved = measureDrift(root, from)
    expect(moved).toMatchObject({ commits: 12, history: 'kept', hasBranchChanged: false, dirty: 1 })
    expect(moved.subjects).toHaveLength(10)
    expect(moved.subjects[0]).toBe('commit 12')
  })

  test('an amended commit is history rewritten', () => {
    const root = newRepository()
    const from = head(root)
    git(root, 'commit', '-q', '--amend', '-m', 'amended')
    expect(measureDrift(root, from, { branch: 'main' })).toMatchObject({
      history: 'rewritten',
      commits: 1,
      subjects: ['amended'],
    })
  })

  test('another branch is not a rewritten history', () => {
    const root = newRepository()
    git(root, 'branch', 'side')
    commit(root, 'on main')
    const from = head(root)
    git(root, 'switch', '-q', 'side')
    expect(measureDrift(root, from, { branch: 'main' })).toMatchObject({
      history: 'elsewhere',
      branchNow: 'side',
      hasBranchChanged: true,
    })
  })

  test('a commit that is not here is said to be missing', () => {
    const root = newRepository()
    for (const from of ['0123456789012345678901234567890123456789', '--all']) {
      expect(measureDrift(root, from)).toMatchObject({ history: 'missing', commits: 0 })
    }
  })

  test('a branch without a commit has no drift to speak of', () => {
    const root = newRepository()
    const from = head(root)
    git(root, 'switch', '-q', '--orphan', 'empty')
    const moved = measureDrift(root, from, { branch: 'main' })
    expect(moved).toMatchObject({ history: 'elsewhere', commits: 0, branchNow: 'empty' })
    expect(moved.to).toBeUndefined()
  })

  test('a linked worktree drifts by its own HEAD', () => {
    const root = newRepository()
    const from = head(root)
    const linked = join(temporaryFolder(), 'side')
    git(root, 'worktree', 'add', '-q', '-b', 'side', linked)
    commit(linked, 'aside')
    expect(measureDrift(linked, from)).toMatchObject({ commits: 1, branchNow: 'side' })
  })
})
