// A run as the page draws it: tasks with their dependencies, and a lane per session with its
// attempts.
import type { RunReport, RunRow } from '../run/entries.ts'
import { type Attempt, type RunState, foldRun } from '../run/run-state.ts'
import { findRun, readRun } from '../run/run-log.ts'
import { isRunningNow, reportRun, toRunRow, readRunState } from '../run/runs.ts'
import { openBacklog } from '../project/tasks/project-backlog.ts'
import { type Task, isTaskOpen } from '../backlog/task.ts'
import type { LaneBlock, RunLane, RunPage, RunTaskRow } from './page-types.ts'
import type { OpenedProject } from './project-pool.ts'
import { defined } from '../text/defined.ts'

/** Open tasks shown. */
const MAX_OPEN_TASKS = 300

export async function runPage({ workspace }: OpenedProject, name: string): Promise<RunPage> {
  const run = findRun(workspace.paths, name)
  const state = readRunState(workspace, run)
  const report = reportRun(workspace, run, state)
  const row = toRunRow(run, state, report)
  // In a parallel run the delegates have the sessions and attempts.
  const delegateRuns = state.delegates.flatMap(
    ({ delegate }) => foldRun(readRun(workspace.paths, delegate)) ?? [],
  )
  const runs = [state, ...delegateRuns]
  const backlog =
    state.started.options.backlog === undefined ? (await openBacklog(workspace)).tasks : []
  return { row, report, tasks: taskRows(row, report, runs, backlog), lanes: runs.flatMap(toLanes) }
}

function taskRows(
  row: RunRow,
  report: RunReport,
  states: readonly RunState[],
  backlog: readonly Task[],
): readonly RunTaskRow[] {
  const byId = new Map(backlog.map((task) => [task.id, task]))
  const activeTasks = new Set(
    states
      .filter(isRunningNow)
      .flatMap(({ attempts }) =>
        attempts
          .filter(({ outcome }) => outcome === undefined)
          .map(({ started }) => started.task.id),
      ),
  )
  // The last report of a task counts.
  const reports = new Map(
    report.sessions.flatMap(({ tasks }) => tasks).map((task) => [task.task.id, task]),
  )
  const attempted = [...reports.values()].map(({ task, outcome, reason }): RunTaskRow => ({
    task,
    after: byId.get(task.id)?.dependsOn ?? [],
    outcome: activeTasks.has(task.id) ? 'running' : outcome,
    ...defined({ reason }),
  }))
  const openTasks =
    row.state === 'ended'
      ? tasksNeverStarted(report, byId)
      : selectedTasks(states[0]!, backlog)
          .filter((task) => !reports.has(task.id) && isTaskOpen(task))
          .map(toOpenTask)
  return [...attempted, ...openTasks.slice(0, MAX_OPEN_TASKS)]
}

function tasksNeverStarted(
  { neverBegun }: RunReport,
  byId: ReadonlyMap<string, Task>,
): readonly RunTaskRow[] {
  return (neverBegun?.tasks ?? []).flatMap((task): readonly RunTaskRow[] => {
    const current = byId.get(task.id)
    // External backlogs are not read.
    if (current === undefined) return [{ task, after: [], outcome: 'open' }]
    return isTaskOpen(current) ? [toOpenTask(current)] : []
  })
}

function toOpenTask({ id, shortname, title, dependsOn, status }: Task): RunTaskRow {
  return {
    task: { id, name: shortname, title },
    after: dependsOn,
    outcome: status === 'blocked' ? 'blocked' : 'open',
  }
}

/** Named tasks with their dependencies, labelled tasks, or all. */
function selectedTasks(
  { started: { options } }: RunState,
  backlog: readonly Task[],
): readonly Task[] {
  const { labels, tasks } = options
  if (tasks === undefined)
    return labels === undefined
      ? backlog
      : backlog.filter((task) => task.labels.some((label) => labels.includes(label)))
  const selected = new Set<string>()
  const add = (name: string): void => {
    const task = backlog.find(({ id, shortname }) => id === name || shortname === name)
    if (task === undefined || selected.has(task.id)) return
    selected.add(task.id)
    task.dependsOn.forEach(add)
  }
  tasks.forEach(add)
  return backlog.filter(({ id }) => selected.has(id))
}

function toLanes(state: RunState): readonly RunLane[] {
  const isRunning = isRunningNow(state)
  return state.sessions.map(({ session, name }) => ({
    session,
    name,
    blocks: state.attempts
      .filter(({ started }) => started.session === session)
      .map((attempt) => toLaneBlock(attempt, state, isRunning)),
  }))
}

function toLaneBlock(
  attempt: Attempt,
  { parked, attempts, lastAt }: RunState,
  isRunning: boolean,
): LaneBlock {
  const { started, at, endedAt, outcome, reason } = attempt
  const isLast = attempts.findLast((other) => other.started.task.id === started.task.id) === attempt
  const isParked = isLast && outcome === 'failed' && parked.has(started.task.id)
  const shownOutcome =
    outcome === undefined || outcome === 'interrupted'
      ? outcome === undefined && isRunning
        ? 'running'
        : 'failed'
      : outcome
  const shownEnd = endedAt ?? (shownOutcome === 'running' ? undefined : lastAt)
  const shownReason =
    reason ?? (shownOutcome === 'failed' && outcome !== 'failed' ? 'interrupted' : undefined)
  return {
    task: started.task.name,
    attempt: started.number,
    startedAt: at,
    outcome: isParked ? 'parked' : shownOutcome,
    ...defined({ endedAt: shownEnd, reason: shownReason }),
  }
}
