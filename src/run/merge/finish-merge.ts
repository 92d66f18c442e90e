// What follows once a delegate's work is on its target, and what a process that died in the middle left. Each step may be repeated.
import { existsSync } from 'node:fs'
import { tryGit } from '../../git/run-git.ts'
import { SAFE_CONFIG } from '../../git/working-tree.ts'
import type { ProcessTag } from '../../harness/contract/drive.ts'
import { isAlive } from '../../harness/process/spawn-guarded.ts'
import { StintError } from '../../journal/errors.ts'
import type { ProjectPaths } from '../../project/store/project-paths.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { requireRepository } from '../../project/store/worktrees.ts'
import { defined } from '../../text/defined.ts'
import {
  type DelegateState,
  QUEUE_CLAIM,
  readDelegates,
  readDelegate,
  withClaim,
  isOrphaned,
  isSameProcess,
  newClaims,
  delegateClaim,
  withRunLog,
} from '../delegate/delegates.ts'
import {
  countCommitsBeyond,
  containsCommit,
  hasCommit,
  saveProvedRef,
  saveOrphanedCommits,
  deleteProvedRef,
} from '../delegate/delegate-commits.ts'
import { mergeJournals, reportMissedToParent } from '../delegate/parent-journal.ts'
import { recordDelegateEnd } from '../delegate/start-delegate.ts'
import type { DelegateMove } from '../entries.ts'
import { endOrphanedProcesses } from '../loop/resume.ts'
import { thisProcess } from '../loop/start-run.ts'
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

/** Nothing of it was merged: it is ready for the next time, with the commit to merge kept. */
export function recordReadyAgain(
  place: ProjectPaths,
  log: RunLog,
  state: DelegateState,
  move: Pick<DelegateMove, 'because' | 'commit' | 'pr'>,
): void {
  saveProvedRef(place, state.id, move.commit)
  log.append('delegate.moved', { ...state.ready, to: 'ready', ...move })
}

/** After a crash the target branch itself says whether a merge landed. */
export function isOnTarget(
  place: ProjectPaths,
  { target, to }: { target: string; to: string },
): boolean {
  const now = targetTip(place, target)
  return now !== undefined && hasCommit(place, to) && containsCommit(place, now, to)
}

export async function finishMerge(
  context: {
    workspace: Workspace
    say: (text: string) => void
    at: (step: MergeStep) => Promise<void>
  },
  log: RunLog,
  state: DelegateState,
  landing: Landing,
): Promise<void> {
  const { workspace, say, at } = context
  const { target, commit, tip } = landing
  const summary = state.ready?.summary
  await mergeJournals(workspace, state, { commit, target })
  await at('journals merged')
  const commits = countCommitsBeyond(workspace.paths, state.run.started.base, [tip])
  const move = { to: 'merged', commit, target, commits, ...defined({ summary }) } as const
  log.append('delegate.moved', move)
  await at('merged')
  try {
    cleanUpMerged(workspace, state, landing, say)
  } catch (error) {
    // It is merged all the same.
    if (!(error instanceof StintError)) throw error
    say(
      `${state.order.name} is merged, but not all that it leaves could be put away: ${boundedReason(error)}`,
    )
  }
}

/** Removes what a merged delegate left, but nothing that the target lacks or that is in use. */
export function cleanUpMerged(
  { paths: place }: Workspace,
  state: DelegateState,
  { target, tip }: Omit<Landing, 'commit'>,
  say: (text: string) => void,
): void {
  const { branch, isInPlace, options, tree } = state.run.started
  removeIntegrationTree(place, integrationTree(place, state.id))
  const now = targetTip(place, target)
  if (now === undefined || !containsCommit(place, now, tip)) return
  // What was moved or locked meanwhile stays.
  const quietly = (...args: readonly string[]) =>
    tryGit(requireRepository(place).commonDir, [...SAFE_CONFIG, ...args])
  quietly('update-ref', '-d', mergeRef(state.id))
  deleteProvedRef(place, state.id, now)
  // A branch that a person named is that person's.
  if (isInPlace || branch === target || options.branch !== undefined) return
  saveOrphanedCommits(place, state, say)
  if (existsSync(tree)) removeTreeIfClean(place, state.run.started, say)
  else quietly('worktree', 'remove', '--force', tree)
  const at = targetTip(place, branch)
  if (at === undefined) return
  if (at !== tip && !containsCommit(place, now, at))
    return say(`${branch} is left: it has gone on from what was merged`)
  // Its worktree is left when it holds what is in no commit.
  if (checkoutsOf(place, branch).length === 0)
    quietly('update-ref', '-d', `refs/heads/${branch}`, at)
}

/** Brings an orphaned delegate to its real status, committing what its process left. Any other is returned as it is. */
export async function reconcileDelegate(
  workspace: Workspace,
  state: DelegateState,
): Promise<DelegateState> {
  if (!isOrphaned(state)) return state
  if (state.status === 'merging') return recoverMerge(workspace, state)
  return withClaim(workspace.paths, delegateClaim(state.id), async () => {
    const now = readDelegate(workspace.paths, state.id)
    // Another process may have started or reconciled it meanwhile.
    if (!isOrphaned(now) || now.status === 'merging') return now
    await endOrphanedProcesses(now.run)
    const { ended } = now.run
    const why = now.isBegun ? 'its process ended in the middle of it' : 'it was never begun'
    return recordDelegateEnd(
      workspace,
      now.id,
      ended ?? 'interrupted',
      ended === undefined ? why : undefined,
    )
  })
}

export async function reconcileDelegates(workspace: Workspace): Promise<readonly DelegateState[]> {
  const states: DelegateState[] = []
  for (const state of readDelegates(workspace.paths)) {
    try {
      states.push(await reconcileDelegate(workspace, state))
    } catch (error) {
      if (!(error instanceof StintError)) throw error
      workspace.say(`${state.order.name} cannot be settled now: ${error.message}`)
      states.push(readDelegate(workspace.paths, state.id))
    }
  }
  await reportMissedToParent(workspace, states)
  return states
}

export async function recoverMerge(
  workspace: Workspace,
  { id }: DelegateState,
): Promise<DelegateState> {
  const { paths: place } = workspace
  const merger = thisProcess()
  const claims = newClaims(place, merger)
  try {
    // The process that has the queue recovers it as well.
    return claims.take(QUEUE_CLAIM)
      ? await recoverMergeInQueue(workspace, id, merger)
      : readDelegate(place, id)
  } finally {
    claims.releaseAll()
  }
}

export async function recoverMergeInQueue(
  workspace: Workspace,
  id: string,
  merger: ProcessTag,
): Promise<DelegateState> {
  const { paths: place } = workspace
  const state = readDelegate(place, id)
  const { merge } = state
  if (state.status !== 'merging' || merge === undefined) return state
  // Only the holder of the queue merges, so what this process began before has failed.
  if (!isSameProcess(merge.merger, merger) && isAlive(merge.merger)) return state
  await withRunLog(workspace, id, async (log) => {
    removeIntegrationTree(place, integrationTree(place, id))
    const { landing, tip } = merge
    if (landing === undefined || !isOnTarget(place, landing))
      return recordReadyAgain(place, log, state, { because: 'the merge was cut off', commit: tip })
    const say = (text: string) => workspace.say(text)
    const { target, to: commit } = landing
    await finishMerge({ workspace, say, at: async () => {} }, log, state, { target, commit, tip })
  })
  return readDelegate(place, id)
}
