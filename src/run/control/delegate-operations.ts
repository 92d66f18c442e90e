import { setTimeout as sleep } from 'node:timers/promises'
import { StintError } from '../../journal/errors.ts'
import { refuseInRun } from '../../project/store/run-environment.ts'
import { refuseAgent } from '../../project/trust/trust.ts'
import { AGREEING } from '../proof/protected-paths.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { requireConsent } from '../../project/trust/trust.ts'
import { addDelegateNote, refuseToBegin, startInBackground } from '../delegate/start-delegate.ts'
import {
  type DelegateDetail,
  type DelegateRequest,
  type DelegateRow,
  type MergeOptions,
  toDelegateDetail,
  toDelegateRow,
} from '../delegate/delegate-row.ts'
import { createDelegate } from '../delegate/create-delegate.ts'
import {
  type DelegateState,
  delegateClaim,
  findDelegate,
  findExactly,
  hasLiveProcess,
  isOpenDelegate,
  readDelegate,
  readDelegates,
  withClaim,
} from '../delegate/delegates.ts'
import { isSameProcess } from '../loop/claims.ts'
import { runMergeQueue } from '../merge/merge-queue.ts'
import { reconcileDelegate, reconcileDelegates } from '../merge/reconcile.ts'
import type { MergeEvent, MergeOutcome } from '../entries.ts'
import type { ProcessTag } from '../../harness/contract/drive.ts'
import { endOrphans, isAlive } from '../../harness/process/spawn-guarded.ts'
import type { ProjectPaths } from '../../project/store/project-paths.ts'
import { requireRepository } from '../../project/store/worktrees.ts'
import {
  countCommitsBeyond,
  deleteProvedRef,
  provedCommitIfLost,
  removeDelegateTree,
  saveOrphanedCommits,
  writeInRepository,
} from '../delegate/delegate-commits.ts'
import { reportToParent } from '../delegate/parent-journal.ts'
import { endOrphanedProcesses } from '../loop/resume.ts'
import { RunLog, readRun } from '../run-log.ts'
import { foldRun } from '../run-state.ts'
import { isRunningNow } from '../runs.ts'
import { commitLeftWork } from '../worktree/rollback.ts'
import { abbreviateList, findUnsavedPaths } from '../worktree/remove-worktree.ts'
import { branchTip, repositoryAt } from '../worktree/run-tree.ts'
import { defined } from '../../text/defined.ts'

/** How to wait for delegates. */
export interface WaitOptions {
  readonly group?: string
  readonly isStopped?: AbortSignal
  /** Called whenever the status of one of them changes. */
  readonly tell?: (row: DelegateRow) => void
}

/** How to merge delegates. */
export interface QueueOptions extends Omit<MergeOptions, 'sendBack'> {
  /** Whether a delegate whose work conflicts or fails verify is restarted; true by default. */
  readonly isSentBack?: boolean
}

const POLL_MS = 300

export async function createAndStartDelegate(
  workspace: Workspace,
  request: DelegateRequest,
): Promise<DelegateRow> {
  const { id } = await createDelegate(workspace, request)
  await startInBackground(workspace, id)
  return readRow(workspace, id)
}

export async function listDelegates(workspace: Workspace): Promise<readonly DelegateRow[]> {
  return readDelegates(workspace.paths).map((state) => toDelegateRow(workspace, state))
}

export async function showDelegate(workspace: Workspace, name: string): Promise<DelegateDetail> {
  const state = findDelegate(workspace.paths, name)
  return toDelegateDetail(workspace, state, toDelegateRow(workspace, state))
}

/** Records how orphaned delegates ended, and commits what their processes left. */
export async function reconcileOrphans(workspace: Workspace): Promise<void> {
  await reconcileDelegates(workspace)
}

export async function waitForDelegates(
  workspace: Workspace,
  names: readonly string[] = [],
  { group, isStopped, tell = () => {} }: WaitOptions = {},
): Promise<readonly DelegateRow[]> {
  const { paths } = workspace
  const found = names.length > 0 ? findEach(paths, names) : readDelegates(paths).filter(isAtWork)
  const ids = found
    .filter(({ order }) => group === undefined || order.group === group)
    .map(({ id }) => id)
  const reportedStatus = new Map<string, string>()
  for (;;) {
    const rows = ids.map((id) => readRow(workspace, id))
    for (const row of rows) {
      if (reportedStatus.get(row.id) !== row.status) tell(row)
      reportedStatus.set(row.id, row.status)
    }
    const isAnyAtWork = rows.some((row) => isAtWork(row) && !row.isOrphaned)
    if (!isAnyAtWork || isStopped?.aborted === true) return rows
    await sleep(POLL_MS, undefined, defined({ signal: isStopped })).catch(() => undefined)
  }
}

