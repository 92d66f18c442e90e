import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { commitOfRef } from '../../git/head.ts'
import { GitFailed, identityFor, runGit, writeGit } from '../../git/run-git.ts'
import { type Repository, findRepository } from '../../git/repository.ts'
import { SAFE_CONFIG } from '../../git/working-tree.ts'
import { createFolder, removeTree } from '../../journal/write-files.ts'
import { shortId } from '../../journal/ids.ts'
import { listFolder, readOrUndefined } from '../../journal/read-files.ts'
import type { ProjectPaths } from '../../project/store/project-paths.ts'
import { requireRepository, worktreesFolder } from '../../project/store/worktrees.ts'
import { hasLiveProcess, readDelegates } from '../delegate/delegates.ts'
import { runGitInRepository, writeInRepository } from '../delegate/delegate-commits.ts'
import { abbreviateList } from '../worktree/remove-worktree.ts'
import { isOperationInProgress } from '../worktree/rollback.ts'
import { uncommittedPaths } from '../worktree/run-tree.ts'
import { boundedReason } from './merge-context.ts'

interface Checkout {
  readonly path: string
  /** HEAD is detached by a rebase or bisect that will return to this branch. */
  readonly isDetached: boolean
}

export function checkoutsOf(paths: ProjectPaths, branch: string): readonly Checkout[] {
  return runGitInRepository(paths, 'worktree', 'list', '--porcelain', '-z')
    .split('\0\0')
    .map((record) => record.split('\0'))
    .filter((lines) => !lines.some((line) => line === 'bare' || /^prunable(?: |$)/.test(line)))
    .flatMap((lines): readonly Checkout[] => {
      const path = lines.find((line) => line.startsWith('worktree '))?.slice('worktree '.length)
      if (path === undefined) return []
      if (lines.includes(`branch refs/heads/${branch}`)) return [{ path, isDetached: false }]
      return lines.includes('detached') && isDetachedFrom(path, branch)
        ? [{ path, isDetached: true }]
        : []
    })
}

/** During a rebase or bisect HEAD is detached, and only these files name the branch. */
function isDetachedFrom(path: string, branch: string) {
  const repository = existsSync(path) ? findRepository(path) : undefined
  if (repository === undefined) return false
  const ref = `refs/heads/${branch}`
  const text = (...name: readonly string[]) =>
    readOrUndefined(join(repository.gitDir, ...name))?.toString('utf8') ?? ''
  return (
    text('rebase-merge', 'head-name').trim() === ref ||
    text('rebase-apply', 'head-name').trim() === ref ||
    text('rebase-merge', 'update-refs').split('\n').includes(ref) ||
    text('BISECT_START').trim() === branch
  )
}

export function reasonTargetCannotMove(
  paths: ProjectPaths,
  branch: string,
  checkouts = checkoutsOf(paths, branch),
): string | undefined {
  const [only, ...others] = checkouts
  if (only === undefined) return undefined
  if (others.length > 0)
    return `${branch} is checked out more than once: ${checkouts.map(({ path }) => path).join(', ')}`
  const { path, isDetached: isAway } = only
  const repository = existsSync(path) ? findRepository(path) : undefined
  if (repository === undefined)
    return `${branch} is checked out in ${path}, which cannot be reached now`
  const holder = path.startsWith(worktreesFolder(paths))
    ? readDelegates(paths).find(({ run }) => run.started.tree === path)
    : undefined
  if (holder !== undefined && hasLiveProcess(holder))
    return `${holder.order.name} is at work in ${path}, which has ${branch} checked out`
  if (isAway || isOperationInProgress(repository))
    return `${path}, which has ${branch} checked out, is in the middle of ${operationIn(repository)}`
  const dirty = uncommittedPaths(path)
  return dirty.length === 0
    ? undefined
    : `${path} has ${branch} checked out and changes that are not committed: ${abbreviateList(dirty)}`
}

function operationIn({ gitDir }: Repository) {
  const has = (name: string) => existsSync(join(gitDir, name))
  if (has('rebase-merge') || has('rebase-apply')) return 'a rebase'
  if (has('MERGE_HEAD')) return 'a merge'
  return has('BISECT_LOG') ? 'a bisection' : 'a cherry-pick or a revert'
}

