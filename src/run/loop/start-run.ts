import { resolve } from 'node:path'
import type { PermissionRequest, ProcessMark } from '../../harness/contract/drive.ts'
import { startOf } from '../../harness/process/spawn-guarded.ts'
import { StintError } from '../../journal/errors.ts'
import { mintId } from '../../journal/ids.ts'
import { refuseInRun } from '../../project/store/in-run.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import type { Task } from '../../backlog/task.ts'
import { commandEnvironment, nameOf } from '../attempt/agent-environment.ts'
import { openSource } from '../sources/open-source.ts'
import { Claims } from './claims.ts'
import { type RunContext, RunEnds, Stopping } from '../attempt/run-context.ts'
import { type Emit, type EndOfRun, type Listener, type RunReport, emitTo } from '../entries.ts'
import { emptyReport } from '../report.ts'
import { finishedTasks, lastResumable, reportNow, stateOf } from '../runs.ts'
import {
  bringBackTree,
  endLeftovers,
  examine,
  handoffLeft,
  refuseSecond,
  refuseToGoOn,
} from './resume.ts'
import { Loop } from './loop.ts'
import { readyHarness, makeRunContext, verifyCommands } from './make-run-context.ts'
import { Selection, neverBegun } from './selection.ts'
import { type RunOptions, type ResolvedOptions, resolveOptions } from '../options.ts'
import { RunLog, findRun } from '../run-log.ts'
import { RunSession } from '../attempt/run-session.ts'
import { type RunState, foldRun } from '../run-state.ts'
import { expectedSeconds } from './plan-run.ts'
import { removeIfClean } from '../worktree/remove-if-clean.ts'
import { type RunTree, treeInPlace, treeOfItsOwn } from '../worktree/tree.ts'
import { repositoryOf } from '../../project/store/worktrees.ts'
import { runVerify } from '../proof/prove.ts'
import { defined } from '../../text/defined.ts'

/** A run that goes on. */
export interface RunHandle {
  readonly ended: Promise<RunReport>
  /** May be called again with `now`. */
  stop(how: 'after task' | 'now'): void
}

export interface StartOptions extends RunOptions {
  /** The run to go on with; true for the last one that can be. */
  readonly resume?: string | true
  /** Asked where the rules do not decide. Refuses when absent. */
  readonly decide?: (request: PermissionRequest) => Promise<boolean>
}

/** Begins a run, or goes on with one. What is wrong is said before anything is begun; the run itself goes on behind the handle. */
export async function startRun(
  workspace: Workspace,
  options: StartOptions,
  listener: Listener,
): Promise<RunHandle> {
  refuseInRun(workspace, 'beginning a run')
  const stopping = new Stopping()
  const emit = emitTo(listener)
  const { resume, decide, ...told } = options
  const begun =
    resume === undefined
      ? await beginNew(workspace, told, stopping, listener, decide)
      : await beginAgain(
          workspace,
          resume === true ? undefined : resume,
          told,
          stopping,
          listener,
          decide,
        )
  return {
    ended: begun.work().then((report) => {
      emit('run.report', report)
      return report
    }),
    stop: (how) => {
      stopping.stop(how)
      emit('stopping', { how })
    },
  }
}

interface Begun {
  work(): Promise<RunReport>
}

async function beginNew(
  workspace: Workspace,
  options: RunOptions,
  stopping: Stopping,
  listener: Listener,
  decide: StartOptions['decide'],
): Promise<Begun> {
  const settled = resolveOptions(workspace, options)
  refuseUnanswered(settled, decide)
  const run = mintId(undefined)
  const harness = await readyHarness(workspace, settled, run)
  repositoryOf(workspace.place)
  const source = await openSource(workspace, options.backlog)
  const backlog = await source.read()
  const selection = new Selection(backlog, options)
  const open = selection.open(backlog)
  if (open.length === 0) {
    const report = emptyReport(harness.name)
    return { work: async () => report }
  }
  workspace.prepare()
  const tree =
    options.isInPlace === true
      ? await freeInPlace(workspace)
      : treeOfItsOwn(workspace.place, run, options.branch)
  const runner = thisProcess()
  const log = RunLog.create(
    workspace.place,
    run,
    workspace.config,
    {
      options: optionsToKeep(workspace, options, settled),
      harness: harness.name,
      source: source.name,
      ...tree,
      runner,
    },
    listener,
  )
  const emit = emitTo(listener)
  const scene = makeRunContext(workspace, {
    run,
    log,
    harness,
    settled,
    tree,
    open,
    all: open,
    source,
    stopping,
    emit,
    decide,
  })
  if (verifyCommands(settled, workspace.config.verify, open).length === 0)
    emit('message', {
      text: 'there is no verify command: that a task is done rests on its commit alone (--verify, or verify in .sessions/config.yaml)',
    })
  const expected = await expectedSeconds(workspace, settled)
  return { work: () => work(scene, selection, runner, undefined, open, expected) }
}