export async function stopDelegates(
  workspace: Workspace,
  names: readonly string[] = [],
): Promise<readonly DelegateRow[]> {
  refuseInRun(workspace, 'stopping a delegate')
  const chosen = await findDelegatesOr(workspace, names, isAtWork)
  return forEachDelegate(workspace, chosen, (state) => stopDelegate(workspace, state))
}

export async function retryDelegates(
  workspace: Workspace,
  names: readonly string[] = [],
  { note }: { readonly note?: string } = {},
): Promise<readonly DelegateRow[]> {
  refuseInRun(workspace, 'beginning a delegate again')
  requireConsent(workspace)
  const chosen = await findDelegatesOr(workspace, names, ({ status }) =>
    ['failed', 'conflicted', 'parked'].includes(status),
  )
  chosen.forEach(refuseToBegin)
  return forEachDelegate(workspace, chosen, async ({ id }) => {
    if (note !== undefined) await addDelegateNote(workspace, id, note)
    await startInBackground(workspace, id)
  })
}

export async function discardDelegates(
  workspace: Workspace,
  names: readonly string[] = [],
): Promise<readonly DelegateRow[]> {
  refuseInRun(workspace, 'discarding a delegate')
  for (const name of names) findExactly(workspace.paths, name)
  const chosen = await findDelegatesOr(workspace, names, isOpenDelegate)
  return forEachDelegate(workspace, chosen, (state) => discardDelegate(workspace, state))
}

export async function mergeDelegatesByName(
  workspace: Workspace,
  names: readonly string[] | 'all',
  { isSentBack = true, ...options }: QueueOptions = {},
  listener: (event: MergeEvent) => void = () => {},
): Promise<readonly MergeOutcome[]> {
  refuseInRun(workspace, 'merging')
  if (options.allowProtected !== undefined) refuseAgent(workspace, AGREEING)
  if (options.isDryRun !== true) requireConsent(workspace)
  const isReady = ({ status, order }: DelegateState) => status === 'ready' && !order.isReadOnly
  const { paths } = workspace
  // A dry run changes nothing.
  const all = options.isDryRun === true ? readDelegates(paths) : undefined
  const chosen =
    names === 'all'
      ? (all?.filter(isReady) ?? (await findDelegatesOr(workspace, [], isReady)))
      : all === undefined
        ? await findDelegates(workspace, names)
        : findEach(paths, names)
  const sendBack = (id: string) => startInBackground(workspace, id)
  const ids = chosen.map(({ id }) => id)
  return runMergeQueue(
    workspace,
    ids,
    { ...options, ...(isSentBack ? { sendBack } : {}) },
    listener,
  )
}

function isAtWork({ status }: { readonly status: string }): boolean {
  return status === 'running' || status === 'merging'
}

async function findDelegatesOr(
  workspace: Workspace,
  names: readonly string[],
  isDefault: (state: DelegateState) => boolean,
): Promise<readonly DelegateState[]> {
  if (names.length > 0) return findDelegates(workspace, names)
  return (await reconcileDelegates(workspace)).filter(isDefault)
}

function findDelegates(
  workspace: Workspace,
  names: readonly string[],
): Promise<readonly DelegateState[]> {
  const found = findEach(workspace.paths, names)
  return Promise.all(found.map((state) => reconcileDelegate(workspace, state)))
}

function findEach(paths: ProjectPaths, names: readonly string[]): readonly DelegateState[] {
  const found = names.map((name) => findDelegate(paths, name))
  return [...new Map(found.map((state) => [state.id, state])).values()]
}

function readRow(workspace: Workspace, id: string): DelegateRow {
  return toDelegateRow(workspace, readDelegate(workspace.paths, id))
}

