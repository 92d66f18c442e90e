// One task until it is done, blocked or parked: in the live conversation, again there with what failed, once in a fresh one.
import { mintId } from '../../journal/ids.ts'
import { draft } from '../../session/entries.ts'
import { defined } from '../../text/defined.ts'
import { estimateTokens } from '../../text/tokens.ts'
import type { AttemptPlace, RunEntryData } from '../entries.ts'
import { spendOf } from '../report.ts'
import { type Spent, addSpent, foldRun } from '../run-state.ts'
import { type Failure, askText } from '../texts/task-text.ts'
import { bringBack, fingerprint, headNow, uncommitted } from '../worktree/tree.ts'
import { type RunContext, RunEnds, type TaskWork, equip, readBacklog } from './run-context.ts'
import {
  keepUnfinished,
  leaveWork,
  proveNow,
  recordDone,
  unfinishedIn,
  withKept,
} from './record-done.ts'
import type { RunSession } from './run-session.ts'
import type { Deadline, TurnTaker } from './turn-taker.ts'

type TaskOutcome =
  | { readonly outcome: 'done'; readonly commit: string }
  | { readonly outcome: 'blocked' | 'parked'; readonly reason: string }

const MOST_ATTEMPTS = 3

type Judged =
  | { readonly verdict: 'done'; readonly commit: string; readonly summary: string }
  | { readonly verdict: 'blocked'; readonly reason: string }
  | { readonly verdict: 'failed'; readonly failure: Failure; readonly isConversationSpent: boolean }

/** Works on a task until its outcome is known. If the run ends before, the user's checkout is kept under a reference. */
export async function workTask(
  taker: TurnTaker,
  session: RunSession,
  work: TaskWork,
): Promise<TaskOutcome> {
  const { log, tree } = taker.scene
  try {
    return await attemptUntilDone(taker, session, work)
  } catch (error) {
    const left = tree.isInPlace ? unfinishedIn(foldRun(log.read())) : undefined
    if (left !== undefined) keepUnfinished(taker.scene, left)
    throw error
  }
}

async function attemptUntilDone(
  taker: TurnTaker,
  session: RunSession,
  work: TaskWork,
): Promise<TaskOutcome> {
  const { conversations, scene } = taker
  const { log, settled } = scene
  const { base, forecast, leftBefore, name, task } = work
  const startedAt = Date.now()
  const deadline: Deadline = { at: startedAt + settled.taskMs }
  const progress = { fingerprint: fingerprint(scene.tree.tree), idle: 0 }
  let spent: Spent = {}
  let place: AttemptPlace = 'live conversation'
  let failure = scene.delegate?.failure
  session.begin(task)
  equip(scene, (await readBacklog(scene)).tasks, task.id)
  for (let number = work.attempts + 1; ; number += 1) {
    const attempt = mintId(undefined)
    if (place === 'fresh conversation')
      await conversations.startFresh(session, `${name.name} failed: ${failure?.reason ?? ''}`)
    const live = await conversations.forSession(session)
    const prompt = conversations.attemptPrompt(work, failure)
    const { context } = live
    const since = session.lastEntry
    log.append('attempt.started', {
      attempt,
      task: name,
      number,
      place,
      session: session.id,
      conversation: live.number,
      base,
      ...(leftBefore.length === 0 ? {} : { leftBefore }),
      sizeClass: work.planned.sizeClass,
      forecast,
      context,
      isFirst: !live.hasHadTurn,
      since,
      text: estimateTokens(prompt),
    })
    const movedTarget = scene.delegate?.watchTarget()
    const own = { attempt, prompt, since, deadline, isRetry: failure !== undefined }
    const { judged, used } = await attemptOnce(taker, session, work, own, progress)
    const warning = movedTarget?.()
    if (warning !== undefined) {
      // In the background no one reads a message, so the journal has it too.
      scene.workspace.say(warning)
      session.append([draft('gotcha.found', { text: warning }, { by: 'run' })])
    }
    spent = addSpent(spent, used)
    const seconds = (Date.now() - startedAt) / 1000
    const added =
      conversations.live === live && live.context > context
        ? live.context - Math.max(context, live.base ?? 0)
        : undefined
    const spend = spendOf(spent, scene.workspace.config.prices)
    const ended = (data: Omit<RunEntryData['attempt.ended'], 'attempt'>) =>
      log.append('attempt.ended', {
        attempt,
        number,
        ...data,
        spend,
        seconds,
        ...defined({ added }),
      })
    if (judged.verdict === 'done') {
      const { commit, summary } = judged
      await recordDone(scene, session, work, judged)
      ended({ outcome: 'done', commit, summary })
      conversations.live?.done.push(work.planned)
      return { outcome: 'done', commit }
    }
    if (judged.verdict === 'blocked') {
      const { reason } = judged
      const { kept, ends } = leaveWork(scene, work, attempt)
      session.leave(task, 'blocked', withKept(reason, kept))
      ended({ outcome: 'blocked', reason, ...defined({ kept }) })
      if (ends !== undefined)
        throw new RunEnds('task failed', `${name.name} is blocked: ${reason}; ${ends}`)
      return { outcome: 'blocked', reason }
    }
    failure = judged.failure
    const { reason } = failure
    const isLast =
      Date.now() > deadline.at ||
      settled.onFailure !== 'retry' ||
      number >= MOST_ATTEMPTS ||
      place === 'fresh conversation'
    const isSameAgain: boolean = place === 'live conversation' && !judged.isConversationSpent
    const next: AttemptPlace = isSameAgain ? 'same conversation again' : 'fresh conversation'
    ended({ outcome: 'failed', reason, next: isLast ? 'parked' : next })
    if (isLast) return park(scene, session, work, attempt, reason)
    place = next
  }
}

