// A turn that is gone on with in spite of what can happen to it: a limit, a failing model, a program that dies, a context
// that fills up. What cannot be gone on with ends the run, which can be resumed.
import { setTimeout as sleep } from 'node:timers/promises'
import { removeLeftLocks } from '../../git/run-git.ts'
import type { HarnessEvent } from '../../harness/contract/drive.ts'
import { type Draft, draft, type Usage } from '../../session/entries.ts'
import { type RunContext, RunEnds, type TaskWork, bounded } from './run-context.ts'
import { type Conversations, goOnPrompt, startFresh } from './conversations.ts'
import { equip } from './agent-environment.ts'
import type { Breaker } from '../entries.ts'
import { spendOf } from '../report.ts'
import {
  type Cut,
  IdleCompactions,
  type LiveConversation,
  type Turn,
  compactedEntry,
  crossedEntry,
} from './live-conversation.ts'
import type { RunSession } from './run-session.ts'
import { UNKNOWN_LIMIT_MS, addSpent, totalOf } from '../run-state.ts'
import { fingerprint, repositoryAt } from '../worktree/tree.ts'
import { defined } from '../../text/defined.ts'

export interface Endured {
  readonly said: string
  readonly spent: Readonly<Record<string, Usage>>
  readonly turns: number
  readonly compactions: number
  /** A breaker tripped, or the program died too often: what happened. */
  readonly broken?: string
  /** The context is full: nothing more goes into this conversation. */
  readonly isFull: boolean
}

/** An attempt, and the entry behind which what the agent reports about it stands. */
export interface OwnAttempt {
  readonly attempt: string
  readonly since: string
  readonly deadline: Deadline
}

/** When a task has to be done. Waiting for what the agent cannot help moves it. */
export interface Deadline {
  at: number
}

const MOST_DEATHS = 2
const SAME_FAILURES = 3
const FIRST_PAUSE_MS = 2000
const LONGEST_PAUSE_MS = 60_000
const LEAST_LIMIT_MS = 1000
/** A timer that is set for more than some weeks goes off at once. */
const LONGEST_TIMER_MS = 24 * 3600_000

export class TurnTaker {
  /** What the run has used so far, by model. */
  spent: Readonly<Record<string, Usage>>
  readonly #scene: RunContext
  readonly #conversations: Conversations
  readonly #endsAt: number
  /** How often the turn came to a limit. */
  #limits = 0

  constructor(
    scene: RunContext,
    conversations: Conversations,
    spentBefore: Readonly<Record<string, Usage>>,
    endsAt: number,
  ) {
    this.#scene = scene
    this.#conversations = conversations
    this.spent = spentBefore
    this.#endsAt = endsAt
  }

