// What a parallel run finds of its delegates when it goes on: each is brought to where it really stands, and what is not over is
// gone on with.
import type { EndOfRun } from '../report.ts'
import type { RunLog } from '../run-log.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { addSpent } from '../run-state.ts'
import type { TaskStatus } from '../../session/entries.ts'
import type { Backlog } from '../../backlog/backlog.ts'
import type { DelegateState } from '../delegate/delegate-state.ts'
import { allDelegates, isAttended } from '../delegate/delegates.ts'
import { settleDead } from '../delegate/settle-dead.ts'
import type { Purse } from './purse.ts'

/** Ends of a delegate's work that say something of its task. After any other it goes on. */
const ITS_OWN: ReadonlySet<EndOfRun | undefined> = new Set<EndOfRun>([
  'finished',
  'waiting',
  'nothing to do',
  'task failed',
])

export interface TakenUp {
  /** Those to go on with, in the order in which they were begun. */
  readonly left: readonly DelegateState[]
  /** Tasks whose delegates are not gone on with. */
  readonly given: readonly string[]
  readonly begun: readonly string[]
  /** How many are merged. */
  readonly done: number
}

export async function takeUp(
  workspace: Workspace,
  run: string,
  log: RunLog,
  purse: Purse,
  backlog: Pick<Backlog, 'byId'>,
): Promise<TakenUp> {
  const noted = new Set(
    log.read().flatMap((entry) => (entry.kind === 'delegate.begun' ? [entry.data.delegate] : [])),
  )
  const left: DelegateState[] = []
  const given: string[] = []
  const begun: string[] = []
  let done = 0
  for (const found of allDelegates(workspace.place)) {
    const { task } = found.order
    if (found.order.run !== run || task === undefined) continue
    // The run was killed between making it and noting it.
    if (!noted.has(found.id)) log.append('delegate.begun', { delegate: found.id, task })
    const state = await settleDead(workspace, found)
    purse.told(
      state.id,
      state.run.attempts.reduce((sum, attempt) => addSpent(sum, attempt.spent), {}),
    )
    if (state.status === 'merged') done += 1
    if (isToGoOn(workspace, state, backlog.byId.get(task)?.status)) left.push(state)
    else {
      begun.push(state.id)
      // What somebody has discarded may be begun anew.
      if (state.status !== 'discarded') given.push(task)
    }
  }
  return { left, given, begun, done }
}

function isToGoOn(
  workspace: Workspace,
  state: DelegateState,
  task: TaskStatus | undefined,
): boolean {
  const { order, rejected, run, status, toMend } = state
  // Made by this very process, which came to nothing before it was begun.
  if (!state.isBegun && run.runner.pid === process.pid) return true
  if (isAttended(state)) {
    workspace.say(
      `${order.name} is ${status} elsewhere, and left to that (stint delegate show ${order.name})`,
    )
    return false
  }
  if (status === 'ready') return true
  if (status !== 'failed' && status !== 'conflicted') return false
  if (toMend !== undefined) return rejected <= workspace.config.delegates.sendBack
  // Of what failed for good, what somebody has opened again since.
  return !ITS_OWN.has(run.ended) || task === 'ready'
}