/** Continues with the others after a failure, and throws the first failure at the end. */
async function forEachDelegate(
  workspace: Workspace,
  chosen: readonly DelegateState[],
  work: (state: DelegateState) => Promise<unknown>,
): Promise<readonly DelegateRow[]> {
  const failures: unknown[] = []
  for (const state of chosen) {
    try {
      await work(state)
    } catch (error) {
      if (!(error instanceof StintError)) throw error
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
  return chosen.map(({ id }) => readRow(workspace, id))
}

const GRACE_MS = 15_000
const CHECK_MS = 50

export async function stopDelegate(
  workspace: Workspace,
  { id, order }: DelegateState,
): Promise<DelegateState> {
  const { paths } = workspace
  const state = await waitUntilStarted(paths, id)
  const { runner } = state.run
  // The process decides, because the recorded status may be outdated.
  if (state.isStarted && isRunningNow(state.run)) {
    if (isPartOfLiveRun(paths, state)) {
      throw new StintError(
        'PART_OF_RUN',
        `${order.name} is a part of a run, in process ${runner.pid}`,
        'stop the run: Ctrl-C where it runs',
      )
    }
    await endRunner(runner)
  }
  const now = readDelegate(paths, id)
  if (!hasLiveProcess(now)) await endOrphanedProcesses(now.run)
  return reconcileDelegate(workspace, readDelegate(paths, id))
}

/** Waits until the delegate's own process has started: the process that creates it must not be killed. */
async function waitUntilStarted(paths: ProjectPaths, id: string): Promise<DelegateState> {
  for (const until = Date.now() + GRACE_MS; Date.now() < until; await sleep(CHECK_MS)) {
    const state = readDelegate(paths, id)
    if (state.isStarted || !hasLiveProcess(state) || isPartOfLiveRun(paths, state)) return state
  }
  const { order, run } = readDelegate(paths, id)
  throw new StintError(
    'DELEGATE_BUSY',
    `${order.name} is just being begun by process ${run.runner.pid}`,
    `stint delegate stop ${order.name} in a moment`,
  )
}

/** The process of a parallel run works on other delegates too. */
function isPartOfLiveRun(paths: ProjectPaths, { order, run }: DelegateState): boolean {
  const runner = order.run === undefined ? undefined : foldRun(readRun(paths, order.run))?.runner
  return runner !== undefined && isSameProcess(runner, run.runner)
}

async function endRunner(runner: ProcessTag): Promise<void> {
  signal(runner.pid, 'SIGTERM')
  // A suspended process gets SIGTERM only once it continues.
  signal(runner.pid, 'SIGCONT')
  if (await waitUntilGone(runner, GRACE_MS)) return
  signal(runner.pid, 'SIGKILL')
  await waitUntilGone(runner, GRACE_MS)
  await endOrphans(runner)
}

async function waitUntilGone(runner: ProcessTag, withinMs: number): Promise<boolean> {
  for (const until = Date.now() + withinMs; Date.now() < until; await sleep(CHECK_MS))
    if (!isAlive(runner)) return true
  return !isAlive(runner)
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It ended meanwhile.
  }
}

/**
 * Removes a delegate's worktree and branch and keeps its work under `refs/stint/`. Worktree and branch stay if they hold
 * files that cannot be committed.
 */
export async function discardDelegate(
  workspace: Workspace,
  delegate: DelegateState,
): Promise<DelegateState> {
  const { paths } = workspace
  const { id } = await stopDelegate(workspace, delegate)
  const now = await withClaim(paths, delegateClaim(id), () =>
    discardIdle(workspace, readDelegate(paths, id)),
  )
  await reportToParent(workspace, now)
  return now
}

function discardIdle(workspace: Workspace, state: DelegateState): DelegateState {
  const { paths, config } = workspace
  const { id, order, run, status } = state
  const { name, target } = order
  if (status === 'discarded') return state
  if (status === 'merged') {
    throw new StintError(
      'DELEGATE_MERGED',
      `${name} is merged into ${target}`,
      `git revert -m 1 ${state.move?.commit?.slice(0, 10) ?? 'COMMIT'} takes it back`,
    )
  }
  if (status === 'merging')
    throw new StintError('DELEGATE_BUSY', `${name} is being merged`, 'wait for the merge to end')
  if (hasLiveProcess(state))
    throw new StintError(
      'DELEGATE_BUSY',
      `${name} was just begun again`,
      `stint delegate discard ${name} once more`,
    )
  const { base, branch, tree } = run.started
  const { mainRoot } = requireRepository(paths)
  const found = commitLeftWork(paths, id, run.started)
  const left = repositoryAt(tree) === undefined ? [] : findUnsavedPaths(tree)
  const because = `its worktree ${tree} is left, as it holds what is in no commit: ${abbreviateList(left)}`
  const tip = branchTip(mainRoot, branch)
  const ref = `refs/stint/runs/${id}/discarded`
  // Saved, then recorded, then removed, so that a kill in between loses nothing.
  const work = provedCommitIfLost(paths, { tip, base, proved: state.ready?.commit }) ?? tip
  const hasWork = work !== undefined && work !== base
  if (hasWork) {
    writeInRepository(paths, ['update-ref', '-m', 'stint: keep what is discarded', ref, work])
    deleteProvedRef(paths, id, work)
  }
  saveOrphanedCommits(paths, state, (text) => workspace.say(text))
  const log = new RunLog(paths, id, config)
  log.append('delegate.moved', {
    to: 'discarded',
    commits: countCommitsBeyond(paths, base, [work]),
    ...(left.length === 0 ? {} : { because, left }),
    ...(hasWork ? { kept: ref, commit: work } : defined({ kept: found.kept })),
  })
  log.close()
  if (left.length === 0) removeDelegateTree(paths, run.started, tip)
  else workspace.say(`${name}: ${because}`)
  return readDelegate(paths, id)
}
