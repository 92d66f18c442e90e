// What a run left behind when it was killed: each attempt without an outcome is looked at, so that nothing is done twice and
// nothing is both lost and called done.
import type { ProcessMark } from '../../harness/contract/drive.ts'
import { endStrays, isAlive } from '../../harness/process/spawn-guarded.ts'
import { handoffsIn } from '../../context/handoff/recorded.ts'
import { StintError } from '../../journal/errors.ts'
import { shortId } from '../../journal/ids.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import type { Place } from '../../project/store/place.ts'
import {
  type Unfinished,
  leaveWork,
  proveNow,
  recordDone,
  settle,
  unfinishedIn,
  withKept,
} from '../attempt/record-done.ts'
import { RunSession } from '../attempt/run-session.ts'
import type { Claims } from './claims.ts'
import type { RunEntry } from '../entries.ts'
import type { Attempt, ConversationRecord, RunState } from '../run-state.ts'
import type { RunContext } from '../attempt/run-context.ts'
import { isAsKept } from '../worktree/rollback.ts'
import { bringBack, headInWords, headNow, uncommitted } from '../worktree/tree.ts'
import { plannedTask } from '../plan/order.ts'
import { defined } from '../../text/defined.ts'

/** Refuses a run that somebody runs, and one that has nothing left. */
export function refuseToGoOn(run: string, state: RunState): void {
  if (state.ended === undefined && isAlive(state.runner)) {
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

/** Of several who took it up the first that lives has it. */
export function refuseSecond(run: string, entries: readonly RunEntry[], runner: ProcessMark): void {
  // Who ended it holds it no more, though the process may live on and do something else.
  const ended = entries.findLastIndex(({ kind }) => kind === 'run.ended')
  const runners = entries
    .slice(ended + 1)
    .flatMap((entry) =>
      entry.kind === 'run.started' || entry.kind === 'run.resumed' ? [entry.data.runner] : [],
    )
  const first =
    runners.find(isAlive) ??
    entries.flatMap((entry) => (entry.kind === 'run.resumed' ? [entry.data.runner] : [])).at(-1)!
  if (first.pid === runner.pid && first.startedAt === runner.startedAt && runners.length > 0) return
  throw new StintError(
    'RUN_ALIVE',
    `run ${shortId(run)} was just resumed by process ${first.pid}`,
    'let that one go on',
  )
}

/** Ends what the processes of a killed runner left behind. Answers how many that were. */
export async function endLeftovers(state: RunState): Promise<number> {
  let ended = 0
  for (const { opened, isEnded } of state.conversations)
    if (!isEnded) ended += await endStrays(opened.process)
  return ended
}

/** The tree as it was, made again from its branch when somebody took it away, or from what it last came to when the branch is gone too. */
export function bringBackTree(place: Place, state: RunState, last?: string): void {
  const { tree, branch, base, isInPlace } = state.started
  if (headNow(tree) === undefined) {
    if (isInPlace)
      throw new StintError(
        'NO_TREE',
        `${tree} is not there any more`,
        'bring it back, or start another run',
      )
    bringBack(
      place,
      tree,
      branch,
      last ?? state.attempts.findLast(({ commit }) => commit !== undefined)?.commit ?? base,
    )
  }
  const unfinished = unfinishedIn(state)
  if (isInPlace) refuseForeignWork(tree, unfinished)
  const now = headNow(tree)
  if (now?.branch === branch && now.commit !== undefined) return
  // Where an agent left its own worktree it may go on; when it does not, that is mended.
  if (!isInPlace && unfinished !== undefined) return
  throw new StintError(
    'OTHER_BRANCH',
    `${tree} is on ${headInWords(now)} and not on ${branch}`,
    `git -C ${tree} switch ${branch}`,
  )
}

/** In the user's checkout an agent goes on from what is committed, or from the very files it had left. */
function refuseForeignWork(tree: string, unfinished: Unfinished | undefined): void {
  const dirty = uncommitted(tree).filter((path) => unfinished?.leftBefore.includes(path) !== true)
  if (dirty.length === 0 || (unfinished?.kept !== undefined && isAsKept(tree, unfinished.kept)))
    return
  throw new StintError(
    'TREE_DIRTY',
    `${tree} has changes that are not committed and that may be yours: ${dirty.slice(0, 5).join(', ')}`,
    'commit or stash them, then resume the run',
  )
}

/** Finds out what became of conversations and attempts that nobody saw the end of. */
export async function examine(scene: RunContext, state: RunState, claims: Claims): Promise<void> {
  for (const conversation of state.conversations)
    if (!conversation.isEnded) endRecord(scene, conversation)
  for (const attempt of state.attempts)
    if (attempt.outcome === undefined) await examineOne(scene, attempt, claims)
}

/** Its processes are ended already; now this is also written down. */
function endRecord({ log, workspace }: RunContext, { opened, id }: ConversationRecord): void {
  const because = 'the run ended in the middle of it'
  log.append('conversation.ended', { number: opened.number, because })
  const session = id === undefined ? undefined : RunSession.reopen(workspace, opened.session, 0)
  if (session === undefined) return
  session.left(id!, because)
  session.release()
}

async function examineOne(scene: RunContext, { started }: Attempt, claims: Claims): Promise<void> {
  const { log, run, source, workspace } = scene
  const backlog = await source.read()
  const task = backlog.byId.get(started.task.id)
  const over = (
    outcome: 'done' | 'failed' | 'blocked' | 'interrupted',
    more: { reason?: string; commit?: string; kept?: string } = {},
  ) =>
    log.append('attempt.ended', {
      attempt: started.attempt,
      number: started.number,
      outcome,
      ...more,
    })
  if (task === undefined)
    return over('interrupted', { reason: 'the task is no longer in the backlog' })
  // The entry that closes it was written; only the run's own note of it was not. Anybody else's word is none.
  const closed = RunSession.closedBy(workspace, started.session, task.id)
  if (closed !== undefined) {
    await settle(scene, { task, name: started.task }, task.summary ?? '')
    return over('done', { commit: closed })
  }
  if (task.status === 'completed') {
    workspace.say(`${started.task.name} was closed by somebody else, without the proof of this run`)
    return over('interrupted', { reason: 'somebody else closed it' })
  }
  if (!claims.take(task.id)) return over('interrupted', { reason: 'another run works on it' })
  const session = RunSession.reopen(workspace, started.session, 0)
  if (session === undefined) return over('interrupted', { reason: 'its session has ended' })
  try {
    const report = session.reported(task.id, run, started.since)
    if (report?.status === 'blocked') {
      const leftBefore = started.leftBefore ?? []
      const { kept } = leaveWork(
        scene,
        { name: started.task, base: started.base, leftBefore },
        started.attempt,
      )
      session.leave(task, 'blocked', withKept(report.summary, kept))
      return over('blocked', { reason: report.summary, ...defined({ kept }) })
    }
    if (report?.status !== 'completed')
      return over('interrupted', { reason: 'the run ended in the middle of it' })
    const work = {
      task,
      name: started.task,
      planned: plannedTask(task, backlog),
      forecast: started.forecast ?? 0,
      base: started.base,
      leftBefore: started.leftBefore ?? [],
      attempts: started.number,
    }
    const proof = await proveNow(scene, work)
    if (!proof.isDone) return over('failed', { reason: proof.reasons.join('; ') })
    await recordDone(scene, session, work, { commit: proof.commit, summary: report.summary })
    scene.workspace.say(`${started.task.name} was done before the run ended, and is closed now`)
    return over('done', { commit: proof.commit })
  } finally {
    session.release()
  }
}

/** The handoff that a session left when it was closed, for the session after it. */
export function handoffLeft(
  workspace: Workspace,
  session: string,
  handoff: string,
): { id: string; text: string; hash: string } | undefined {
  const live = workspace.session(session)
  try {
    const found = handoffsIn(live.read().entries).find(({ id }) => id === handoff)
    return found === undefined
      ? undefined
      : { id: found.id, text: found.document, hash: found.hash }
  } finally {
    live.close()
  }
}
