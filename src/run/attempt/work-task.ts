// One task, from its first prompt until it is done, blocked, or has failed for good. The ladder: in the live conversation, again
// in the same one with what failed, once in a fresh one with a handoff, then it is parked.
import { mintId } from '../../journal/ids.ts'
import { estimateTokens } from '../../text/tokens.ts'
import { type Failure, askText } from '../texts/task-text.ts'
import { type Conversations, attemptPrompt, restorePrompt, startFresh } from './conversations.ts'
import { type RunContext, RunEnds, type TaskWork, readBacklog } from './run-context.ts'
import { equip } from './agent-environment.ts'
import type { AttemptPlace, RunEntryData } from '../entries.ts'
import { spendOf } from '../report.ts'
import {
  keepUnfinished,
  leaveWork,
  proveNow,
  recordDone,
  unfinishedIn,
  withKept,
} from './record-done.ts'
import type { RunSession } from './run-session.ts'
import { addSpent, foldRun } from '../run-state.ts'
import { bringBack, fingerprint, headNow, uncommitted } from '../worktree/tree.ts'
import { type Deadline, type Endured, TurnTaker } from './turn-taker.ts'
import { type Usage, draft } from '../../session/entries.ts'
import { defined } from '../../text/defined.ts'

export type TaskOutcome =
  | { readonly outcome: 'done'; readonly commit: string }
  | { readonly outcome: 'blocked' | 'parked'; readonly reason: string }

/** Attempts before a task is parked: the first, one more in the same conversation, one in a fresh one. */
const MOST_ATTEMPTS = 3

type Judged =
  | { readonly verdict: 'done'; readonly commit: string; readonly summary: string }
  | { readonly verdict: 'blocked'; readonly reason: string }
  | { readonly verdict: 'failed'; readonly failure: Failure; readonly isConversationSpent: boolean }

/** Works on a task until its end is known. Where the run ends before, the user's checkout is kept as it is then. */
export async function workTask(
  scene: RunContext,
  session: RunSession,
  conversations: Conversations,
  taker: TurnTaker,
  work: TaskWork,
): Promise<TaskOutcome> {
  try {
    return await climb(scene, session, conversations, taker, work)
  } catch (error) {
    const left = scene.tree.isInPlace ? unfinishedIn(foldRun(scene.log.read())) : undefined
    if (left !== undefined) keepUnfinished(scene, left)
    throw error
  }
}

async function climb(
  scene: RunContext,
  session: RunSession,
  conversations: Conversations,
  taker: TurnTaker,
  work: TaskWork,
): Promise<TaskOutcome> {
  const { log, settled } = scene
  const { name, task } = work
  const startedAt = Date.now()
  const deadline: Deadline = { at: startedAt + settled.taskMs }
  const progress = { fingerprint: fingerprint(scene.tree.tree), idle: 0 }
  let spent: Readonly<Record<string, Usage>> = {}
  let place: AttemptPlace = 'live conversation'
  let failure: Failure | undefined = scene.delegate?.failure
  session.begin(task)
  equip(scene, (await readBacklog(scene)).tasks, task.id)
  for (let number = work.attempts + 1; ; number += 1) {
    const attempt = mintId(undefined)
    if (place === 'fresh conversation')
      await startFresh(session, conversations, `${name.name} failed: ${failure?.reason ?? ''}`)
    const live = await conversations.forSession(session)
    const prompt = attemptPrompt(scene, conversations, work, failure)
    const contextBefore = live.context
    const since = session.lastEntry
    log.append('attempt.started', {
      attempt,
      task: name,
      number,
      place,
      session: session.id,
      conversation: live.number,
      base: work.base,
      ...(work.leftBefore.length === 0 ? {} : { leftBefore: work.leftBefore }),
      sizeClass: work.planned.sizeClass,
      forecast: work.forecast,
      context: contextBefore,
      isFirst: !live.hasHadTurn,
      since,
      text: estimateTokens(prompt),
    })
    const movedTarget = scene.delegate?.watchTarget()
    const { judged, used } = await attemptOnce(
      scene,
      session,
      conversations,
      taker,
      work,
      {
        attempt,
        prompt,
        since,
        deadline,
        isRetry: failure !== undefined,
      },
      progress,
    )
    warn(scene, session, movedTarget?.())
    spent = addSpent(spent, used)
    const seconds = (Date.now() - startedAt) / 1000
    const added =
      conversations.live === live && live.context > contextBefore
        ? live.context - Math.max(contextBefore, live.base ?? 0)
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
      await recordDone(scene, session, work, judged)
      ended({ outcome: 'done', commit: judged.commit, summary: judged.summary })
      conversations.live?.done.push(work.planned)
      return { outcome: 'done', commit: judged.commit }
    }
    if (judged.verdict === 'blocked') {
      const { kept, ends } = leaveWork(scene, work, attempt)
      session.leave(task, 'blocked', withKept(judged.reason, kept))
      ended({ outcome: 'blocked', reason: judged.reason, ...defined({ kept }) })
      if (ends !== undefined)
        throw new RunEnds('task failed', `${name.name} is blocked: ${judged.reason}; ${ends}`)
      return { outcome: 'blocked', reason: judged.reason }
    }
    failure = judged.failure
    const { reason } = failure
    const isTimeUp = Date.now() > deadline.at
    const next: AttemptPlace | 'parked' = isTimeUp
      ? 'parked'
      : nextPlace(number, place, settled.onFailure, judged.isConversationSpent)
    ended({ outcome: 'failed', reason, next })
    if (next === 'parked') return park(scene, session, work, attempt, reason)
    place = next
  }
}

