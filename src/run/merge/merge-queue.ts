import { existsSync } from 'node:fs'
import { StintError } from '../../journal/errors.ts'
import { refuseInRun } from '../../project/store/run-environment.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { requireRepository } from '../../project/store/worktrees.ts'
import type { MergeOptions } from '../delegate/delegate-row.ts'
import { claimQueue, readDelegate, readDelegates } from '../delegate/delegates.ts'
import { type MergeEvent, type MergeOutcome, type RunListener, emitTo } from '../entries.ts'
import { thisProcess } from '../loop/start-run.ts'
import { recoverMergeInQueue } from './reconcile.ts'
import { cleanUpMergedAgain, mergeDelegate } from './merge-delegate.ts'
import { type MergeContext, boundedReason, emitMessage, waitingOutcome } from './merge-context.ts'
import { refuseWithoutGitHub } from './pull-request.ts'
import { removeOrphanedTrees } from './target-branch.ts'

export async function runMergeQueue(
  workspace: Workspace,
  ids: readonly string[],
  options: MergeOptions,
  listener: (event: MergeEvent) => void,
): Promise<readonly MergeOutcome[]> {
  refuseInRun(workspace, 'merging')
  requireRepository(workspace.paths)
  const context: MergeContext = {
    workspace,
    options,
    emit: emitTo(listener as RunListener),
    merger: thisProcess(),
    isStopped: options.isStopped ?? new AbortController().signal,
    afterStep: async () => undefined,
    emittedMessages: new Set(),
  }
  return mergeWithContext(context, ids)
}

/** Separate so that tests can pass their own context. */
export async function mergeWithContext(
  context: MergeContext,
  ids: readonly string[],
): Promise<readonly MergeOutcome[]> {
  const { isStopped, merger, options, workspace } = context
  if (options.isPullRequest === true && options.isDryRun !== true)
    await refuseWithoutGitHub(workspace, ids)
  // A dry run changes nothing and does not need the queue.
  if (options.isDryRun === true) return mergeInOrder(context, ids)
  const release = await claimQueue(workspace.paths, merger, {
    isStopped,
    waiting: () => emitMessage(context, 'somebody else merges just now; waiting for them to end'),
  })
  if (release === undefined) return mergeInOrder(context, ids)
  try {
    await recoverKilledMerges(context)
    return await mergeInOrder(context, ids)
  } finally {
    release()
  }
}

async function recoverKilledMerges(context: MergeContext) {
  const { merger, workspace } = context
  const all = readDelegates(workspace.paths)
  for (const state of all) {
    const { id, order, run, status } = state
    try {
      if (status === 'merging') await recoverMergeInQueue(workspace, id, merger)
      // Its process died before it cleaned up. The merge has already reported what stays for a reason.
      if (status === 'merged' && existsSync(run.started.tree))
        cleanUpMergedAgain(workspace, state, () => {})
    } catch (error) {
      const why = `was cut off and could not be brought to an end: ${boundedReason(error)}`
      emitMessage(context, `the merge of ${order.name} ${why}`)
    }
  }
  const ids = all.map(({ id }) => id)
  removeOrphanedTrees(workspace.paths, ids)
}

async function mergeInOrder(context: MergeContext, ids: readonly string[]) {
  const { emit, isStopped, workspace } = context
  const outcomes: MergeOutcome[] = []
  const defects: unknown[] = []
  for (const id of ids) {
    const state = readDelegate(workspace.paths, id)
    if (isStopped.aborted) {
      outcomes.push(waitingOutcome(state, 'stopped before its turn'))
      continue
    }
    const { name, target } = state.order
    emit('merge.started', { id, target }, { delegate: name })
    try {
      const outcome = await mergeDelegate(context, state).catch((error: unknown) => {
        if (error instanceof StintError)
          return waitingOutcome(state, boundedReason(error), error.hint)
        throw error
      })
      outcomes.push(outcome)
      emit('merge.ended', outcome, { delegate: name })
    } catch (error) {
      defects.push(error)
    }
  }
  // A defect must not hold up the other merges.
  if (defects.length > 0) throw defects[0]
  return outcomes
}
