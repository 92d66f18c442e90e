// What follows once a delegate's work is on its target. Each step may be repeated.
import { existsSync } from 'node:fs'
import { unlessGitFails } from '../../git/run-git.ts'
import { StintError } from '../../journal/errors.ts'
import type { ProjectPaths } from '../../project/store/project-paths.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { defined } from '../../text/defined.ts'
import type { DelegateState } from '../delegate/delegates.ts'
import {
  containsCommit,
  countCommitsBeyond,
  deleteProvedRef,
  hasCommit,
  saveOrphanedCommits,
  saveProvedRef,
  writeInRepository,
} from '../delegate/delegate-commits.ts'
import { mergeJournals } from '../delegate/parent-journal.ts'
import type { DelegateStatusChange } from '../entries.ts'
import type { RunLog } from '../run-log.ts'
import { removeTreeIfClean } from '../worktree/remove-worktree.ts'
import { type MergeStep, boundedReason } from './merge-context.ts'
import { checkoutsOf, integrationTree, removeIntegrationTree, targetTip } from './target-branch.ts'

interface Landing {
  readonly target: string
  readonly commit: string
  readonly tip: string
}

export function mergeRef(delegate: string): string {
  return `refs/stint/runs/${delegate}/merge`
}

/** Nothing was merged: it is ready for the next merge, with the commit saved. */
export function recordReadyAgain(
  paths: ProjectPaths,
  log: RunLog,
  state: DelegateState,
  move: Pick<DelegateStatusChange, 'because' | 'commit' | 'pr'>,
): void {
  saveProvedRef(paths, state.id, move.commit)
  log.append('delegate.moved', { ...state.ready, to: 'ready', ...move })
}

/** After a crash the target branch itself shows whether a merge landed. */
export function isOnTarget(
  paths: ProjectPaths,
  { target, to }: { target: string; to: string },
): boolean {
  const now = targetTip(paths, target)
  return now !== undefined && hasCommit(paths, to) && containsCommit(paths, now, to)
}

export async function finishMerge(
  context: {
    workspace: Workspace
    say: (text: string) => void
    afterStep: (step: MergeStep) => Promise<void>
  },
  log: RunLog,
  state: DelegateState,
  landing: Landing,
): Promise<void> {
  const { workspace, say, afterStep } = context
  const { target, commit, tip } = landing
  const summary = state.ready?.summary
  await mergeJournals(workspace, state, { commit, target })
  await afterStep('journals merged')
  const commits = countCommitsBeyond(workspace.paths, state.run.started.base, [tip])
  const move = { to: 'merged', commit, target, commits, ...defined({ summary }) } as const
  log.append('delegate.moved', move)
  await afterStep('merged')
  try {
    cleanUpMerged(workspace, state, landing, say)
  } catch (error) {
    // It is merged even if the cleanup failed.
    if (!(error instanceof StintError)) throw error
    say(
      `${state.order.name} is merged, but not all that it leaves could be put away: ${boundedReason(error)}`,
    )
  }
}

/** Removes worktree and branch of a merged delegate, but nothing the target lacks or that is in use. */
export function cleanUpMerged(
  { paths }: Workspace,
  state: DelegateState,
  { target, tip }: Omit<Landing, 'commit'>,
  say: (text: string) => void,
): void {
  const { branch, isInPlace, options, tree } = state.run.started
  removeIntegrationTree(paths, integrationTree(paths, state.id))
  const targetNow = targetTip(paths, target)
  if (targetNow === undefined || !containsCommit(paths, targetNow, tip)) return
  // Fails silently for what was moved or locked meanwhile.
  const quietly = (...args: readonly string[]) =>
    unlessGitFails(() => writeInRepository(paths, args))
  quietly('update-ref', '-d', mergeRef(state.id))
  deleteProvedRef(paths, state.id, targetNow)
  // A branch that the user named belongs to the user.
  if (isInPlace || branch === target || options.branch !== undefined) return
  saveOrphanedCommits(paths, state, say)
  if (existsSync(tree)) removeTreeIfClean(paths, state.run.started, say)
  else quietly('worktree', 'remove', '--force', tree)
  const branchNow = targetTip(paths, branch)
  if (branchNow === undefined) return
  if (branchNow !== tip && !containsCommit(paths, targetNow, branchNow))
    return say(`${branch} is left: it has gone on from what was merged`)
  // Its worktree stays when it holds uncommitted files.
  if (checkoutsOf(paths, branch).length === 0)
    quietly('update-ref', '-d', `refs/heads/${branch}`, branchNow)
}
