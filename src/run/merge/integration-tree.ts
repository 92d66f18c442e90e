// Where merges are made and verified: a worktree on no branch, made afresh for each and thrown away behind it.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { identityFor } from '../../git/identity.ts'
import { GitFailed, runGit } from '../../git/run-git.ts'
import { QUIETLY } from '../../git/working-tree.ts'
import { createFolder, removeTree } from '../../journal/files.ts'
import { shortId } from '../../journal/ids.ts'
import { namesIn } from '../../journal/look.ts'
import type { Place } from '../../project/store/place.ts'
import { inRepository } from '../delegate/kept-commits.ts'
import { worktreesFolder } from '../../project/store/worktrees.ts'

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
