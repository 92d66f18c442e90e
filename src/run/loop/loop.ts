import { findPrice } from '../../context/budget/prices.ts'
import type { Backlog } from '../../backlog/backlog.ts'
import type { Task } from '../../backlog/task.ts'
import { draftEntry } from '../../session/entries.ts'
import { defined } from '../../text/defined.ts'
import {
  type RunContext,
  RunEndedError,
  type TaskWork,
  readBacklog,
  toTaskName,
} from '../attempt/run-context.ts'
import { RunConversations } from '../attempt/run-conversations.ts'
import {
  type UnfinishedTask,
  chooseTaskBase,
  findUnfinishedTask,
} from '../attempt/unfinished-work.ts'
import { type InjectedHandoff, RunSession, type StoredHandoff } from '../attempt/run-session.ts'
import { TurnRunner } from '../attempt/turn-runner.ts'
import { workOnTask } from '../attempt/work-on-task.ts'
import type { EndOfRun } from '../entries.ts'
import { type ConversationLoad, type RotationDecision, decideRotation } from '../plan/rotation.ts'
import { type FinishedTask, type Forecasts, forecastsFrom, marginOf } from '../plan/forecast.ts'
import { type PlannedTask, orderTasks } from '../plan/order-tasks.ts'
import { type RunState, foldRun, sumAttemptUsage } from '../run-state.ts'
import { finishedTasksIn } from '../runs.ts'
import type { Claims } from './claims.ts'
import { DelegatedTasks, DoneElsewhere, type TaskSelection } from './task-selection.ts'

/** Providers cache a prefix for at least five minutes. */
const WARM_MS = 5 * 60_000
/** Assumed until the start of a conversation was measured. */
export const DEFAULT_BASE_TOKENS = 20_000

export class Loop {
  readonly #conversations: RunConversations
  readonly #turnRunner: TurnRunner
  readonly #taken = new Set<string>()
  /** Failed attempts before the run was resumed, by task. */
  readonly #attempts = new Map<string, number>()
  readonly #doneElsewhere: DoneElsewhere
  readonly #delegated: DelegatedTasks
  #unfinishedTask: UnfinishedTask | undefined
  #session: RunSession | undefined
  #sessions: number
  #notDone: string[] = []
  #done: number
  #doneInSession = 0
  #base = DEFAULT_BASE_TOKENS
  #handoff: (InjectedHandoff & StoredHandoff & { readonly from?: RunSession }) | undefined

