// Saves the work left in a worktree under `refs/stint/`, or commits it, before the branch is rolled back to the task's base.
// Wherever the agent left HEAD, only the run's own branch is moved.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type CodeCheckpoint, checkpointCode } from '../../git/code-checkpoint.ts'
import { readHead } from '../../git/head.ts'
import { gitSucceeds, removeStaleLocks, runGit, writeGit } from '../../git/run-git.ts'
import type { Repository } from '../../git/repository.ts'
import { SAFE_CONFIG, writeWorkingTree } from '../../git/working-tree.ts'
import type { ProjectPaths } from '../../project/store/project-paths.ts'
import { requireRepository } from '../../project/store/worktrees.ts'
import { defined } from '../../text/defined.ts'
import {
  IGNORED_PATHS,
  type RunTree,
  branchTip,
  hiddenPaths,
  repositoryAt,
  requireOwnTree,
  uncommittedPaths,
} from './run-tree.ts'

export interface WorkToSave {
  readonly ref: string
  readonly message: string
  readonly base: string
  /** Paths that were uncommitted at `base`. */
  readonly leftBefore: readonly string[]
}

export function saveWork({ tree, branch }: RunTree, work: WorkToSave) {
  const repository = repositoryAt(tree)!
  return savedBefore(repository, branch, work) ?? saveAll(repository, branch, work)
}

export function saveAndRollBack({ tree, branch }: RunTree, work: WorkToSave) {
  const repository = repositoryAt(tree)!
  removeStaleLocks(repository, branch)
  // Files hidden from git would be neither saved nor reset.
  const hidden = hiddenPaths(tree, 'latin1')
  for (const bit of ['--no-skip-worktree', '--no-assume-unchanged'])
    updateIndex(tree, [bit], hidden)
  addInTheWay(tree, work.base)
  const before = savedBefore(repository, branch, work)
  if (before !== undefined) return before
  const result = saveAll(repository, branch, work)
  const git = (...args: readonly string[]) =>
    writeGit(tree, [...SAFE_CONFIG, '-c', 'submodule.recurse=false', ...args])
  const verb = operationIn(repository)
  if (verb !== undefined) git(verb, '--quit')
  git('symbolic-ref', 'HEAD', `refs/heads/${branch}`)
  // With the saved tree as the index, the reset removes only saved files.
  git('read-tree', result.kept!)
  git('reset', '--quiet', '--hard', work.base)
  if (existsSync(join(repository.gitDir, 'BISECT_LOG'))) git('bisect', 'reset', 'HEAD')
  return result
}

export function matchesSavedWork(tree: string, ref: string): boolean {
  const repository = repositoryAt(tree)
  if (repository === undefined || !refExists(tree, ref)) return false
  const printed = runGit(tree, ['log', '-1', '--format=%H %T %P', ref, '--']).trim()
  const [commit, files, parent] = printed.split(' ')
  const head = readHead(repository).commit
  return (
    (head === commit || head === parent) &&
    writeWorkingTree(repository, { exclude: IGNORED_PATHS }).tree === files
  )
}

function savedBefore(
  repository: Repository,
  branch: string,
  { ref, base, leftBefore }: WorkToSave,
) {
  const { worktree } = repository
  const head = readHead(repository)
  const isMoved =
    head.branch !== branch || head.commit !== base || isOperationInProgress(repository)
  if (isMoved || uncommittedPaths(worktree).some((path) => !leftBefore.includes(path)))
    return undefined
  return { ...(refExists(worktree, ref) ? { kept: ref } : {}), leftOut: [] }
}

function saveAll(
  repository: Repository,
  branch: string,
  { ref: wanted, message, base, leftBefore }: WorkToSave,
) {
  const { worktree } = repository
  // A killed runner may have saved something under this name already.
  let ref = wanted
  for (let number = 2; refExists(worktree, ref); number += 1) ref = `${wanted}-${number}`
  const leftOut = allLeftOut(checkpointCode(repository, { ref, message, exclude: IGNORED_PATHS }))
  const tip = branchTip(worktree, branch)
  if (tip !== undefined && tip !== base && tip !== readHead(repository).commit) {
    const update = [
      'update-ref',
      '--no-deref',
      '-m',
      'stint: keep the branch',
      `${ref}-branch`,
      tip,
    ]
    writeGit(worktree, [...SAFE_CONFIG, ...update])
  }
  return { kept: ref, leftOut: leftOut.filter((path) => !leftBefore.includes(path)) }
}

