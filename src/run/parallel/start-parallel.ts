import type { Harness, ProcessMark } from '../../harness/contract/drive.ts'
import { mintId } from '../../journal/ids.ts'
import { refuseInRun } from '../../project/store/in-run.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { openSource } from '../sources/open-source.ts'
import { Claims } from '../loop/claims.ts'
import { delegateWrap } from '../attempt/delegate-environment.ts'
import type { RunEvent } from '../events.ts'
import { bringBackTree, refuseSecond, refuseToGoOn } from '../loop/resume.ts'
import { emptyReport } from '../make-report.ts'
import { readyHarness } from '../loop/make-run-context.ts'
import { neverBegun } from '../loop/never-begun.ts'
import type { RunOptions, ResolvedOptions } from '../options.ts'
import type { EndOfRun, RunReport } from '../report.ts'
import { RunLog, findRun } from '../run-log.ts'
import { type RunState, foldRun } from '../run-state.ts'
import { lastResumable, reportNow, stateOf } from '../runs.ts'
import { type RunContext, Stopping } from '../attempt/run-context.ts'
import { Selection } from '../loop/selection.ts'
import {
  type RunHandle,
  type StartOptions,
  freeInPlace,
  refuseRedacted,
  optionsToKeep,
  thisProcess,
} from '../loop/start-run.ts'
import { nameOf } from '../attempt/task-list.ts'
import { removeIfClean } from '../worktree/remove-if-clean.ts'
import { treeOfItsOwn } from '../worktree/tree.ts'
import { repositoryOf } from '../../project/store/worktrees.ts'
import type { Task } from '../../backlog/task.ts'
import { ParallelRun } from './parallel-run.ts'
import { planParallel } from './plan-parallel.ts'
import { Purse } from './purse.ts'
import { settledForParallel } from './settled-for-parallel.ts'
import { InTurn, type Stage } from './stage.ts'
import { type TakenUp, takeUp } from './take-up.ts'
import { defined } from '../../text/defined.ts'

/** Begins a run that works on several tasks at once, or goes on with one. What is wrong is said before anything is begun. */
export async function startParallelRun(
  workspace: Workspace,
  options: StartOptions,
  tell: (event: RunEvent) => void,
): Promise<RunHandle> {
  refuseInRun(workspace, 'beginning a run')
  const stopping = new Stopping()
  const emit: RunContext['tell'] = (event) =>
    tell({ ...event, at: new Date().toISOString() } as RunEvent)
  const { resume, decide: _, ...told } = options
  const work =
    resume === undefined
      ? await beginNew(workspace, told, stopping, emit)
      : await beginAgain(workspace, resume === true ? undefined : resume, told, stopping, emit)
  return {
    ended: work().then((report) => {
      emit({
        type: 'run.ended',
        how: report.how === 'running' ? 'interrupted' : report.how,
        report,
      })
      return report
    }),
    stop: (how) => {
      stopping.stop(how)
      emit({ type: 'stopping', how })
    },
  }
}

type Work = () => Promise<RunReport>

async function beginNew(
  workspace: Workspace,
  options: RunOptions,
  stopping: Stopping,
  emit: RunContext['tell'],
): Promise<Work> {
  const settled = settledForParallel(workspace, options)
  const run = mintId(undefined)
  const harness = await readyAgents(workspace, settled, run)
  repositoryOf(workspace.place)
  const source = await openSource(workspace, options.backlog)
  const backlog = await source.read()
  const selection = new Selection(backlog, options)
  const open = selection.open(backlog)
  if (open.length === 0) return async () => emptyReport(harness.name)
  const expected = await expectedSeconds(workspace, options)
  workspace.prepare()
  const tree =
    options.isInPlace === true
      ? await freeInPlace(workspace)
      : treeOfItsOwn(workspace.place, run, options.branch)
  const runner = thisProcess()
  const kept = optionsToKeep(workspace, options, settled)
  const log = RunLog.create(workspace.place, run, workspace.config, {
    options: kept,
    harness: harness.name,
    source: source.name,
    ...tree,
    runner,
  })
  const purse = new Purse(settled, workspace.config.prices)
  const stage = {
    run,
    workspace,
    log,
    tree,
    source,
    stopping,
    tell: emit,
    latest: {},
    purse,
    merges: new InTurn(),
    said: new Set<string>(),
  }
  const before = { left: [], given: [], begun: [], done: 0 }
  return () =>
    work(
      { ...stage, settled: { ...settled, ...kept } },
      selection,
      runner,
      undefined,
      before,
      open,
      expected,
    )
}

