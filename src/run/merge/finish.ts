// What follows when a delegate's work is on its target. Each step may be made again, after a crash in the middle.
import { existsSync } from 'node:fs'
import { QUIETLY } from '../../git/working-tree.ts'
import { tryGit } from '../../git/run-git.ts'
import { StintError } from '../../journal/errors.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import type { Place } from '../../project/store/place.ts'
import { repositoryOf } from '../../project/store/worktrees.ts'
import type { RunLog } from '../run-log.ts'
import { removeIfClean } from '../worktree/remove-if-clean.ts'
import {
  commitsBeyond,
  contains,
  hasCommit,
  keepProved,
  keepStrayCommits,
  letGoOfProved,
} from '../delegate/kept-commits.ts'
import type { DelegateState } from '../delegate/delegates.ts'
import { mergeJournals } from '../delegate/parent-journal.ts'
import { checkoutsOf, targetNow } from './target.ts'
import { integrationTree, removeIntegrationTree } from './integration-tree.ts'
import { reasonOf } from './outcomes.ts'
import type { MergeStep } from './merge-context.ts'
import type { DelegateMove } from '../entries.ts'
import { defined } from '../../text/defined.ts'

export interface Landing {
  readonly target: string
  /** What the target was moved to. */
  readonly commit: string
  /** The delegate's own last commit. */
  readonly tip: string
}

interface Finishing {
  readonly workspace: Workspace
  readonly say: (text: string) => void
  readonly at: (step: MergeStep) => Promise<void>
}

/** The name under which a merge is kept until the target has it. */
export function keptMerge(delegate: string): string {
  return `refs/stint/runs/${delegate}/merge`
}

/** Nothing of it was merged: it waits for the next time, with the commit to merge kept. */
export function readyAgain(
  place: Place,
  log: RunLog,
  state: DelegateState,
  move: Pick<DelegateMove, 'because' | 'commit' | 'pr'>,
): void {
  keepProved(place, state.id, move.commit)
  log.append('delegate.moved', { ...state.ready, to: 'ready', ...move })
}

/** After a crash the target branch itself says whether a merge landed. */
export function isOnTarget(
  place: Place,
  { target, to }: { readonly target: string; readonly to: string },
): boolean {
  const now = targetNow(place, target)
  return now !== undefined && hasCommit(place, to) && contains(place, now, to)
}

export async function finish(
  { workspace, say, at }: Finishing,
  log: RunLog,
  state: DelegateState,
  landing: Landing,
): Promise<void> {
  const { target, commit, tip } = landing
  const summary = state.ready?.summary
  await mergeJournals(workspace, state, { commit, target })
  await at('journals merged')
  const commits = commitsBeyond(workspace.place, state.run.started.base, [tip])
  log.append('delegate.moved', {
    to: 'merged',
    commit,
    target,
    commits,
    ...defined({ summary }),
  })
  await at('merged')
  try {
    tidy(workspace, state, landing, say)
  } catch (error) {
    // It is merged all the same.
    if (!(error instanceof StintError)) throw error
    say(
      `${state.order.name} is merged, but not all that it leaves could be put away: ${reasonOf(error)}`,
    )
  }
}

/** Takes away what a merged delegate needs no more. What is not in the target stays, and so does what somebody uses. */
export function tidy(
  { place }: Workspace,
  state: DelegateState,
  { target, tip }: Omit<Landing, 'commit'>,
  say: (text: string) => void,
): void {
  const { branch, isInPlace, options, tree } = state.run.started
  removeIntegrationTree(place, integrationTree(place, state.id))
  const now = targetNow(place, target)
  if (now === undefined || !contains(place, now, tip)) return
  deleteReference(keptMerge(state.id))
  letGoOfProved(place, state.id, now)
  // A branch that was named by a person is that person's.
  if (isInPlace || branch === target || options.branch !== undefined) return
  keepStrayCommits(place, state, say)
  if (existsSync(tree)) removeIfClean(place, state.run.started, say)
  else quietly('worktree', 'remove', '--force', tree)
  const at = targetNow(place, branch)
  if (at === undefined) return
  if (at !== tip && !contains(place, now, at))
    return say(`${branch} is left: it has gone on from what was merged`)
  // Its own worktree is left when it holds what is in no commit.
  if (checkoutsOf(place, branch).length === 0) deleteReference(`refs/heads/${branch}`, at)

  function deleteReference(name: string, expected?: string): void {
    quietly('update-ref', '-d', name, ...(expected === undefined ? [] : [expected]))
  }

  /** What somebody has moved or locked in between stays. */
  function quietly(...args: readonly string[]): void {
    tryGit(repositoryOf(place).commonDir, [...QUIETLY, ...args])
  }
}
