// What a failed task left is kept under `refs/stint/`, and then its branch goes back to where the task began. Wherever the agent
// has left HEAD, no branch but the run's own is moved.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { keepCode } from '../../git/code-checkpoint.ts'
import { readHead } from '../../git/head.ts'
import { removeLeftLocks } from '../../git/left-locks.ts'
import type { Repository } from '../../git/repository.ts'
import { askGit, runGit } from '../../git/run-git.ts'
import { QUIETLY, writeWorkingTree } from '../../git/working-tree.ts'
import { NOT_WORK, type RunTree, commitOf, hiddenPaths, repositoryAt, uncommitted } from './tree.ts'
import type { Place } from '../../project/store/place.ts'
import { repositoryOf } from '../../project/store/worktrees.ts'
import { defined } from '../../text/defined.ts'

export interface WorkToKeep {
  /** Where it is kept, under `refs/stint/`. */
  readonly ref: string
  readonly message: string
  /** Where work on the task began. */
  readonly base: string
  /** What was not committed then. */
  readonly leftBefore: readonly string[]
}

export interface KeptWork {
  /** Where it is kept; absent when there was none. */
  readonly kept?: string
  /** What could not be kept, and so stays where it is. */
  readonly leftOut: readonly string[]
}

/** Keeps all that attempts at a task left: the files, the commits of HEAD, and those of the run's branch where they are others. Changes nothing else. */
export function keepWork({ tree, branch }: RunTree, work: WorkToKeep): KeptWork {
  const repository = repositoryAt(tree)!
  return isUntouched(repository, branch, work)
    ? { ...(isRef(tree, work.ref) ? { kept: work.ref } : {}), leftOut: [] }
    : keepAll(repository, branch, work)
}

/** Keeps what was left and goes back to where the task began, so that the next starts from what is good. */
export function keepAndSetBack({ tree, branch }: RunTree, work: WorkToKeep): KeptWork {
  const repository = repositoryAt(tree)!
  removeLeftLocks(repository, branch)
  // Or what is hidden from git would be neither kept nor set back.
  unhide(tree)
  takeIn(tree, work.base)
  if (isUntouched(repository, branch, work))
    return { ...(isRef(tree, work.ref) ? { kept: work.ref } : {}), leftOut: [] }
  const result = keepAll(repository, branch, work)
  const git = (...args: readonly string[]) =>
    runGit(tree, [...QUIETLY, '-c', 'submodule.recurse=false', ...args])
  for (const verb of operations(repository)) git(verb, '--quit')
  git('symbolic-ref', 'HEAD', `refs/heads/${branch}`)
  // With all that was kept in the index, and nothing else, the reset takes just that away: what was not kept stays.
  git('read-tree', result.kept!)
  git('reset', '--quiet', '--hard', work.base)
  if (existsSync(join(repository.gitDir, 'BISECT_LOG'))) git('bisect', 'reset', 'HEAD')
  return result
}

/** Whether a worktree is to the byte as it was when it was kept. */
export function isAsKept(tree: string, ref: string): boolean {
  const repository = repositoryAt(tree)
  if (repository === undefined || !isRef(tree, ref)) return false
  const [commit, files, parent] = runGit(tree, ['log', '-1', '--format=%H %T %P', ref, '--'])
    .trim()
    .split(' ')
  const head = readHead(repository).commit
  return (
    (head === commit || head === parent) &&
    writeWorkingTree(repository, { exclude: NOT_WORK }).tree === files
  )
}

function isUntouched(
  repository: Repository,
  branch: string,
  { base, leftBefore }: WorkToKeep,
): boolean {
  const head = readHead(repository)
  if (head.branch !== branch || head.commit !== base || isInTheMiddle(repository)) return false
  return uncommitted(repository.worktree).every((path) => leftBefore.includes(path))
}

function keepAll(
  repository: Repository,
  branch: string,
  { ref: wanted, message, base, leftBefore }: WorkToKeep,
): KeptWork {
  const { worktree } = repository
  const ref = freeRef(worktree, wanted)
  const { leftOut } = keepCode(repository, { ref, message, exclude: NOT_WORK })
  const tip = commitOf(worktree, branch)
  if (tip !== undefined && tip !== base && tip !== readHead(repository).commit) {
    runGit(worktree, [
      ...QUIETLY,
      'update-ref',
      '--no-deref',
      '-m',
      'stint: keep the branch',
      `${ref}-branch`,
      tip,
    ])
  }
  return { kept: ref, leftOut: leftOut.filter((path) => !leftBefore.includes(path)) }
}

