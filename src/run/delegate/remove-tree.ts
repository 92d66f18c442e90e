import { GitFailed, runGit } from '../../git/run-git.ts'
import { QUIETLY } from '../../git/working-tree.ts'
import type { Place } from '../../project/store/place.ts'
import { type RunTree, commitOf, repositoryAt } from '../worktree/tree.ts'
import { repositoryOf } from '../../project/store/worktrees.ts'

/** Takes away the worktree of a delegate, and its branch when that is at `tip`. Only for what is kept elsewhere. */
export function removeTree(
  place: Place,
  { branch, tree }: Pick<RunTree, 'branch' | 'tree'>,
  tip: string | undefined,
): void {
  const { mainRoot } = repositoryOf(place)
  try {
    if (repositoryAt(tree) !== undefined)
      runGit(mainRoot, [...QUIETLY, 'worktree', 'remove', '--force', tree])
    else runGit(mainRoot, ['worktree', 'prune'])
    if (
      tip !== undefined &&
      commitOf(mainRoot, branch) === tip &&
      !isCheckedOut(mainRoot, branch)
    ) {
      runGit(mainRoot, [...QUIETLY, 'update-ref', '-d', `refs/heads/${branch}`, tip])
    }
  } catch (error) {
    // A worktree that is locked or in use stays; it is in nobody's way.
    if (!(error instanceof GitFailed)) throw error
  }
}

function isCheckedOut(root: string, branch: string): boolean {
  return runGit(root, ['worktree', 'list', '--porcelain', '-z'])
    .split('\0')
    .includes(`branch refs/heads/${branch}`)
}