function nextPlace(
  number: number,
  place: AttemptPlace,
  onFailure: RunContext['settled']['onFailure'],
  isConversationSpent: boolean,
): AttemptPlace | 'parked' {
  if (onFailure !== 'retry' || number >= MOST_ATTEMPTS || place === 'fresh conversation')
    return 'parked'
  return place === 'live conversation' && !isConversationSpent
    ? 'same conversation again'
    : 'fresh conversation'
}

async function attemptOnce(
  scene: RunContext,
  session: RunSession,
  conversations: Conversations,
  taker: TurnTaker,
  work: TaskWork,
  attempt: { attempt: string; prompt: string; since: string; deadline: Deadline; isRetry: boolean },
  progress: { fingerprint: string; idle: number },
): Promise<{ judged: Judged; used: Readonly<Record<string, Usage>> }> {
  const { name, task } = work
  const { tree, run, settled, stopping, emit } = scene
  const endure = async (text: string, why: 'task' | 'asked' | 'retry') => {
    emit('turn.started', { why }, { task: name })
    const endured = await taker.endure(session, work, attempt, text)
    const now = fingerprint(tree.tree)
    progress.idle = now === progress.fingerprint ? progress.idle + endured.turns : 0
    progress.fingerprint = now
    return endured
  }
  let turned: Endured = await endure(attempt.prompt, attempt.isRetry ? 'retry' : 'task')
  let used = turned.spent
  const gone = broughtBack(scene, work)
  if (gone !== undefined) return { judged: gone, used }
  let report = session.reported(task.id, run, attempt.since)
  /** Nothing has come of several turns in this conversation: the next one is better had in another. */
  const isIdle = () => {
    const { idle } = progress
    if (idle < settled.idleTurns) return false
    progress.idle = 0
    taker.broke(attempt.attempt, 'no change', `nothing in the tree changed over ${idle} turns`)
    return true
  }
  const failed = (failure: Failure, isConversationSpent = false): Judged => ({
    verdict: 'failed',
    failure,
    isConversationSpent,
  })
  if (report === undefined && turned.broken === undefined) {
    // What was asked for may be gone with what was compacted.
    const asked =
      turned.compactions > 0
        ? await restorePrompt(scene, conversations, session, work)
        : askText(task)
    turned = await endure(asked, 'asked')
    used = addSpent(used, turned.spent)
    const goneNow = broughtBack(scene, work)
    if (goneNow !== undefined) return { judged: goneNow, used }
    report = session.reported(task.id, run, attempt.since)
  }
  if (report === undefined && turned.broken !== undefined)
    return { judged: failed({ reason: turned.broken }, true), used }
  if (report === undefined) {
    return { judged: failed({ reason: 'the turn ended twice without a report' }, isIdle()), used }
  }
  const { status, summary } = report
  if (status === 'blocked')
    return { judged: { verdict: 'blocked', reason: summary || 'the agent did not say why' }, used }
  if (status === 'failed') {
    const reason = summary === '' ? 'reported as failed' : `reported as failed: ${summary}`
    return { judged: failed({ reason, claimed: report }, turned.isFull || isIdle()), used }
  }
  const proof = await proveNow(scene, work)
  if (stopping.now.aborted) throw new RunEnds('interrupted', 'stopped')
  if (proof.isDone) return { judged: { verdict: 'done', commit: proof.commit, summary }, used }
  const { verify } = proof
  const evidence =
    verify === undefined
      ? {}
      : {
          verify: {
            command: verify.command,
            output: verify.output,
            ...defined({ exit: verify.exit }),
          },
        }
  const dirty = uncommitted(tree.tree).filter((path) => !work.leftBefore.includes(path))
  return {
    judged: failed(
      {
        reason: proof.reasons.join('; '),
        claimed: report,
        ...evidence,
        ...(dirty.length === 0 ? {} : { uncommitted: dirty }),
      },
      turned.isFull || isIdle(),
    ),
    used,
  }
}

/** In the background nobody reads a message, so it is also in the journal. */
function warn({ workspace }: RunContext, session: RunSession, text: string | undefined): void {
  if (text === undefined) return
  workspace.say(text)
  session.append([draft('gotcha.found', { text }, { by: 'run' })])
}

function park(
  scene: RunContext,
  session: RunSession,
  work: TaskWork,
  attempt: string,
  reason: string,
): TaskOutcome {
  const { kept, ends } = leaveWork(scene, work, attempt)
  session.leave(work.task, 'failed', withKept(reason, kept))
  scene.log.append('task.parked', {
    task: work.task.id,
    reason,
    ...defined({ kept }),
  })
  const because = `${work.name.name} failed: ${reason}`
  if (ends !== undefined) throw new RunEnds('task failed', `${because}; ${ends}`)
  if (scene.settled.onFailure === 'stop') throw new RunEnds('task failed', because)
  return { outcome: 'parked', reason }
}

/** An agent that took its own worktree away stands nowhere: it gets it back, as its branch has it, with the next conversation. */
function broughtBack({ tree, workspace }: RunContext, work: TaskWork): Judged | undefined {
  if (headNow(tree.tree) !== undefined) return undefined
  if (tree.isInPlace)
    throw new RunEnds('task failed', `the checkout ${tree.tree} is not there any more`)
  bringBack(workspace.place, tree.tree, tree.branch, work.base)
  const reason = 'the worktree was taken away, and is made again from what was committed'
  return { verdict: 'failed', failure: { reason }, isConversationSpent: true }
}