// A runner that was killed half-way has kept more already than there is now to be kept.
function freeRef(tree: string, ref: string): string {
  for (let number = 1; ; number += 1) {
    const free = number === 1 ? ref : `${ref}-${number}`
    if (!isRef(tree, free)) return free
  }
}

function isRef(tree: string, ref: string): boolean {
  return askGit(tree, ['show-ref', '--verify', '--quiet', ref])
}

// Paths travel as latin1 here, so that names that are not UTF-8 come back to git byte for byte.
function unhide(tree: string): void {
  const hidden = hiddenPaths(tree, 'latin1')
  for (const bit of ['--no-skip-worktree', '--no-assume-unchanged']) updateIndex(tree, bit, hidden)
}

/** What is ignored now though the base has it, which the reset would write over. */
function takeIn(tree: string, base: string): void {
  const list = (...args: readonly string[]) =>
    runGit(tree, args, { encoding: 'latin1' }).split('\0')
  const inBase = new Set(list('ls-tree', '-r', '-z', '--name-only', base))
  const ignored = list('ls-files', '-z', '--others', '--ignored', '--exclude-standard')
  updateIndex(
    tree,
    '--add',
    ignored.filter((path) => path !== '' && inBase.has(path)),
  )
}

function updateIndex(tree: string, how: string, paths: readonly string[]): void {
  if (paths.length === 0) return
  const input = paths.map((path) => `${path}\0`).join('')
  runGit(tree, [...QUIETLY, 'update-index', how, '-z', '--stdin'], { input, encoding: 'latin1' })
}

/** What git is in the middle of. The reset itself ends a merge, and a bisection is ended behind it. */
function operations({ gitDir }: Repository): readonly string[] {
  const has = (...path: readonly string[]) => existsSync(join(gitDir, ...path))
  if (has('rebase-apply', 'applying')) return ['am']
  if (has('rebase-merge') || has('rebase-apply')) return ['rebase']
  return has('sequencer') || has('CHERRY_PICK_HEAD') || has('REVERT_HEAD') ? ['cherry-pick'] : []
}

/** Whether git is in the middle of a merge, a rebase or the like. */
export function isInTheMiddle(repository: Repository): boolean {
  const has = (name: string) => existsSync(join(repository.gitDir, name))
  return operations(repository).length > 0 || has('MERGE_HEAD') || has('BISECT_LOG')
}

// What somebody who works no more has left uncommitted is committed to their branch as it was found, so that it is in the
// history that people look at.

export interface Found {
  /** The commit that holds it; absent when all was committed. */
  readonly commit?: string
  /** The reference it is kept under, where it could not go to the branch. */
  readonly kept?: string
  /** What could not be committed, and so stays where it is: too large, unreadable, or a repository of its own. */
  readonly leftOut?: readonly string[]
}

const AS_FOUND = 'stint: left uncommitted, as it was found'

/** Whether all that is on a branch beyond a commit was put there by us. */
export function isAllAsFound(tree: string, base: string): boolean {
  const subjects = runGit(tree, ['log', '--no-merges', '--format=%s', `${base}..HEAD`, '--'])
    .split('\n')
    .filter(Boolean)
  return subjects.length > 0 && subjects.every((subject) => subject === AS_FOUND)
}

/** Commits what is left in a worktree. Where HEAD is elsewhere, or git in the middle of something, it is kept beside the branch instead. */
export function commitAsFound(place: Place, run: string, tree: RunTree): Found {
  const repository = repositoryAt(tree.tree)
  // Of a worktree that is gone only what was committed is left.
  if (repository === undefined) return {}
  removeLeftLocks(repository, tree.branch)
  const ref = `refs/stint/runs/${run}/found`
  const message = AS_FOUND
  const head = readHead(repository)
  if (head.branch !== tree.branch || head.commit === undefined || isInTheMiddle(repository)) {
    const base = commitOf(repositoryOf(place).mainRoot, tree.branch) ?? tree.base
    const { kept, leftOut } = keepAndSetBack(tree, { ref, message, base, leftBefore: [] })
    return { ...defined({ kept }), ...(leftOut.length === 0 ? {} : { leftOut }) }
  }
  if (uncommitted(tree.tree).length === 0) return {}
  const { commit, leftOut } = keepCode(repository, { ref, message, exclude: NOT_WORK })
  const git = (...args: readonly string[]) => runGit(tree.tree, [...QUIETLY, ...args])
  git(
    'update-ref',
    '-m',
    'stint: commit what was left',
    `refs/heads/${tree.branch}`,
    commit,
    head.commit,
  )
  git('read-tree', commit)
  return {
    ...(commit === head.commit ? {} : { commit }),
    ...(leftOut.length === 0 ? {} : { leftOut }),
  }
}