function refExists(tree: string, ref: string) {
  return gitSucceeds(tree, ['show-ref', '--verify', '--quiet', ref])
}

function allLeftOut({ leftOut, secrets }: CodeCheckpoint): readonly string[] {
  return [...leftOut, ...secrets]
}

/** Adds untracked files, ignored ones and secrets included, that are in the way of the base, because the reset would overwrite them. */
function addInTheWay(tree: string, base: string) {
  const list = (...args: readonly string[]) =>
    runGit(tree, args, { encoding: 'latin1' })
      .split('\0')
      .filter((path) => path !== '')
  const inBase = list('ls-tree', '-r', '-z', '--name-only', base)
  const taken = new Set(inBase.flatMap((path) => [path, ...foldersOf(path)]))
  const files = new Set(inBase)
  const lost = list('ls-files', '-z', '--others').filter(
    // A nested repository is listed as a folder, of which git adds nothing.
    (path) =>
      !path.endsWith('/') &&
      (taken.has(path) || foldersOf(path).some((folder) => files.has(folder))),
  )
  updateIndex(tree, ['--add', '--replace'], lost)
}

function foldersOf(path: string): readonly string[] {
  const parts = path.split('/')
  return parts.slice(1).map((_part, index) => parts.slice(0, index + 1).join('/'))
}

/** Paths are latin1, so that names that are not UTF-8 reach git unchanged. */
function updateIndex(tree: string, how: readonly string[], paths: readonly string[]) {
  if (paths.length === 0) return
  const input = paths.map((path) => `${path}\0`).join('')
  writeGit(tree, [...SAFE_CONFIG, 'update-index', ...how, '-z', '--stdin'], {
    input,
    encoding: 'latin1',
  })
}

/** The git operation in progress, except a merge or bisect, which the reset ends. */
function operationIn({ gitDir }: Repository) {
  const has = (...path: readonly string[]) => existsSync(join(gitDir, ...path))
  if (has('rebase-apply', 'applying')) return 'am'
  if (has('rebase-merge') || has('rebase-apply')) return 'rebase'
  return has('sequencer') || has('CHERRY_PICK_HEAD') || has('REVERT_HEAD')
    ? 'cherry-pick'
    : undefined
}

export function isOperationInProgress(repository: Repository): boolean {
  const has = (name: string) => existsSync(join(repository.gitDir, name))
  return operationIn(repository) !== undefined || has('MERGE_HEAD') || has('BISECT_LOG')
}

const AUTO_COMMIT = 'stint: left uncommitted, as it was found'

/** Whether every commit since `base` was made by `commitLeftWork`. */
export function areAllAutoCommits(tree: string, base: string): boolean {
  const subjects = runGit(tree, ['log', '--no-merges', '--format=%s', `${base}..HEAD`, '--'])
    .split('\n')
    .filter(Boolean)
  return subjects.length > 0 && subjects.every((subject) => subject === AUTO_COMMIT)
}

/** Commits uncommitted work on the branch. If HEAD is elsewhere or a git operation is in progress, saves it under a ref instead. */
export function commitLeftWork(paths: ProjectPaths, run: string, own: RunTree) {
  const { tree, branch } = own
  requireOwnTree(paths, own)
  const repository = repositoryAt(tree)
  if (repository === undefined) return {}
  removeStaleLocks(repository, branch)
  const ref = `refs/stint/runs/${run}/found`
  const message = AUTO_COMMIT
  const head = readHead(repository)
  const found = (all: readonly string[], more: { commit?: string; kept?: string | undefined }) =>
    defined({ ...more, leftOut: all.length === 0 ? undefined : all })
  if (head.branch !== branch || head.commit === undefined || isOperationInProgress(repository)) {
    const base = branchTip(requireRepository(paths).mainRoot, branch) ?? own.base
    const { kept, leftOut } = saveAndRollBack(own, { ref, message, base, leftBefore: [] })
    return found(leftOut, { kept })
  }
  if (uncommittedPaths(tree).length === 0) return {}
  const saved = checkpointCode(repository, { ref, message, exclude: IGNORED_PATHS })
  const { commit } = saved
  const update = ['update-ref', '-m', 'stint: commit what was left', `refs/heads/${branch}`]
  writeGit(tree, [...SAFE_CONFIG, ...update, commit, head.commit])
  writeGit(tree, [...SAFE_CONFIG, 'read-tree', commit])
  return found(allLeftOut(saved), commit === head.commit ? {} : { commit })
}
