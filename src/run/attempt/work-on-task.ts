// One task until it is done, blocked or parked: in the live conversation, again there with what failed, once in a fresh one.
import { mintId } from '../../journal/ids.ts'
import { draftEntry } from '../../session/entries.ts'
import { defined } from '../../text/defined.ts'
import { estimateTokens } from '../../text/tokens.ts'
import type { AttemptConversation, RunEntryData } from '../entries.ts'
import { priceUsage } from '../report.ts'
import { type UsageByModel, addUsageByModel, foldRun } from '../run-state.ts'
import { type TaskFailure, askForReportText } from '../texts/task-text.ts'
import {
  restoreTree,
  treeFingerprint,
  readTreeHead,
  uncommittedPaths,
} from '../worktree/run-tree.ts'
import {
  type RunContext,
  RunEndedError,
  type TaskWork,
  writeAgentFiles,
  readBacklog,
} from './run-context.ts'
import {
  saveUnfinishedTask,
  saveLeftWork,
  proveTask,
  recordDone,
  findUnfinishedTask,
  withSavedRef,
} from './record-done.ts'
import type { RunSession } from './run-session.ts'
import type { Deadline, TurnRunner } from './turn-runner.ts'

type TaskOutcome =
  | { readonly outcome: 'done'; readonly commit: string }
  | { readonly outcome: 'blocked' | 'parked'; readonly reason: string }

const MOST_ATTEMPTS = 3

type Judged =
  | { readonly verdict: 'done'; readonly commit: string; readonly summary: string }
  | { readonly verdict: 'blocked'; readonly reason: string }
  | {
      readonly verdict: 'failed'
      readonly failure: TaskFailure
      readonly isConversationSpent: boolean
    }

/** Works on a task until its outcome is known. If the run ends before, the user's checkout is kept under a reference. */
export async function workOnTask(
  taker: TurnRunner,
  session: RunSession,
  work: TaskWork,
): Promise<TaskOutcome> {
  const { log, tree } = taker.scene
  try {
    return await attemptUntilDone(taker, session, work)
  } catch (error) {
    const left = tree.isInPlace ? findUnfinishedTask(foldRun(log.read())) : undefined
    if (left !== undefined) saveUnfinishedTask(taker.scene, left)
    throw error
  }
}

async function attemptUntilDone(
  taker: TurnRunner,
  session: RunSession,
  work: TaskWork,
): Promise<TaskOutcome> {
  const { conversations, scene } = taker
  const { log, settled } = scene
  const { base, forecast, leftBefore, name, task } = work
  const startedAt = Date.now()
  const deadline: Deadline = { at: startedAt + settled.taskMs }
  const progress = { fingerprint: treeFingerprint(scene.tree.tree), idle: 0 }
  let spent: UsageByModel = {}
  let place: AttemptConversation = 'live conversation'
  let failure = scene.delegate?.failure
  session.begin(task)
  writeAgentFiles(scene, (await readBacklog(scene)).tasks, task.id)
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
      session.append([draftEntry('gotcha.found', { text: warning }, { by: 'run' })])
    }
    spent = addUsageByModel(spent, used)
    const seconds = (Date.now() - startedAt) / 1000
    const added =
      conversations.live === live && live.context > context
        ? live.context - Math.max(context, live.base ?? 0)
        : undefined
    const spend = priceUsage(spent, scene.workspace.config.prices)
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
      const { kept, ends } = saveLeftWork(scene, work, attempt)
      session.leave(task, 'blocked', withSavedRef(reason, kept))
      ended({ outcome: 'blocked', reason, ...defined({ kept }) })
      if (ends !== undefined)
        throw new RunEndedError('task failed', `${name.name} is blocked: ${reason}; ${ends}`)
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
    const next: AttemptConversation = isSameAgain ? 'same conversation again' : 'fresh conversation'
    ended({ outcome: 'failed', reason, next: isLast ? 'parked' : next })
    if (isLast) return park(scene, session, work, attempt, reason)
    place = next
  }
}

async function attemptOnce(
  taker: TurnRunner,
  session: RunSession,
  work: TaskWork,
  own: { attempt: string; prompt: string; since: string; deadline: Deadline; isRetry: boolean },
  progress: { fingerprint: string; idle: number },
): Promise<{ judged: Judged; used: UsageByModel }> {
  const { conversations, scene } = taker
  const { leftBefore, name, task } = work
  const { tree, run, settled, stopping, emit } = scene
  let used: UsageByModel = {}
  const failed = (failure: TaskFailure, isConversationSpent: boolean) => ({
    judged: { verdict: 'failed' as const, failure, isConversationSpent },
    used,
  })
  const take = async (text: string, why: 'task' | 'asked' | 'retry') => {
    emit('turn.started', { why }, { task: name })
    const turn = await taker.takeTurn(session, work, own, text)
    used = addUsageByModel(used, turn.spent)
    const now = treeFingerprint(tree.tree)
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
      turn.compactions > 0
        ? await conversations.restorePrompt(session, work)
        : askForReportText(task)
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
  const proof = await proveTask(scene, work)
  if (stopping.now.aborted) throw new RunEndedError('interrupted', 'stopped')
  if (proof.isDone) return { judged: { verdict: 'done', commit: proof.commit, summary }, used }
  const { reasons, verify } = proof
  const dirty = uncommittedPaths(tree.tree).filter((path) => !leftBefore.includes(path))
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
  const { kept, ends } = saveLeftWork(scene, { name, ...work }, attempt)
  session.leave(task, 'failed', withSavedRef(reason, kept))
  scene.log.append('task.parked', { task: task.id, reason, ...defined({ kept }) })
  const because = `${name.name} failed: ${reason}`
  if (ends !== undefined) throw new RunEndedError('task failed', `${because}; ${ends}`)
  if (scene.settled.onFailure === 'stop') throw new RunEndedError('task failed', because)
  return { outcome: 'parked', reason }
}

function broughtBack({ tree, workspace }: RunContext, { base }: TaskWork): boolean {
  if (readTreeHead(tree.tree) !== undefined) return false
  if (tree.isInPlace)
    throw new RunEndedError('task failed', `the checkout ${tree.tree} is not there any more`)
  restoreTree(workspace.paths, tree.tree, tree.branch, base)
  return true
}
