import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readHead } from '../../src/git/head.ts'
import { git, newRepository, repositoryAt, temporaryFolder, write } from './world.ts'

describe('reading HEAD', () => {
  test('returns the name and the full commit of a branch', () => {
    const root = newRepository()
    expect(readHead(repositoryAt(root))).toEqual({
      branch: 'main',
      commit: git(root, 'rev-parse', 'HEAD'),
    })
  })

  test('a packed branch reads the same as a loose one', () => {
    const root = newRepository()
    git(root, 'switch', '-q', '-c', 'feature/ünï')
    git(root, 'branch', 'other/feature/ünï')
    const before = readHead(repositoryAt(root))
    git(root, 'pack-refs', '--all', '--prune')
    expect(before).toEqual({ branch: 'feature/ünï', commit: git(root, 'rev-parse', 'HEAD') })
    expect(readHead(repositoryAt(root))).toEqual(before)
  })

  test('a loose branch wins over the older packed one', () => {
    const root = newRepository()
    git(root, 'pack-refs', '--all')
    git(root, 'commit', '-q', '--allow-empty', '-m', 'second')
    expect(readHead(repositoryAt(root)).commit).toBe(git(root, 'rev-parse', 'HEAD'))
  })

  test('a packed branch is found though a folder of branches once had its name', () => {
    const root = newRepository()
    git(root, 'switch', '-q', '-c', 'topic')
    git(root, 'pack-refs', '--all', '--prune')
    write(root, '.git/refs/heads/topic/.keep', '')
    expect(readHead(repositoryAt(root))).toEqual({
      branch: 'topic',
      commit: git(root, 'rev-parse', 'main'),
    })
  })

  test('a branch without commits has a name and no commit', () => {
    const root = temporaryFolder()
    git(root, 'init', '-q', '-b', 'fresh')
    expect(readHead(repositoryAt(root))).toEqual({ branch: 'fresh' })
  })

  test('a detached HEAD has a commit and no branch', () => {
    const root = newRepository()
    git(root, 'switch', '-q', '--detach')
    expect(readHead(repositoryAt(root))).toEqual({ commit: git(root, 'rev-parse', 'HEAD') })
  })

  test('returns the branch of a linked worktree', () => {
    const root = newRepository()
    const linked = join(temporaryFolder(), 'side')
    git(root, 'worktree', 'add', '-q', '-b', 'side', linked)
    git(linked, 'commit', '-q', '--allow-empty', '-m', 'on the side')
    expect(readHead(repositoryAt(linked))).toEqual({
      branch: 'side',
      commit: git(linked, 'rev-parse', 'HEAD'),
    })
  })

  test('a sha256 repository has the longer commit id', () => {
    const root = temporaryFolder()
    git(root, 'init', '-q', '-b', 'main', '--object-format=sha256')
    git(root, 'commit', '-q', '--allow-empty', '-m', 'first')
    expect(readHead(repositoryAt(root)).commit).toMatch(/^[0-9a-f]{64}$/)
  })

  test('a branch that is a symbolic reference is left to git', () => {
    const root = newRepository()
    git(root, 'symbolic-ref', 'refs/heads/alias', 'refs/heads/main')
    git(root, 'symbolic-ref', 'HEAD', 'refs/heads/alias')
    expect(readHead(repositoryAt(root)).commit).toBe(git(root, 'rev-parse', 'main'))
  })

  test('a HEAD in an unknown format reads as nothing and does not throw', () => {
    const root = newRepository()
    write(root, '.git/HEAD', 'ref: refs/heads/.invalid\n')
    expect(readHead(repositoryAt(root))).toEqual({})
    write(root, '.git/HEAD', 'ref: refs/heads/../../../etc/passwd\n')
    expect(readHead(repositoryAt(root))).toEqual({})
  })
})
