// What somebody who works no more has left uncommitted is committed to their branch as it was found, so that it is in the
// history that people look at.
import { keepCode } from '../../git/code-checkpoint.ts'
import { readHead } from '../../git/head.ts'
import { removeLeftLocks } from '../../git/left-locks.ts'
import { runGit } from '../../git/run-git.ts'
import { QUIETLY } from '../../git/working-tree.ts'
import type { Place } from '../../project/store/place.ts'
import { isInTheMiddle, keepAndSetBack } from './rollback.ts'
import { NOT_WORK, type RunTree, commitOf, repositoryAt, uncommitted } from './tree.ts'
import { repositoryOf } from '../../project/store/worktrees.ts'
import { defined } from '../../text/defined.ts'

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
