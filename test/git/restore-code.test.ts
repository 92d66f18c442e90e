import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { codeDiff, restoreCode } from '../../src/git/code-checkpoint.ts'
import { withTemporaryIndex } from '../../src/git/working-tree.ts'
import { checkpointUnchanged } from './checkpoint-unchanged.ts'
import { git, newRepository, repositoryAt, temporaryFolder, write } from './world.ts'

describe('the diff against a code checkpoint', () => {
  test('it is empty right after the checkpoint', () => {
    const root = newRepository()
    write(root, 'a.txt', 'two\n')
    write(root, 'new.txt', 'x\n')
    write(root, '.sessions/log.jsonl', '{}\n')
    expect(codeDiff(repositoryAt(root), checkpointUnchanged(root).commit)).toBe('')
  })

  test('it shows what changed since, untracked files included, and changes nothing', () => {
    const root = newRepository()
    write(root, 'new.txt', 'kept\n')
    const { commit } = checkpointUnchanged(root)
    write(root, 'new.txt', 'later\n')
    write(root, 'newer ü.txt', 'x\n')
    const before = git(root, 'status', '--porcelain')
    const diff = codeDiff(repositoryAt(root), commit)
    expect(diff).toContain('-kept\n+later\n')
    expect(diff).toContain('b/newer ü.txt')
    expect(codeDiff(repositoryAt(root), commit, { stat: true })).toMatch(
      / new\.txt +\| 2 \+-\n newer ü\.txt +\| 1 \+\n 2 files changed/,
    )
    expect(git(root, 'status', '--porcelain')).toBe(before)
  })

  test.each(['0123456789abcdef0123456789abcdef01234567', '--output=x', 'main', 'refs/stint/none'])(
    '%s is refused as a checkpoint',
    (name) => {
      expect(() => codeDiff(repositoryAt(newRepository()), name)).toThrow(/there is no kept code/)
    },
  )
})

describe('restoring a code checkpoint', () => {
  function kept() {
    const root = newRepository()
    write(root, 'a.txt', 'kept\n')
    write(root, 'untracked.txt', 'kept\n')
    const { commit, ref } = checkpointUnchanged(root)
    write(root, 'a.txt', 'later\n')
    return { root, commit, ref, repository: repositoryAt(root) }
  }

  test('a new branch holds it, and the worktree stays as it is', () => {
    const { root, commit, ref, repository } = kept()
    expect(restoreCode(repository, ref, { branch: 'back/again' })).toEqual({
      commit,
      branch: 'back/again',
    })
    expect(git(root, 'show', 'back/again:untracked.txt')).toBe('kept')
    expect(git(root, 'branch', '--show-current')).toBe('main')
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('later\n')
  })

  test('a branch that exists is never moved', () => {
    const { root, commit, repository } = kept()
    git(root, 'branch', 'taken')
    expect(() => restoreCode(repository, commit, { branch: 'taken' })).toThrow(
      /the branch taken exists/,
    )
    expect(() => restoreCode(repository, commit, { branch: 'main' })).toThrow(/exists/)
    expect(git(root, 'rev-parse', 'taken')).toBe(git(root, 'rev-parse', 'HEAD'))
  })

  test.each(['-d', 'HEAD', 'a..b', '', 'a b'])('%j is refused as a branch', (branch) => {
    const { commit, repository } = kept()
    expect(() => restoreCode(repository, commit, { branch })).toThrow(/is not a name for a branch/)
  })

  test('a new worktree holds it, detached, and no hook runs', () => {
    const { root, commit, repository } = kept()
    write(root, '.git/hooks/post-checkout', '#!/bin/sh\ntouch hook-ran\n')
    const folder = join(temporaryFolder(), 'new/tree ü')
    expect(restoreCode(repository, commit, { worktree: folder })).toEqual({
      commit,
      worktree: folder,
    })
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('kept\n')
    expect(readFileSync(join(folder, 'untracked.txt'), 'utf8')).toBe('kept\n')
    expect(git(folder, 'branch', '--show-current')).toBe('')
    expect(existsSync(join(folder, 'hook-ran'))).toBe(false)
  })

  test('a folder, file or link that exists is refused', () => {
    const { root, commit, repository } = kept()
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'empty'))
    write(folder, 'file', 'x')
    symlinkSync('nowhere', join(folder, 'link'))
    for (const name of ['empty', 'file', 'link']) {
      expect(() => restoreCode(repository, commit, { worktree: join(folder, name) })).toThrow(
        /exists/,
      )
    }
    expect(git(root, 'worktree', 'list').split('\n')).toHaveLength(1)
  })
})

describe('the temporary index', () => {
  const dead = 2 ** 22 + 1
  const indexes = (gitDir: string) =>
    readdirSync(gitDir).filter((name) => name.startsWith('stint-index'))

  test('an index left by a killed process is removed, one still in use is not', () => {
    const root = newRepository()
    const { gitDir } = repositoryAt(root)
    const longAgo = Date.now() - 2 * 60 * 60_000
    for (const name of [
      `${longAgo}-${dead}-aa`,
      `${longAgo}-${dead}-aa.lock`,
      `${longAgo}-${process.pid}-bb`,
      `${Date.now()}-${dead}-cc`,
    ]) {
      writeFileSync(join(gitDir, `stint-index-${name}`), '')
    }
    withTemporaryIndex(gitDir, () => undefined)
    expect(indexes(gitDir).map((name) => name.slice(-2))).toEqual(
      expect.arrayContaining(['bb', 'cc']),
    )
    expect(indexes(gitDir)).toHaveLength(2)
  })

  test('an index removed in between is an error, not an empty tree', () => {
    const { gitDir } = repositoryAt(newRepository())
    expect(() => withTemporaryIndex(gitDir, (path) => rmSync(path))).toThrow(/was removed/)
    expect(indexes(gitDir)).toEqual([])
  })
})
