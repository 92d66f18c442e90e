import type { ProcessTag } from '../../harness/contract/drive.ts'
import { endOrphans, isAlive } from '../../harness/process/spawn-guarded.ts'
import { recordedHandoffs } from '../../context/handoff/recorded-handoffs.ts'
import { StintError } from '../../journal/errors.ts'
import { shortId } from '../../journal/ids.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import type { ProjectPaths } from '../../project/store/project-paths.ts'
import { completeInSource, proveTask, recordDone } from '../attempt/record-done.ts'
import {
  type UnfinishedTask,
  findUnfinishedTask,
  saveLeftWork,
  withSavedRef,
} from '../attempt/unfinished-work.ts'
import { RunSession, type StoredHandoff } from '../attempt/run-session.ts'
import { isRunningNow } from '../runs.ts'
import { type Claims, isSameProcess } from './claims.ts'
import type { AttemptOutcome, RunEntry } from '../entries.ts'
import type { Attempt, ConversationRecord, RunState } from '../run-state.ts'
import type { RunContext } from '../attempt/run-context.ts'
import { matchesSavedWork } from '../worktree/rollback.ts'
import {
  describeHead,
  readTreeHead,
  requireOwnTree,
  restoreTree,
  uncommittedPaths,
} from '../worktree/run-tree.ts'
import { plannedTask } from '../plan/order-tasks.ts'
import { defined } from '../../text/defined.ts'

export function refuseToResume(run: string, state: RunState): void {
  if (isRunningNow(state)) {
    throw new StintError(
      'RUN_ALIVE',
      `run ${shortId(run)} is running, as process ${state.runner.pid}`,
      'end that one first, or start another with stint run',
    )
  }
  if (state.ended === 'finished' || state.ended === 'nothing to do') {
    throw new StintError(
      'RUN_OVER',
      `run ${shortId(run)} has nothing left to do`,
      'stint run starts another',
    )
  }
}

/** Of several processes that resume a run the first live one gets it. */
export function refuseSecondRunner(
  run: string,
  entries: readonly RunEntry[],
  runner: ProcessTag,
): void {
  // A process that ended the run no longer holds it, even if it still lives.
  const ended = entries.findLastIndex(({ kind }) => kind === 'run.ended')
  const runners = entries
    .slice(ended + 1)
    .flatMap((entry) =>
      entry.kind === 'run.started' || entry.kind === 'run.resumed' ? [entry.data.runner] : [],
    )
  const first =
    runners.find(isAlive) ??
    entries.flatMap((entry) => (entry.kind === 'run.resumed' ? [entry.data.runner] : [])).at(-1)!
  if (isSameProcess(first, runner) && runners.length > 0) return
  throw new StintError(
    'RUN_ALIVE',
    `run ${shortId(run)} was just resumed by process ${first.pid}`,
    'let that one go on',
  )
}

/** Ends the agent processes of a killed runner, and returns how many. */
export async function endOrphanedProcesses(state: RunState): Promise<number> {
  let ended = 0
  for (const { opened, isEnded } of state.conversations)
    if (!isEnded) ended += await endOrphans(opened.process)
  return ended
}

/** Recreates a missing tree from its branch, or from its last commit if the branch is gone too. */
export function restoreRunTree(paths: ProjectPaths, state: RunState, last?: string): void {
  const { tree, branch, base, isInPlace } = state.started
  requireOwnTree(paths, state.started)
  if (readTreeHead(tree) === undefined) {
    if (isInPlace)
      throw new StintError(
        'NO_TREE',
        `${tree} is not there any more`,
        'bring it back, or start another run',
      )
    const { commit = base } = state.attempts.findLast(({ commit }) => commit !== undefined) ?? {}
    restoreTree(paths, tree, branch, last ?? commit)
  }
  const unfinished = findUnfinishedTask(state)
  if (isInPlace) refuseOtherChanges(tree, unfinished)
  const now = readTreeHead(tree)
  if (now?.branch === branch && now.commit !== undefined) return
  // In its own worktree an agent may continue on any branch.
  if (!isInPlace && unfinished !== undefined) return
  throw new StintError(
    'OTHER_BRANCH',
    `${tree} is on ${describeHead(now)} and not on ${branch}`,
    `git -C ${tree} switch ${branch}`,
  )
}

