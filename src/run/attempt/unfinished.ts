// What a task leaves in the tree when it is not done: kept, and out of the way of the next one.
import { type RunContext, RunEnds, type TaskWork } from './run-context.ts'
import type { TaskName } from '../report.ts'
import type { RunState } from '../run-state.ts'
import {
  type KeptWork,
  type WorkToKeep,
  commitAsFound,
  keepAndSetBack,
  keepWork,
} from '../worktree/rollback.ts'
import { bringBack, headInWords, headNow, hiddenPaths, uncommitted } from '../worktree/tree.ts'
import { defined } from '../../text/defined.ts'

/** A task that was begun and that nobody saw the end of: what it has done so far is in the tree. */
export interface Unfinished extends Pick<TaskWork, 'name' | 'base' | 'leftBefore'> {
  readonly attempt: string
  readonly kept?: string
}

/** One task is worked on at a time, so that it can only be the last. */
export function unfinishedIn(state: RunState | undefined): Unfinished | undefined {
  const last = state?.attempts.at(-1)
  if (last === undefined || last.outcome === 'done' || last.outcome === 'blocked') return undefined
  const { attempt, task, base, leftBefore } = last.started
  if (state!.parked.has(task.id)) return undefined
  return {
    attempt,
    name: task,
    base,
    leftBefore: leftBefore ?? [],
    ...defined({ kept: last.kept }),
  }
}

/** Where work on a task begins: where it was when it is gone on with, else here, with what another left set aside. */
export function beginningOf(
  scene: RunContext,
  unfinished: Unfinished | undefined,
  task: TaskName,
): Pick<TaskWork, 'base' | 'leftBefore'> {
  const { tree } = scene.tree
  if (unfinished?.name.id === task.id && scene.delegate === undefined) return unfinished
  if (unfinished !== undefined && scene.delegate === undefined) setAside(scene, unfinished)
  const head = headNow(tree)
  if (head?.commit === undefined || head.branch !== scene.tree.branch)
    throw new RunEnds(
      'task failed',
      `HEAD of ${tree} was moved to ${headInWords(head)} before ${task.name} was begun`,
    )
  // All that is on the branch of a delegate is its own, from however many spells of work.
  if (scene.delegate !== undefined) return { base: scene.tree.base, leftBefore: [] }
  return { base: head.commit, leftBefore: [...uncommitted(tree), ...hiddenPaths(tree)] }
}

function setAside(scene: RunContext, { attempt, ...unfinished }: Unfinished): void {
  const { tree, log, workspace } = scene
  if (tree.isInPlace && uncommitted(tree.tree).length === 0) return
  const { kept, ends } = leaveWork(scene, unfinished, attempt)
  if (kept !== undefined && kept !== unfinished.kept) log.append('work.kept', { attempt, kept })
  if (ends !== undefined)
    throw new RunEnds('task failed', `${unfinished.name.name} is not gone on with: ${ends}`)
  if (kept !== undefined)
    workspace.say(`${unfinished.name.name} is not gone on with; its work is kept as ${kept}`)
}

/** Keeps what a task has left, and makes the run's own worktree ready for the next. In the user's checkout nothing is touched: then it says why the run cannot go on. */
export function leaveWork(
  scene: RunContext,
  work: Pick<TaskWork, 'name' | 'base' | 'leftBefore'>,
  attempt: string,
): { readonly kept?: string; readonly ends?: string } {
  const { tree } = scene
  if (tree.isInPlace) return leaveInPlace(scene, work, attempt)
  if (scene.delegate !== undefined) {
    const { kept, leftOut = [] } = commitAsFound(scene.workspace.place, scene.run, tree)
    sayLeftOut(scene, leftOut)
    return kept === undefined ? {} : { kept }
  }
  if (headNow(tree.tree) === undefined)
    bringBack(scene.workspace.place, tree.tree, tree.branch, work.base)
  const { kept, leftOut } = keepAndSetBack(tree, toKeep(scene, work, attempt))
  sayLeftOut(scene, leftOut)
  return kept === undefined ? {} : { kept }
}

/** Keeps what a task has done so far in the user's checkout, by which it is known again when the run is resumed. */
export function keepUnfinished(scene: RunContext, { attempt, ...work }: Unfinished): void {
  if (headNow(scene.tree.tree) === undefined) return
  const { kept } = keepWork(scene.tree, toKeep(scene, work, attempt))
  if (kept !== undefined) scene.log.append('work.kept', { attempt, kept })
}

function leaveInPlace(
  scene: RunContext,
  work: Pick<TaskWork, 'name' | 'base' | 'leftBefore'>,
  attempt: string,
): { readonly kept?: string; readonly ends?: string } {
  const { tree } = scene
  const head = headNow(tree.tree)
  if (head === undefined) return { ends: `the checkout ${tree.tree} is not there any more` }
  const { kept, leftOut }: KeptWork = keepWork(tree, toKeep(scene, work, attempt))
  if (kept === undefined) return {}
  sayLeftOut(scene, leftOut)
  const moved =
    head.branch === tree.branch ? '' : `HEAD of the checkout was moved to ${headInWords(head)}; `
  return {
    kept,
    ends: `${moved}the checkout is left as it is, and kept as ${kept}; stint run --resume goes on when it is clean and on ${tree.branch}`,
  }
}

function toKeep(
  scene: RunContext,
  { name, base, leftBefore }: Omit<Unfinished, 'attempt'>,
  attempt: string,
): WorkToKeep {
  return {
    ref: `refs/stint/runs/${scene.run}/${attempt}`,
    message: `stint: what was done for ${name.name}`,
    base,
    leftBefore,
  }
}

function sayLeftOut({ workspace }: RunContext, leftOut: readonly string[]): void {
  if (leftOut.length > 0)
    workspace.say(
      `too large to be kept, or a repository of its own, and left where it is: ${leftOut.join(', ')}`,
    )
}

/** A reason with where the work is to be found. */
export function withKept(reason: string, kept: string | undefined): string {
  return kept === undefined ? reason : `${reason} (its work is kept as ${kept})`.trimStart()
}
