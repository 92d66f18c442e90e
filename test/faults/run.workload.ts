// Records one task like a runner, without an agent: the attempt, the report, the completion and the end of the attempt. Started again,
// it continues like a resumed run. Acknowledges every entry that is reported as saved.
import { writeSync } from 'node:fs'
import { StintError } from '../../src/journal/errors.ts'
import { mintId } from '../../src/journal/ids.ts'
import { addTask, openBacklog } from '../../src/project/tasks/project-backlog.ts'
import { runIds } from '../../src/project/store/run-files.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import { plannedTask } from '../../src/run/plan/order-tasks.ts'
import { draftEntry } from '../../src/session/entries.ts'
import { runComplexity, trackingLevelFor } from '../../src/run/plan/complexity.ts'
import { processStartTime } from '../../src/harness/process/spawn-guarded.ts'
import { Claims } from '../../src/run/loop/claims.ts'
import { recoverInterrupted } from '../../src/run/loop/resume.ts'
import { recordDone } from '../../src/run/attempt/record-done.ts'
import { RunLog } from '../../src/run/run-log.ts'
import { RunSession } from '../../src/run/attempt/run-session.ts'
import { foldRun } from '../../src/run/run-state.ts'
import { type RunContext, StopSignal, toTaskName } from '../../src/run/attempt/run-context.ts'
import { resolveOptions } from '../../src/run/options.ts'
import { requireHead } from '../../src/run/worktree/run-tree.ts'

const [doing] = process.argv.slice(2) as ['begin' | 'work' | 'on']
const workspace = new Workspace(process.cwd(), { say: (line) => process.stderr.write(`${line}\n`) })
const { config, paths } = workspace

// Not awaited: a bundle with a top-level await is split into many more files, and each takes time to load.
void perform()

async function perform(): Promise<void> {
  try {
    await { begin, work: () => work(runContextOf(runIds(paths)[0]!)), on: resume }[doing]()
  } catch (error) {
    const isExpected = error instanceof StintError || (error instanceof Error && 'syscall' in error)
    if (!isExpected) throw error
    process.stderr.write(`${error.name}: ${error.message}\n`)
    process.exitCode = 3
  } finally {
    workspace.close()
  }
}

/** A run with a session for its one task, without an attempt yet. */
async function begin(): Promise<void> {
  const task = await addTask(workspace, { title: 'One' })
  const run = mintId(undefined)
  const runner = { pid: process.pid, startedAt: '', mark: '' }
  const tree = {
    tree: paths.root,
    branch: 'main',
    base: requireHead(paths.root).commit,
    isInPlace: true,
  }
  const log = RunLog.create(paths, run, config, {
    options: {},
    harness: 'none',
    source: '.tasks',
    ...tree,
    runner,
  })
  const session = await RunSession.open(workspace, task, 'Be done')
  log.append('session.opened', {
    session: session.id,
    name: session.name,
    number: 1,
    because: 'it is the first',
  })
  session.startStep(task)
  acknowledge(session.lastEntry, ...log.read().map(({ id }) => id))
}

async function work(context: RunContext): Promise<void> {
  const { log, run } = context
  const backlog = await openBacklog(workspace)
  const task = backlog.tasks[0]!
  const { session: id } = foldRun(log.read())!.sessions[0]!
  const session = RunSession.reopen(workspace, id)!
  const attempt = mintId(undefined)
  const planned = plannedTask(task, backlog)
  const { base } = context.tree
  log.append('attempt.started', {
    attempt,
    task: toTaskName(task),
    number: 1,
    place: 'live conversation',
    session: id,
    conversation: 1,
    base,
    sizeClass: planned.sizeClass,
    isFirst: true,
    since: session.lastEntry,
    text: 1,
  })
  acknowledge(log.read().at(-1)!.id)
  const [reported] = session.append([
    draftEntry(
      'task.reported',
      { task: task.id, status: 'completed', summary: 'It is', run },
      { by: 'agent' },
    ),
  ])
  acknowledge(reported!.id)
  const { commit } = requireHead(paths.root)
  await recordDone(
    context,
    session,
    { task, name: toTaskName(task), planned, forecast: 0, base, leftBefore: [], attempts: 0 },
    { commit, summary: 'It is' },
  )
  acknowledge(session.lastEntry)
  log.append('attempt.ended', { attempt, outcome: 'done', commit })
  acknowledge(log.read().at(-1)!.id)
  session.release()
}

/** Like a resumed run: checks what was left open, does what was not done, and ends. */
async function resume(): Promise<void> {
  const context = runContextOf(runIds(paths)[0]!)
  const runner = { pid: process.pid, startedAt: processStartTime(process.pid), mark: '' }
  await recoverInterrupted(
    context,
    foldRun(context.log.read())!,
    new Claims(paths, context.run, runner),
  )
  if ((await openBacklog(workspace)).tasks[0]!.status !== 'completed') await work(context)
  context.log.append('run.ended', { how: 'finished' })
  acknowledge(context.log.read().at(-1)!.id)
}

function runContextOf(run: string): RunContext {
  const log = new RunLog(paths, run, config)
  const { branch, base, isInPlace } = foldRun(log.read())!.started
  return {
    run,
    workspace,
    log,
    // No conversation is open, so that none is needed.
    harness: undefined as never,
    options: resolveOptions(workspace, {}),
    // The world may be a copy of the one the run began in.
    tree: { tree: paths.root, branch, base, isInPlace },
    source: { name: '.tasks', read: () => openBacklog(workspace), complete: async () => [] },
    profiles: [],
    setup: '',
    latest: {},
    tracking: trackingLevelFor(runComplexity([])),
    stopping: new StopSignal(),
    extraEnv: {},
    emit: () => undefined,
  }
}

function acknowledge(...ids: readonly string[]): void {
  for (const id of ids) writeSync(1, `ack ${id}\n`)
}