/** In the user's checkout an agent continues only from a clean tree or from exactly the files it left. */
function refuseOtherChanges(tree: string, unfinished: UnfinishedTask | undefined): void {
  const dirty = uncommittedPaths(tree).filter(
    (path) => unfinished?.leftBefore.includes(path) !== true,
  )
  if (
    dirty.length === 0 ||
    (unfinished?.kept !== undefined && matchesSavedWork(tree, unfinished.kept))
  )
    return
  throw new StintError(
    'TREE_DIRTY',
    `${tree} has changes that are not committed and that may be yours: ${dirty.slice(0, 5).join(', ')}`,
    'commit or stash them, then resume the run',
  )
}

/** Determines the outcome of interrupted conversations and attempts, so that nothing is repeated or lost. */
export async function recoverInterrupted(
  context: RunContext,
  state: RunState,
  claims: Claims,
): Promise<void> {
  for (const conversation of state.conversations)
    if (!conversation.isEnded) recordConversationEnd(context, conversation)
  for (const attempt of state.attempts)
    if (attempt.outcome === undefined) await recoverAttempt(context, attempt, claims)
}

function recordConversationEnd(
  { log, workspace }: RunContext,
  { opened, id }: ConversationRecord,
): void {
  const because = 'the run ended in the middle of it'
  log.append('conversation.ended', { number: opened.number, because })
  const session = id === undefined ? undefined : RunSession.reopen(workspace, opened.session)
  if (session === undefined) return
  session.recordConversationEnd(id!, because)
  session.release()
}

async function recoverAttempt(
  context: RunContext,
  { started }: Attempt,
  claims: Claims,
): Promise<void> {
  const { log, run, source, workspace } = context
  const backlog = await source.read()
  const task = backlog.byId.get(started.task.id)
  const recordEnd = (
    outcome: AttemptOutcome,
    more: { reason?: string; commit?: string; kept?: string } = {},
  ) => {
    const { attempt, number } = started
    log.append('attempt.ended', { attempt, number, outcome, ...more })
  }
  if (task === undefined)
    return recordEnd('interrupted', { reason: 'the task is no longer in the backlog' })
  // The run closed the task and died before it logged that. A close by anyone else does not count.
  const closed = RunSession.findClosingCommit(workspace, started.session, task.id)
  if (closed !== undefined) {
    await completeInSource(context, { task, name: started.task }, task.summary ?? '')
    return recordEnd('done', { commit: closed })
  }
  if (task.status === 'completed') {
    workspace.say(`${started.task.name} was closed by somebody else, without the proof of this run`)
    return recordEnd('interrupted', { reason: 'somebody else closed it' })
  }
  if (!claims.claim(task.id)) return recordEnd('interrupted', { reason: 'another run works on it' })
  const session = RunSession.reopen(workspace, started.session)
  if (session === undefined) return recordEnd('interrupted', { reason: 'its session has ended' })
  try {
    const { base, forecast = 0, leftBefore = [], number, task: name } = started
    const report = session.findReport(task.id, run, started.since)
    if (report?.status === 'blocked') {
      const { kept } = saveLeftWork(context, { name, base, leftBefore }, started.attempt)
      session.recordNotDone(task, 'blocked', withSavedRef(report.summary, kept))
      return recordEnd('blocked', { reason: report.summary, ...defined({ kept }) })
    }
    if (report?.status !== 'completed')
      return recordEnd('interrupted', { reason: 'the run ended in the middle of it' })
    const planned = plannedTask(task, backlog)
    const work = { task, name, planned, forecast, base, leftBefore, attempts: number }
    const proof = await proveTask(context, work)
    if (!proof.isDone) return recordEnd('failed', { reason: proof.reasons.join('; ') })
    await recordDone(context, session, work, { commit: proof.commit, summary: report.summary })
    workspace.say(`${name.name} was done before the run ended, and is closed now`)
    return recordEnd('done', { commit: proof.commit })
  } finally {
    session.release()
  }
}

/** The handoff a closed session wrote for the next one. */
export function readStoredHandoff(
  workspace: Workspace,
  session: string,
  handoff: string,
): StoredHandoff | undefined {
  const live = workspace.session(session)
  try {
    const found = recordedHandoffs(live.read().entries).find(({ id }) => id === handoff)
    return found && { id: found.id, text: found.document, hash: found.hash }
  } finally {
    live.close()
  }
}
