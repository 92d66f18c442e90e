// Where a branch is checked out, and whether it can be moved there.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { commitOfRef } from '../../git/head.ts'
import { type Repository, findRepository } from '../../git/repository.ts'
import { GitFailed, runGit } from '../../git/run-git.ts'
import { QUIETLY } from '../../git/working-tree.ts'
import { namesIn, readOrUndefined } from '../../journal/look.ts'
import type { Place } from '../../project/store/place.ts'
import { repositoryOf, worktreesFolder } from '../../project/store/worktrees.ts'
import { allDelegates, isAttended } from '../delegate/delegates.ts'
import { isInTheMiddle } from '../worktree/rollback.ts'
import { fewOf } from '../worktree/remove-if-clean.ts'
import { uncommitted } from '../worktree/tree.ts'
import { reasonOf } from './outcomes.ts'
import { inRepository } from '../delegate/kept-commits.ts'
import { identityFor } from '../../git/identity.ts'
import { createFolder, removeTree } from '../../journal/files.ts'
import { shortId } from '../../journal/ids.ts'

export interface Checkout {
  readonly path: string
  /** HEAD is on no branch for now, and comes back to this one. */
  readonly isAway: boolean
}

/** Every worktree that has the branch. One whose folder is gone for good has none. */
export function checkoutsOf(place: Place, branch: string): readonly Checkout[] {
  return inRepository(place, 'worktree', 'list', '--porcelain', '-z')
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

/** In a rebase or a bisection HEAD is detached, and only these files say from which branch. */
function isAwayFrom(path: string, branch: string): boolean {
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

/** Why the branch cannot be moved now; undefined when it can. */
export function obstacleTo(
  place: Place,
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
    ? allDelegates(place).find(({ run }) => run.started.tree === path)
    : undefined
  if (holder !== undefined && isAttended(holder))
    return `${holder.order.name} is at work in ${path}, which has ${branch} checked out`
  if (isAway || isInTheMiddle(repository))
    return `${path}, which has ${branch} checked out, is in the middle of ${midst(repository)}`
  const dirty = uncommitted(path)
  return dirty.length === 0
    ? undefined
    : `${path} has ${branch} checked out and changes that are not committed: ${fewOf(dirty)}`
}

function midst({ gitDir }: Repository): string {
  const has = (name: string) => existsSync(join(gitDir, name))
  if (has('rebase-merge') || has('rebase-apply')) return 'a rebase'
  if (has('MERGE_HEAD')) return 'a merge'
  return has('BISECT_LOG') ? 'a bisection' : 'a cherry-pick or a revert'
}

export interface TargetMove {
  readonly target: string
  /** Where it has to be still. */
  readonly from: string
  readonly to: string
  /** What its reflog says. */
  readonly note: string
}

export type Moved =
  | { readonly is: 'moved' }
  | { readonly is: 'gone on' }
  | { readonly is: 'held'; readonly because: string }

/** Moves the target by fast-forward, where it is checked out together with the files there. All of it happens, or nothing. */
export function moveTarget(place: Place, move: TargetMove): Moved {
  const { target, from } = move
  if (targetNow(place, target) !== from) return { is: 'gone on' }
  const checkouts = checkoutsOf(place, target)
  const because = obstacleTo(place, target, checkouts)
  if (because !== undefined) return { is: 'held', because }
  try {
    if (checkouts[0] === undefined) moveReference(place, move)
    else moveCheckout(checkouts[0].path, move)
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    const now = targetNow(place, target)
    // Whatever git complained of, the target says what became of it.
    if (now === move.to) return { is: 'moved' }
    return now === from ? { is: 'held', because: reasonOf(error) } : { is: 'gone on' }
  }
  return { is: 'moved' }
}

export function targetNow(place: Place, target: string): string | undefined {
  return commitOfRef(repositoryOf(place), `refs/heads/${target}`)
}

function moveReference(place: Place, { target, from, to, note }: TargetMove): void {
  runGit(repositoryOf(place).commonDir, [
    ...QUIETLY,
    'update-ref',
    '-m',
    note,
    `refs/heads/${target}`,
    to,
    from,
  ])
}

function moveCheckout(tree: string, { to, note }: TargetMove): void {
  const never = ['-c', 'merge.autoStash=false', '-c', 'rerere.enabled=false']
  // Without the last one git would go over a file of the user's that it ignores.
  const how = ['--quiet', '--ff-only', '--no-overwrite-ignore']
  runGit(tree, [...QUIETLY, ...never, 'merge', ...how, to], { env: { GIT_REFLOG_ACTION: note } })
}

// Where merges are made and verified: a worktree on no branch, made afresh for each and thrown away behind it.

export function integrationTree(place: Place, delegate: string): string {
  return join(worktreesFolder(place), `merge-${shortId(delegate)}`)
}

/** For a dry run, which does not wait for its turn and so must not meet anybody. */
export function treeToTryIn(place: Place, delegate: string): string {
  return join(worktreesFolder(place), `try-${shortId(delegate)}-${process.pid}`)
}

/** What is at the place is ours, left by a merge that was killed. */
export function makeTree(place: Place, tree: string, commit: string): void {
  removeIntegrationTree(place, tree)
  createFolder(join(tree, '..'))
  // By force, because git may still have the name of one whose folder is gone.
  inRepository(
    place,
    ...QUIETLY,
    'worktree',
    'add',
    '--quiet',
    '--force',
    '--force',
    '--detach',
    tree,
    commit,
  )
}

export function removeIntegrationTree(place: Place, tree: string): void {
  if (!existsSync(tree)) return
  try {
    inRepository(place, ...QUIETLY, 'worktree', 'remove', '--force', '--force', tree)
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    // Git does not know it, or not any more; the folder is ours all the same.
    removeTree(tree)
  }
}

/** Takes away what killed merges of these left. Only for who has the queue, since nobody else merges then. */
export function removeLeftTrees(place: Place, delegates: readonly string[]): void {
  for (const id of delegates) removeIntegrationTree(place, integrationTree(place, id))
  for (const name of namesIn(worktreesFolder(place))) {
    if (isOfDeadTry(name)) removeIntegrationTree(place, join(worktreesFolder(place), name))
  }
}

/** Whether a worktree of this name is of a dry run that is over. */
export function isOfDeadTry(name: string): boolean {
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
  ...QUIETLY,
  '-c',
  'commit.gpgSign=false',
  '-c',
  'rerere.enabled=false',
  '-c',
  'merge.autoStash=false',
]

/** Merges a commit into what is checked out. Answers the paths in conflict, if it does not go together. */
export function mergeInto(
  tree: string,
  tip: string,
  message: string,
): readonly string[] | undefined {
  try {
    runGit(tree, [...PLAIN, 'merge', '--quiet', '--no-ff', '--no-edit', '-m', message, tip], {
      env: identityFor(tree),
    })
    return undefined
  } catch (error) {
    if (!(error instanceof GitFailed) || error.status !== 1) throw error
    const files = runGit(tree, ['diff', '--name-only', '--diff-filter=U', '-z'])
      .split('\0')
      .filter((path) => path !== '')
    if (files.length === 0) throw error
    return files
  }
}