  async endure(
    session: RunSession,
    work: TaskWork,
    { attempt, since, deadline }: OwnAttempt,
    text: string,
  ): Promise<Endured> {
    let prompt = text
    let spent: Readonly<Record<string, Usage>> = {}
    let compactions = 0
    let deaths = 0
    let turns = 0
    this.#limits = 0
    const failures: string[] = []
    for (;;) {
      if (this.#conversations.live?.isDead === true) {
        // Whoever comes now has not had the task.
        await startFresh(session, this.#conversations, 'the agent program ended')
        prompt = this.#goOn(work, 'the program ended')
      }
      const live = await this.#conversations.forSession(session)
      const turn = await this.#turn(
        session,
        work,
        attempt,
        live,
        this.#conversations.withSetup(prompt),
        deadline.at,
      )
      turns += 1
      spent = addSpent(spent, turn.spent)
      compactions += turn.compactions
      const endured = (broken?: string): Endured => ({
        said: turn.said,
        spent,
        turns,
        compactions,
        isFull: turn.cut?.why === 'replace',
        ...defined({ broken }),
      })
      this.#endIfToldTo(turn.cut)
      if (turn.cut?.why === 'breaker') {
        this.broke(attempt, turn.cut.which, turn.cut.detail)
        if (live.isDead) await this.#conversations.end(session, 'it did not answer')
        return endured(turn.cut.detail)
      }
      if (turn.cut?.why === 'replace') {
        // What is reported needs no other conversation, unless it turns out not to be done.
        if (session.reported(work.task.id, this.#scene.run, since) !== undefined) return endured()
        await startFresh(
          session,
          this.#conversations,
          `the context is ${live.gauge.percent ?? '?'}% full`,
        )
        prompt = this.#goOn(work, 'the context was full')
        continue
      }
      if (turn.limit !== undefined) {
        deadline.at += await this.#waitForLimit(turn.limit)
        prompt = this.#goOn(work, 'a usage limit was reached')
      } else if (turn.ended.how === 'died') {
        deaths += 1
        await this.#goOnAfterDeath(session, live, turn)
        if (deaths > MOST_DEATHS)
          return endured(
            `the agent program died ${deaths} times: ${bounded(turn.ended.failure ?? '')}`,
          )
        prompt = this.#goOn(work, 'the program ended')
      } else if (turn.ended.how === 'failed') {
        failures.push(turn.ended.failure ?? 'no reason given')
        await this.#afterFailure(failures)
        prompt = this.#goOn(work, 'the model failed')
      } else return endured()
    }
  }

  #goOn(work: TaskWork, why: string): string {
    return goOnPrompt(this.#scene, this.#conversations, work, why)
  }

  broke(attempt: string, which: Breaker, detail: string): void {
    this.#scene.log.append('breaker.tripped', { attempt, which, detail })
  }

  async #turn(
    session: RunSession,
    work: TaskWork,
    attempt: string,
    live: LiveConversation,
    prompt: string,
    deadline: number,
  ): Promise<Turn> {
    const { log, settled, stopping, emit, tree, workspace } = this.#scene
    if (stopping.now.aborted) throw new RunEnds('interrupted', 'stopped')
    equip(this.#scene, this.#scene.latest.backlog?.tasks ?? [work.task])
    this.#unlock()
    const before = this.spent
    const idle = new IdleCompactions(tree.tree, settled.idleTurns)
    const turn = await live.turn(prompt, {
      silenceMs: settled.silenceMs,
      commandMs: settled.verifyMs,
      fingerprint: () => fingerprint(tree.tree),
      deadline: Math.min(deadline, this.#endsAt),
      tell: (event) => {
        this.#look(session, attempt, live, event)
        if (event.type !== 'compaction') return
        const detail = idle.compacted()
        if (detail !== undefined) live.cut({ why: 'breaker', which: 'no change', detail })
      },
      isOver: (spent) => {
        this.#used(addSpent(before, spent))
        emit('usage', {
          gauge: live.gauge,
          spend: spendOf(this.spent, workspace.config.prices),
        })
        // A harness that tells what was used only when the turn is over has at least read what is in its context.
        return this.#overBudget(Object.keys(spent).length === 0 ? live.context : 0)
      },
      crossed: (line, gauge) => {
        emit('stage', { stage: line, gauge })
        if (live.id !== undefined) session.append([crossedEntry('run', live.id, line, gauge)])
      },
      isStopped: stopping.now,
    })
    session.takeIn()
    this.#used(addSpent(before, turn.spent))
    const { how, failure } = turn.ended
    log.append('turn.ended', {
      attempt,
      conversation: live.number,
      how: turn.cut === undefined ? how : `${how}: ${turn.cut.why}`,
      ...(failure === undefined ? {} : { failure: bounded(failure) }),
      spent: turn.spent,
      requests: turn.requests,
      context: live.context,
      ...defined({ costUsd: live.costUsd }),
      seconds: turn.seconds,
    })
    this.#journalTurn(session, live, turn)
    return turn
  }

  /** Whatever was cut off or died may have had a git at work, and the agent would only see that it cannot commit. */
  #unlock(): void {
    const { tree } = this.#scene
    const repository = tree.isInPlace ? undefined : repositoryAt(tree.tree)
    if (repository !== undefined) removeLeftLocks(repository, tree.branch)
  }

  #look(session: RunSession, attempt: string, live: LiveConversation, event: HarnessEvent): void {
    const { harness, log, emit } = this.#scene
    if (event.type === 'text') emit('text', { text: event.text })
    else if (event.type === 'tool') {
      const { name, status, command, path } = event
      emit('tool', { name, status, ...defined({ command, path }) })
    } else if (event.type === 'started') {
      const { conversation, model, window } = event
      const known = {
        ...defined({ model, window }),
      }
      log.append('conversation.started', { number: live.number, conversation, ...known })
      session.append([
        draft(
          'conversation.joined',
          { conversation, harness: harness.name, source: 'run' },
          { by: 'run' },
        ),
      ])
    } else if (event.type === 'compaction') {
      const { tokensBefore } = event
      const known = defined({ tokensBefore })
      log.append('context.compacted', { attempt, conversation: live.number, ...known })
      session.append([compactedEntry('run', live.id, event)])
    } else if (event.type === 'limit') {
      const { message, resetsAt } = event
      const isWaiting = this.#isWaitedFor(this.#endOfLimit(event))
      log.append('limit.reached', { message, ...defined({ resetsAt }), isWaiting })
    }
  }

  #journalTurn(session: RunSession, live: LiveConversation, turn: Turn): void {
    if (!this.#scene.tracking.usageEntries || live.id === undefined) return
    const entries: Draft[] = Object.entries(turn.spent).map(([model, usage]) =>
      draft(
        'turn.ended',
        {
          conversation: live.id!,
          model,
          usage,
          ...(turn.said === '' ? {} : { said: turn.said.slice(-2000) }),
        },
        { by: 'run' },
      ),
    )
    session.append(entries)
  }

  #used(spent: Readonly<Record<string, Usage>>): void {
    this.spent = spent
    this.#scene.spending?.(spent)
  }

