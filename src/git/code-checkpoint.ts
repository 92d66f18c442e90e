// A checkpoint changes neither index, HEAD, branch, stash nor files; restoring never overwrites.
import { lstatSync } from 'node:fs'
import { resolve } from 'node:path'
import { StintError } from '../journal/errors.ts'
import { readHead } from './head.ts'
import { gitSucceeds, stintIdentity, runGit, unlessGitFails, writeGit } from './run-git.ts'
import type { Repository } from './repository.ts'
import { DEFAULT_EXCLUDE, SAFE_CONFIG, type TreeOptions, writeWorkingTree } from './working-tree.ts'

export interface CodeCheckpointOptions extends TreeOptions {
  readonly ref: string
  readonly message: string
}

export interface CodeCheckpoint {
  readonly commit: string
  readonly ref: string
  /** Too large, unreadable or a repository of its own. */
  readonly leftOut: readonly string[]
  /** Untracked files that may hold secrets, which are left out too. */
  readonly secrets: readonly string[]
}

/** A branch or a worktree folder that does not exist yet. */
export type RestoreTo = { readonly branch: string } | { readonly worktree: string }

const REFS = 'refs/stint/'

export function checkpointCode(
  repository: Repository,
  options: CodeCheckpointOptions,
): CodeCheckpoint {
  const { ref } = options
  const root = repository.worktree
  if (!ref.startsWith(REFS) || !gitSucceeds(root, ['check-ref-format', ref])) {
    throw new StintError(
      'BAD_REF',
      `${ref} is not a name for kept code`,
      `it has to be a valid reference under ${REFS}`,
    )
  }
  const { tree, leftOut, secrets } = writeWorkingTree(repository, options)
  const head = readHead(repository).commit
  const isHead = head !== undefined && runGit(root, ['rev-parse', `${head}^{tree}`]).trim() === tree
  const commit = isHead ? head : commitTree(root, tree, head, options.message)
  writeGit(root, [
    ...SAFE_CONFIG,
    'update-ref',
    '--no-deref',
    '-m',
    'stint: keep the code',
    ref,
    commit,
  ])
  return { commit, ref, leftOut, secrets }
}

export function codeDiff(
  repository: Repository,
  commit: string,
  options: TreeOptions & { readonly stat?: boolean } = {},
): string {
  const from = resolveCommit(repository, commit)
  const { tree } = writeWorkingTree(repository, options)
  const form = options.stat === true ? ['--stat=100'] : ['-p']
  const without = (options.exclude ?? DEFAULT_EXCLUDE).map(
    (path) => `:(exclude,top,literal)${path}`,
  )
  const plain = ['--no-color', '--no-ext-diff', '--no-textconv', '-M']
  const paths = ['--', ':(top)', ...without]
  return runGit(repository.worktree, ['diff-tree', ...form, ...plain, from, tree, ...paths])
}

export function restoreCode(repository: Repository, commit: string, to: RestoreTo): RestoredCode {
  const from = resolveCommit(repository, commit)
  return 'branch' in to
    ? restoreToBranch(repository, from, to.branch)
    : restoreToWorktree(repository, from, to.worktree)
}

export interface RestoredCode {
  readonly commit: string
  readonly branch?: string
  readonly worktree?: string
}

function restoreToBranch(repository: Repository, commit: string, branch: string) {
  const root = repository.worktree
  const ref = `refs/heads/${branch}`
  if (
    branch.startsWith('-') ||
    branch === 'HEAD' ||
    !gitSucceeds(root, ['check-ref-format', ref])
  ) {
    throw new StintError('BAD_BRANCH', `${branch} is not a name for a branch`)
  }
  if (gitSucceeds(root, ['show-ref', '--verify', '--quiet', ref]))
    throw alreadyExists(`the branch ${branch}`)
  // The empty old value makes git refuse if the branch appears in between.
  writeGit(root, [
    ...SAFE_CONFIG,
    'update-ref',
    '-m',
    'stint: give back kept code',
    ref,
    commit,
    '',
  ])
  return { commit, branch }
}

function restoreToWorktree(repository: Repository, commit: string, folder: string) {
  const worktree = resolve(repository.worktree, folder)
  if (lstatSync(worktree, { throwIfNoEntry: false }) !== undefined) throw alreadyExists(worktree)
  const add = ['worktree', 'add', '--quiet', '--detach', '--', worktree, commit]
  writeGit(repository.worktree, [...SAFE_CONFIG, ...add])
  return { commit, worktree }
}

function alreadyExists(what: string) {
  return new StintError(
    'ALREADY_THERE',
    `${what} exists; kept code only goes where nothing is`,
    'choose another name',
  )
}

function resolveCommit(repository: Repository, commit: string) {
  // Only names that cannot be a git option or expression.
  const isName = /^[0-9a-f]{4,64}$/.test(commit) || commit.startsWith(REFS)
  const args = ['rev-parse', '--quiet', '--verify', `${commit}^{commit}`]
  const found = isName
    ? unlessGitFails(
        () => runGit(repository.worktree, args),
        (status) => status !== undefined,
      )
    : undefined
  if (found !== undefined) return found.trim()
  throw new StintError('NO_SUCH_CODE', `there is no kept code ${commit} in this repository`)
}

function commitTree(root: string, tree: string, parent: string | undefined, message: string) {
  const parents = parent === undefined ? [] : ['-p', parent]
  const settings = [...SAFE_CONFIG, '-c', 'i18n.commitEncoding=UTF-8']
  return writeGit(root, [...settings, 'commit-tree', '--no-gpg-sign', ...parents, tree], {
    env: stintIdentity(),
    // git takes no NUL in a message.
    input: `${message.replaceAll('\0', '')}\n`,
  }).trim()
}
