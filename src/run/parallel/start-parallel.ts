import type { Backlog } from '../../backlog/backlog.ts'
import { StintError } from '../../journal/errors.ts'
import { shortId } from '../../journal/ids.ts'
import { refuseInRun } from '../../project/store/in-run.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import type { TaskStatus } from '../../session/entries.ts'
import { refuseSecretCommand } from '../delegate/create-delegate.ts'
import { delegateWrap } from '../delegate/delegate-context.ts'
import { type DelegateState, readDelegates, hasLiveProcess } from '../delegate/delegates.ts'
import type { EndOfRun, RunListener } from '../entries.ts'
import { type RunHandle, type RunMode, type StartOptions, startRun } from '../loop/start-run.ts'
import { reconcileDelegate } from '../merge/finish-merge.ts'
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
  SerialQueue,
  ParallelRun,
  SharedBudget,
  type ParallelContext,
  type ResumedDelegates,
} from './parallel-run.ts'
import { planParallel } from './schedule.ts'

const SIDE_BY_SIDE: RunMode = {
  resolve: resolveForParallel,
  plan: planParallel,
  wrap: ({ config, paths: place }) =>
    delegateWrap({ name: 'run', slot: 0 }, place.root, config.delegates),
  async prepare(setup) {
    const { backlog, before, selection, settled, workspace } = setup
    const purse = new SharedBudget(settled, workspace.config.prices)
    const stage: ParallelContext = {
      ...setup,
      latest: {},
      purse,
      merges: new SerialQueue(),
      said: new Set(),
    }
    const taken = await takeUp(stage, backlog)
    const { maxMinutes = Infinity } = settled
    return {
      context: stage,
      work(claims) {
        // The time of all processes that ran it counts.
        const endsAt = Date.now() + maxMinutes * 60_000 - (before?.seconds ?? 0) * 1000
        return new ParallelRun(stage, selection, claims, taken).work(endsAt)
      },
    }
  },
}

/** Ends of a delegate's work that are about its task. After any other it continues. */
const ITS_OWN: ReadonlySet<EndOfRun | undefined> = new Set<EndOfRun>([
  'finished',
  'waiting',
  'nothing to do',
  'task failed',
])

async function takeUp(
  { workspace, run, log, purse }: ParallelContext,
  { byId }: Pick<Backlog, 'byId'>,
): Promise<ResumedDelegates> {
  const noted = new Set(
    log.read().flatMap((entry) => (entry.kind === 'delegate.begun' ? [entry.data.delegate] : [])),
  )
  const left: DelegateState[] = []
  const given: string[] = []
  const begun: string[] = []
  let done = 0
  for (const found of readDelegates(workspace.paths)) {
    const { task } = found.order
    if (found.order.run !== run || task === undefined) continue
    // The run was killed between creating it and recording that.
    if (!noted.has(found.id)) log.append('delegate.begun', { delegate: found.id, task })
    const state = await reconcileDelegate(workspace, found)
    purse.told(state.id, sumAttemptUsage(state.run.attempts))
    if (state.status === 'merged') done += 1
    if (doesContinue(workspace, state, byId.get(task)?.status)) left.push(state)
    else {
      begun.push(state.id)
      // A discarded one may be begun anew.
      if (state.status !== 'discarded') given.push(task)
    }
  }
  return { left, given, begun, done }
}

function doesContinue(
  workspace: Workspace,
  state: DelegateState,
  task: TaskStatus | undefined,
): boolean {
  const { order, rejected, run, status, toMend } = state
  // Created by this process, which failed before starting it.
  if (!state.isBegun && run.runner.pid === process.pid) return true
  if (hasLiveProcess(state)) {
    workspace.say(
      `${order.name} is ${status} elsewhere, and left to that (stint delegate show ${order.name})`,
    )
    return false
  }
  if (status === 'ready') return true
  if (status !== 'failed' && status !== 'conflicted') return false
  if (toMend !== undefined) return rejected <= workspace.config.delegates.sendBack
  // One that failed for good continues if its task was opened again since.
  return !ITS_OWN.has(run.ended) || task === 'ready'
}

function resolveForParallel(workspace: Workspace, options: RunOptions): ResolvedOptions {
  const settled = resolveOptions(workspace, options)
  const { parallel = 1, permissions, verify = '' } = settled
  if (!Number.isInteger(parallel) || parallel < 1 || parallel > MAX_PARALLEL_TASKS) {
    throw new StintError(
      'TOO_PARALLEL',
      `${parallel} tasks at once is not from 1 to ${MAX_PARALLEL_TASKS}: with more, merging is what everything waits for`,
      `stint run --parallel ${MAX_PARALLEL_TASKS} is the most`,
    )
  }
  refuseSecretCommand(workspace, verify)
  if (permissions !== 'ask') return settled
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
    return startRun(workspace, options, listener, parallel === undefined ? undefined : SIDE_BY_SIDE)
  const run = resume === true ? lastResumable(workspace) : findRun(workspace.paths, resume)
  const { delegate, options: begun } = readRunState(workspace, run).started
  if (delegate !== undefined) {
    throw new StintError(
      'IS_DELEGATE',
      `${shortId(run)} is the delegate ${delegate.name}, and no run`,
      `stint delegate retry ${delegate.name}`,
    )
  }
  if (begun.parallel === undefined && parallel !== undefined)
    throw new StintError(
      'NOT_PARALLEL',
      `run ${shortId(run)} works on one task at a time, and has begun so`,
      `stint run --resume ${shortId(run)} goes on with it; stint run --parallel ${parallel} begins another`,
    )
  const mode = begun.parallel === undefined ? undefined : SIDE_BY_SIDE
  return startRun(workspace, { ...options, resume: run }, listener, mode)
}