async function attemptOnce(
  taker: TurnTaker,
  session: RunSession,
  work: TaskWork,
  own: { attempt: string; prompt: string; since: string; deadline: Deadline; isRetry: boolean },
  progress: { fingerprint: string; idle: number },
): Promise<{ judged: Judged; used: Spent }> {
  const { conversations, scene } = taker
  const { leftBefore, name, task } = work
  const { tree, run, settled, stopping, emit } = scene
  let used: Spent = {}
  const failed = (failure: Failure, isConversationSpent: boolean) => ({
    judged: { verdict: 'failed' as const, failure, isConversationSpent },
    used,
  })
  const take = async (text: string, why: 'task' | 'asked' | 'retry') => {
    emit('turn.started', { why }, { task: name })
    const turn = await taker.takeTurn(session, work, own, text)
    used = addSpent(used, turn.spent)
    const now = fingerprint(tree.tree)
    progress.idle = now === progress.fingerprint ? progress.idle + turn.turns : 0
    progress.fingerprint = now
    const isTreeGone = broughtBack(scene, work)
    return { ...turn, isTreeGone, report: session.reported(task.id, run, own.since) }
  }
  const gone = 'the worktree was taken away, and is made again from what was committed'
  let turn = await take(own.prompt, own.isRetry ? 'retry' : 'task')
  if (turn.isTreeGone) return failed({ reason: gone }, true)
  if (turn.report === undefined && turn.broken === undefined) {
    // The compaction may have lost what was asked for.
    const asked =
      turn.compactions > 0 ? await conversations.restorePrompt(session, work) : askText(task)
    turn = await take(asked, 'asked')
    if (turn.isTreeGone) return failed({ reason: gone }, true)
  }
  /** Several turns of this conversation changed nothing, so the next attempt is better made in another. */
  const isIdle = () => {
    const { idle } = progress
    if (idle < settled.idleTurns) return false
    progress.idle = 0
    taker.broke(own.attempt, 'no change', `nothing in the tree changed over ${idle} turns`)
    return true
  }
  const { broken, isFull, report } = turn
  if (report === undefined)
    return broken === undefined
      ? failed({ reason: 'the turn ended twice without a report' }, isIdle())
      : failed({ reason: broken }, true)
  const { status, summary } = report
  if (status === 'blocked')
    return { judged: { verdict: 'blocked', reason: summary || 'the agent did not say why' }, used }
  if (status === 'failed') {
    const reason = summary === '' ? 'reported as failed' : `reported as failed: ${summary}`
    return failed({ reason, claimed: report }, isFull || isIdle())
  }
  const proof = await proveNow(scene, work)
  if (stopping.now.aborted) throw new RunEnds('interrupted', 'stopped')
  if (proof.isDone) return { judged: { verdict: 'done', commit: proof.commit, summary }, used }
  const { reasons, verify } = proof
  const dirty = uncommitted(tree.tree).filter((path) => !leftBefore.includes(path))
  const failure = {
    reason: reasons.join('; '),
    claimed: report,
    ...defined({ verify }),
    ...(dirty.length === 0 ? {} : { uncommitted: dirty }),
  }
  return failed(failure, isFull || isIdle())
}

function park(
  scene: RunContext,
  session: RunSession,
  { name, task, ...work }: TaskWork,
  attempt: string,
  reason: string,
): TaskOutcome {
  const { kept, ends } = leaveWork(scene, { name, ...work }, attempt)
  session.leave(task, 'failed', withKept(reason, kept))
  scene.log.append('task.parked', { task: task.id, reason, ...defined({ kept }) })
  const because = `${name.name} failed: ${reason}`
  if (ends !== undefined) throw new RunEnds('task failed', `${because}; ${ends}`)
  if (scene.settled.onFailure === 'stop') throw new RunEnds('task failed', because)
  return { outcome: 'parked', reason }
}

function broughtBack({ tree, workspace }: RunContext, { base }: TaskWork): boolean {
  if (headNow(tree.tree) !== undefined) return false
  if (tree.isInPlace)
    throw new RunEnds('task failed', `the checkout ${tree.tree} is not there any more`)
  bringBack(workspace.place, tree.tree, tree.branch, base)
  return true
}