type MoveResult = { is: 'moved' } | { is: 'gone on' } | { is: 'held'; because: string }

/** Fast-forwards the target from `from`, and its files where it is checked out, or changes nothing. */
export function moveTarget(
  paths: ProjectPaths,
  { target, from, to, note }: { target: string; from: string; to: string; note: string },
): MoveResult {
  if (targetTip(paths, target) !== from) return { is: 'gone on' }
  const checkouts = checkoutsOf(paths, target)
  const because = reasonTargetCannotMove(paths, target, checkouts)
  if (because !== undefined) return { is: 'held', because }
  const tree = checkouts[0]?.path
  try {
    if (tree === undefined)
      writeInRepository(paths, ['update-ref', '-m', note, `refs/heads/${target}`, to, from])
    else {
      // Without the last option git overwrites ignored files of the user.
      const how = ['--quiet', '--ff-only', '--no-overwrite-ignore']
      writeGit(tree, [...WITHOUT_USER_CONFIG, 'merge', ...how, to], {
        env: { GIT_REFLOG_ACTION: note },
      })
    }
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    const now = targetTip(paths, target)
    // Whatever git printed, the target shows what happened.
    if (now === from) return { is: 'held', because: boundedReason(error) }
    if (now !== to) return { is: 'gone on' }
  }
  return { is: 'moved' }
}

export function targetTip(paths: ProjectPaths, target: string): string | undefined {
  return commitOfRef(requireRepository(paths), `refs/heads/${target}`)
}

export function integrationTree(paths: ProjectPaths, delegate: string): string {
  return join(worktreesFolder(paths), `merge-${shortId(delegate)}`)
}

/** Unique per process, because a dry run does not wait for the queue. */
export function dryRunTreePath(paths: ProjectPaths, delegate: string): string {
  return join(worktreesFolder(paths), `try-${shortId(delegate)}-${process.pid}`)
}

export function makeIntegrationTree(paths: ProjectPaths, tree: string, commit: string): void {
  removeIntegrationTree(paths, tree)
  createFolder(join(tree, '..'))
  // Twice `--force`, because git may still have a worktree registered whose folder is gone.
  const add = 'worktree add --quiet --force --force --detach'.split(' ')
  writeInRepository(paths, [...add, tree, commit])
}

export function removeIntegrationTree(paths: ProjectPaths, tree: string): void {
  if (!existsSync(tree)) return
  try {
    writeInRepository(paths, ['worktree', 'remove', '--force', '--force', tree])
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    // Git no longer knows it, but the folder is still ours.
    removeTree(tree)
  }
}

/** Removes the worktrees of killed merges. The caller holds the queue. */
export function removeOrphanedTrees(paths: ProjectPaths, delegates: readonly string[]): void {
  for (const id of delegates) removeIntegrationTree(paths, integrationTree(paths, id))
  for (const name of listFolder(worktreesFolder(paths)))
    if (isOrphanedDryRun(name)) removeIntegrationTree(paths, join(worktreesFolder(paths), name))
}

export function isOrphanedDryRun(name: string): boolean {
  const pid = /^try-[0-9a-f]{6}-(\d+)$/.exec(name)?.[1]
  if (pid === undefined) return false
  try {
    process.kill(Number(pid), 0)
    return false
  } catch {
    return true
  }
}

// The user's hooks, signing keys and recorded resolutions are for the user's own merges.
const WITHOUT_USER_CONFIG = [
  ...SAFE_CONFIG,
  ...['commit.gpgSign', 'rerere.enabled', 'merge.autoStash'].flatMap((key) => [
    '-c',
    `${key}=false`,
  ]),
]

export function mergeInto(
  tree: string,
  tip: string,
  message: string,
): readonly string[] | undefined {
  try {
    const how = ['--quiet', '--no-ff', '--no-edit', '-m', message]
    writeGit(tree, [...WITHOUT_USER_CONFIG, 'merge', ...how, tip], { env: identityFor(tree) })
    return undefined
  } catch (error) {
    if (!(error instanceof GitFailed) || error.status !== 1) throw error
    const listed = runGit(tree, ['diff', '--name-only', '--diff-filter=U', '-z'], {
      hasFilters: true,
    })
    const files = listed.split('\0').filter((path) => path !== '')
    if (files.length === 0) throw error
    return files
  }
}
