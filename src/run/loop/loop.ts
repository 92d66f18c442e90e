// The run: which task comes next, whether it goes into the conversation that is there, and when it is all over.
import type { Price } from '../../context/budget/prices.ts'
import { priceOf } from '../../context/budget/prices.ts'
import { type Decision, type Standing, decide } from '../plan/decide.ts'
import { type FinishedTask, type Forecasts, forecastsFrom, marginOf } from '../plan/forecast.ts'
import { type PlannedTask, orderOfWork } from '../plan/order.ts'
import type { Backlog } from '../../backlog/backlog.ts'
import type { Task } from '../../backlog/task.ts'
import type { Claims } from './claims.ts'
import { Conversations } from '../attempt/conversations.ts'
import { type RunContext, RunEnds, type TaskWork, readBacklog } from '../attempt/run-context.ts'
import { DelegatedTasks, DoneElsewhere, type Selection } from './selection.ts'
import { draft } from '../../session/entries.ts'
import type { EndOfRun } from '../entries.ts'
import type { GivenHandoff } from '../attempt/run-session.ts'
import { RunSession } from '../attempt/run-session.ts'
import { finishedIn } from '../runs.ts'
import { type RunState, addSpent, foldRun } from '../run-state.ts'
import { nameOf } from '../attempt/agent-environment.ts'
import { TurnTaker } from '../attempt/turn-taker.ts'
import { type Unfinished, beginningOf, unfinishedIn } from '../attempt/record-done.ts'
import { type TaskOutcome, workTask } from '../attempt/work-task.ts'
import { defined } from '../../text/defined.ts'

/** Providers keep what they have read for five minutes at least. */
const WARM_MS = 5 * 60_000
/** What a fresh conversation begins with, until one was seen. */
export const USUAL_BASE = 20_000

export class Loop {
  readonly #scene: RunContext
  readonly #selection: Selection
  readonly #claims: Claims
  readonly #conversations: Conversations
  readonly #taker: TurnTaker
  readonly #finished: readonly FinishedTask[]
  readonly #taken = new Set<string>()
  readonly #attempts: ReadonlyMap<string, number>
  /** What is in the tree since the run was cut off. */
  #left: Unfinished | undefined
  readonly #elsewhere: DoneElsewhere
  readonly #delegated: DelegatedTasks
  #session: RunSession | undefined
  #sessions: number
  #unfinished: string[] = []
  #done = 0
  #doneInSession = 0
  #base = USUAL_BASE
  /** What the last session left for the next. */
  #handoff: (GivenHandoff & { readonly hash: string; readonly from?: RunSession }) | undefined

  constructor(
    scene: RunContext,
    selection: Selection,
    claims: Claims,
    before: RunState | undefined,
    finished: readonly FinishedTask[],
  ) {
    this.#scene = scene
    this.#selection = selection
    this.#claims = claims
    this.#finished = finished
    this.#conversations = new Conversations(scene, before?.conversations.length ?? 0)
    this.#sessions = before?.sessions.length ?? 0
    this.#done = before?.attempts.filter(({ outcome }) => outcome === 'done').length ?? 0
    // Whoever begins a delegate again gives it another chance.
    this.#attempts = scene.delegate === undefined ? attemptsIn(before) : new Map()
    this.#left = unfinishedIn(before)
    this.#elsewhere = new DoneElsewhere(scene)
    this.#delegated = new DelegatedTasks(scene)
    // Whoever begins a delegate again by itself gives it its budget again, too.
    const isAnew = scene.delegate !== undefined && scene.spentBeside === undefined
    const counted = isAnew ? undefined : before
    const spent = (counted?.attempts ?? []).reduce(
      (sum, attempt) => addSpent(sum, attempt.spent),
      {},
    )
    const { maxMinutes } = scene.settled
    // All the time that somebody ran it counts.
    const endsAt =
      maxMinutes === undefined
        ? Infinity
        : Date.now() + maxMinutes * 60_000 - (counted?.seconds ?? 0) * 1000
    this.#taker = new TurnTaker(scene, this.#conversations, spent, endsAt)
  }

  /** Goes on in a session that is open already. */
  async goOnIn(session: RunSession): Promise<void> {
    this.#session = session
    const { id } = await session.handOver('the run is resumed', undefined)
    await this.#conversations.forSession(session, { handoff: await session.takeUp(id) })
  }