  #overBudget(atLeast: number): Cut | undefined {
    const { settled, workspace } = this.#scene
    const spend = spendOf(
      addSpent(this.spent, this.#scene.spentBeside?.() ?? {}),
      workspace.config.prices,
    )
    if (settled.budgetTokens !== undefined && totalOf(spend) + atLeast > settled.budgetTokens)
      return { why: 'over', limit: 'budget tokens' }
    if (settled.budgetUsd !== undefined && (spend.usd ?? Infinity) > settled.budgetUsd)
      return { why: 'over', limit: 'budget usd' }
    return Date.now() > this.#endsAt ? { why: 'over', limit: 'max minutes' } : undefined
  }

  /** Before something else is begun: whether there is anything left to begin it with. */
  endIfOver(): void {
    this.#endIfToldTo(this.#overBudget(0))
  }

  #endIfToldTo(cut: Cut | undefined): void {
    if (this.#scene.stopping.now.aborted || cut?.why === 'stop')
      throw new RunEnds('interrupted', 'stopped')
    if (cut?.why === 'over')
      throw new RunEnds(
        cut.limit,
        overText(cut.limit, spendOf(this.spent, this.#scene.workspace.config.prices).usd),
      )
    if (Date.now() > this.#endsAt) throw new RunEnds('max minutes', 'the time is up')
  }

  /** Answers how long was waited. */
  async #waitForLimit(limit: NonNullable<Turn['limit']>): Promise<number> {
    const now = Date.now()
    const until = this.#endOfLimit(limit)
    if (!this.#isWaitedFor(until)) throw new RunEnds('usage limit', limit.message)
    this.#limits += 1
    await this.#pause(until - now, this.#scene.stopping.now)
    return Date.now() - now
  }

  #endOfLimit({ resetsAt }: NonNullable<Turn['limit']>): number {
    const told = resetsAt === undefined ? Number.NaN : Date.parse(resetsAt)
    // One that is said to be over and is there again is waited for longer each time.
    const least = Math.min(UNKNOWN_LIMIT_MS, LEAST_LIMIT_MS * 4 ** this.#limits)
    return Number.isNaN(told) ? Date.now() + UNKNOWN_LIMIT_MS : Math.max(told, Date.now() + least)
  }

  #isWaitedFor(until: number): boolean {
    return this.#scene.settled.onLimit === 'wait' && until < this.#endsAt
  }

  async #goOnAfterDeath(session: RunSession, live: LiveConversation, turn: Turn): Promise<void> {
    const { harness, workspace } = this.#scene
    workspace.say(
      `the agent program ended in mid-turn: ${bounded(turn.ended.failure ?? 'no reason given')}`,
    )
    const { id } = live
    if (harness.capabilities.resume && id !== undefined) {
      await this.#conversations.end(session, 'its program died')
      try {
        await this.#conversations.forSession(session, { resume: id })
        return
      } catch (error) {
        if (!(error instanceof RunEnds)) throw error
      }
    }
    await startFresh(session, this.#conversations, 'the agent program died')
  }

  /** A model that fails is not the task's fault: it is tried again, and when it fails in the same way the run ends, to be resumed. */
  async #afterFailure(failures: readonly string[]): Promise<void> {
    const last = failures.at(-1)!
    if (
      failures.slice(-SAME_FAILURES).filter((one) => one === last).length >= SAME_FAILURES ||
      failures.length >= 2 * SAME_FAILURES
    ) {
      throw new RunEnds('harness failed', bounded(last))
    }
    this.#scene.workspace.say(`the turn failed (${bounded(last)}); it is tried again`)
    await this.#pause(
      Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures.length - 1)),
      this.#scene.stopping.now,
    )
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    const until = Date.now() + ms
    try {
      for (let left = ms; left > 0; left = until - Date.now())
        await sleep(Math.min(left, LONGEST_TIMER_MS), undefined, { signal })
    } catch {
      throw new RunEnds('interrupted', 'stopped')
    }
  }
}

function overText(limit: string, usd: number | undefined): string {
  if (limit === 'budget usd')
    return usd === undefined
      ? 'what the model costs is not known, so that --budget-usd cannot be kept'
      : 'the budget in dollars is used up'
  return limit === 'budget tokens' ? 'the budget in tokens is used up' : 'the time is up'
}
