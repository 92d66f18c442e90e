import { join, resolve } from 'node:path'
import type { Harness, PermissionRequest, ProcessMark } from '../harness/contract.ts'
import { startOf } from '../harness/process/strays.ts'
import { StintError } from '../journal/errors.ts'
import { mintId } from '../journal/ids.ts'
import { projectText } from '../project/project-context.ts'
import { runFolder } from '../project/run-files.ts'
import { withoutSecrets } from '../project/clean-draft.ts'
import { Workspace } from '../project/workspace.ts'
import type { Task } from '../tasks/task.ts'
import { plainEnvironment, writeOwnCommand } from './agent-environment.ts'
import { openSource } from './backlog/open-source.ts'
import type { BacklogSource } from './backlog/source.ts'
import { Claims } from './claims.ts'
import { classOfRun, trackingFor } from './complexity.ts'
import type { RunEvent } from './events.ts'
import type { EndOfRun, RunReport } from './report.ts'
import { finishedTasks } from './finished-tasks.ts'
import { bringBackTree, endLeftovers, examine, handoffLeft, refuseToGoOn } from './go-on.ts'
import { harnessNamed } from './harnesses.ts'
import { Loop } from './loop.ts'
import type { RunOptions } from './options.ts'
import { loadProfiles } from './profiles/load-profiles.ts'
import { gatherInstructions } from './prompts/gather-instructions.ts'
import { setupText } from './prompts/setup-text.ts'
import { emptyReport } from './make-report.ts'
import { RunLog, findRun } from './run-log.ts'
import { lastResumable, reportNow, stateOf } from './runs.ts'
import { RunSession } from './run-session.ts'
import { type RunState, foldRun } from './run-state.ts'
import { type Scene, type Settled, Stopping } from './scene.ts'
import { settle } from './settled.ts'
import { Selection } from './selection.ts'
import { nameOf, writeTaskList } from './task-list.ts'
import { type RunTree, removeIfClean, removeUnused, repositoryOf, treeInPlace, treeOfItsOwn } from './tree.ts'
import { runVerify } from './verify.ts'

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
export async function startRun(workspace: Workspace, options: StartOptions, tell: (event: RunEvent) => void): Promise<RunHandle> {
  const stopping = new Stopping()
  const emit: Scene['tell'] = (event) => tell({ ...event, at: new Date().toISOString() } as RunEvent)
  const { resume, decide, ...told } = options
  const begun =
    resume === undefined
      ? await beginNew(workspace, told, stopping, emit, decide)
      : await beginAgain(workspace, resume === true ? undefined : resume, told, stopping, emit, decide)
  return {
    ended: begun.work().then((report) => {
      emit({ type: 'run.ended', how: report.how === 'running' ? 'interrupted' : report.how, report })
      return report
    }),
    stop: (how) => {
      stopping.stop(how)
      emit({ type: 'stopping', how })
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
  emit: Scene['tell'],
  decide: StartOptions['decide'],
): Promise<Begun> {
  const settled = settle(workspace, options)
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
  const tree = await readyTree(workspace, run, options, settled, emit)
  const runner = thisProcess()
  const log = RunLog.create(workspace.place, run, workspace.config, {
    options: options.backlog === undefined ? options : { ...options, backlog: wordOrPath(workspace, options.backlog) },
    harness: harness.name,
    source: source.name,
    ...tree,
    runner,
  })
  const scene = sceneFor(workspace, { run, log, harness, settled, tree, open, source, stopping, emit, decide })
  if (verifyCommands(settled, workspace.config.verify, open).length === 0)
    emit({
      type: 'said',
      text: 'there is no verify command: that a task is done rests on its commit alone (--verify, or verify in .sessions/config.yaml)',
    })
  return { work: () => work(scene, selection, runner, undefined, open, emit) }
}

async function beginAgain(
  workspace: Workspace,
  name: string | undefined,
  options: RunOptions,
  stopping: Stopping,
  emit: Scene['tell'],
  decide: StartOptions['decide'],
): Promise<Begun> {
  const run = name === undefined ? lastResumable(workspace) : findRun(workspace.place, name)
  const state = stateOf(workspace, run)
  refuseToGoOn(run, state)
  // How it was begun holds, except where something else is said now.
  const { once, ...begun } = state.started.options
  // Which is a number of tasks as well, so that another one takes its place.
  const isOnce = once !== undefined && options.maxTasks === undefined
  const told: RunOptions = { ...begun, ...(isOnce ? { once } : {}), ...options }
  const settled = settle(workspace, { ...told, harness: told.harness ?? state.started.harness })
  const harness = await readyHarness(workspace, settled, run)
  const strays = await endLeftovers(state)
  if (strays > 0) emit({ type: 'said', text: `${strays} processes that the run had left behind were ended` })
  bringBackTree(workspace.place, state)
  const { tree, branch, base, isInPlace } = state.started
  const runner = thisProcess()
  const log = new RunLog(workspace.place, run, workspace.config)
  log.append('run.resumed', { runner })
  const source = await openSource(workspace, told.backlog)
  const backlog = await source.read()
  const selection = new Selection(backlog, told)
  const open = selection.open(backlog)
  const scene = sceneFor(workspace, {
    run,
    log,
    harness,
    settled,
    tree: { tree, branch, base, isInPlace },
    open,
    source,
    stopping,
    emit,
    decide,
  })
  return {
    work: async () => {
      await examine(scene, state)
      return work(scene, selection, runner, state, selection.open(await scene.source.read()), emit)
    },
  }
}

async function work(
  scene: Scene,
  selection: Selection,
  runner: ProcessMark,
  before: RunState | undefined,
  open: readonly Task[],
  emit: Scene['tell'],
): Promise<RunReport> {
  const { harness, log, run, settled, tree, workspace } = scene
  emit({
    type: 'run.started',
    run,
    harness: harness.name,
    tasks: open.map(nameOf),
    isResumed: before !== undefined,
    branch: tree.branch,
    worktree: tree.tree,
    ...(settled.model === undefined ? {} : { model: settled.model }),
  })
  if (!harness.capabilities.multiTurn) emit({ type: 'said', text: `${harness.name} takes one task a conversation` })
  const claims = new Claims(workspace.place, run, runner)
  // Read anew: looking at what was left has written to it.
  const state = before === undefined ? undefined : foldRun(log.read())
  const loop = new Loop(scene, selection, claims, state, finishedTasks(workspace.place, harness.name, run))
  let how: EndOfRun = 'interrupted'
  try {
    if (state !== undefined) await pickUp(scene, loop, state)
    how = await loop.work()
  } finally {
    log.append('run.ended', { how })
    if (how === 'finished') removeIfClean(workspace.place, tree, (text) => emit({ type: 'said', text }))
    scene.workspace.close()
  }
  const report = reportNow(workspace, run, foldRun(log.read())!, false)
  log.close()
  return report
}

/** Goes on in the session that was open, else begins the next with what the last one left. */
async function pickUp(scene: Scene, loop: Loop, state: RunState): Promise<void> {
  const last = state.sessions.at(-1)
  if (last === undefined) return
  const session = last.isClosed ? undefined : RunSession.reopen(scene.workspace, last.session, last.number)
  if (session !== undefined) return loop.goOnIn(session)
  const left = last.handoff === undefined ? undefined : handoffLeft(scene.workspace, last.session, last.handoff)
  if (left !== undefined) loop.beginWith(left, undefined)
}

interface SceneParts {
  readonly run: string
  readonly log: RunLog
  readonly harness: Harness
  readonly settled: Settled
  readonly tree: RunTree
  readonly open: readonly Task[]
  readonly source: BacklogSource
  readonly stopping: Stopping
  readonly emit: Scene['tell']
  readonly decide: StartOptions['decide']
}

function sceneFor(workspace: Workspace, parts: SceneParts): Scene {
  const { run, log, harness, tree, open, source, stopping, emit } = parts
  const inTree = new Workspace(tree.tree, { say: (text) => emit({ type: 'said', text }), env: plainEnvironment(workspace.env) })
  const { config, place } = inTree
  const { profiles, problems } = loadProfiles(tree.tree)
  const settled = {
    ...parts.settled,
    allow: [...parts.settled.allow, ...verifyCommands(parts.settled, config.verify, open), 'stint'],
  }
  const { instructions, files, notes } = gatherInstructions(tree.tree, {
    readByHarness: harness.capabilities.instructions,
    files: config.run.files,
    withoutSecrets: (text) => withoutSecrets(text, config),
  })
  for (const text of [...problems, ...notes]) emit({ type: 'said', text })
  const project = projectText(inTree)
  const verify = settled.verify ?? config.verify
  const setup = setupText({
    instructions,
    files,
    profiles,
    permissions: settled.permissions,
    allow: settled.allow,
    branch: tree.branch,
    limits: { minutes: Math.round(settled.taskMs / 60_000), silentMinutes: Math.round(settled.silenceMs / 60_000) },
    ...(project === undefined ? {} : { project }),
    ...(verify === undefined ? {} : { verify }),
  })
  const scene: Scene = {
    run,
    workspace: inTree,
    log,
    harness,
    settled,
    tree,
    source,
    profiles,
    setup,
    latest: {},
    tracking: trackingFor(classOfRun({ tasks: open }).complexity),
    stopping,
    tell: emit,
    // A run that may do what it does unasked never waits for a person who has gone.
    ...(parts.decide === undefined || settled.permissions !== 'ask' ? {} : { decide: parts.decide }),
  }
  writeOwnCommand(place, run)
  writeTaskList(scene, open)
  return scene
}

async function readyHarness(workspace: Workspace, settled: Settled, run: string): Promise<Harness> {
  const state = join(runFolder(workspace.place, run), 'rehearsal')
  const harness = harnessNamed(settled.harness, { state, ...(settled.script === undefined ? {} : { script: settled.script }) })
  const check = await harness.check(plainEnvironment(workspace.env))
  if (!check.isThere) throw new StintError('HARNESS_MISSING', check.problem, check.hint)
  if (!harness.capabilities.permissions.includes(settled.permissions)) {
    const { permissions } = harness.capabilities
    throw new StintError(
      'NO_PERMISSIONS',
      `${harness.name} does not keep to --permissions ${settled.permissions}`,
      `it keeps to ${permissions.join(', ')}`,
    )
  }
  return harness
}

async function readyTree(
  workspace: Workspace,
  run: string,
  options: RunOptions,
  settled: Settled,
  emit: Scene['tell'],
): Promise<RunTree> {
  if (options.isInPlace === true) return treeInPlace(workspace.place)
  const tree = treeOfItsOwn(workspace.place, run, options.branch)
  const { setup } = workspace.config.run
  if (setup === undefined) return tree
  emit({ type: 'said', text: `making the worktree ready: ${setup}` })
  const result = await runVerify(setup, {
    tree: tree.tree,
    verifyMs: settled.verifyMs,
    env: plainEnvironment(workspace.env),
    isStopped: new AbortController().signal,
  })
  if (result.passed) return tree
  removeUnused(workspace.place, tree)
  throw new StintError(
    'SETUP_FAILED',
    `${setup} ${result.ending} in a fresh worktree:\n${result.output.slice(-1500)}`,
    'mend run.setup in .sessions/config.yaml, or work with --in-place',
  )
}

/** The commands that agents may run because they prove their work. */
function verifyCommands(settled: Settled, configured: string | undefined, open: readonly Task[]): readonly string[] {
  const commands = [settled.verify ?? configured, ...open.map(({ verify }) => verify)]
  return [...new Set(commands.filter((command) => command !== undefined))]
}

/** A path means the same from everywhere, as a run may be resumed from another folder. */
function wordOrPath({ cwd }: Workspace, backlog: string): string {
  return /\.\w+$/.test(backlog) ? resolve(cwd, backlog) : backlog
}

function thisProcess(): ProcessMark {
  return { pid: process.pid, startedAt: startOf(process.pid), mark: '' }
}
