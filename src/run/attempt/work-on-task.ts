// The retry policy of a task: the live conversation, again there with the failure, once in a fresh one, then parked.
import { mintId } from '../../journal/ids.ts'
import { draftEntry } from '../../session/entries.ts'
import { defined } from '../../text/defined.ts'
import { estimateTokens } from '../../text/tokens.ts'
import type { AttemptConversation, RunEntryData } from '../entries.ts'
import { priceUsage } from '../report.ts'
import { type UsageByModel, addUsageByModel, foldRun } from '../run-state.ts'
import { type TaskFailure, askForReportText } from '../agent-prompts/task-text.ts'
import {
  readTreeHead,
  restoreTree,
  treeFingerprint,
  uncommittedPaths,
} from '../worktree/run-tree.ts'
import {
  type RunContext,
  RunEndedError,
  type TaskWork,
  readBacklog,
  writeAgentFiles,
} from './run-context.ts'
import { proveTask, recordDone } from './record-done.ts'
import { afterFailure } from './retry-policy.ts'
import {
  findUnfinishedTask,
  saveLeftWork,
  saveUnfinishedTask,
  withSavedRef,
} from './unfinished-work.ts'
import type { RunSession } from './run-session.ts'
import type { Deadline, TurnRunner } from './turn-runner.ts'

type TaskOutcome =
  | { readonly outcome: 'done'; readonly commit: string }
  | { readonly outcome: 'blocked' | 'parked'; readonly reason: string }

type AttemptVerdict =
  | { readonly verdict: 'done'; readonly commit: string; readonly summary: string }
  | { readonly verdict: 'blocked'; readonly reason: string }
  | {
      readonly verdict: 'failed'
      readonly failure: TaskFailure
      readonly isConversationSpent: boolean
    }

/** If the run ends before the outcome is known, the work in the user's checkout is saved under a ref. */
export async function workOnTask(
  turnRunner: TurnRunner,
  session: RunSession,
  work: TaskWork,
): Promise<TaskOutcome> {
  const { log, tree } = turnRunner.context
  try {
    return await attemptUntilDone(turnRunner, session, work)
  } catch (error) {
    const left = tree.isInPlace ? findUnfinishedTask(foldRun(log.read())) : undefined
    if (left !== undefined) saveUnfinishedTask(turnRunner.context, left)
    throw error
  }
}

async function attemptUntilDone(
  turnRunner: TurnRunner,
  session: RunSession,
  work: TaskWork,
): Promise<TaskOutcome> {
  const { conversations, context } = turnRunner
  const { log, options } = context
  const { base, forecast, leftBefore, name, task } = work
  const startedAt = Date.now()
  const deadline: Deadline = { at: startedAt + options.taskMs }
  const progress = { fingerprint: treeFingerprint(context.tree.tree), idle: 0 }
  let spent: UsageByModel = {}
  let conversation: AttemptConversation = 'live conversation'
  let failure = context.delegate?.failure
  session.startStep(task)
  writeAgentFiles(context, (await readBacklog(context)).tasks, task.id)
  for (let number = work.attempts + 1; ; number += 1) {
    const attempt = mintId(undefined)
    if (conversation === 'fresh conversation')
      await conversations.startFresh(session, `${name.name} failed: ${failure?.reason ?? ''}`)
    const live = await conversations.forSession(session)
    const prompt = conversations.attemptPrompt(work, failure)
    const { context: contextBefore } = live
    const since = session.lastEntry
    log.append('attempt.started', {
      attempt,
      task: name,
      number,
      place: conversation,
      session: session.id,
      conversation: live.number,
      base,
      ...(leftBefore.length === 0 ? {} : { leftBefore }),
      sizeClass: work.planned.sizeClass,
      forecast,
      context: contextBefore,
      isFirst: !live.hasHadTurn,
      since,
      text: estimateTokens(prompt),
    })
    const movedTarget = context.delegate?.watchTarget()
    const own = { attempt, prompt, since, deadline, isRetry: failure !== undefined }
    const { judged, used } = await attemptOnce(turnRunner, session, work, own, progress)
    const warning = movedTarget?.()
    if (warning !== undefined) {
      // The message of a background run may go unread, so the journal records it too.
      context.workspace.say(warning)
      session.append([draftEntry('gotcha.found', { text: warning }, { by: 'run' })])
    }
    spent = addUsageByModel(spent, used)
    const seconds = (Date.now() - startedAt) / 1000
    const added =
      conversations.live === live && live.context > contextBefore
        ? live.context - Math.max(contextBefore, live.base ?? 0)
        : undefined
    const spend = priceUsage(spent, context.workspace.config.prices)
    const recordEnd = (data: Omit<RunEntryData['attempt.ended'], 'attempt'>) =>
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
      await recordDone(context, session, work, judged)
      recordEnd({ outcome: 'done', commit, summary })
      conversations.live?.done.push(work.planned)
      return { outcome: 'done', commit }
    }
    if (judged.verdict === 'blocked') {
      const { reason } = judged
      const { kept, ends } = saveLeftWork(context, work, attempt)
      session.recordNotDone(task, 'blocked', withSavedRef(reason, kept))
      recordEnd({ outcome: 'blocked', reason, ...defined({ kept }) })
      if (ends !== undefined)
        throw new RunEndedError('task failed', `${name.name} is blocked: ${reason}; ${ends}`)
      return { outcome: 'blocked', reason }
    }
    failure = judged.failure
    const { reason } = failure
    const next: AttemptConversation | 'parked' = afterFailure(
      {
        number,
        conversation,
        isConversationSpent: judged.isConversationSpent,
        isOutOfTime: Date.now() > deadline.at,
      },
      options,
    )
    recordEnd({ outcome: 'failed', reason, next })
    if (next === 'parked') return park(context, session, work, attempt, reason)
    conversation = next
  }
}