async function beginAgain(
  workspace: Workspace,
  name: string | undefined,
  options: RunOptions,
  stopping: Stopping,
  emit: RunContext['tell'],
): Promise<Work> {
  const { place } = workspace
  const run = name === undefined ? lastResumable(workspace) : findRun(place, name)
  const state = stateOf(workspace, run)
  refuseToGoOn(run, state)
  const runner = thisProcess()
  const log = new RunLog(place, run, workspace.config)
  log.append('run.resumed', { runner })
  refuseSecond(run, log.read(), runner)
  try {
    // How it was begun holds, except where something else is said now.
    const { once, ...begun } = state.started.options
    const isOnce = once !== undefined && options.maxTasks === undefined
    const told: RunOptions = { ...begun, ...(isOnce ? { once } : {}), ...options }
    refuseRedacted(told)
    const settled = settledForParallel(workspace, told)
    await readyAgents(workspace, settled, run)
    bringBackTree(place, state)
    const { tree, branch, base, isInPlace } = state.started
    const source = await openSource(workspace, told.backlog)
    const backlog = await source.read()
    const selection = new Selection(backlog, told)
    const purse = new Purse(settled, workspace.config.prices)
    const stage: Stage = {
      run,
      workspace,
      log,
      tree: { tree, branch, base, isInPlace },
      source,
      stopping,
      tell: emit,
      latest: {},
      settled,
      purse,
      merges: new InTurn(),
      said: new Set(),
    }
    const before = await takeUp(workspace, run, log, purse, backlog)
    const expected = await expectedSeconds(workspace, told)
    return () => work(stage, selection, runner, state, before, selection.open(backlog), expected)
  } catch (error) {
    log.append('run.ended', {
      how: state.ended ?? 'interrupted',
      ...defined({ neverBegun: state.neverBegun }),
    })
    throw error
  }
}

async function work(
  stage: Stage,
  selection: Selection,
  runner: ProcessMark,
  state: RunState | undefined,
  before: TakenUp,
  open: readonly Task[],
  expected: number,
): Promise<RunReport> {
  const { log, run, settled, tell, tree, workspace } = stage
  const { maxMinutes, model, parallel = 1 } = settled
  tell({
    type: 'run.started',
    run,
    harness: settled.harness,
    tasks: open.map(nameOf),
    isResumed: state !== undefined,
    branch: tree.branch,
    worktree: tree.tree,
    expectedSeconds: expected,
    parallel,
    ...defined({ model }),
  })
  const claims = new Claims(workspace.place, run, runner)
  // All the time that somebody ran it counts.
  const endsAt =
    maxMinutes === undefined
      ? Infinity
      : Date.now() + maxMinutes * 60_000 - (state?.seconds ?? 0) * 1000
  let how: EndOfRun = 'interrupted'
  try {
    how = await new ParallelRun(stage, selection, claims, before).work(endsAt)
  } finally {
    claims.releaseAll()
    const { latest } = stage
    const left = latest.backlog === undefined ? open : selection.open(latest.backlog)
    log.append('run.ended', {
      how,
      ...defined({ neverBegun: neverBegun(left, foldRun(log.read())) }),
    })
    // Nobody works in it: it is where the branch is checked out while others are merged into it.
    removeIfClean(workspace.place, tree, (text) => tell({ type: 'said', text }))
  }
  const report = reportNow(workspace, run, foldRun(log.read())!, false)
  log.close()
  return report
}

/** The harness as its delegates will start it. */
async function readyAgents(
  workspace: Workspace,
  settled: ResolvedOptions,
  run: string,
): Promise<Harness> {
  const { config, place } = workspace
  return readyHarness(
    workspace,
    settled,
    run,
    delegateWrap({ name: 'run', slot: 0 }, place.root, config.delegates),
  )
}

async function expectedSeconds(workspace: Workspace, options: RunOptions): Promise<number> {
  return (await planParallel(workspace, options)).parallel?.seconds ?? 0
}