async function beginAgain(
  workspace: Workspace,
  name: string | undefined,
  options: RunOptions,
  stopping: Stopping,
  listener: Listener,
  decide: StartOptions['decide'],
): Promise<Begun> {
  const run = name === undefined ? lastResumable(workspace) : findRun(workspace.place, name)
  const runner = thisProcess()
  const log = new RunLog(workspace.place, run, workspace.config, listener)
  const state = stateOf(workspace, run)
  refuseToGoOn(run, state)
  // Of two who resume it at once the one that stands first in the log goes on.
  log.append('run.resumed', { runner })
  refuseSecond(run, log.read(), runner)
  try {
    return await takeUpAgain(
      workspace,
      { run, log, runner, state },
      options,
      stopping,
      emitTo(listener),
      decide,
    )
  } catch (error) {
    log.append('run.ended', {
      how: state.ended ?? 'interrupted',
      ...defined({ neverBegun: state.neverBegun }),
    })
    throw error
  }
}

async function takeUpAgain(
  workspace: Workspace,
  { run, log, runner, state }: { run: string; log: RunLog; runner: ProcessMark; state: RunState },
  options: RunOptions,
  stopping: Stopping,
  emit: Emit,
  decide: StartOptions['decide'],
): Promise<Begun> {
  // How it was begun holds, except where something else is said now.
  const { once, ...begun } = state.started.options
  // Which is a number of tasks as well, so that another one takes its place.
  const isOnce = once !== undefined && options.maxTasks === undefined
  const told: RunOptions = { ...begun, ...(isOnce ? { once } : {}), ...options }
  refuseRedacted(told)
  const settled = resolveOptions(workspace, {
    ...told,
    harness: told.harness ?? state.started.harness,
  })
  refuseUnanswered(settled, decide)
  const { tree, branch, base, isInPlace } = state.started
  const harness = await readyHarness(workspace, settled, run)
  const strays = await endLeftovers(state)
  if (strays > 0)
    emit('message', { text: `${strays} processes that the run had left behind were ended` })
  bringBackTree(workspace.place, state)
  const source = await openSource(workspace, told.backlog)
  const backlog = await source.read()
  const selection = new Selection(backlog, told)
  const open = selection.open(backlog)
  const worked = new Set(state.attempts.map(({ started }) => started.task.id))
  const scene = makeRunContext(workspace, {
    run,
    log,
    harness,
    settled,
    tree: { tree, branch, base, isInPlace },
    open,
    all: backlog.tasks.filter((task) => worked.has(task.id) || open.includes(task)),
    source,
    stopping,
    emit,
    decide,
  })
  const expected = await expectedSeconds(workspace, settled)
  return { work: () => work(scene, selection, runner, state, open, expected) }
}

