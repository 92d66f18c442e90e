import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readFileSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import {
  type CodeCheckpointOptions,
  type CodeCheckpoint,
  checkpointCode,
} from '../../src/git/code-checkpoint.ts'
import { git, repositoryAt } from './world.ts'

/** Everything of the user's that a code checkpoint must not change. */
function stateOf(root: string) {
  const { gitDir } = repositoryAt(root)
  // The index first: `git status` refreshes it by default.
  const index = existsSync(join(gitDir, 'index'))
    ? sha(readFileSync(join(gitDir, 'index')))
    : 'none'
  return {
    index,
    status: git(root, '--no-optional-locks', 'status', '--porcelain', '--untracked-files=all'),
    head: readFileSync(join(gitDir, 'HEAD'), 'utf8'),
    refs: git(
      root,
      'for-each-ref',
      '--format=%(refname) %(objectname)',
      'refs/heads',
      'refs/tags',
      'refs/remotes',
    ),
    stash: git(root, 'stash', 'list'),
    files: filesUnder(root),
    gitDir: readdirSync(gitDir).sort(),
  }
}

/** Checkpoints the code of a worktree, and fails if anything of the user's changed. */
export function checkpointUnchanged(
  root: string,
  options: Partial<CodeCheckpointOptions> = {},
): CodeCheckpoint {
  const before = stateOf(root)
  const kept = checkpointCode(repositoryAt(root), {
    ref: 'refs/stint/test/1',
    message: 'checkpoint',
    ...options,
  })
  expect(stateOf(root)).toEqual(before)
  expect(git(root, 'rev-parse', kept.ref)).toBe(kept.commit)
  return kept
}

/** The files of a commit, as `mode path`. */
export function filesOf(root: string, commit: string): string[] {
  const entries = git(root, '-c', 'core.quotepath=off', 'ls-tree', '-r', commit).split('\n')
  return entries
    .filter((line) => line !== '')
    .map((line) => line.replace(/^(\d+) \w+ \w+\t/, '$1 '))
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.name === '.git') return []
    if (entry.isDirectory()) return filesUnder(path)
    const content = entry.isSymbolicLink() ? readlinkSync(path) : sha(readFileSync(path))
    const { mode, mtimeMs } = lstatSync(path)
    return [`${path} ${mode} ${mtimeMs} ${content}`]
  })
}

function sha(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
