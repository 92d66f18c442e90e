import { defined } from '../../text/defined.ts'
import type { TaskName } from '../entries.ts'
import type { RunState } from '../run-state.ts'
import { commitLeftWork, saveAndRollBack, saveWork } from '../worktree/rollback.ts'
import {
  describeHead,
  hiddenPaths,
  readTreeHead,
  requireOwnTree,
  restoreTree,
  uncommittedPaths,
} from '../worktree/run-tree.ts'
import { type RunContext, RunEndedError, type TaskWork } from './run-context.ts'

type TaskBase = Pick<TaskWork, 'name' | 'base' | 'leftBefore'>

export interface UnfinishedTask extends TaskBase {
  readonly attempt: string
  readonly kept?: string
}

/** Only the last attempt can be unfinished: tasks are worked on one at a time. */
export function findUnfinishedTask(state: RunState | undefined): UnfinishedTask | undefined {
  const last = state?.attempts.at(-1)
  if (last === undefined || last.outcome === 'done' || last.outcome === 'blocked') return undefined
  const { attempt, task: name, base, leftBefore = [] } = last.started
  if (state!.parked.has(name.id)) return undefined
  return { attempt, name, base, leftBefore, ...defined({ kept: last.kept }) }
}

/** The commit a task starts from: the one before the resume, else HEAD, after saving another task's unfinished work. */
export function chooseTaskBase(
  context: RunContext,
  unfinished: UnfinishedTask | undefined,
  { id, name }: TaskName,
): Pick<TaskWork, 'base' | 'leftBefore'> {
  const { tree, branch, base } = context.tree
  if (unfinished !== undefined && context.delegate === undefined) {
    if (unfinished.name.id === id) return unfinished
    saveOtherTask(context, unfinished)
  }
  const head = readTreeHead(tree)
  if (head?.commit === undefined || head.branch !== branch)
    throw new RunEndedError(
      'task failed',
      `HEAD of ${tree} was moved to ${describeHead(head)} before ${name} was begun`,
    )
  // Everything on a delegate's branch is its own work.
  if (context.delegate !== undefined) return { base, leftBefore: [] }
  return { base: head.commit, leftBefore: [...uncommittedPaths(tree), ...hiddenPaths(tree)] }
}

function saveOtherTask(context: RunContext, unfinished: UnfinishedTask): void {
  const { tree, log, workspace } = context
  const { attempt, name } = unfinished
  if (tree.isInPlace && uncommittedPaths(tree.tree).length === 0) return
  const { kept, ends } = saveLeftWork(context, unfinished, attempt)
  if (kept !== undefined && kept !== unfinished.kept) log.append('work.kept', { attempt, kept })
  if (ends !== undefined)
    throw new RunEndedError('task failed', `${name.name} is not gone on with: ${ends}`)
  if (kept !== undefined)
    workspace.say(`${name.name} is not gone on with; its work is kept as ${kept}`)
}

/** Saves what a task left and cleans the run's own worktree. The user's checkout is not touched; `ends` says why the run cannot continue. */
export function saveLeftWork(
  context: RunContext,
  work: TaskBase,
  attempt: string,
): { readonly kept?: string; readonly ends?: string } {
  const { delegate, run, tree, workspace } = context
  const reportLeftOut = ({
    kept,
    leftOut = [],
  }: {
    kept?: string
    leftOut?: readonly string[]
  }) => {
    if (leftOut.length > 0)
      workspace.say(
        `left where it is, as it is too large, a repository of its own, or an untracked file with secrets: ${leftOut.join(', ')}`,
      )
    return defined({ kept })
  }
  requireOwnTree(workspace.paths, tree)
  if (!tree.isInPlace && delegate !== undefined)
    return reportLeftOut(commitLeftWork(workspace.paths, run, tree))
  const head = readTreeHead(tree.tree)
  if (!tree.isInPlace) {
    if (head === undefined) restoreTree(workspace.paths, tree.tree, tree.branch, work.base)
    return reportLeftOut(saveAndRollBack(tree, workToSave(context, work, attempt)))
  }
  if (head === undefined) return { ends: `the checkout ${tree.tree} is not there any more` }
  const kept = saveWork(tree, workToSave(context, work, attempt))
  if (kept.kept === undefined) return {}
  const moved =
    head.branch === tree.branch ? '' : `HEAD of the checkout was moved to ${describeHead(head)}; `
  return {
    ...reportLeftOut(kept),
    ends: `${moved}the checkout is left as it is, and kept as ${kept.kept}; stint run --resume goes on when it is clean and on ${tree.branch}`,
  }
}

/** Saves a task's work in the user's checkout, so that a resume recognizes it. */
export function saveUnfinishedTask(context: RunContext, unfinished: UnfinishedTask): void {
  const { log, tree } = context
  const { attempt } = unfinished
  if (readTreeHead(tree.tree) === undefined) return
  const { kept } = saveWork(tree, workToSave(context, unfinished, attempt))
  if (kept !== undefined) log.append('work.kept', { attempt, kept })
}

function workToSave({ run }: RunContext, { name, base, leftBefore }: TaskBase, attempt: string) {
  return {
    ref: `refs/stint/runs/${run}/${attempt}`,
    message: `stint: what was done for ${name.name}`,
    base,
    leftBefore,
  }
}

export function withSavedRef(reason: string, kept: string | undefined): string {
  return kept === undefined ? reason : `${reason} (its work is kept as ${kept})`.trimStart()
}
