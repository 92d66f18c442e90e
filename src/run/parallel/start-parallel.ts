import type { Backlog } from '../../backlog/backlog.ts'
import type { Task } from '../../backlog/task.ts'
import type { Harness, ProcessMark } from '../../harness/contract/drive.ts'
import { StintError } from '../../journal/errors.ts'
import { mintId, shortId } from '../../journal/ids.ts'
import { refuseInRun } from '../../project/store/in-run.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { repositoryOf } from '../../project/store/worktrees.ts'
import type { TaskStatus } from '../../session/entries.ts'
import { defined } from '../../text/defined.ts'
import { delegateWrap } from '../delegate/delegate-run.ts'
import { Stopping } from '../attempt/run-context.ts'
import { nameOf } from '../attempt/agent-environment.ts'
import { refuseSecretCommand } from '../delegate/create-delegate.ts'
import { type DelegateState, allDelegates, isAttended } from '../delegate/delegates.ts'
import { type EndOfRun, type Listener, type RunReport, emitTo } from '../entries.ts'
import { emptyReport } from '../report.ts'
import { Claims } from '../loop/claims.ts'
import { readyHarness } from '../loop/make-run-context.ts'
import { Selection, neverBegun } from '../loop/selection.ts'
import { bringBackTree, refuseSecond, refuseToGoOn } from '../loop/resume.ts'
import {
  type RunHandle,
  type StartOptions,
  freeInPlace,
  optionsToKeep,
  refuseRedacted,
  startRun,
  thisProcess,
} from '../loop/start-run.ts'
import { reconcile } from '../merge/finish.ts'
import { MOST_AT_ONCE, type ResolvedOptions, type RunOptions, resolveOptions } from '../options.ts'
import { RunLog, findRun } from '../run-log.ts'
import { type RunState, addSpent, foldRun } from '../run-state.ts'
import { lastResumable, reportNow, stateOf } from '../runs.ts'
import { openSource } from '../sources/open-source.ts'
import { removeIfClean } from '../worktree/remove-if-clean.ts'
import { treeOfItsOwn } from '../worktree/tree.ts'
import { InTurn, ParallelRun, Purse, type Stage, type TakenUp } from './parallel-run.ts'
import { planParallel } from './schedule.ts'

/** Begins a run that works on several tasks at once, or goes on with one. What is wrong is said before anything is begun. */
export async function startParallelRun(
  workspace: Workspace,
  options: StartOptions,
  listener: Listener,
): Promise<RunHandle> {
  refuseInRun(workspace, 'beginning a run')
  const stopping = new Stopping()
  const emit = emitTo(listener)
  const { resume, decide: _, ...told } = options
  const work =
    resume === undefined
      ? await beginNew(workspace, told, stopping, listener)
      : await beginAgain(workspace, resume === true ? undefined : resume, told, stopping, listener)
  return {
    ended: work().then((report) => {
      emit('run.report', report)
      return report
    }),
    stop: (how) => {
      stopping.stop(how)
      emit('stopping', { how })
    },
  }
}

type Work = () => Promise<RunReport>

async function beginNew(
  workspace: Workspace,
  options: RunOptions,
  stopping: Stopping,
  listener: Listener,
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
  const log = RunLog.create(
    workspace.place,
    run,
    workspace.config,
    {
      options: kept,
      harness: harness.name,
      source: source.name,
      ...tree,
      runner,
    },
    listener,
  )
  const purse = new Purse(settled, workspace.config.prices)
  const stage = {
    run,
    workspace,
    log,
    tree,
    source,
    stopping,
    listener,
    emit: emitTo(listener),
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
  listener: Listener,
): Promise<Work> {
  const { place } = workspace
  const run = name === undefined ? lastResumable(workspace) : findRun(place, name)
  const state = stateOf(workspace, run)
  refuseToGoOn(run, state)
  const runner = thisProcess()
  const log = new RunLog(place, run, workspace.config, listener)
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
      listener,
      emit: emitTo(listener),
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
  const { log, run, settled, emit, tree, workspace } = stage
  const { maxMinutes, model, parallel = 1 } = settled
  emit('run.planned', {
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
    removeIfClean(workspace.place, tree, (text) => emit('message', { text }))
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

/** Ends of a delegate's work that say something of its task. After any other it goes on. */
const ITS_OWN: ReadonlySet<EndOfRun | undefined> = new Set<EndOfRun>([
  'finished',
  'waiting',
  'nothing to do',
  'task failed',
])

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
    const state = await reconcile(workspace, found)
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

/** The options with what the configuration says where they do not. What several at once cannot do is refused. */
export function settledForParallel(workspace: Workspace, options: RunOptions): ResolvedOptions {
  const settled = resolveOptions(workspace, options)
  const { parallel = 1, permissions, verify = '' } = settled
  if (!Number.isInteger(parallel) || parallel < 1 || parallel > MOST_AT_ONCE) {
    throw new StintError(
      'TOO_PARALLEL',
      `${parallel} tasks at once is not from 1 to ${MOST_AT_ONCE}: with more, merging is what everything waits for`,
      `stint run --parallel ${MOST_AT_ONCE} is the most`,
    )
  }
  refuseSecretCommand(workspace, verify)
  if (permissions === 'ask') {
    throw new StintError(
      'NOBODY_TO_ASK',
      'several agents at once cannot ask one person',
      'use --permissions edits, or leave --parallel away',
    )
  }
  return settled
}

/** Begins a run, or goes on with one, whether it works on one task at a time or on several. */
export async function startAnyRun(
  workspace: Workspace,
  options: StartOptions,
  tell: Listener,
): Promise<RunHandle> {
  refuseInRun(workspace, 'beginning a run')
  const { parallel, resume } = options
  if (resume === undefined)
    return parallel === undefined
      ? startRun(workspace, options, tell)
      : startParallelRun(workspace, options, tell)
  const run = resume === true ? lastResumable(workspace) : findRun(workspace.place, resume)
  const { started } = stateOf(workspace, run)
  if (started.delegate !== undefined) {
    const { name } = started.delegate
    throw new StintError(
      'IS_DELEGATE',
      `${shortId(run)} is the delegate ${name}, and no run`,
      `stint delegate retry ${name}`,
    )
  }
  if (started.options.parallel !== undefined)
    return startParallelRun(workspace, { ...options, resume: run }, tell)
  if (parallel === undefined) return startRun(workspace, { ...options, resume: run }, tell)
  throw new StintError(
    'NOT_PARALLEL',
    `run ${shortId(run)} works on one task at a time, and has begun so`,
    `stint run --resume ${shortId(run)} goes on with it; stint run --parallel ${parallel} begins another`,
  )
}
