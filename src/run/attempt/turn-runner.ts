// Runs a turn, and retries it after a usage limit, a model failure, a dead program or a full context.
// An unrecoverable turn ends the run; the run can be resumed.
import { setTimeout as sleep } from 'node:timers/promises'
import { removeStaleLocks } from '../../git/run-git.ts'
import type { HarnessEvent } from '../../harness/contract/drive.ts'
import { draftEntry } from '../../session/entries.ts'
import { defined } from '../../text/defined.ts'
import type { TrippedDetector } from '../entries.ts'
import { priceUsage } from '../report.ts'
import { UNKNOWN_LIMIT_MS, type UsageByModel, addUsageByModel, totalTokens } from '../run-state.ts'
import { repositoryAt, treeFingerprint } from '../worktree/run-tree.ts'
import {
  type RunContext,
  RunEndedError,
  type TaskWork,
  boundedLine,
  writeAgentFiles,
} from './run-context.ts'
import type { RunConversations } from './run-conversations.ts'
import {
  type FinishedTurn,
  type LiveConversation,
  type TurnCut,
  compactedEntry,
  crossedEntry,
} from './live-conversation.ts'
import type { RunSession } from './run-session.ts'

export interface TurnResult {
  readonly spent: UsageByModel
  readonly turns: number
  readonly compactions: number
  /** Why a detector tripped, or how the program died too often. */
  readonly failure?: string
  readonly isFull: boolean
}

interface TurnAttempt {
  readonly attempt: string
  /** The session entry that the agent's reports come after. */
  readonly since: string
  readonly deadline: Deadline
}

/** Waiting for a usage limit moves it. */
export interface Deadline {
  at: number
}

const MOST_DEATHS = 2
const SAME_FAILURES = 3
const FIRST_PAUSE_MS = 2000
const LONGEST_PAUSE_MS = 60_000
const LEAST_LIMIT_MS = 1000
/** Node fires a timer of more than 24 days at once. */
const LONGEST_TIMER_MS = 24 * 3600_000

export class TurnRunner {
  #limits = 0

  constructor(
    readonly context: RunContext,
    readonly conversations: RunConversations,
    private spent: UsageByModel,
    private readonly endsAt: number,
  ) {}

  async runTurn(
    session: RunSession,
    work: TaskWork,
    { attempt, since, deadline }: TurnAttempt,
    text: string,
  ): Promise<TurnResult> {
    const { conversations, context } = this
    const continuePrompt = (why: string) => conversations.continuePrompt(work, why)
    let prompt = text
    let spent: UsageByModel = {}
    let compactions = 0
    let deaths = 0
    let turns = 0
    this.#limits = 0
    const failures: string[] = []
    for (;;) {
      if (conversations.live?.isDead === true) {
        // The new conversation has not seen this task.
        await conversations.startFresh(session, 'the agent program ended')
        prompt = continuePrompt('the program ended')
      }
      const live = await conversations.forSession(session)
      const sent = conversations.withSetup(prompt)
      const turn = await this.#runOnce(session, work, attempt, live, sent, deadline.at)
      turns += 1
      spent = addUsageByModel(spent, turn.spent)
      compactions += turn.compactions
      const { cut, ended } = turn
      const result = (failure?: string): TurnResult => {
        const isFull = cut?.why === 'replace'
        return { spent, turns, compactions, isFull, ...defined({ failure }) }
      }
      this.#endIfCut(cut)
      if (cut?.why === 'breaker') {
        this.recordTripped(attempt, cut.which, cut.detail)
        if (live.isDead) await conversations.end(session, 'it did not answer')
        return result(cut.detail)
      }
      if (cut?.why === 'replace') {
        // A task that is reported needs no other conversation, unless it turns out not to be done.
        if (session.findReport(work.task.id, context.run, since) !== undefined) return result()
        const why = `the context is ${live.gauge.percent ?? '?'}% full`
        await conversations.startFresh(session, why)
        prompt = continuePrompt('the context was full')
      } else if (turn.limit !== undefined) {
        deadline.at += await this.#waitForLimit(turn.limit)
        prompt = continuePrompt('a usage limit was reached')
      } else if (ended.how === 'died') {
        deaths += 1
        await this.#recoverFromDeath(session, live, turn)
        if (deaths > MOST_DEATHS)
          return result(
            `the agent program died ${deaths} times: ${boundedLine(ended.failure ?? '')}`,
          )
        prompt = continuePrompt('the program ended')
      } else if (ended.how === 'failed') {
        failures.push(ended.failure ?? 'no reason given')
        await this.#pauseAfterFailure(failures)
        prompt = continuePrompt('the model failed')
      } else return result()
    }
  }

