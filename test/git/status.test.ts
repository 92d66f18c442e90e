import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { dirtyPaths, measureDrift } from '../../src/git/status.ts'
import { git, newRepository, temporaryFolder, write } from './world.ts'

describe('dirty paths', () => {
  test('staged, changed, renamed and untracked paths count, journal paths do not', () => {
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

  test('is empty when nothing happened', () => {
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

  test('counts the commits since and names the newest ten', () => {
    const root = newRepository()
    const from = head(root)
    for (let i = 1; i <= 12; i += 1) commit(root, `commit ${i}`)
    write(root, 'a.txt', 'two\n')
    const moved = measureDrift(root, from)
    expect(moved).toMatchObject({ commits: 12, history: 'kept', hasBranchChanged: false, dirty: 1 })
    expect(moved.subjects).toHaveLength(10)
    expect(moved.subjects[0]).toBe('commit 12')
  })

  test('reports an amended commit as rewritten history', () => {
    const root = newRepository()
    const from = head(root)
    git(root, 'commit', '-q', '--amend', '-m', 'amended')
    expect(measureDrift(root, from, { branch: 'main' })).toMatchObject({
      history: 'rewritten',
      commits: 1,
      subjects: ['amended'],
    })
  })

  test('does not report another branch as rewritten history', () => {
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

  test('reports an unknown commit as missing', () => {
    const root = newRepository()
    for (const from of ['0123456789012345678901234567890123456789', '--all']) {
      expect(measureDrift(root, from)).toMatchObject({ history: 'missing', commits: 0 })
    }
  })

  test('is empty on a branch without commits', () => {
    const root = newRepository()
    const from = head(root)
    git(root, 'switch', '-q', '--orphan', 'empty')
    const moved = measureDrift(root, from, { branch: 'main' })
    expect(moved).toMatchObject({ history: 'elsewhere', commits: 0, branchNow: 'empty' })
    expect(moved.to).toBeUndefined()
  })

  test('of a linked worktree follows its own HEAD', () => {
    const root = newRepository()
    const from = head(root)
    const linked = join(temporaryFolder(), 'side')
    git(root, 'worktree', 'add', '-q', '-b', 'side', linked)
    commit(linked, 'aside')
    expect(measureDrift(linked, from)).toMatchObject({ commits: 1, branchNow: 'side' })
  })
})
