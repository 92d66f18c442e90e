import type { Backlog } from '../../backlog/backlog.ts'
import { StintError } from '../../journal/errors.ts'
import { shortId } from '../../journal/ids.ts'
import { refuseInRun } from '../../project/store/run-environment.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import type { TaskStatus } from '../../session/entries.ts'
import { refuseSecretCommand } from '../delegate/create-delegate.ts'
import { delegateWrap } from '../delegate/delegate-context.ts'
import { type DelegateState, hasLiveProcess, readDelegates } from '../delegate/delegates.ts'
import type { EndOfRun, RunListener } from '../entries.ts'
import { type RunHandle, type RunMode, type StartOptions, startRun } from '../loop/start-run.ts'
import { reconcileDelegate } from '../merge/reconcile.ts'
import {
  MAX_PARALLEL_TASKS,
  type ResolvedOptions,
  type RunOptions,
  resolveOptions,
} from '../options.ts'
import { findRun } from '../run-log.ts'
import { sumAttemptUsage } from '../run-state.ts'
import { lastResumable, readRunState } from '../runs.ts'
import {
  type ParallelContext,
  ParallelRun,
  type ResumedDelegates,
  SerialQueue,
  SharedBudget,
} from './parallel-run.ts'
import { planParallel } from './schedule.ts'

const PARALLEL: RunMode = {
  resolve: resolveForParallel,
  plan: planParallel,
  wrap: ({ config, paths }) => delegateWrap({ name: 'run', slot: 0 }, paths.root, config.delegates),
  async prepare(setup) {
    const { backlog, before, selection, options, workspace } = setup
    const budget = new SharedBudget(options, workspace.config.prices)
    const context: ParallelContext = {
      ...setup,
      latest: {},
      budget,
      mergeQueue: new SerialQueue(),
      emittedMessages: new Set(),
    }
    const taken = await readResumedDelegates(context, backlog)
    const { maxMinutes = Infinity } = options
    return {
      context,
      work(claims) {
        // The time of earlier processes of this run counts too.
        const endsAt = Date.now() + maxMinutes * 60_000 - (before?.seconds ?? 0) * 1000
        return new ParallelRun(context, selection, claims, taken).work(endsAt)
      },
    }
  },
}

/** Ends that concern the task itself. After any other end the delegate is resumed. */
const TASK_ENDS: ReadonlySet<EndOfRun | undefined> = new Set<EndOfRun>([
  'finished',
  'waiting',
  'nothing to do',
  'task failed',
])

async function readResumedDelegates(
  { workspace, run, log, budget }: ParallelContext,
  { byId }: Pick<Backlog, 'byId'>,
): Promise<ResumedDelegates> {
  const recorded = new Set(
    log.read().flatMap((entry) => (entry.kind === 'delegate.begun' ? [entry.data.delegate] : [])),
  )
  const left: DelegateState[] = []
  const given: string[] = []
  const started: string[] = []
  let done = 0
  for (const found of readDelegates(workspace.paths)) {
    const { task } = found.order
    if (found.order.run !== run || task === undefined) continue
    // The run was killed between creating and recording it.
    if (!recorded.has(found.id)) log.append('delegate.begun', { delegate: found.id, task })
    const state = await reconcileDelegate(workspace, found)
    budget.record(state.id, sumAttemptUsage(state.run.attempts))
    if (state.status === 'merged') done += 1
    if (shouldResume(workspace, state, byId.get(task)?.status)) left.push(state)
    else {
      started.push(state.id)
      // A discarded one may be started anew.
      if (state.status !== 'discarded') given.push(task)
    }
  }
  return { unfinished: left, takenTasks: given, started, done }
}

function shouldResume(
  workspace: Workspace,
  state: DelegateState,
  task: TaskStatus | undefined,
): boolean {
  const { order, rejected, run, status, openRejection } = state
  // This process created it and failed before starting it.
  if (!state.isStarted && run.runner.pid === process.pid) return true
  if (hasLiveProcess(state)) {
    workspace.say(
      `${order.name} is ${status} elsewhere, and left to that (stint delegate show ${order.name})`,
    )
    return false
  }
  if (status === 'ready') return true
  if (status !== 'failed' && status !== 'conflicted') return false
  if (openRejection !== undefined) return rejected <= workspace.config.delegates.sendBack
  // A finally failed one continues only if its task was reopened since.
  return !TASK_ENDS.has(run.ended) || task === 'ready'
}

function resolveForParallel(workspace: Workspace, options: RunOptions): ResolvedOptions {
  const resolved = resolveOptions(workspace, options)
  const { parallel = 1, permissions, verify = '' } = resolved
  if (!Number.isInteger(parallel) || parallel < 1 || parallel > MAX_PARALLEL_TASKS) {
    throw new StintError(
      'TOO_PARALLEL',
      `${parallel} tasks at once is not from 1 to ${MAX_PARALLEL_TASKS}: with more, merging is what everything waits for`,
      `stint run --parallel ${MAX_PARALLEL_TASKS} is the most`,
    )
  }
  refuseSecretCommand(workspace, verify)
  if (permissions !== 'ask') return resolved
  throw new StintError(
    'NOBODY_TO_ASK',
    'several agents at once cannot ask one person',
    'use --permissions edits, or leave --parallel away',
  )
}

export async function startAnyRun(
  workspace: Workspace,
  options: StartOptions,
  listener: RunListener,
): Promise<RunHandle> {
  refuseInRun(workspace, 'beginning a run')
  const { parallel, resume } = options
  if (resume === undefined)
    return startRun(workspace, options, listener, parallel === undefined ? undefined : PARALLEL)
  const run = resume === true ? lastResumable(workspace) : findRun(workspace.paths, resume)
  const { delegate, options: startedWith } = readRunState(workspace, run).started
  if (delegate !== undefined) {
    throw new StintError(
      'IS_DELEGATE',
      `${shortId(run)} is the delegate ${delegate.name}, and no run`,
      `stint delegate retry ${delegate.name}`,
    )
  }
  if (startedWith.parallel === undefined && parallel !== undefined)
    throw new StintError(
      'NOT_PARALLEL',
      `run ${shortId(run)} works on one task at a time, and has begun so`,
      `stint run --resume ${shortId(run)} goes on with it; stint run --parallel ${parallel} begins another`,
    )
  const mode = startedWith.parallel === undefined ? undefined : PARALLEL
  return startRun(workspace, { ...options, resume: run }, listener, mode)
}
