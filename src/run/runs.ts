import { existsSync } from 'node:fs'
import { isAlive } from '../harness/process/spawn-guarded.ts'
import { tryGit } from '../git/run-git.ts'
import { StintError } from '../journal/errors.ts'
import type { ProjectPaths } from '../project/store/project-paths.ts'
import { runIds } from '../project/store/run-files.ts'
import type { Workspace } from '../project/store/workspace.ts'
import { defined } from '../text/defined.ts'
import type { RunReport, RunRow } from './entries.ts'
import type { FinishedTask } from './plan/forecast.ts'
import { parallelReport, reportFrom } from './report.ts'
import { findRun, readRun } from './run-log.ts'
import { type Attempt, type RunState, ZERO_USAGE, foldRun, sumUsage } from './run-state.ts'

/** Newest first. */
export function listRuns(workspace: Workspace): readonly RunRow[] {
  return runIds(workspace.paths)
    .toReversed()
    .flatMap((run) => {
      const state = foldRun(readRun(workspace.paths, run))
      return state === undefined || state.started.delegate !== undefined
        ? []
        : [toRunRow(run, state, reportRun(workspace, run, state))]
    })
}

export async function readRunReport(workspace: Workspace, name: string): Promise<RunReport> {
  const run = findRun(workspace.paths, name)
  return reportRun(workspace, run, readRunState(workspace, run))
}

export function readRunState({ paths }: Workspace, run: string): RunState {
  const state = foldRun(readRun(paths, run))
  if (state !== undefined) return state
  throw new StintError(
    'RUN_DAMAGED',
    `the log of run ${run} does not say how it began`,
    'stint doctor shows the damage',
  )
}

export function reportRun(
  { config, paths }: Workspace,
  run: string,
  state: RunState,
  isRunning = isRunningNow(state),
): RunReport {
  const options = { run, prices: config.prices, isRunning, commits: countCommits(paths, state) }
  if (state.started.options.parallel === undefined) return reportFrom(state, options)
  const parts = state.delegates.flatMap(({ delegate }) => foldRun(readRun(paths, delegate)) ?? [])
  return parallelReport(state, parts, options)
}

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

export function toRunRow(
  run: string,
  { ended }: RunState,
  { harness, how, sessions, neverBegun, spend, startedAt }: RunReport,
): RunRow {
  // The last outcome counts for a task of several sessions.
  const last = new Map(
    sessions.flatMap(({ tasks }) => tasks).map(({ task, outcome }) => [task.id, outcome]),
  )
  const count = (...outcomes: readonly string[]) =>
    [...last.values()].filter((outcome) => outcomes.includes(outcome)).length
  const isOver = ended === 'finished' || ended === 'nothing to do' || ended === 'waiting'
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

/** Returns 0 when the branch is gone. */
function countCommits(paths: ProjectPaths, { started: { base, branch } }: RunState): number {
  if (paths.repository === undefined || !existsSync(paths.root)) return 0
  const count = ['rev-list', '--count', `${base}..refs/heads/${branch}`, '--']
  return Number(tryGit(paths.root, count) ?? 0)
}

/** Older runs say little about current tasks. */
const MOST_RUNS = 50

/** Only runs with this harness: another one uses different amounts. */
export function finishedTasks(
  paths: ProjectPaths,
  harness: string,
  except?: string,
): readonly FinishedTask[] {
  return runIds(paths)
    .filter((run) => run !== except)
    .slice(-MOST_RUNS)
    .flatMap((run) => {
      const state = foldRun(readRun(paths, run))
      return state?.started.harness === harness ? finishedTasksIn(state) : []
    })
}

export function finishedTasksIn({ attempts }: RunState): readonly FinishedTask[] {
  return attempts
    .filter(({ outcome }) => outcome === 'done')
    .flatMap((last) =>
      finished(attempts.filter(({ started }) => started.task.id === last.started.task.id)),
    )
}

function finished(attempts: readonly Attempt[]): readonly FinishedTask[] {
  const { forecast, isFirst, sizeClass } = attempts[0]!.started
  // Attempts without a measured size cannot improve forecasts.
  if (attempts.every(({ added }) => added === undefined)) return []
  const sum = (of: (attempt: Attempt) => number) =>
    attempts.reduce((total, attempt) => total + of(attempt), 0)
  return [
    {
      sizeClass,
      added: sum(({ added = 0 }) => added),
      requests: sum(({ requests }) => requests),
      output: sum(({ spent }) => Object.values(spent).reduce(sumUsage, ZERO_USAGE).output),
      seconds: sum(({ seconds }) => seconds),
      wasCompacted: attempts.some(({ compactions }) => compactions > 0),
      wasFirst: isFirst,
      ...defined({ forecast }),
    },
  ]
}
