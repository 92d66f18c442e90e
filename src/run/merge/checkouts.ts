// Where a branch is checked out, and whether it can be moved there.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Repository, findRepository } from '../../git/repository.ts'
import { readOrUndefined } from '../../journal/look.ts'
import type { Place } from '../../project/store/place.ts'
import { isInTheMiddle } from '../worktree/rollback.ts'
import { uncommitted } from '../worktree/tree.ts'
import { worktreesFolder } from '../../project/store/worktrees.ts'
import { allDelegates, isAttended } from '../delegate/delegates.ts'
import { inRepository } from './integration-tree.ts'

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
    : `${path} has ${branch} checked out and changes that are not committed: ${listed(dirty)}`
}

function midst({ gitDir }: Repository): string {
  const has = (name: string) => existsSync(join(gitDir, name))
  if (has('rebase-merge') || has('rebase-apply')) return 'a rebase'
  if (has('MERGE_HEAD')) return 'a merge'
  return has('BISECT_LOG') ? 'a bisection' : 'a cherry-pick or a revert'
}

function listed(paths: readonly string[]): string {
  const more = paths.length > 5 ? ` and ${paths.length - 5} more` : ''
  return `${paths.slice(0, 5).join(', ')}${more}`
}
