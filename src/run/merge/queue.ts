// The merge queue: the work of delegates goes into its targets one after the other, and what does not go in holds up nobody.
import { existsSync } from 'node:fs'
import { StintError } from '../../journal/errors.ts'
import { refuseInRun } from '../../project/store/in-run.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { thisProcess } from '../loop/start-run.ts'
import { repositoryOf } from '../../project/store/worktrees.ts'
import type { MergeOptions } from '../delegate/delegate-row.ts'
import { allDelegates, delegateNow, takeQueue } from '../delegate/delegates.ts'
import { removeLeftTrees } from './target.ts'
import { mergeOne, tidyAgain } from './merge-one.ts'
import { type MergeContext, reasonOf, say, waiting } from './outcomes.ts'
import { refuseWithoutGitHub } from './pull-request.ts'
import { recoverWithQueue } from './finish.ts'
import { type Listener, type MergeEvent, type MergeOutcome, emitTo } from '../entries.ts'

/** Merges delegates in the order given, each into its own target. */
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

/** The same with all that tests put in place of this process. */
export async function mergeInTurn(
  context: MergeContext,
  ids: readonly string[],
): Promise<readonly MergeOutcome[]> {
  const { isStopped, merger, options, workspace } = context
  const { place } = workspace
  if (options.isPullRequest === true && options.isDryRun !== true)
    await refuseWithoutGitHub(workspace, ids)
  // A dry run changes nothing, and so need not wait for its turn.
  if (options.isDryRun === true) return mergeEach(context, ids)
  const letGo = await takeQueue(place, merger, {
    isStopped,
    waiting: () => say(context, 'somebody else merges just now; waiting for them to end'),
  })
  if (letGo === undefined) return ids.map((id) => notBegun(context, id))
  try {
    await bringToAnEnd(context)
    return await mergeEach(context, ids)
  } finally {
    letGo()
  }
}

/** What killed merges left. One that cannot be brought to an end is said, and holds up nobody. */
async function bringToAnEnd(context: MergeContext): Promise<void> {
  const { merger, workspace } = context
  const all = allDelegates(workspace.place)
  for (const state of all) {
    const { id, order, run, status } = state
    try {
      if (status === 'merging') await recoverWithQueue(workspace, id, merger)
      // Died between its last word and putting things away. What stays for a reason was told when it was merged.
      if (status === 'merged' && existsSync(run.started.tree)) tidyAgain(workspace, state, () => {})
    } catch (error) {
      const why = `was cut off and could not be brought to an end: ${reasonOf(error)}`
      say(context, `the merge of ${order.name} ${why}`)
    }
  }
  removeLeftTrees(
    workspace.place,
    all.map(({ id }) => id),
  )
}

async function mergeEach(
  context: MergeContext,
  ids: readonly string[],
): Promise<readonly MergeOutcome[]> {
  const { emit, isStopped, workspace } = context
  const outcomes: MergeOutcome[] = []
  const defects: unknown[] = []
  for (const id of ids) {
    if (isStopped.aborted) {
      outcomes.push(notBegun(context, id))
      continue
    }
    const state = delegateNow(workspace.place, id)
    const { name, target } = state.order
    const about = { delegate: name }
    emit('merge.started', { id, target }, about)
    try {
      const outcome = await mergeOne(context, state).catch((error: unknown) => {
        if (error instanceof StintError) return waiting(state, reasonOf(error), error.hint)
        throw error
      })
      outcomes.push(outcome)
      emit('merge.ended', outcome, about)
    } catch (error) {
      defects.push(error)
    }
  }
  // A defect is thrown behind the other merges, which it must not hold up.
  if (defects.length > 0) throw defects[0]
  return outcomes
}

function notBegun({ workspace }: MergeContext, id: string): MergeOutcome {
  return waiting(delegateNow(workspace.place, id), 'stopped before its turn')
}