  /** The next session begins with what the last one left. */
  beginWith(
    handoff: { id: string; text: string; hash: string },
    from: RunSession | undefined,
  ): void {
    this.#handoff = {
      ...handoff,
      isOfTask: false,
      moved: [],
      ...defined({ from }),
    }
  }

  async work(): Promise<EndOfRun> {
    try {
      for (;;) {
        const end = await this.#next()
        if (end !== undefined) return await this.#finish(end)
      }
    } catch (error) {
      if (!(error instanceof RunEnds)) throw error
      if (error.because !== '') this.#scene.workspace.say(error.because)
      return await this.#breakOff(error)
    } finally {
      this.#claims.releaseAll()
      const { live } = this.#conversations
      await live?.close()
      this.#session?.release()
    }
  }

  async #next(): Promise<EndOfRun | undefined> {
    const { settled, stopping } = this.#scene
    if (stopping.isAfterTask) return 'interrupted'
    if (settled.maxTasks !== undefined && this.#taken.size >= settled.maxTasks) return 'max tasks'
    if (settled.once === true && this.#taken.size >= 1) return 'max tasks'
    this.#taker.endIfOver()
    const backlog = await this.#backlogNow()
    const within = this.#selection.within(backlog, ({ id }) => this.#taken.has(id))
    const order = orderOfWork(
      within,
      this.#conversations.live?.done ?? [],
      this.#scene.workspace.config.run.plan,
    )
    const next = order.findIndex((one) => this.#isFree(one) && this.#claims.take(one.id))
    if (next === -1)
      return this.#selection.open(backlog).length === 0
        ? this.#done > 0
          ? 'finished'
          : 'nothing to do'
        : 'waiting'
    const planned = order[next]!
    const task = within.byId.get(planned.id)!
    const forecasts = forecastsFrom(this.#finishedNow())
    await this.#place(task, planned, order.slice(next + 1), forecasts)
    this.#taken.add(planned.id)
    const outcome = await this.#workOn(task, planned, forecasts)
    if (outcome.outcome === 'done') {
      this.#done += 1
      this.#doneInSession += 1
    } else this.#unfinished.push(planned.id)
    this.#claims.release(planned.id)
    const { live } = this.#conversations
    if (live?.base !== undefined) this.#base = live.base
    return undefined
  }

  #isFree(task: PlannedTask): boolean {
    return (
      this.#elsewhere.isHere(task) &&
      (this.#scene.delegate !== undefined || !this.#delegated.has(task))
    )
  }

  /** As it is, but for what was closed behind the back of the run. */
  async #backlogNow(): Promise<Backlog> {
    const { latest } = this.#scene
    const now = await readBacklog(this.#scene)
    const closed = now.tasks.filter(
      ({ id, status }) =>
        status === 'completed' && !this.#taken.has(id) && isOpenIn(latest.backlog, id),
    )
    latest.backlog =
      closed.length > 0 && (await this.#reopen(closed)) ? await readBacklog(this.#scene) : now
    return latest.backlog
  }

  /** A person may close a task, an agent may not, and from here the two look the same: it is open again, and that is said. */
  async #reopen(closed: readonly Task[]): Promise<boolean> {
    const { workspace } = this.#scene
    const entries = [...(await workspace.index()).taskEntries()]
    let isAny = false
    for (const { id, shortname } of closed) {
      const last = entries.findLast(({ kind, data }) => kind === 'task.moved' && data.task === id)
      if (last?.by === 'run') continue
      const isOurs = last?.data.status === 'completed' && this.#session !== undefined
      if (isOurs)
        this.#session!.append([
          draft(
            'task.moved',
            { task: id, status: 'ready', summary: 'it was closed without its proof' },
            { by: 'run' },
          ),
        ])
      isAny ||= isOurs
      workspace.say(
        `${shortname} was closed by somebody else while this run went on, without its proof${isOurs ? '; it is open again' : ''}`,
      )
    }
    return isAny
  }

  /** Into the conversation that is there, or into the next session. */
  async #place(
    task: Task,
    planned: PlannedTask,
    after: readonly PlannedTask[],
    forecasts: Forecasts,
  ): Promise<void> {
    const { harness, settled, log } = this.#scene
    const mode = harness.capabilities.multiTurn ? settled.batch : 'one'
    const decision: Decision =
      this.#session === undefined
        ? { stay: false, rule: 'first', because: 'the first of the run' }
        : decide(
            this.#standing(),
            planned,
            after,
            forecasts,
            mode,
            this.#scene.workspace.config.run.plan,
          )
    if (decision.rule !== 'first' || this.#session === undefined) {
      const { stay, rule, because } = decision
      log.append('rotation.decided', { task: planned.id, stay, rule, because }, nameOf(task))
    }
    if (decision.stay) return
    if (this.#session !== undefined) await this.#closeSession(decision.because, true)
    await this.#openSession(task, decision.because, after)
  }

  async #openSession(task: Task, because: string, after: readonly PlannedTask[]): Promise<void> {
    const { log, run, settled, workspace } = this.#scene
    if (settled.maxSessions !== undefined && this.#sessions >= settled.maxSessions) {
      throw new RunEnds('max sessions', `${settled.maxSessions} sessions were opened`)
    }
    this.#sessions += 1
    const goal = `${task.title} (the first task of session ${this.#sessions} of run ${run.slice(-8)})`
    const session = await RunSession.open(workspace, this.#sessions, task, goal)
    this.#session = session
    this.#unfinished = []
    this.#doneInSession = 0
    log.append('session.opened', {
      session: session.id,
      name: session.name,
      number: this.#sessions,
      because,
      planned: [
        task,
        ...after.slice(0, 4).flatMap(({ id }) => this.#scene.latest.backlog?.byId.get(id) ?? []),
      ].map(nameOf),
    })
    const handoff = this.#handoff
    this.#handoff = undefined
    await this.#conversations.forSession(session, handoff === undefined ? {} : { handoff })
    await handoff?.from?.passedOn(handoff.id, handoff.hash)
  }

  async #workOn(task: Task, planned: PlannedTask, forecasts: Forecasts): Promise<TaskOutcome> {
    const beginning = beginningOf(this.#scene, this.#left, nameOf(task))
    this.#left = undefined
    const isFirst = this.#conversations.live?.hasHadTurn !== true
    const work: TaskWork = {
      task,
      name: nameOf(task),
      planned,
      forecast: marginOf(planned, forecasts, isFirst),
      base: beginning.base,
      leftBefore: beginning.leftBefore,
      attempts: this.#attempts.get(task.id) ?? 0,
    }
    return workTask(this.#scene, this.#session!, this.#conversations, this.#taker, work)
  }

  #standing(): Standing {
    const { live } = this.#conversations
    const { budget } = this.#scene.workspace.config
    const price = this.#price(live?.model)
    return {
      context: live === undefined || live.isDead ? 0 : live.context || this.#base,
      base: live?.base ?? this.#base,
      smartZone: budget.smartZone,
      done: live?.done ?? [],
      isWarm: Date.now() - (live?.lastRequestAt ?? 0) < WARM_MS,
      ...defined({ point: live?.point, price }),
    }
  }

  #price(model: string | undefined): Price | undefined {
    return model === undefined
      ? undefined
      : priceOf(model, this.#scene.workspace.config.prices)?.price
  }

  #finishedNow(): readonly FinishedTask[] {
    const state = foldRun(this.#scene.log.read())
    return [...this.#finished, ...(state === undefined ? [] : finishedIn(state))]
  }

  async #closeSession(because: string, isHandedOn: boolean): Promise<void> {
    const session = this.#session
    if (session === undefined) return
    const { log } = this.#scene
    const conversation = this.#conversations.live?.id
    const handoff = isHandedOn ? await session.handOver(because, conversation) : undefined
    await this.#conversations.end(session, because)
    await session.close(because, this.#unfinished)
    if (handoff !== undefined)
      this.#handoff = { ...handoff, isOfTask: false, moved: [], from: session }
    log.append('session.closed', {
      session: session.id,
      because,
      name: session.name,
      done: this.#doneInSession,
      ...(handoff === undefined ? {} : { handoff: handoff.id }),
    })
    this.#session = undefined
  }

  async #finish(how: EndOfRun): Promise<EndOfRun> {
    await this.#closeSession(how, how !== 'finished' && how !== 'nothing to do')
    return how
  }

  /** In the middle of a task: its session stays open, with a handoff for whoever resumes it. */
  async #breakOff({ how, because }: RunEnds): Promise<EndOfRun> {
    const session = this.#session
    if (session === undefined) return how
    await session.handOver(because, this.#conversations.live?.id)
    await this.#conversations.end(session, because)
    return how
  }
}

function isOpenIn(backlog: Backlog | undefined, id: string): boolean {
  const task = backlog?.byId.get(id)
  return task !== undefined && task.status !== 'completed'
}

function attemptsIn(before: RunState | undefined): ReadonlyMap<string, number> {
  const attempts = new Map<string, number>()
  for (const { started, outcome } of before?.attempts ?? []) {
    // What nobody's fault interrupted is not held against the task.
    attempts.set(
      started.task.id,
      (attempts.get(started.task.id) ?? 0) + (outcome === 'failed' ? 1 : 0),
    )
  }
  return attempts
}
