import { resolve } from 'node:path'
import type { Backlog } from '../../backlog/backlog.ts'
import type { Task } from '../../backlog/task.ts'
import type { Harness, PermissionRequest, ProcessTag } from '../../harness/contract/drive.ts'
import { processStartTime } from '../../harness/process/spawn-guarded.ts'
import { StintError } from '../../journal/errors.ts'
import { mintId } from '../../journal/ids.ts'
import { refuseInRun } from '../../project/store/run-environment.ts'
import { refuseAgent, refuseSettingsOfAgent, requireConsent } from '../../project/trust/trust.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { requireRepository } from '../../project/store/worktrees.ts'
import { defined } from '../../text/defined.ts'
import {
  type RunContext,
  RunEndedError,
  StopSignal,
  commandEnvironment,
  toTaskName,
} from '../attempt/run-context.ts'
import { RunSession } from '../attempt/run-session.ts'
import { type EndOfRun, type RunListener, type RunReport, emitTo } from '../entries.ts'
import { type ResolvedOptions, type RunOptions, resolveOptions } from '../options.ts'
import { AGREEING } from '../proof/protected-paths.ts'
import { runVerify } from '../proof/prove.ts'
import { emptyReport } from '../report.ts'
import { RunLog, findRun } from '../run-log.ts'
import { type RunState, foldRun } from '../run-state.ts'
import { finishedTasks, lastResumable, readRunState, reportRun } from '../runs.ts'
import { openBacklogSource } from '../sources/open-backlog-source.ts'
import { removeTreeIfClean } from '../worktree/remove-worktree.ts'
import { type RunTree, createRunTree, treeInPlace } from '../worktree/run-tree.ts'
import { Claims } from './claims.ts'
import { Loop } from './loop.ts'
import { makeRunContext, requireHarness, verifyCommands } from './make-run-context.ts'
import { type RunPlan, planRun } from './plan-run.ts'
import {
  endOrphanedProcesses,
  readStoredHandoff,
  recoverInterrupted,
  refuseSecondRunner,
  refuseToResume,
  restoreRunTree,
} from './resume.ts'
import { TaskSelection, findUnstartedTasks } from './task-selection.ts'

/** A run in progress. */
export interface RunHandle {
  readonly ended: Promise<RunReport>
  /** May be called again with `now`. */
  stop(how: 'after task' | 'now'): void
}

/** Options to start or resume a run. */
export interface StartOptions extends RunOptions {
  /** The run to resume; true for the last resumable one. */
  readonly resume?: string | true
  /** Asked where the rules do not decide; without it such requests are refused. */
  readonly decide?: (request: PermissionRequest) => Promise<boolean>
}

export interface RunSetup extends Pick<
  RunContext,
  'run' | 'workspace' | 'log' | 'options' | 'tree' | 'source' | 'stopping' | 'emit'
> {
  readonly harness: Harness
  readonly backlog: Backlog
  readonly selection: TaskSelection
  readonly open: readonly Task[]
  readonly before: RunState | undefined
  readonly runner: ProcessTag
  readonly listener: RunListener
  readonly decide: StartOptions['decide']
}

/** How a run works: one task after another, or several at once. */
export interface RunMode {
  /** Resolves the options, and refuses what this mode cannot do. */
  resolve(
    workspace: Workspace,
    options: RunOptions,
    decide: StartOptions['decide'],
  ): ResolvedOptions
  plan(workspace: Workspace, options: RunOptions): Promise<RunPlan>
  wrap?(workspace: Workspace): readonly string[] | undefined
  prepare(setup: RunSetup): Promise<RunJob>
}

interface RunJob {
  readonly context: Pick<RunContext, 'workspace' | 'latest' | 'delegate'>
  work(claims: Claims): Promise<EndOfRun>
}

const SEQUENTIAL: RunMode = {
  resolve(workspace, options, decide) {
    const resolved = resolveOptions(workspace, options)
    if (resolved.permissions !== 'ask' || decide !== undefined) return resolved
    throw new StintError(
      'NOBODY_TO_ASK',
      '--permissions ask needs somebody to ask',
      'use a terminal, or --permissions edits',
    )
  },
  plan: planRun,
  async prepare(setup) {
    const { backlog, before, emit, open, selection, options, workspace } = setup
    const worked = new Set(before?.attempts.map(({ started }) => started.task.id))
    const all = backlog.tasks.filter((task) => worked.has(task.id) || open.includes(task))
    const context = makeRunContext(workspace, { ...setup, all })
    if (before === undefined && verifyCommands(options, workspace.config.verify, open).length === 0)
      emit('message', {
        text: 'there is no verify command: that a task is done rests on its commit alone (--verify, or verify in .sessions/config.yaml)',
      })
    return sequentialJob(context, selection, before)
  },
}

