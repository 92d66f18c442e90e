// Corrects what a process left that died while it worked on a delegate or merged it.
import type { ProcessTag } from '../../harness/contract/drive.ts'
import { isAlive } from '../../harness/process/spawn-guarded.ts'
import { StintError } from '../../journal/errors.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import {
  type DelegateState,
  QUEUE_CLAIM,
  delegateClaim,
  isOrphaned,
  newClaims,
  readDelegate,
  readDelegates,
  withClaim,
  withRunLog,
} from '../delegate/delegates.ts'
import { isSameProcess } from '../loop/claims.ts'
import { reportMissedToParent } from '../delegate/parent-journal.ts'
import { recordDelegateEnd } from '../delegate/start-delegate.ts'
import { endOrphanedProcesses } from '../loop/resume.ts'
import { thisProcess } from '../loop/start-run.ts'
import { finishMerge, isOnTarget, recordReadyAgain } from './finish-merge.ts'
import { requireOwnTree } from '../worktree/run-tree.ts'
import { integrationTree, removeIntegrationTree } from './target-branch.ts'

/** Corrects the status of an orphaned delegate and commits what its process left. Any other is returned unchanged. */
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
    requireOwnTree(workspace.paths, now.run.started)
    await endOrphanedProcesses(now.run)
    const { ended } = now.run
    const why = now.isStarted ? 'its process ended in the middle of it' : 'it was never begun'
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
  const { paths } = workspace
  const merger = thisProcess()
  const claims = newClaims(paths, merger)
  try {
    // If another process holds the queue, that one recovers it.
    return claims.claim(QUEUE_CLAIM)
      ? await recoverMergeInQueue(workspace, id, merger)
      : readDelegate(paths, id)
  } finally {
    claims.releaseAll()
  }
}

export async function recoverMergeInQueue(
  workspace: Workspace,
  id: string,
  merger: ProcessTag,
): Promise<DelegateState> {
  const { paths } = workspace
  const state = readDelegate(paths, id)
  const { merge } = state
  if (state.status !== 'merging' || merge === undefined) return state
  // Only the holder of the queue merges, so an earlier merge of this process has failed.
  if (!isSameProcess(merge.merger, merger) && isAlive(merge.merger)) return state
  await withRunLog(workspace, id, async (log) => {
    removeIntegrationTree(paths, integrationTree(paths, id))
    const { landing, tip } = merge
    if (landing === undefined || !isOnTarget(paths, landing))
      return recordReadyAgain(paths, log, state, { because: 'the merge was cut off', commit: tip })
    const say = (text: string) => workspace.say(text)
    const { target, to: commit } = landing
    await finishMerge({ workspace, say, afterStep: async () => {} }, log, state, {
      target,
      commit,
      tip,
    })
  })
  return readDelegate(paths, id)
}