async function attemptOnce(
  turnRunner: TurnRunner,
  session: RunSession,
  work: TaskWork,
  own: { attempt: string; prompt: string; since: string; deadline: Deadline; isRetry: boolean },
  progress: { fingerprint: string; idle: number },
): Promise<{ judged: AttemptVerdict; used: UsageByModel }> {
  const { conversations, context } = turnRunner
  const { leftBefore, name, task } = work
  const { tree, run, options, stopping, emit } = context
  let used: UsageByModel = {}
  const failed = (failure: TaskFailure, isConversationSpent: boolean) => ({
    judged: { verdict: 'failed' as const, failure, isConversationSpent },
    used,
  })
  const runTurn = async (text: string, why: 'task' | 'asked' | 'retry') => {
    emit('turn.started', { why }, { task: name })
    const turn = await turnRunner.runTurn(session, work, own, text)
    used = addUsageByModel(used, turn.spent)
    const now = treeFingerprint(tree.tree)
    progress.idle = now === progress.fingerprint ? progress.idle + turn.turns : 0
    progress.fingerprint = now
    const isTreeGone = restoreTreeIfGone(context, work)
    return { ...turn, isTreeGone, report: session.findReport(task.id, run, own.since) }
  }
  const treeGone = 'the worktree was taken away, and is made again from what was committed'
  let turn = await runTurn(own.prompt, own.isRetry ? 'retry' : 'task')
  if (turn.isTreeGone) return failed({ reason: treeGone }, true)
  if (turn.report === undefined && turn.failure === undefined) {
    // The compaction may have lost the task itself.
    const asked =
      turn.compactions > 0
        ? await conversations.restorePrompt(session, work)
        : askForReportText(task)
    turn = await runTurn(asked, 'asked')
    if (turn.isTreeGone) return failed({ reason: treeGone }, true)
  }
  /** After several turns without changes the next attempt gets a fresh conversation. */
  const isIdle = () => {
    const { idle } = progress
    if (idle < options.idleTurns) return false
    progress.idle = 0
    turnRunner.recordTripped(
      own.attempt,
      'no change',
      `nothing in the tree changed over ${idle} turns`,
    )
    return true
  }
  const { isFull, report } = turn
  if (report === undefined)
    return turn.failure === undefined
      ? failed({ reason: 'the turn ended twice without a report' }, isIdle())
      : failed({ reason: turn.failure }, true)
  const { status, summary } = report
  if (status === 'blocked')
    return { judged: { verdict: 'blocked', reason: summary || 'the agent did not say why' }, used }
  if (status === 'failed') {
    const reason = summary === '' ? 'reported as failed' : `reported as failed: ${summary}`
    return failed({ reason, claimed: report }, isFull || isIdle())
  }
  const proof = await proveTask(context, work)
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
  context: RunContext,
  session: RunSession,
  { name, task, ...work }: TaskWork,
  attempt: string,
  reason: string,
): TaskOutcome {
  const { kept, ends } = saveLeftWork(context, { name, ...work }, attempt)
  session.recordNotDone(task, 'failed', withSavedRef(reason, kept))
  context.log.append('task.parked', { task: task.id, reason, ...defined({ kept }) })
  const because = `${name.name} failed: ${reason}`
  if (ends !== undefined) throw new RunEndedError('task failed', `${because}; ${ends}`)
  if (context.options.onFailure === 'stop') throw new RunEndedError('task failed', because)
  return { outcome: 'parked', reason }
}

function restoreTreeIfGone({ tree, workspace }: RunContext, { base }: TaskWork): boolean {
  if (readTreeHead(tree.tree) !== undefined) return false
  if (tree.isInPlace)
    throw new RunEndedError('task failed', `the checkout ${tree.tree} is not there any more`)
  restoreTree(workspace.paths, tree.tree, tree.branch, base)
  return true
}
