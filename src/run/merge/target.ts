// Where a branch is checked out, and whether it can be moved there.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { commitOfRef } from '../../git/head.ts'
import { type Repository, findRepository } from '../../git/repository.ts'
import { GitFailed, runGit } from '../../git/run-git.ts'
import { QUIETLY } from '../../git/working-tree.ts'
import { readOrUndefined } from '../../journal/look.ts'
import type { Place } from '../../project/store/place.ts'
import { repositoryOf, worktreesFolder } from '../../project/store/worktrees.ts'
import { allDelegates, isAttended } from '../delegate/delegates.ts'
import { isInTheMiddle } from '../worktree/rollback.ts'
import { fewOf } from '../worktree/remove-if-clean.ts'
import { uncommitted } from '../worktree/tree.ts'
import { reasonOf } from './outcomes.ts'
import { inRepository } from '../delegate/kept-commits.ts'

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
