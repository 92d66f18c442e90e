// The runs of a project, from their logs.
import { existsSync } from 'node:fs'
import { isAlive } from '../harness/process/spawn-guarded.ts'
import { GitFailed, runGit } from '../git/run-git.ts'
import { StintError } from '../journal/errors.ts'
import { runIds } from '../project/store/run-files.ts'
import type { Workspace } from '../project/store/workspace.ts'
import type { RunReport, RunRow } from './entries.ts'
import { parallelReport, reportFrom } from './report.ts'
import { findRun, readRun } from './run-log.ts'
import { type Attempt, NOTHING, type RunState, addUsage, foldRun } from './run-state.ts'
import type { FinishedTask } from './plan/forecast.ts'
import type { Place } from '../project/store/place.ts'
import { defined } from '../text/defined.ts'

/** The latest first. */
export function listRuns(workspace: Workspace): readonly RunRow[] {
  return runIds(workspace.place)
    .toReversed()
    .flatMap((run) => {
      const state = foldRun(readRun(workspace.place, run))
      return state === undefined || state.started.delegate !== undefined
        ? []
        : [rowOfRun(run, state, reportNow(workspace, run, state))]
    })
}

export async function reportOf(workspace: Workspace, name: string): Promise<RunReport> {
  const run = findRun(workspace.place, name)
  return reportNow(workspace, run, stateOf(workspace, run))
}

export function stateOf(workspace: Workspace, run: string): RunState {
  const state = foldRun(readRun(workspace.place, run))
  if (state !== undefined) return state
  throw new StintError(
    'RUN_DAMAGED',
    `the log of run ${run} does not say how it began`,
    'stint doctor shows the damage',
  )
}

export function reportNow(
  workspace: Workspace,
  run: string,
  state: RunState,
  isRunning = isRunningNow(state),
): RunReport {
  const options = {
    run,
    prices: workspace.config.prices,
    isRunning,
    commits: commitsOf(workspace, state),
  }
  if (state.started.options.parallel === undefined) return reportFrom(state, options)
  const parts = state.delegates.flatMap(
    ({ delegate }) => foldRun(readRun(workspace.place, delegate)) ?? [],
  )
  return parallelReport(state, parts, options)
}

/** The last run that has something left to go on with. */
export function lastResumable(workspace: Workspace): string {
  const row = listRuns(workspace).find(({ state }) => state === 'resumable')
  if (row !== undefined) return row.id
  throw new StintError(
    'NO_RUN',
    'no run here has anything left to go on with',
    'stint runs lists them; stint run starts one',
  )
}

export function isRunningNow({ ended, runner }: RunState): boolean {
  return ended === undefined && isAlive(runner)
}

export function rowOfRun(
  run: string,
  state: RunState,
  { harness, how, sessions, neverBegun, spend, startedAt }: RunReport,
): RunRow {
  // A task may come up in several sessions; its last word counts.
  const last = new Map(
    sessions.flatMap(({ tasks }) => tasks).map(({ task, outcome }) => [task.id, outcome]),
  )
  const count = (...outcomes: readonly string[]) =>
    [...last.values()].filter((outcome) => outcomes.includes(outcome)).length
  const isOver =
    state.ended === 'finished' || state.ended === 'nothing to do' || state.ended === 'waiting'
  return {
    id: run,
    startedAt,
    state: how === 'running' ? 'running' : isOver ? 'ended' : 'resumable',
    how,
    harness,
    done: count('done'),
    failed: count('parked', 'blocked'),
    open: count('open') + (neverBegun?.count ?? 0),
    spend,
  }
}

/** Commits on the run's branch beyond where it began; 0 when the branch is gone. */
function commitsOf({ place }: Workspace, { started: { base, branch } }: RunState): number {
  if (place.repository === undefined || !existsSync(place.root)) return 0
  try {
    return Number(
      runGit(place.root, ['rev-list', '--count', `${base}..refs/heads/${branch}`, '--']),
    )
  } catch (error) {
    if (error instanceof GitFailed) return 0
    throw error
  }
}

/** More runs than this tell nothing about how tasks are now. */
const RUNS = 50

/** What the tasks of a project took with a harness, from the runs before. Another harness spends otherwise, and a rehearsal spends nothing. */
export function finishedTasks(
  place: Place,
  harness: string,
  except?: string,
): readonly FinishedTask[] {
  return runIds(place)
    .filter((run) => run !== except)
    .slice(-RUNS)
    .flatMap((run) => {
      const state = foldRun(readRun(place, run))
      return state?.started.harness === harness ? finishedIn(state) : []
    })
}

/** What the tasks took that were done in a run, all attempts together. */
export function finishedIn({ attempts }: RunState): readonly FinishedTask[] {
  const done = attempts.filter(({ outcome }) => outcome === 'done')
  return done.flatMap((last) =>
    finished(attempts.filter(({ started }) => started.task.id === last.started.task.id)),
  )
}

function finished(attempts: readonly Attempt[]): readonly FinishedTask[] {
  const [first] = attempts
  const measured = attempts.filter(({ added }) => added !== undefined)
  // Where the harness tells nothing, nothing is learned.
  if (first === undefined || measured.length === 0) return []
  const sum = (of: (attempt: Attempt) => number) =>
    attempts.reduce((total, attempt) => total + of(attempt), 0)
  const usage = attempts.flatMap(({ spent }) => Object.values(spent)).reduce(addUsage, NOTHING)
  const { forecast, isFirst, sizeClass } = first.started
  return [
    {
      sizeClass,
      added: measured.reduce((total, { added }) => total + (added ?? 0), 0),
      requests: sum(({ requests }) => requests),
      output: usage.output,
      seconds: sum(({ seconds }) => seconds),
      wasCompacted: attempts.some(({ compactions }) => compactions > 0),
      wasFirst: isFirst,
      ...defined({ forecast }),
    },
  ]
}
