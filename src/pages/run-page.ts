// A run as the page draws it: tasks with their dependencies, and a lane per session with its
// attempts.
import type { RunReport, RunRow } from '../run/entries.ts'
import { type Attempt, type RunState, foldRun } from '../run/run-state.ts'
import { findRun, readRun } from '../run/run-log.ts'
import { isRunningNow, reportRun, toRunRow, readRunState } from '../run/runs.ts'
import { openBacklog } from '../project/tasks/project-backlog.ts'
import { type Task, isTaskOpen } from '../backlog/task.ts'
import type {
  DelegateActionResult,
  DelegatePage,
  LaneBlock,
  RunLane,
  RunPage,
  RunTaskRow,
} from './contract.ts'
import { type OpenedProject, notFoundError } from './project-pool.ts'
import { findCommitRange, toDelegateRow } from '../run/delegate/delegate-row.ts'
import { findDelegate } from '../run/delegate/delegates.ts'
import { reconcileDelegate } from '../run/merge/reconcile.ts'
import { requireRepository } from '../project/store/worktrees.ts'
import { withoutSecrets } from '../project/store/clean-draft.ts'
import { currentLeaf } from '../session/kinds/phases.ts'
import { publicWorkflow } from '../public.ts'
import { defined } from '../text/defined.ts'
import { spawn } from 'node:child_process'

/** Open tasks shown. */
const MOST_OPEN = 300

export async function runPage({ workspace }: OpenedProject, name: string): Promise<RunPage> {
  const run = findRun(workspace.paths, name)
  const state = readRunState(workspace, run)
  const report = reportRun(workspace, run, state)
  const row = toRunRow(run, state, report)
  // In a parallel run the delegates have the sessions and attempts.
  const parts = state.delegates.flatMap(
    ({ delegate }) => foldRun(readRun(workspace.paths, delegate)) ?? [],
  )
  const all = [state, ...parts]
  const backlog =
    state.started.options.backlog === undefined ? (await openBacklog(workspace)).tasks : []
  return { row, report, tasks: tasksOf(row, report, all, backlog), lanes: all.flatMap(lanesOf) }
}

function tasksOf(
  row: RunRow,
  report: RunReport,
  states: readonly RunState[],
  backlog: readonly Task[],
): readonly RunTaskRow[] {
  const byId = new Map(backlog.map((task) => [task.id, task]))
  const atWork = new Set(
    states
      .filter(isRunningNow)
      .flatMap(({ attempts }) => attempts.filter(isOpen).map(({ started }) => started.task.id)),
  )
  // The last report of a task counts.
  const tried = new Map(
    report.sessions.flatMap(({ tasks }) => tasks).map((one) => [one.task.id, one]),
  )
  const attempted = [...tried.values()].map(({ task, outcome, reason }): RunTaskRow => ({
    task,
    after: byId.get(task.id)?.dependsOn ?? [],
    outcome: atWork.has(task.id) ? 'running' : outcome,
    ...defined({ reason }),
  }))
  const ahead =
    row.state === 'ended'
      ? leftOpen(report, byId)
      : chosenOf(states[0]!, backlog)
          .filter((task) => !tried.has(task.id) && isTaskOpen(task))
          .map(openTask)
  return [...attempted, ...ahead.slice(0, MOST_OPEN)]
}

function leftOpen(
  { neverBegun }: RunReport,
  byId: ReadonlyMap<string, Task>,
): readonly RunTaskRow[] {
  return (neverBegun?.tasks ?? []).flatMap((task): readonly RunTaskRow[] => {
    const now = byId.get(task.id)
    // An external backlog is not asked.
    if (now === undefined) return [{ task, after: [], outcome: 'open' }]
    return isTaskOpen(now) ? [openTask(now)] : []
  })
}

function openTask({ id, shortname, title, dependsOn, status }: Task): RunTaskRow {
  return {
    task: { id, name: shortname, title },
    after: dependsOn,
    outcome: status === 'blocked' ? 'blocked' : 'open',
  }
}

/** Named tasks with their dependencies, labelled tasks, or all. */
function chosenOf({ started: { options } }: RunState, backlog: readonly Task[]): readonly Task[] {
  const { labels, tasks } = options
  if (tasks === undefined)
    return labels === undefined
      ? backlog
      : backlog.filter((task) => task.labels.some((one) => labels.includes(one)))
  const chosen = new Set<string>()
  const add = (name: string): void => {
    const task = backlog.find(({ id, shortname }) => id === name || shortname === name)
    if (task === undefined || chosen.has(task.id)) return
    chosen.add(task.id)
    task.dependsOn.forEach(add)
  }
  tasks.forEach(add)
  return backlog.filter(({ id }) => chosen.has(id))
}

function lanesOf(state: RunState): readonly RunLane[] {
  const isRunning = isRunningNow(state)
  return state.sessions.map(({ session, name }) => ({
    session,
    name,
    blocks: state.attempts
      .filter(({ started }) => started.session === session)
      .map((attempt) => blockOf(attempt, state, isRunning)),
  }))
}