  constructor(
    private readonly context: RunContext,
    private readonly selection: TaskSelection,
    private readonly claims: Claims,
    before: RunState | undefined,
    private readonly finished: readonly FinishedTask[],
  ) {
    const { delegate, options, usedByOthers } = context
    const attempts = before?.attempts ?? []
    this.#conversations = new RunConversations(context, before?.conversations.length ?? 0)
    this.#sessions = before?.sessions.length ?? 0
    this.#done = attempts.filter(({ outcome }) => outcome === 'done').length
    // A restarted delegate gets all its attempts again.
    if (delegate === undefined)
      for (const { started, outcome } of attempts)
        if (outcome === 'failed')
          this.#attempts.set(started.task.id, (this.#attempts.get(started.task.id) ?? 0) + 1)
    this.#unfinishedTask = findUnfinishedTask(before)
    this.#doneElsewhere = new DoneElsewhere(context)
    this.#delegated = new DelegatedTasks(context)
    // It also gets a new budget, unless it shares that of a run.
    const counted = delegate !== undefined && usedByOthers === undefined ? undefined : before
    // The time of earlier processes of this run counts too.
    const { maxMinutes = Infinity } = options
    const endsAt = Date.now() + maxMinutes * 60_000 - (counted?.seconds ?? 0) * 1000
    this.#turnRunner = new TurnRunner(
      context,
      this.#conversations,
      sumAttemptUsage(counted?.attempts ?? []),
      endsAt,
    )
  }

  async resumeSession(session: RunSession): Promise<void> {
    this.#session = session
    const { id } = await session.createHandoff('the run is resumed', undefined)
    await this.#conversations.forSession(session, { handoff: await session.acceptHandoff(id) })
  }

  useHandoff(handoff: StoredHandoff | undefined, from?: RunSession): void {
    if (handoff !== undefined)
      this.#handoff = { ...handoff, isOfTask: false, moved: [], ...defined({ from }) }
  }

  async work(): Promise<EndOfRun> {
    try {
      for (;;) {
        const end = await this.#next()
        if (end === undefined) continue
        await this.#closeSession(end, end !== 'finished' && end !== 'nothing to do')
        return end
      }
    } catch (error) {
      if (!(error instanceof RunEndedError)) throw error
      const { because, how } = error
      if (because !== '') this.context.workspace.say(because)
      // In mid-task the session stays open, with a handoff for the resume.
      if (this.#session !== undefined) {
        await this.#session.createHandoff(because, this.#conversations.live?.id)
        await this.#conversations.end(this.#session, because)
      }
      return how
    } finally {
      this.claims.releaseAll()
      await this.#conversations.live?.close()
      this.#session?.release()
    }
  }

  async #next(): Promise<EndOfRun | undefined> {
    const { options, stopping, workspace } = this.context
    const { maxTasks = Infinity, once } = options
    if (stopping.isAfterTask) return 'interrupted'
    if (this.#taken.size >= Math.min(maxTasks, once === true ? 1 : Infinity)) return 'max tasks'
    this.#turnRunner.endIfOverBudget()
    const backlog = await this.#readBacklog()
    const within = this.selection.restrict(backlog, ({ id }) => this.#taken.has(id))
    const order = orderTasks(
      within,
      this.#conversations.live?.done ?? [],
      workspace.config.run.plan,
    )
    const next = order.findIndex((one) => this.#isFree(one) && this.claims.claim(one.id))
    if (next === -1) {
      if (this.selection.openTasks(backlog).length > 0) return 'waiting'
      return this.#done > 0 ? 'finished' : 'nothing to do'
    }
    const planned = order[next]!
    const task = within.byId.get(planned.id)!
    const state = foldRun(this.context.log.read())
    const forecasts = forecastsFrom([
      ...this.finished,
      ...(state === undefined ? [] : finishedTasksIn(state)),
    ])
    await this.#rotateIfNeeded(task, planned, order.slice(next + 1), forecasts)
    this.#taken.add(planned.id)
    const { outcome } = await this.#workOn(task, planned, forecasts)
    if (outcome === 'done') {
      this.#done += 1
      this.#doneInSession += 1
    } else this.#notDone.push(planned.id)
    this.claims.release(planned.id)
    this.#base = this.#conversations.live?.base ?? this.#base
    return undefined
  }

  #isFree(task: PlannedTask): boolean {
    return (
      this.#doneElsewhere.areDependenciesMerged(task) &&
      (this.context.delegate !== undefined || !this.#delegated.has(task))
    )
  }

  /** Reads the backlog, and reopens tasks that the agent closed itself. */
  async #readBacklog(): Promise<Backlog> {
    const { latest } = this.context
    const now = await readBacklog(this.context)
    const closed = now.tasks.filter(({ id, status }) => {
      const before = latest.backlog?.byId.get(id)?.status ?? 'completed'
      return status === 'completed' && !this.#taken.has(id) && before !== 'completed'
    })
    const isReopened = closed.length > 0 && (await this.#reopen(closed))
    latest.backlog = isReopened ? await readBacklog(this.context) : now
    return latest.backlog
  }

  /** The user may close a task and the agent may not, but the entries look the same. */
  async #reopen(closed: readonly Task[]): Promise<boolean> {
    const { workspace } = this.context
    const entries = [...(await workspace.index()).taskEntries()]
    let isAny = false
    for (const { id, shortname } of closed) {
      const last = entries.findLast(({ kind, data }) => kind === 'task.moved' && data.task === id)
      if (last?.by === 'run') continue
      const isOurs = last?.data.status === 'completed' && this.#session !== undefined
      if (isOurs) {
        const summary = 'it was closed without its proof'
        this.#session!.append([
          draftEntry('task.moved', { task: id, status: 'ready', summary }, { by: 'run' }),
        ])
      }
      isAny ||= isOurs
      workspace.say(
        `${shortname} was closed by somebody else while this run went on, without its proof${isOurs ? '; it is open again' : ''}`,
      )
    }
    return isAny
  }

  async #rotateIfNeeded(
    task: Task,
    planned: PlannedTask,
    after: readonly PlannedTask[],
    forecasts: Forecasts,
  ): Promise<void> {
    const { harness, options, log, workspace } = this.context
    const mode = harness.capabilities.multiTurn ? options.batch : 'one'
    const { stay, rule, because }: RotationDecision =
      this.#session === undefined
        ? { stay: false, rule: 'first', because: 'the first of the run' }
        : decideRotation(
            this.#conversationLoad(),
            planned,
            after,
            forecasts,
            mode,
            workspace.config.run.plan,
          )
    if (rule !== 'first' || this.#session === undefined)
      log.append('rotation.decided', { task: planned.id, stay, rule, because }, toTaskName(task))
    if (stay) return
    await this.#closeSession(because, true)
    await this.#openSession(task, because, after)
  }

  async #openSession(task: Task, because: string, after: readonly PlannedTask[]): Promise<void> {
    const { latest, log, run, options, workspace } = this.context
    const { maxSessions = Infinity } = options
    if (this.#sessions >= maxSessions)
      throw new RunEndedError('max sessions', `${maxSessions} sessions were opened`)
    const number = (this.#sessions += 1)
    const goal = `${task.title} (the first task of session ${number} of run ${run.slice(-8)})`
    const session = await RunSession.open(workspace, task, goal)
    this.#session = session
    this.#notDone = []
    this.#doneInSession = 0
    const next = after.slice(0, 4).flatMap(({ id }) => latest.backlog?.byId.get(id) ?? [])
    log.append('session.opened', {
      session: session.id,
      name: session.name,
      number,
      because,
      planned: [task, ...next].map(toTaskName),
    })
    const handoff = this.#handoff
    this.#handoff = undefined
    await this.#conversations.forSession(session, defined({ handoff }))
    await handoff?.from?.recordHandoffLoaded(handoff.id, handoff.hash)
  }

  async #workOn(task: Task, planned: PlannedTask, forecasts: Forecasts) {
    const { base, leftBefore } = chooseTaskBase(
      this.context,
      this.#unfinishedTask,
      toTaskName(task),
    )
    this.#unfinishedTask = undefined
    const isFirst = this.#conversations.live?.hasHadTurn !== true
    const work: TaskWork = {
      task,
      name: toTaskName(task),
      planned,
      forecast: marginOf(planned, forecasts, isFirst),
      base,
      leftBefore,
      attempts: this.#attempts.get(task.id) ?? 0,
    }
    return workOnTask(this.#turnRunner, this.#session!, work)
  }

  #conversationLoad(): ConversationLoad {
    const { live } = this.#conversations
    const { budget, prices } = this.context.workspace.config
    const price = live?.model === undefined ? undefined : findPrice(live.model, prices)?.price
    return {
      context: live === undefined || live.isDead ? 0 : live.context || this.#base,
      base: live?.base ?? this.#base,
      smartZone: budget.smartZone,
      done: live?.done ?? [],
      isWarm: Date.now() - (live?.lastRequestAt ?? 0) < WARM_MS,
      ...defined({ point: live?.point, price }),
    }
  }

  async #closeSession(because: string, isHandedOn: boolean): Promise<void> {
    const session = this.#session
    if (session === undefined) return
    const { id, name } = session
    const conversation = this.#conversations.live?.id
    const handoff = isHandedOn ? await session.createHandoff(because, conversation) : undefined
    await this.#conversations.end(session, because)
    await session.close(because, this.#notDone)
    this.useHandoff(handoff, session)
    this.context.log.append('session.closed', {
      session: id,
      because,
      name,
      done: this.#doneInSession,
      ...defined({ handoff: handoff?.id }),
    })
    this.#session = undefined
  }
}
