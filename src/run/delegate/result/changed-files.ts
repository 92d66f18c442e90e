// What a delegate changed, told by git, also after its work has gone into the target.
import { GitFailed, runGit } from '../../../git/run-git.ts'
import type { Place } from '../../../project/store/place.ts'
import type { Workspace } from '../../../project/store/workspace.ts'
import { readRun } from '../../run-log.ts'
import { repositoryOf } from '../../../project/store/worktrees.ts'
import type { DelegateState } from '../delegate-state.ts'

const MOST_FILES = 40

/** The paths that its own commits changed, and not those that came to it from its target. Nothing when its commits are gone. */
export function changedFiles(
  workspace: Workspace,
  state: DelegateState,
  { isMerged }: { readonly isMerged: boolean },
): readonly string[] {
  if (state.order.isReadOnly) return []
  for (const [from, to] of pairsToCompare(workspace, state, isMerged)) {
    const paths = pathsBetween(workspace, from, to)
    if (paths !== undefined) return paths
  }
  return []
}

/** What to compare, the best first; what is missing in git is passed over. */
function pairsToCompare(
  { place }: Workspace,
  { id, merge, order, ready, run }: DelegateState,
  isMerged: boolean,
): readonly (readonly [from: string, to: string])[] {
  const { base, branch } = run.started
  const tip = `refs/heads/${branch}`
  // Once its work is in the target, only the log says what the target was before.
  const landed = isMerged ? (merge ?? lastMerge(place, id)) : undefined
  return [
    ...(landed === undefined ? [] : [[landed.onto, landed.tip] as const]),
    ...(isMerged ? [] : [[order.target, tip] as const]),
    [base, tip],
    ...(ready?.commit === undefined ? [] : [[base, ready.commit] as const]),
  ]
}

/** From where the two parted to the second; undefined when git does not know them. */
function pathsBetween(
  workspace: Workspace,
  from: string,
  to: string,
): readonly string[] | undefined {
  try {
    return runGit(repositoryOf(workspace.place).worktree, [
      'diff',
      '--name-only',
      '-z',
      `${from}...${to}`,
      '--',
    ])
      .split('\0')
      .filter((path) => path !== '')
      .slice(0, MOST_FILES)
  } catch (error) {
    if (error instanceof GitFailed) return undefined
    throw error
  }
}

/** The merge that landed: the last that was begun. */
function lastMerge(
  place: Place,
  delegate: string,
): { readonly onto: string; readonly tip: string } | undefined {
  const begun = readRun(place, delegate).findLast(({ kind }) => kind === 'merge.begun')
  return begun?.kind === 'merge.begun' ? begun.data : undefined
}
