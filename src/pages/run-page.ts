// A run as the page draws it: tasks with their dependencies, and a lane per session with its
// attempts.
import type { RunReport, RunRow } from '../run/entries.ts'
import { type Attempt, type RunState, foldRun } from '../run/run-state.ts'
import { readRun } from '../run/run-log.ts'
import { isRunningNow, reportNow, rowOfRun, stateOf } from '../run/runs.ts'
import type { Workspace } from '../project/store/workspace.ts'
import { openBacklog } from '../project/tasks/backlog.ts'
import { isTaskOpen } from '../backlog/task.ts'
import type { Task } from '../backlog/task.ts'
import type { LaneBlock, RunLane, RunPage, RunTask } from './contract.ts'
import { defined } from '../text/defined.ts'

/** Open tasks shown. */
const MOST_OPEN = 300

export async function runPage(workspace: Workspace, run: string): Promise<RunPage> {
  const state = stateOf(workspace, run)
  const report = reportNow(workspace, run, state)
  const row = rowOfRun(run, state, report)
  // In a parallel run the delegates have the sessions and attempts.
  const parts = state.delegates.flatMap(
    ({ delegate }) => foldRun(readRun(workspace.place, delegate)) ?? [],
  )
  const all = [state, ...parts]
  const backlog =
    state.started.options.backlog === undefined ? (await openBacklog(workspace)).tasks : []
  return { row, report, tasks: tasksOf(row, report, all, backlog), lanes: all.flatMap(lanesOf) }
}

function tasksOf(
  row: RunRow,
  report: RunReport,
  states: readonly RunState[],
  backlog: readonly Task[],
): readonly RunTask[] {
  const byId = new Map(backlog.map((task) => [task.id, task]))
  const atWork = new Set(
    states
      .filter(isRunningNow)
      .flatMap(({ attempts }) => attempts.filter(isOpen).map(({ started }) => started.task.id)),
  )
  // The last report of a task counts.
  const tried = new Map(
    report.sessions.flatMap(({ tasks }) => tasks).map((one) => [one.task.id, one]),
  )
  const attempted = [...tried.values()].map(({ task, outcome, reason }): RunTask => ({
    task,
    after: byId.get(task.id)?.dependsOn ?? [],
    outcome: atWork.has(task.id) ? 'running' : outcome,
    ...defined({ reason }),
  }))
  const ahead =
    row.state === 'ended'
      ? leftOpen(report, byId)
      : chosenOf(states[0]!, backlog)
          .filter((task) => !tried.has(task.id) && isTaskOpen(task))
          .map(openTask)
  return [...attempted, ...ahead.slice(0, MOST_OPEN)]
}

function leftOpen({ neverBegun }: RunReport, byId: ReadonlyMap<string, Task>): readonly RunTask[] {
  return (neverBegun?.tasks ?? []).flatMap((task): readonly RunTask[] => {
    const now = byId.get(task.id)
    // An external backlog is not asked.
    if (now === undefined) return [{ task, after: [], outcome: 'open' }]
    return isTaskOpen(now) ? [openTask(now)] : []
  })
}

function openTask({ id, shortname, title, dependsOn, status }: Task): RunTask {
  return {
    task: { id, name: shortname, title },
    after: dependsOn,
    outcome: status === 'blocked' ? 'blocked' : 'open',
  }
}

/** Named tasks with their dependencies, labelled tasks, or all. */
function chosenOf({ started: { options } }: RunState, backlog: readonly Task[]): readonly Task[] {
  const { labels, tasks } = options
  if (tasks === undefined)
    return labels === undefined
      ? backlog
      : backlog.filter((task) => task.labels.some((one) => labels.includes(one)))
  const chosen = new Set<string>()
  const add = (name: string): void => {
    const task = backlog.find(({ id, shortname }) => id === name || shortname === name)
    if (task === undefined || chosen.has(task.id)) return
    chosen.add(task.id)
    task.dependsOn.forEach(add)
  }
  tasks.forEach(add)
  return backlog.filter(({ id }) => chosen.has(id))
}

function lanesOf(state: RunState): readonly RunLane[] {
  const isRunning = isRunningNow(state)
  return state.sessions.map(({ session, name }) => ({
    session,
    name,
    blocks: state.attempts
      .filter(({ started }) => started.session === session)
      .map((attempt) => blockOf(attempt, state, isRunning)),
  }))
}

function blockOf(
  attempt: Attempt,
  { parked, attempts, lastAt }: RunState,
  isRunning: boolean,
): LaneBlock {
  const { started, at, endedAt, outcome, reason } = attempt
  const isLast = attempts.findLast((one) => one.started.task.id === started.task.id) === attempt
  const isParked = isLast && outcome === 'failed' && parked.has(started.task.id)
  const how =
    outcome === undefined || outcome === 'interrupted'
      ? outcome === undefined && isRunning
        ? 'running'
        : 'failed'
      : outcome
  const until = endedAt ?? (how === 'running' ? undefined : lastAt)
  const because = reason ?? (how === 'failed' && outcome !== 'failed' ? 'interrupted' : undefined)
  return {
    task: started.task.name,
    attempt: started.number,
    startedAt: at,
    outcome: isParked ? 'parked' : how,
    ...defined({ endedAt: until, reason: because }),
  }
}

function isOpen({ outcome }: Attempt): boolean {
  return outcome === undefined
}