  recordTripped(attempt: string, which: TrippedDetector, detail: string): void {
    this.context.log.append('breaker.tripped', { attempt, which, detail })
  }

  async #runOnce(
    session: RunSession,
    work: TaskWork,
    attempt: string,
    live: LiveConversation,
    prompt: string,
    deadline: number,
  ): Promise<FinishedTurn> {
    const { log, options, stopping, emit, tree, workspace, latest, tracking } = this.context
    if (stopping.now.aborted) throw new RunEndedError('interrupted', 'stopped')
    writeAgentFiles(this.context, latest.backlog?.tasks ?? [work.task])
    // To the agent, the lock of a killed git would only look like a failing commit.
    const repository = tree.isInPlace ? undefined : repositoryAt(tree.tree)
    if (repository !== undefined) removeStaleLocks(repository, tree.branch)
    const before = this.spent
    const compacted = detectIdleCompactions(tree.tree, options.idleTurns)
    const turn = await live.turn(prompt, {
      silenceMs: options.silenceMs,
      commandMs: options.verifyMs,
      fingerprint: () => treeFingerprint(tree.tree),
      deadline: Math.min(deadline, this.endsAt),
      onEvent: (event) => {
        this.#record(session, attempt, live, event)
        const detail = event.type === 'compaction' ? compacted() : undefined
        if (detail !== undefined) live.cut({ why: 'breaker', which: 'no change', detail })
      },
      checkBudget: (spent) => {
        this.#recordUsage(addUsageByModel(before, spent))
        emit('usage', { gauge: live.gauge, spend: priceUsage(this.spent, workspace.config.prices) })
        // A harness that reports usage only after the turn has at least read its context.
        return this.#findOverrun(Object.keys(spent).length === 0 ? live.context : 0)
      },
      onCrossed: (line, gauge) => {
        emit('stage', { stage: line, gauge })
        if (live.id !== undefined) session.append([crossedEntry('run', live.id, line, gauge)])
      },
      isStopped: stopping.now,
    })
    session.drainOutbox()
    this.#recordUsage(addUsageByModel(before, turn.spent))
    const { how, failure } = turn.ended
    log.append('turn.ended', {
      attempt,
      conversation: live.number,
      how: turn.cut === undefined ? how : `${how}: ${turn.cut.why}`,
      ...(failure === undefined ? {} : { failure: boundedLine(failure) }),
      spent: turn.spent,
      requests: turn.requests,
      context: live.context,
      ...defined({ costUsd: live.costUsd }),
      seconds: turn.seconds,
    })
    const { id: conversation } = live
    if (tracking === 'full' && conversation !== undefined) {
      const said = turn.said === '' ? {} : { said: turn.said.slice(-2000) }
      session.append(
        Object.entries(turn.spent).map(([model, usage]) =>
          draftEntry('turn.ended', { conversation, model, usage, ...said }, { by: 'run' }),
        ),
      )
    }
    return turn
  }

  #record(session: RunSession, attempt: string, live: LiveConversation, event: HarnessEvent): void {
    const { harness, log, emit } = this.context
    const { number } = live
    if (event.type === 'text') emit('text', { text: event.text })
    else if (event.type === 'tool') {
      const { name, status, command, path } = event
      emit('tool', { name, status, ...defined({ command, path }) })
    } else if (event.type === 'started') {
      const { conversation, model, window } = event
      log.append('conversation.started', { number, conversation, ...defined({ model, window }) })
      const joined = { conversation, harness: harness.name, source: 'run' }
      session.append([draftEntry('conversation.joined', joined, { by: 'run' })])
    } else if (event.type === 'compaction') {
      const { tokensBefore } = event
      const data = { attempt, conversation: number, ...defined({ tokensBefore }) }
      log.append('context.compacted', data)
      session.append([compactedEntry('run', live.id, event)])
    } else if (event.type === 'limit') {
      const { message, resetsAt } = event
      const isWaiting = this.#shouldWait(this.#endOfLimit(event))
      log.append('limit.reached', { message, ...defined({ resetsAt }), isWaiting })
    }
  }

  #recordUsage(spent: UsageByModel): void {
    this.spent = spent
    this.context.onUsage?.(spent)
  }

  #findOverrun(atLeast: number): TurnCut | undefined {
    const { options, usedByOthers, workspace } = this.context
    const { budgetTokens = Infinity, budgetUsd } = options
    const spend = priceUsage(
      addUsageByModel(this.spent, usedByOthers?.() ?? {}),
      workspace.config.prices,
    )
    if (totalTokens(spend) + atLeast > budgetTokens) return { why: 'over', limit: 'budget tokens' }
    if (budgetUsd !== undefined && (spend.usd ?? Infinity) > budgetUsd)
      return { why: 'over', limit: 'budget usd' }
    return Date.now() > this.endsAt ? { why: 'over', limit: 'max minutes' } : undefined
  }

  endIfOverBudget(): void {
    this.#endIfCut(this.#findOverrun(0))
  }

  #endIfCut(cut: TurnCut | undefined): void {
    const { stopping, workspace } = this.context
    if (stopping.now.aborted || cut?.why === 'stop')
      throw new RunEndedError('interrupted', 'stopped')
    if (cut?.why === 'over') {
      const { usd } = priceUsage(this.spent, workspace.config.prices)
      throw new RunEndedError(cut.limit, describeOverrun(cut.limit, usd))
    }
    if (Date.now() > this.endsAt) throw new RunEndedError('max minutes', 'the time is up')
  }

  async #waitForLimit(limit: NonNullable<FinishedTurn['limit']>): Promise<number> {
    const now = Date.now()
    const until = this.#endOfLimit(limit)
    if (!this.#shouldWait(until)) throw new RunEndedError('usage limit', limit.message)
    this.#limits += 1
    await this.#pause(until - now)
    return Date.now() - now
  }

  #endOfLimit({ resetsAt = '' }: NonNullable<FinishedTurn['limit']>): number {
    const reset = Date.parse(resetsAt)
    // A limit that returns although it was reported as over gets a longer wait each time.
    const least = Math.min(UNKNOWN_LIMIT_MS, LEAST_LIMIT_MS * 4 ** this.#limits)
    return Number.isNaN(reset) ? Date.now() + UNKNOWN_LIMIT_MS : Math.max(reset, Date.now() + least)
  }

  #shouldWait(until: number): boolean {
    return this.context.options.onLimit === 'wait' && until < this.endsAt
  }

  async #recoverFromDeath(
    session: RunSession,
    { id }: LiveConversation,
    { ended }: FinishedTurn,
  ): Promise<void> {
    const { harness, workspace } = this.context
    workspace.say(
      `the agent program ended in mid-turn: ${boundedLine(ended.failure ?? 'no reason given')}`,
    )
    if (harness.capabilities.resume && id !== undefined) {
      await this.conversations.end(session, 'its program died')
      try {
        await this.conversations.forSession(session, { resume: id })
        return
      } catch (error) {
        if (!(error instanceof RunEndedError)) throw error
      }
    }
    await this.conversations.startFresh(session, 'the agent program died')
  }

  /** A model failure is not the task's fault: the turn is retried, and the run ends when the same failure repeats. */
  async #pauseAfterFailure(failures: readonly string[]): Promise<void> {
    const last = failures.at(-1)!
    const same = failures.slice(-SAME_FAILURES).filter((one) => one === last).length
    if (same >= SAME_FAILURES || failures.length >= 2 * SAME_FAILURES)
      throw new RunEndedError('harness failed', boundedLine(last))
    this.context.workspace.say(`the turn failed (${boundedLine(last)}); it is tried again`)
    await this.#pause(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures.length - 1)))
  }

  async #pause(ms: number): Promise<void> {
    const signal = this.context.stopping.now
    const until = Date.now() + ms
    try {
      for (let left = ms; left > 0; left = until - Date.now())
        await sleep(Math.min(left, LONGEST_TIMER_MS), undefined, { signal })
    } catch {
      throw new RunEndedError('interrupted', 'stopped')
    }
  }
}

function describeOverrun(limit: string, usd: number | undefined): string {
  if (limit === 'budget usd')
    return usd === undefined
      ? 'what the model costs is not known, so that --budget-usd cannot be kept'
      : 'the budget in dollars is used up'
  return limit === 'budget tokens' ? 'the budget in tokens is used up' : 'the time is up'
}

/** Detects repeated compactions in a turn while the tree stays unchanged. */
function detectIdleCompactions(tree: string, most: number): () => string | undefined {
  let last: string | undefined
  let idle = 0
  return () => {
    const now = treeFingerprint(tree)
    idle = now === last ? idle + 1 : 0
    last = now
    return idle < most
      ? undefined
      : `nothing in the tree changed from one compaction to the next, ${idle} times`
  }
}