export async function work(
  scene: RunContext,
  selection: Selection,
  runner: ProcessMark,
  before: RunState | undefined,
  open: readonly Task[],
  expected: number,
): Promise<RunReport> {
  const { emit, harness, log, run, settled, tree, workspace } = scene
  emit('run.planned', {
    run,
    harness: harness.name,
    tasks: open.map(nameOf),
    isResumed: before !== undefined,
    branch: tree.branch,
    worktree: tree.tree,
    expectedSeconds: expected,
    ...defined({ model: settled.model }),
  })
  if (!harness.capabilities.multiTurn)
    emit('message', { text: `${harness.name} takes one task a conversation` })
  const claims = new Claims(workspace.place, run, runner)
  let how: EndOfRun = 'interrupted'
  try {
    await makeReady(scene, before)
    if (before !== undefined) await examine(scene, before, claims)
    // Read anew: looking at what was left has written to it.
    const state = before === undefined ? undefined : foldRun(log.read())
    const loop = new Loop(
      scene,
      selection,
      claims,
      state,
      finishedTasks(workspace.place, harness.name, run),
    )
    if (state !== undefined) await pickUp(scene, loop, state)
    how = await loop.work()
  } catch (error) {
    if (!(error instanceof RunEnds)) throw error
    how = error.how
    if (error.because !== '') workspace.say(error.because)
  } finally {
    claims.releaseAll()
    const { latest } = scene
    const left = latest.backlog === undefined ? open : selection.open(latest.backlog)
    log.append('run.ended', {
      how,
      ...defined({ neverBegun: neverBegun(left, foldRun(log.read())) }),
    })
    if (how === 'finished' && scene.delegate === undefined)
      removeIfClean(workspace.place, tree, (text) => emit('message', { text }))
    scene.workspace.close()
  }
  const report = reportNow(workspace, run, foldRun(log.read())!, false)
  log.close()
  return report
}

/** A new worktree lacks what git does not keep. The command that brings it runs once, also when it was killed the first time. */
async function makeReady(scene: RunContext, before: RunState | undefined): Promise<void> {
  const { delegate, log, settled, stopping, emit, tree, workspace } = scene
  const setup = delegate?.setup ?? workspace.config.run.setup
  if (tree.isInPlace || setup === undefined || before?.isReady === true) return
  emit('message', { text: `making the worktree ready: ${setup}` })
  const result = await runVerify(setup, {
    tree: tree.tree,
    verifyMs: settled.verifyMs,
    env: commandEnvironment(scene),
    isStopped: stopping.now,
  })
  if (result.isStopped) throw new RunEnds('interrupted', 'stopped')
  if (!result.passed) {
    throw new StintError(
      'SETUP_FAILED',
      `${setup} ${result.ending} in a fresh worktree:\n${result.output.slice(-1500)}`,
      'mend run.setup in .sessions/config.yaml, then stint run --resume; or work with --in-place',
    )
  }
  log.append('tree.ready', {})
}

/** The checkout, when nobody works in it: a session of the user's on this branch would be mixed up with the run's. */
export async function freeInPlace(workspace: Workspace): Promise<RunTree> {
  const tree = treeInPlace(workspace.place)
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

export function refuseUnanswered(
  { permissions }: ResolvedOptions,
  decide: StartOptions['decide'],
): void {
  if (permissions !== 'ask' || decide !== undefined) return
  throw new StintError(
    'NOBODY_TO_ASK',
    '--permissions ask needs somebody to ask',
    'use a terminal, or --permissions edits',
  )
}

/** A secret is not in the log, so that what had one in it cannot be said again from there. */
export function refuseRedacted({ verify }: RunOptions): void {
  if (verify === undefined || !verify.includes('[redacted:')) return
  throw new StintError(
    'VERIFY_REDACTED',
    'the verify command had a secret in it, which was not written down',
    'say it again: stint run --resume --verify COMMAND',
  )
}

/** Goes on in the session that was open, else begins the next with what the last one left. */
async function pickUp(scene: RunContext, loop: Loop, state: RunState): Promise<void> {
  const last = state.sessions.at(-1)
  if (last === undefined) return
  const session = last.isClosed
    ? undefined
    : RunSession.reopen(scene.workspace, last.session, last.number)
  if (session !== undefined) return loop.goOnIn(session)
  const left =
    last.handoff === undefined
      ? undefined
      : handoffLeft(scene.workspace, last.session, last.handoff)
  if (left !== undefined) loop.beginWith(left, undefined)
}

/** The options as they mean the same from everywhere, since a run may be resumed from another folder. */
export function optionsToKeep(
  { cwd }: Workspace,
  options: RunOptions,
  { harness }: ResolvedOptions,
): RunOptions {
  const { backlog, script } = options
  return {
    ...options,
    // As it was named: an agent that speaks ACP is known by its command, which may stand in the configuration only.
    harness,
    ...(backlog === undefined
      ? {}
      : { backlog: /\.\w+$/.test(backlog) ? resolve(cwd, backlog) : backlog }),
    ...(script === undefined ? {} : { script: resolve(cwd, script) }),
  }
}

export function thisProcess(): ProcessMark {
  return { pid: process.pid, startedAt: startOf(process.pid), mark: '' }
}