/** Throws if the run cannot start; after that it works in the background of the handle. */
export async function startRun(
  workspace: Workspace,
  options: StartOptions,
  listener: RunListener,
  mode = SEQUENTIAL,
): Promise<RunHandle> {
  refuseInRun(workspace, 'beginning a run')
  if (options.allowProtected !== undefined) refuseAgent(workspace, AGREEING)
  const { resume, decide, ...runOptions } = options
  const emit = emitTo(listener)
  const stopping = new StopSignal()
  const starting: Starting = {
    workspace,
    runner: thisProcess(),
    listener,
    emit,
    stopping,
    decide,
    mode,
  }
  const work = await (resume === undefined
    ? startNewRun(starting, runOptions)
    : resumeRun(starting, resume === true ? lastResumable(workspace) : resume, runOptions))
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

type Starting = Pick<
  RunSetup,
  'workspace' | 'runner' | 'listener' | 'emit' | 'stopping' | 'decide'
> & { readonly mode: RunMode }

type Work = () => Promise<RunReport>

async function startNewRun(starting: Starting, options: RunOptions): Promise<Work> {
  const { workspace, runner, listener, decide, mode } = starting
  const { config, paths } = workspace
  requireRepository(paths)
  const tasks = await readTasks(workspace, options)
  refuseSettingsOfAgent(workspace, options)
  requireConsent(workspace, tasks.open)
  const resolved = mode.resolve(workspace, options, decide)
  const run = mintId(undefined)
  const harness = await requireHarness(workspace, resolved, run, mode.wrap?.(workspace))
  if (tasks.open.length === 0) return async () => emptyReport(harness.name)
  workspace.prepare()
  const tree = await (options.isInPlace === true
    ? requireFreeCheckout(workspace)
    : createRunTree(paths, run, options.branch))
  const stored = optionsToStore(workspace, options, resolved)
  const started = {
    options: stored,
    harness: harness.name,
    source: tasks.source.name,
    ...tree,
    runner,
  }
  const log = RunLog.create(paths, run, config, started, listener)
  const setup = {
    ...starting,
    ...tasks,
    run,
    log,
    harness,
    tree,
    before: undefined,
    options: { ...resolved, ...stored },
  }
  return prepare(setup, mode, options)
}

async function resumeRun(starting: Starting, name: string, options: RunOptions): Promise<Work> {
  const { workspace, runner, listener, emit, decide, mode } = starting
  const { config, paths } = workspace
  refuseSettingsOfAgent(workspace, options)
  requireConsent(workspace)
  const run = findRun(paths, name)
  const before = readRunState(workspace, run)
  refuseToResume(run, before)
  const log = new RunLog(paths, run, config, listener)
  // Of two processes that resume it at once, the first in the log continues.
  log.append('run.resumed', { runner })
  refuseSecondRunner(run, log.read(), runner)
  try {
    const { once, ...stored } = before.started.options
    // A task limit given now replaces `once`.
    const isOnce = once !== undefined && options.maxTasks === undefined
    const merged: RunOptions = {
      harness: before.started.harness,
      ...stored,
      ...(isOnce ? { once } : {}),
      ...options,
    }
    refuseRedacted(merged)
    const resolved = mode.resolve(workspace, merged, decide)
    const harness = await requireHarness(workspace, resolved, run, mode.wrap?.(workspace))
    const orphans = await endOrphanedProcesses(before)
    if (orphans > 0)
      emit('message', { text: `${orphans} processes that the run had left behind were ended` })
    restoreRunTree(paths, before)
    const { tree, branch, base, isInPlace } = before.started
    const setup = {
      ...starting,
      ...(await readTasks(workspace, merged)),
      run,
      log,
      harness,
      options: resolved,
      tree: { tree, branch, base, isInPlace },
      before,
    }
    return await prepare(setup, mode, merged)
  } catch (error) {
    const { ended: how = 'interrupted', neverBegun: left } = before
    log.append('run.ended', { how, ...defined({ neverBegun: left }) })
    throw error
  }
}

async function readTasks(workspace: Workspace, options: RunOptions) {
  const source = await openBacklogSource(workspace, options.backlog)
  const backlog = await source.read()
  const selection = new TaskSelection(backlog, options)
  return { source, backlog, selection, open: selection.openTasks(backlog) }
}

async function prepare(setup: RunSetup, mode: RunMode, options: RunOptions): Promise<Work> {
  const job = await mode.prepare(setup)
  const { parallel, sessions } = await mode.plan(setup.workspace, options)
  const expected = parallel?.seconds ?? sessions.reduce((sum, { seconds }) => sum + seconds, 0)
  return () => work(setup, job, expected)
}

async function work(
  setup: Omit<RunSetup, 'source' | 'backlog' | 'stopping' | 'listener' | 'decide'>,
  { context, work: worked }: RunJob,
  expectedSeconds: number,
): Promise<RunReport> {
  const { before, emit, harness, log, open, run, runner, selection, options, tree } = setup
  const { delegate, latest, workspace } = context
  const { model, parallel } = options
  emit('run.planned', {
    run,
    harness: parallel === undefined ? harness.name : options.harness,
    tasks: open.map(toTaskName),
    isResumed: before !== undefined,
    branch: tree.branch,
    worktree: tree.tree,
    expectedSeconds,
    ...defined({ parallel, model }),
  })
  const claims = new Claims(workspace.paths, run, runner)
  let how: EndOfRun = 'interrupted'
  try {
    how = await worked(claims)
  } catch (error) {
    if (!(error instanceof RunEndedError)) throw error
    how = error.how
    if (error.because !== '') workspace.say(error.because)
  } finally {
    claims.releaseAll()
    const left = latest.backlog === undefined ? open : selection.openTasks(latest.backlog)
    const neverBegun = findUnstartedTasks(left, foldRun(log.read()))
    log.append('run.ended', { how, ...defined({ neverBegun }) })
    // The tree of a parallel run holds only merges.
    if (parallel !== undefined || (how === 'finished' && delegate === undefined))
      removeTreeIfClean(workspace.paths, tree, (text) => emit('message', { text }))
    if (workspace !== setup.workspace) workspace.close()
  }
  const report = reportRun(workspace, run, foldRun(log.read())!, false)
  log.close()
  return report
}

export function workAsDelegate(
  context: RunContext,
  setup: Pick<RunSetup, 'workspace' | 'selection' | 'before' | 'open'>,
): Promise<RunReport> {
  const { selection, before } = setup
  return work(
    { ...context, ...setup, runner: thisProcess() },
    sequentialJob(context, selection, before),
    0,
  )
}

function sequentialJob(
  context: RunContext,
  selection: TaskSelection,
  before: RunState | undefined,
): RunJob {
  const { emit, harness, log, run, workspace } = context
  return {
    context,
    async work(claims) {
      if (!harness.capabilities.multiTurn)
        emit('message', { text: `${harness.name} takes one task a conversation` })
      await setUpTree(context, before)
      if (before !== undefined) await recoverInterrupted(context, before, claims)
      // The recovery has written to the log.
      const state = before === undefined ? undefined : foldRun(log.read())
      const finished = finishedTasks(workspace.paths, harness.name, run)
      const loop = new Loop(context, selection, claims, state, finished)
      if (state !== undefined) await resumeLastSession(context, loop, state)
      return loop.work()
    },
  }
}

/** A new worktree lacks what git ignores. The set-up command is repeated on each resume until it has passed once. */
async function setUpTree(context: RunContext, before: RunState | undefined): Promise<void> {
  const { delegate, log, options, stopping, emit, tree, workspace } = context
  const setup = delegate?.setup ?? workspace.config.run.setup
  if (tree.isInPlace || setup === undefined || before?.isTreeReady === true) return
  emit('message', { text: `making the worktree ready: ${setup}` })
  const result = await runVerify(setup, {
    tree: tree.tree,
    verifyMs: options.verifyMs,
    env: commandEnvironment(context),
    isStopped: stopping.now,
  })
  if (result.isStopped) throw new RunEndedError('interrupted', 'stopped')
  if (!result.passed) {
    throw new StintError(
      'SETUP_FAILED',
      `${setup} ${result.ending} in a fresh worktree:\n${result.output.slice(-1500)}`,
      'mend run.setup in .sessions/config.yaml, then stint run --resume; or work with --in-place',
    )
  }
  log.append('tree.ready', {})
}

async function requireFreeCheckout(workspace: Workspace): Promise<RunTree> {
  const tree = treeInPlace(workspace.paths)
  const active = workspace.hasSessions()
    ? [...(await workspace.index()).sessions({ status: ['active'] })]
    : []
  const own = active.find(
    (row) => row.branch === tree.branch && row.worktree === workspace.worktree,
  )
  if (own === undefined) return tree
  throw new StintError(
    'SESSION_ACTIVE',
    `${own.name} is active on ${tree.branch}`,
    `stint pause ${own.name} sets it down, or leave --in-place away`,
  )
}

/** Secrets are redacted in the log, so a command with a secret cannot be read back. */
function refuseRedacted({ verify }: RunOptions): void {
  if (verify === undefined || !verify.includes('[redacted:')) return
  throw new StintError(
    'VERIFY_REDACTED',
    'the verify command had a secret in it, which was not written down',
    'say it again: stint run --resume --verify COMMAND',
  )
}

async function resumeLastSession(
  { workspace }: RunContext,
  loop: Loop,
  state: RunState,
): Promise<void> {
  const last = state.sessions.at(-1)
  if (last === undefined) return
  const session = last.isClosed ? undefined : RunSession.reopen(workspace, last.session)
  if (session !== undefined) return loop.resumeSession(session)
  if (last.handoff !== undefined)
    loop.useHandoff(readStoredHandoff(workspace, last.session, last.handoff))
}

/** Paths are stored absolute, because the run may be resumed from another folder. */
function optionsToStore(
  { cwd }: Workspace,
  options: RunOptions,
  { harness }: ResolvedOptions,
): RunOptions {
  const { backlog, script } = options
  const isFile = backlog !== undefined && /\.\w+$/.test(backlog)
  return {
    ...options,
    // An ACP agent is identified by its command, which may be only in the configuration.
    harness,
    ...(isFile ? { backlog: resolve(cwd, backlog) } : {}),
    ...(script === undefined ? {} : { script: resolve(cwd, script) }),
  }
}

export function thisProcess(): ProcessTag {
  return { pid: process.pid, startedAt: processStartTime(process.pid), mark: '' }
}
