import { existsSync } from 'node:fs'
import { StintError } from '../../journal/errors.ts'
import { refuseInRun } from '../../project/store/in-run.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { repositoryOf } from '../../project/store/worktrees.ts'
import type { MergeOptions } from '../delegate/delegate-row.ts'
import { allDelegates, delegateNow, takeQueue } from '../delegate/delegates.ts'
import { type Listener, type MergeEvent, type MergeOutcome, emitTo } from '../entries.ts'
import { thisProcess } from '../loop/start-run.ts'
import { recoverWithQueue } from './finish.ts'
import { mergeOne, tidyAgain } from './merge-one.ts'
import { type MergeContext, reasonOf, say, waiting } from './outcomes.ts'
import { refuseWithoutGitHub } from './pull-request.ts'
import { removeLeftTrees } from './target.ts'

export async function mergeDelegates(
  workspace: Workspace,
  ids: readonly string[],
  options: MergeOptions,
  listener: (event: MergeEvent) => void,
): Promise<readonly MergeOutcome[]> {
  refuseInRun(workspace, 'merging')
  repositoryOf(workspace.place)
  const context: MergeContext = {
    workspace,
    options,
    emit: emitTo(listener as Listener),
    merger: thisProcess(),
    isStopped: options.isStopped ?? new AbortController().signal,
    at: async () => undefined,
    said: new Set(),
  }
  return mergeInTurn(context, ids)
}

/** The same with what tests put in place of this process. */
export async function mergeInTurn(
  context: MergeContext,
  ids: readonly string[],
): Promise<readonly MergeOutcome[]> {
  const { isStopped, merger, options, workspace } = context
  if (options.isPullRequest === true && options.isDryRun !== true)
    await refuseWithoutGitHub(workspace, ids)
  // A dry run changes nothing and need not wait.
  if (options.isDryRun === true) return mergeEach(context, ids)
  const release = await takeQueue(workspace.place, merger, {
    isStopped,
    waiting: () => say(context, 'somebody else merges just now; waiting for them to end'),
  })
  if (release === undefined) return mergeEach(context, ids)
  try {
    await recoverKilled(context)
    return await mergeEach(context, ids)
  } finally {
    release()
  }
}

async function recoverKilled(context: MergeContext) {
  const { merger, workspace } = context
  const all = allDelegates(workspace.place)
  for (const state of all) {
    const { id, order, run, status } = state
    try {
      if (status === 'merging') await recoverWithQueue(workspace, id, merger)
      // Its process died before it cleaned up. What stays for a reason was reported by the merge.
      if (status === 'merged' && existsSync(run.started.tree)) tidyAgain(workspace, state, () => {})
    } catch (error) {
      const why = `was cut off and could not be brought to an end: ${reasonOf(error)}`
      say(context, `the merge of ${order.name} ${why}`)
    }
  }
  const ids = all.map(({ id }) => id)
  removeLeftTrees(workspace.place, ids)
}

async function mergeEach(context: MergeContext, ids: readonly string[]) {
  const { emit, isStopped, workspace } = context
  const outcomes: MergeOutcome[] = []
  const defects: unknown[] = []
  for (const id of ids) {
    const state = delegateNow(workspace.place, id)
    if (isStopped.aborted) {
      outcomes.push(waiting(state, 'stopped before its turn'))
      continue
    }
    const { name, target } = state.order
    emit('merge.started', { id, target }, { delegate: name })
    try {
      const outcome = await mergeOne(context, state).catch((error: unknown) => {
        if (error instanceof StintError) return waiting(state, reasonOf(error), error.hint)
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
