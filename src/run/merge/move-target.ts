import { GitFailed, runGit } from '../../git/run-git.ts'
import { QUIETLY } from '../../git/working-tree.ts'
import type { Place } from '../../project/store/place.ts'
import { commitOf } from '../worktree/tree.ts'
import { repositoryOf } from '../../project/store/worktrees.ts'
import { checkoutsOf, obstacleTo } from './checkouts.ts'
import { reasonOf } from './outcomes.ts'

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
  return commitOf(repositoryOf(place).commonDir, target)
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
