import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { commitOfRef } from '../../git/head.ts'
import { GitFailed, identityFor, runGit } from '../../git/run-git.ts'
import { type Repository, findRepository } from '../../git/repository.ts'
import { SAFE_CONFIG } from '../../git/working-tree.ts'
import { createFolder, removeTree } from '../../journal/files.ts'
import { shortId } from '../../journal/ids.ts'
import { listFolder, readOrUndefined } from '../../journal/read-files.ts'
import type { ProjectPaths } from '../../project/store/project-paths.ts'
import { requireRepository, worktreesFolder } from '../../project/store/worktrees.ts'
import { readDelegates, hasLiveProcess } from '../delegate/delegates.ts'
import { runGitInRepository } from '../delegate/delegate-commits.ts'
import { abbreviateList } from '../worktree/remove-worktree.ts'
import { isOperationInProgress } from '../worktree/rollback.ts'
import { uncommittedPaths } from '../worktree/run-tree.ts'
import { boundedReason } from './merge-context.ts'

interface Checkout {
  readonly path: string
  /** HEAD is detached for now, and comes back to this branch. */
  readonly isAway: boolean
}

export function checkoutsOf(place: ProjectPaths, branch: string): readonly Checkout[] {
  return runGitInRepository(place, 'worktree', 'list', '--porcelain', '-z')
    .split('\0\0')
    .map((record) => record.split('\0'))
    .filter((lines) => !lines.some((line) => line === 'bare' || /^prunable(?: |$)/.test(line)))
    .flatMap((lines): readonly Checkout[] => {
      const path = lines.find((line) => line.startsWith('worktree '))?.slice('worktree '.length)
      if (path === undefined) return []
      if (lines.includes(`branch refs/heads/${branch}`)) return [{ path, isAway: false }]
      return lines.includes('detached') && isAwayFrom(path, branch) ? [{ path, isAway: true }] : []
    })
}

/** In a rebase or a bisection HEAD is detached, and only these files name the branch. */
function isAwayFrom(path: string, branch: string) {
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

export function obstacleTo(
  place: ProjectPaths,
  branch: string,
  checkouts = checkoutsOf(place, branch),
): string | undefined {
  const [only, ...others] = checkouts
  if (only === undefined) return undefined
  if (others.length > 0)
    return `${branch} is checked out more than once: ${checkouts.map(({ path }) => path).join(', ')}`
  const { path, isAway } = only
  const repository = existsSync(path) ? findRepository(path) : undefined
  if (repository === undefined)
    return `${branch} is checked out in ${path}, which cannot be reached now`
  const holder = path.startsWith(worktreesFolder(place))
    ? readDelegates(place).find(({ run }) => run.started.tree === path)
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

type Moved = { is: 'moved' } | { is: 'gone on' } | { is: 'held'; because: string }

/** Fast-forwards the target from `from`, with its files where it is checked out, or changes nothing. */
export function moveTarget(
  place: ProjectPaths,
  { target, from, to, note }: { target: string; from: string; to: string; note: string },
): Moved {
  if (targetTip(place, target) !== from) return { is: 'gone on' }
  const checkouts = checkoutsOf(place, target)
  const because = obstacleTo(place, target, checkouts)
  if (because !== undefined) return { is: 'held', because }
  const tree = checkouts[0]?.path
  try {
    if (tree === undefined)
      runGitInRepository(
        place,
        ...SAFE_CONFIG,
        'update-ref',
        '-m',
        note,
        `refs/heads/${target}`,
        to,
        from,
      )
    else {
      // Without the last option git overwrites a file of the user's that it ignores.
      const how = ['--quiet', '--ff-only', '--no-overwrite-ignore']
      runGit(tree, [...PLAIN, 'merge', ...how, to], { env: { GIT_REFLOG_ACTION: note } })
    }
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    const now = targetTip(place, target)
    // Whatever git printed, the target says what happened.
    if (now === from) return { is: 'held', because: boundedReason(error) }
    if (now !== to) return { is: 'gone on' }
  }
  return { is: 'moved' }
}

export function targetTip(place: ProjectPaths, target: string): string | undefined {
  return commitOfRef(requireRepository(place), `refs/heads/${target}`)
}

export function integrationTree(place: ProjectPaths, delegate: string): string {
  return join(worktreesFolder(place), `merge-${shortId(delegate)}`)
}

/** For a dry run, which does not wait for its turn and so must not meet another. */
export function dryRunTreePath(place: ProjectPaths, delegate: string): string {
  return join(worktreesFolder(place), `try-${shortId(delegate)}-${process.pid}`)
}

export function makeIntegrationTree(place: ProjectPaths, tree: string, commit: string): void {
  removeIntegrationTree(place, tree)
  createFolder(join(tree, '..'))
  // By force, because git may still know the name of one whose folder is gone.
  const add = 'worktree add --quiet --force --force --detach'.split(' ')
  runGitInRepository(place, ...SAFE_CONFIG, ...add, tree, commit)
}

export function removeIntegrationTree(place: ProjectPaths, tree: string): void {
  if (!existsSync(tree)) return
  try {
    runGitInRepository(place, ...SAFE_CONFIG, 'worktree', 'remove', '--force', '--force', tree)
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    // Git does not know it any more; the folder is ours all the same.
    removeTree(tree)
  }
}

/** Removes what killed merges left. Only for the process that has the queue. */
export function removeOrphanedTrees(place: ProjectPaths, delegates: readonly string[]): void {
  for (const id of delegates) removeIntegrationTree(place, integrationTree(place, id))
  for (const name of listFolder(worktreesFolder(place)))
    if (isOrphanedDryRun(name)) removeIntegrationTree(place, join(worktreesFolder(place), name))
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

// The user's hooks, keys and remembered resolutions are for the user's own merges.
const PLAIN = [
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
    runGit(tree, [...PLAIN, 'merge', ...how, tip], { env: identityFor(tree) })
    return undefined
  } catch (error) {
    if (!(error instanceof GitFailed) || error.status !== 1) throw error
    const listed = runGit(tree, ['diff', '--name-only', '--diff-filter=U', '-z'])
    const files = listed.split('\0').filter((path) => path !== '')
    if (files.length === 0) throw error
    return files
  }
}