function blockOf(
  attempt: Attempt,
  { parked, attempts, lastAt }: RunState,
  isRunning: boolean,
): LaneBlock {
  const { started, at, endedAt, outcome, reason } = attempt
  const isLast = attempts.findLast((one) => one.started.task.id === started.task.id) === attempt
  const isParked = isLast && outcome === 'failed' && parked.has(started.task.id)
  const how =
    outcome === undefined || outcome === 'interrupted'
      ? outcome === undefined && isRunning
        ? 'running'
        : 'failed'
      : outcome
  const until = endedAt ?? (how === 'running' ? undefined : lastAt)
  const because = reason ?? (how === 'failed' && outcome !== 'failed' ? 'interrupted' : undefined)
  return {
    task: started.task.name,
    attempt: started.number,
    startedAt: at,
    outcome: isParked ? 'parked' : how,
    ...defined({ endedAt: until, reason: because }),
  }
}

function isOpen({ outcome }: Attempt): boolean {
  return outcome === undefined
}

const MOST_BYTES = 512 * 1024
const TIMEOUT_MS = 20_000
const FLAGS = ['--no-color', '--no-ext-diff', '--no-textconv', '--no-renames']

/** Empty when git fails. */
async function diffOf(
  root: string,
  range: string,
): Promise<{ readonly diff: string; readonly isCut: boolean }> {
  const git = spawn('git', ['-c', 'core.quotepath=off', 'diff', ...FLAGS, range, '--'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      ...process.env,
      LC_ALL: 'C',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_PAGER: 'cat',
      GIT_EXTERNAL_DIFF: '',
    },
    timeout: TIMEOUT_MS,
    windowsHide: true,
  })
  const pieces: Buffer[] = []
  let bytes = 0
  const ended = new Promise<void>((resolve) =>
    git.once('close', () => resolve()).once('error', () => resolve()),
  )
  git.stdout.on('data', (piece: Buffer) => {
    pieces.push(piece)
    bytes += piece.length
    if (bytes > MOST_BYTES) git.kill()
  })
  await ended
  const whole = Buffer.concat(pieces)
  if (whole.length <= MOST_BYTES) return { diff: whole.toString('utf8'), isCut: false }
  const cut = whole.subarray(0, MOST_BYTES)
  return { diff: cut.subarray(0, cut.lastIndexOf(0x0a) + 1).toString('utf8'), isCut: true }
}

export async function delegatePage(
  { workspace }: OpenedProject,
  name: string,
): Promise<DelegatePage> {
  const { paths: place, config } = workspace
  const state = await reconcileDelegate(workspace, findDelegate(place, name))
  const root = requireRepository(place).mainRoot
  const range = findCommitRange(root, state)
  const { diff, isCut } =
    range === undefined ? { diff: '', isCut: false } : await diffOf(root, range)
  return {
    row: toDelegateRow(workspace, state),
    diff: withoutSecrets(diff, config),
    isDiffCut: isCut,
    moves: readRun(place, state.id).flatMap((entry) => {
      const { at, kind } = entry
      if (kind === 'run.started' || kind === 'run.resumed') return [{ at, to: 'running' }]
      if (kind === 'merge.begun') return [{ at, to: 'merging' }]
      if (kind !== 'delegate.moved') return []
      const { because, to } = entry.data
      return [{ at, to, ...defined({ because }) }]
    }),
  }
}

export async function runDelegateAction(
  { delegates, workspace }: OpenedProject,
  name: string,
  how: string,
  note: string | undefined,
  isStopped: AbortSignal,
): Promise<DelegateActionResult> {
  const ids = [findDelegate(workspace.paths, name).id]
  if (how === 'merge') return (await delegates.merge(ids, { isStopped }))[0]!
  if (how === 'stop') return (await delegates.stop(ids))[0]!
  if (how === 'retry') return (await delegates.retry(ids, defined({ note })))[0]!
  if (how === 'discard') return (await delegates.discard(ids))[0]!
  throw notFoundError('such thing to do with a delegate')
}

export async function approveOrReject(
  { project }: OpenedProject,
  workflow: string,
  how: string,
  said: string | undefined,
) {
  const note = said?.trim() === '' ? undefined : said
  const workflows = await project.workflows()
  const by = 'page'
  if (how === 'approve')
    return publicWorkflow(await workflows.approve({ workflow, by, ...defined({ note }) }))
  if (how !== 'reject') throw notFoundError('such thing to do with a workflow')
  // Not approved: the last part continues, and the journal says why.
  const because = `not approved${note === undefined ? '' : `: ${note}`}`
  const phase = currentLeaf((await workflows.status(workflow)).workflow).leaf.id
  return publicWorkflow(await workflows.phase({ workflow, phase, note: because, by }))
}
