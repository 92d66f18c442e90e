// The merge queue: the work of delegates goes into its targets one after the other, and what does not go in holds up nobody.
import { existsSync } from 'node:fs'
import { StintError } from '../../journal/errors.ts'
import { refuseInRun } from '../../project/store/in-run.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { thisProcess } from '../loop/start-run.ts'
import { repositoryOf } from '../../project/store/worktrees.ts'
import type { MergeEvent, MergeOptions, MergeOutcome } from '../delegate/contract.ts'
import { allDelegates, delegateNow } from '../delegate/delegates.ts'
import { removeLeftTrees } from './integration-tree.ts'
import { mergeOne, tidyAgain } from './merge-one.ts'
import { again, outcomeOf, reasonOf } from './outcomes.ts'
import { refuseWithoutGitHub } from './pull-request.ts'
import { takeQueue } from '../delegate/in-turn.ts'
import { recoverWithQueue } from './reconcile.ts'
import type { MergeScene } from './merge-context.ts'

/** Merges delegates in the order given, each into its own target. */
export async function mergeDelegates(
  workspace: Workspace,
  ids: readonly string[],
  options: MergeOptions,
  tell: (event: MergeEvent) => void,
): Promise<readonly MergeOutcome[]> {
  refuseInRun(workspace, 'merging')
  repositoryOf(workspace.place)
  const scene: MergeScene = {
    workspace,
    options,
    tell,
    merger: thisProcess(),
    isStopped: options.isStopped ?? new AbortController().signal,
    at: async () => undefined,
    said: new Set(),
  }
  return mergeInTurn(scene, ids)
}

/** The same with all that tests put in place of this process. */
export async function mergeInTurn(
  scene: MergeScene,
  ids: readonly string[],
): Promise<readonly MergeOutcome[]> {
  const { isStopped, merger, options, tell, workspace } = scene
  const { place } = workspace
  if (options.isPullRequest === true && options.isDryRun !== true)
    await refuseWithoutGitHub(workspace, ids)
  // A dry run changes nothing, and so need not wait for its turn.
  if (options.isDryRun === true) return mergeEach(scene, ids)
  const waiting = () =>
    tell({ type: 'said', text: 'somebody else merges just now; waiting for them to end' })
  const letGo = await takeQueue(place, merger, { isStopped, waiting })
  if (letGo === undefined) return ids.map((id) => notBegun(scene, id))
  try {
    await bringToAnEnd(scene)
    return await mergeEach(scene, ids)
  } finally {
    letGo()
  }
}

/** What killed merges left. One that cannot be brought to an end is said, and holds up nobody. */
async function bringToAnEnd({ merger, tell, workspace }: MergeScene): Promise<void> {
  const all = allDelegates(workspace.place)
  for (const state of all) {
    const { id, order, run, status } = state
    try {
      if (status === 'merging') await recoverWithQueue(workspace, id, merger)
      // Died between its last word and putting things away. What stays for a reason was told when it was merged.
      if (status === 'merged' && existsSync(run.started.tree)) tidyAgain(workspace, state, () => {})
    } catch (error) {
      tell({
        type: 'said',
        text: `the merge of ${order.name} was cut off and could not be brought to an end: ${reasonOf(error)}`,
      })
    }
  }
  const ids = all.map(({ id }) => id)
  removeLeftTrees(workspace.place, ids)
}

async function mergeEach(
  scene: MergeScene,
  ids: readonly string[],
): Promise<readonly MergeOutcome[]> {
  const { isStopped, tell, workspace } = scene
  const outcomes: MergeOutcome[] = []
  const defects: unknown[] = []
  for (const id of ids) {
    if (isStopped.aborted) {
      outcomes.push(notBegun(scene, id))
      continue
    }
    const state = delegateNow(workspace.place, id)
    tell({
      type: 'merge.started',
      delegate: id,
      name: state.order.name,
      target: state.order.target,
    })
    try {
      const outcome = await mergeOne(scene, state)
      outcomes.push(outcome)
      tell({ type: 'merge.ended', outcome })
    } catch (error) {
      if (error instanceof StintError) {
        const outcome = outcomeOf(state, 'waiting', {
          because: reasonOf(error),
          next: error.hint ?? again(state),
        })
        outcomes.push(outcome)
        tell({ type: 'merge.ended', outcome })
      } else defects.push(error)
    }
  }
  // A mistake of ours is told, but behind the others, which it must not hold up.
  if (defects.length > 0) throw defects[0]
  return outcomes
}

function notBegun({ workspace }: MergeScene, id: string): MergeOutcome {
  const state = delegateNow(workspace.place, id)
  return outcomeOf(state, 'waiting', { because: 'stopped before its turn', next: again(state) })
}
