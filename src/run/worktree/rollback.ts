// Work that was left in a worktree is kept under `refs/stint/` or committed, before its branch goes back to where the task began.
// Wherever the agent left HEAD, no branch but the run's own is moved.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { checkpointCode } from '../../git/code-checkpoint.ts'
import { readHead } from '../../git/head.ts'
import { gitSucceeds, removeStaleLocks, runGit } from '../../git/run-git.ts'
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
  uncommittedPaths,
} from './run-tree.ts'

export interface WorkToSave {
  readonly ref: string
  readonly message: string
  readonly base: string
  /** What was not committed then. */
  readonly leftBefore: readonly string[]
}

export function saveWork({ tree, branch }: RunTree, work: WorkToSave) {
  const repository = repositoryAt(tree)!
  return keptBefore(repository, branch, work) ?? keepAll(repository, branch, work)
}

export function saveAndRollBack({ tree, branch }: RunTree, work: WorkToSave) {
  const repository = repositoryAt(tree)!
  removeStaleLocks(repository, branch)
  // What is hidden from git would be neither kept nor reset.
  const hidden = hiddenPaths(tree, 'latin1')
  for (const bit of ['--no-skip-worktree', '--no-assume-unchanged']) updateIndex(tree, bit, hidden)
  addIgnored(tree, work.base)
  const before = keptBefore(repository, branch, work)
  if (before !== undefined) return before
  const result = keepAll(repository, branch, work)
  const git = (...args: readonly string[]) =>
    runGit(tree, [...SAFE_CONFIG, '-c', 'submodule.recurse=false', ...args])
  const verb = operationIn(repository)
  if (verb !== undefined) git(verb, '--quit')
  git('symbolic-ref', 'HEAD', `refs/heads/${branch}`)
  // With the kept files as the index the reset removes just those, and what was not kept stays.
  git('read-tree', result.kept!)
  git('reset', '--quiet', '--hard', work.base)
  if (existsSync(join(repository.gitDir, 'BISECT_LOG'))) git('bisect', 'reset', 'HEAD')
  return result
}

export function matchesSavedWork(tree: string, ref: string): boolean {
  const repository = repositoryAt(tree)
  if (repository === undefined || !isRef(tree, ref)) return false
  const printed = runGit(tree, ['log', '-1', '--format=%H %T %P', ref, '--']).trim()
  const [commit, files, parent] = printed.split(' ')
  const head = readHead(repository).commit
  return (
    (head === commit || head === parent) &&
    writeWorkingTree(repository, { exclude: IGNORED_PATHS }).tree === files
  )
}

function keptBefore(repository: Repository, branch: string, { ref, base, leftBefore }: WorkToSave) {
  const { worktree } = repository
  const head = readHead(repository)
  const isMoved =
    head.branch !== branch || head.commit !== base || isOperationInProgress(repository)
  if (isMoved || uncommittedPaths(worktree).some((path) => !leftBefore.includes(path)))
    return undefined
  return { ...(isRef(worktree, ref) ? { kept: ref } : {}), leftOut: [] }
}

function keepAll(
  repository: Repository,
  branch: string,
  { ref: wanted, message, base, leftBefore }: WorkToSave,
) {
  const { worktree } = repository
  // A runner that was killed may have kept something under the name already.
  let ref = wanted
  for (let number = 2; isRef(worktree, ref); number += 1) ref = `${wanted}-${number}`
  const { leftOut } = checkpointCode(repository, { ref, message, exclude: IGNORED_PATHS })
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
    runGit(worktree, [...SAFE_CONFIG, ...update])
  }
  return { kept: ref, leftOut: leftOut.filter((path) => !leftBefore.includes(path)) }
}

function isRef(tree: string, ref: string) {
  return gitSucceeds(tree, ['show-ref', '--verify', '--quiet', ref])
}

/** Adds what is ignored now though the base has it, which the reset would overwrite. */
function addIgnored(tree: string, base: string) {
  const list = (...args: readonly string[]) =>
    runGit(tree, args, { encoding: 'latin1' }).split('\0')
  const inBase = new Set(list('ls-tree', '-r', '-z', '--name-only', base))
  const ignored = list('ls-files', '-z', '--others', '--ignored', '--exclude-standard')
  const lost = ignored.filter((path) => path !== '' && inBase.has(path))
  updateIndex(tree, '--add', lost)
}

/** Paths are latin1, so that names that are not UTF-8 come back to git byte for byte. */
function updateIndex(tree: string, how: string, paths: readonly string[]) {
  if (paths.length === 0) return
  const input = paths.map((path) => `${path}\0`).join('')
  runGit(tree, [...SAFE_CONFIG, 'update-index', how, '-z', '--stdin'], {
    input,
    encoding: 'latin1',
  })
}

/** What git is in the middle of, without a merge and a bisection, which the reset ends. */
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

const AS_FOUND = 'stint: left uncommitted, as it was found'

/** Whether all commits of a branch beyond one are by `commitAsFound`. */
export function areAllAutoCommits(tree: string, base: string): boolean {
  const subjects = runGit(tree, ['log', '--no-merges', '--format=%s', `${base}..HEAD`, '--'])
    .split('\n')
    .filter(Boolean)
  return subjects.length > 0 && subjects.every((subject) => subject === AS_FOUND)
}

/** Commits what is left in a worktree. Where HEAD is elsewhere, or git in the middle of something, it is kept beside the branch. */
export function commitLeftWork(place: ProjectPaths, run: string, own: RunTree) {
  const { tree, branch } = own
  const repository = repositoryAt(tree)
  if (repository === undefined) return {}
  removeStaleLocks(repository, branch)
  const ref = `refs/stint/runs/${run}/found`
  const message = AS_FOUND
  const head = readHead(repository)
  const found = (all: readonly string[], more: { commit?: string; kept?: string | undefined }) =>
    defined({ ...more, leftOut: all.length === 0 ? undefined : all })
  if (head.branch !== branch || head.commit === undefined || isOperationInProgress(repository)) {
    const base = branchTip(requireRepository(place).mainRoot, branch) ?? own.base
    const { kept, leftOut } = saveAndRollBack(own, { ref, message, base, leftBefore: [] })
    return found(leftOut, { kept })
  }
  if (uncommittedPaths(tree).length === 0) return {}
  const { commit, leftOut } = checkpointCode(repository, { ref, message, exclude: IGNORED_PATHS })
  const update = ['update-ref', '-m', 'stint: commit what was left', `refs/heads/${branch}`]
  runGit(tree, [...SAFE_CONFIG, ...update, commit, head.commit])
  runGit(tree, [...SAFE_CONFIG, 'read-tree', commit])
  return found(leftOut, commit === head.commit ? {} : { commit })
}
