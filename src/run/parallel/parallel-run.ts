import type { Backlog } from '../../backlog/backlog.ts'
import { type Task, isTaskOpen } from '../../backlog/task.ts'
import type { ConfiguredPrice } from '../../context/budget/prices.ts'
import { StintError } from '../../journal/errors.ts'
import { appendToBacklog, refreshTasks } from '../../project/tasks/project-backlog.ts'
import { draftEntry } from '../../session/entries.ts'
import { defined } from '../../text/defined.ts'
import { type RunContext, toTaskName, readBacklog } from '../attempt/run-context.ts'
import { completeInSource } from '../attempt/record-done.ts'
import { createDelegate } from '../delegate/create-delegate.ts'
import { type DelegateState, readDelegate } from '../delegate/delegates.ts'
import { startDelegate } from '../delegate/start-delegate.ts'
import type {
  Emit,
  EndOfRun,
  MergeEvent,
  MergeOutcome,
  RunEvent,
  RunEventKind,
  Spend,
} from '../entries.ts'
import type { Claims } from '../loop/claims.ts'
import { DoneElsewhere, type TaskSelection } from '../loop/task-selection.ts'
import type { RunHandle, RunSetup } from '../loop/start-run.ts'
import { runMergeQueue } from '../merge/merge-queue.ts'
import type { RunOptions } from '../options.ts'
import { orderTasks } from '../plan/order-tasks.ts'
import { priceUsage } from '../report.ts'
import { type UsageByModel, sumAttemptUsage, totalTokens } from '../run-state.ts'
import { type Candidate, candidatesIn, scheduleTasks } from './schedule.ts'

export interface ParallelContext extends Omit<RunSetup, 'backlog'>, Pick<RunContext, 'latest'> {
  readonly purse: SharedBudget
  readonly merges: SerialQueue
  readonly said: Set<string>
}

/** Runs one after the other, in the order of asking. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve()

  add<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => undefined)
    return result
  }
}

/** The budget that all delegates of a run share. */
export class SharedBudget {
  readonly #spent = new Map<string, UsageByModel>()

  constructor(
    private readonly bounds: Pick<RunOptions, 'budgetTokens' | 'budgetUsd'>,
    private readonly prices: readonly ConfiguredPrice[],
  ) {}

  told(delegate: string, spent: UsageByModel): void {
    this.#spent.set(delegate, spent)
  }

  beside(delegate: string): UsageByModel {
    const others = [...this.#spent].filter(([id]) => id !== delegate)
    return sumAttemptUsage(others.map(([, spent]) => ({ spent })))
  }

  get spend(): Spend {
    return priceUsage(this.beside(''), this.prices)
  }

  get over(): 'budget tokens' | 'budget usd' | undefined {
    const { budgetTokens = Infinity, budgetUsd } = this.bounds
    const { spend } = this
    if (totalTokens(spend) > budgetTokens) return 'budget tokens'
    return budgetUsd !== undefined && (spend.usd ?? Infinity) > budgetUsd ? 'budget usd' : undefined
  }
}

export interface ResumedDelegates {
  readonly left: readonly DelegateState[]
  readonly given: readonly string[]
  readonly begun: readonly string[]
  readonly done: number
}

/** Ends of a delegate that would meet the others too: nothing more is begun. */
const ENDS_ALL: ReadonlySet<EndOfRun> = new Set([
  'budget tokens',
  'budget usd',
  'usage limit',
  'harness failed',
  'task failed',
])

/** A task that is not for this run, which does not end it. */
const NOT_OURS: ReadonlySet<string> = new Set([
  'TASK_DELEGATED',
  'TASK_DONE',
  'TASK_WAITS',
  'TASK_NOT_FOUND',
])

/** A longer timer fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export class ParallelRun {
  readonly #elsewhere: DoneElsewhere
  readonly #most: number
  /** Delegates from before the resume, to continue first. */
  readonly #leftBefore: DelegateState[]
  readonly #running = new Map<
    string,
    { readonly part: Part; readonly candidate: Candidate; readonly over: Promise<void> }
  >()
  /** Tasks not to begin again: under way, merged, given up, or another's. */
  readonly #out: Set<string>
  readonly #begun: string[]
  #taken = 0
  #done: number
  #end: EndOfRun | undefined
  #stopped: EndOfRun | undefined
  #failure: unknown

  constructor(
    private readonly stage: ParallelContext,
    private readonly selection: TaskSelection,
    private readonly claims: Claims,
    before: ResumedDelegates,
  ) {
    this.#elsewhere = new DoneElsewhere(stage)
    this.#most = stage.settled.parallel ?? 1
    this.#leftBefore = [...before.left]
    this.#begun = [...before.begun]
    this.#done = before.done
    this.#out = new Set(before.given)
  }

  async work(endsAt: number): Promise<EndOfRun> {
    const { now } = this.stage.stopping
    const left = Math.min(LONGEST_TIMER_MS, Math.max(0, endsAt - Date.now()))
    const timer =
      endsAt === Infinity ? undefined : setTimeout(() => this.#stopAll('max minutes'), left)
    const stop = () => this.#stopAll('interrupted')
    now.addEventListener('abort', stop, { once: true })
    try {
      for (;;) {
        await this.#beginMore().catch((error: unknown) => this.#broke(error))
        if (this.#running.size === 0) return await this.#how()
        await Promise.race([...this.#running.values()].map(({ over }) => over))
      }
    } finally {
      clearTimeout(timer)
      now.removeEventListener('abort', stop)
    }
  }

  #stopAll(how: EndOfRun): void {
    this.#stopped ??= how
    this.stage.stopping.stop('now')
    for (const { part } of this.#running.values()) part.stopNow()
  }

  /** An unexpected error is thrown once the others are stopped. */
  #broke(error: unknown): void {
    this.#failure ??= error
    if (!(error instanceof StintError)) this.#stopAll('interrupted')
  }

  async #how(): Promise<EndOfRun> {
    if (this.#failure !== undefined) throw this.#failure
    const end = this.#stopped ?? this.#end
    if (end !== undefined) return end
    if (this.selection.open(await readBacklog(this.stage)).length > 0) return 'waiting'
    return this.#done > 0 ? 'finished' : 'nothing to do'
  }

  async #beginMore(): Promise<void> {
    while (this.#running.size < this.#most && this.#mayBegin()) {
      const left = this.#leftBefore.shift()
      if (left !== undefined) await this.#goOnWith(left)
      else if (!(await this.#beginNext())) return
    }
  }

  #mayBegin(): boolean {
    const { purse, settled, stopping } = this.stage
    if ((this.#stopped ?? this.#end) !== undefined || this.#failure !== undefined) return false
    const { maxSessions = Infinity, maxTasks = Infinity, once } = settled
    if (stopping.isAfterTask) this.#end = 'interrupted'
    else if (this.#taken >= (once === true ? 1 : maxTasks)) this.#end = 'max tasks'
    else if (maxSessions < Infinity && this.#sessions >= maxSessions) this.#end = 'max sessions'
    else this.#end = purse.over
    return this.#end === undefined
  }

  /** A delegate that was just started has one session, or will in a moment. */
  get #sessions(): number {
    const { paths: place } = this.stage.workspace
    return this.#begun.reduce(
      (sum, id) => sum + Math.max(1, readDelegate(place, id).run.sessions.length),
      0,
    )
  }

  async #goOnWith(state: DelegateState): Promise<void> {
    const { name, task: id = '', files } = state.order
    const task = (await this.#backlogNow()).byId.get(id)
    if (task === undefined)
      this.stage.workspace.say(`${name} is left: its task is no longer in the backlog`)
    else this.#see(state, candidatesIn(this.stage.tree.tree)(task, files))
  }

  async #beginNext(): Promise<boolean> {
    const { tree, workspace } = this.stage
    const backlog = await this.#backlogNow()
    const within = this.selection.within(backlog, ({ id }) => this.#out.has(id))
    const candidate = candidatesIn(tree.tree)
    const tasks = orderTasks(within, [], workspace.config.run.plan)
      .filter((planned) => this.#elsewhere.isHere(planned))
      .map(({ id }) => candidate(within.byId.get(id)!))
    const running = [...this.#running.values()].map((one) => one.candidate)
    const isDone = (id: string) => backlog.byId.has(id) && !isTaskOpen(backlog.byId.get(id)!)
    const [next] = scheduleTasks({ tasks, running, isDone, most: this.#most }).start
    if (next === undefined) return false
    const { id } = next.task
    const isFree = this.claims.take(id)
    // Its delegate claims it from here on.
    this.claims.release(id)
    if (isFree) await this.#begin(next)
    else this.#out.add(id)
    return true
  }

  async #begin(candidate: Candidate): Promise<void> {
    const { log, run, settled, tree, workspace } = this.stage
    const { id, shortname, title } = candidate.task
    const { backlog, harness, model, permissions, script, verify } = settled
    try {
      const state = await createDelegate(
        workspace,
        {
          what: title,
          task: id,
          harness,
          files: candidate.touches.declared,
          permissions: permissions === 'all' ? 'all' : 'edits',
          ...defined({ model, verify, script }),
        },
        { run, target: tree.branch, ...defined({ backlog }) },
      )
      log.append('delegate.begun', { delegate: state.id, task: id })
      this.#see(state, candidate)
    } catch (error) {
      if (!(error instanceof StintError) || !NOT_OURS.has(error.code)) throw error
      this.#out.add(id)
      workspace.say(`${shortname} is left: ${error.message}`)
    }
  }

  #see(state: DelegateState, candidate: Candidate): void {
    const part = new Part(this.stage, state, candidate.task)
    const { id } = candidate.task
    this.#begun.push(state.id)
    this.#taken += 1
    const over = part
      .see()
      .then(({ isMerged, how, error }) => {
        if (isMerged) this.#done += 1
        if (error !== undefined) this.#broke(error)
        if (how !== undefined && ENDS_ALL.has(how)) this.#end ??= how
      })
      .catch((error: unknown) => this.#broke(error))
      .finally(() => this.#running.delete(id))
    this.#out.add(id)
    this.#running.set(id, { part, candidate, over })
  }

  async #backlogNow(): Promise<Backlog> {
    return (this.stage.latest.backlog = await readBacklog(this.stage))
  }
}

interface PartEnd {
  readonly isMerged: boolean
  readonly how?: EndOfRun
  readonly error?: StintError
}

/** What a delegate emits as a run of its own. */
const NOT_PASSED_ON: ReadonlySet<RunEventKind> = new Set([
  'run.started',
  'run.resumed',
  'run.planned',
  'run.ended',
  'run.report',
  'stopping',
])

/** One task with its delegate: worked on, merged, and returned for rework while it does not merge. */
class Part {
  readonly #id: string
  readonly #about: Required<Pick<RunEvent, 'delegate' | 'task'>>
  #handle: RunHandle | undefined
  #done: RunEvent<'attempt.ended'> | undefined

  constructor(
    private readonly stage: ParallelContext,
    { id, order }: DelegateState,
    private readonly task: Task,
  ) {
    this.#id = id
    this.#about = { delegate: order.name, task: toTaskName(task) }
  }

  stopNow(): void {
    this.#handle?.stop('now')
  }

  async see(): Promise<PartEnd> {
    const { merges, stopping } = this.stage
    for (let isAgain = false; ; isAgain = true) {
      if (this.#now().status !== 'ready') {
        const ended = await this.#work(isAgain)
        const { ready, status } = this.#now()
        if (status !== 'ready') return ended
        this.#emit('delegate.ready', defined({ commit: ready?.commit, summary: ready?.summary }))
      }
      if (stopping.now.aborted) return { isMerged: false }
      const outcome = await merges.add(() => this.#merge())
      if (outcome?.how === 'merged') return this.#merged(outcome)
      if (outcome?.isSentBack !== true || stopping.isAfterTask) return this.#left(outcome)
    }
  }

  #now(): DelegateState {
    return readDelegate(this.stage.workspace.paths, this.#id)
  }

  async #work(isAgain: boolean): Promise<PartEnd> {
    const { purse, settled, stopping, workspace } = this.stage
    const { branch, tree } = this.#now().run.started
    this.#emit('delegate.started', { id: this.#id, branch, worktree: tree, isAgain })
    // What holds for all of them now; harness and model stay as the delegate was created.
    const { budgetTokens, budgetUsd, onFailure, onLimit, verify } = settled
    try {
      this.#handle = await startDelegate(
        workspace,
        this.#id,
        {
          spentBeside: () => purse.beside(this.#id),
          spending: (spent) => purse.told(this.#id, spent),
          told: { onFailure, onLimit, ...defined({ budgetTokens, budgetUsd, verify }) },
        },
        (event) => this.#pass(event),
      )
      // The stop may have come before there was a handle.
      if (stopping.now.aborted) this.#handle.stop('now')
      const { how } = await this.#handle.ended
      return { isMerged: false, how: how === 'running' ? 'interrupted' : how }
    } catch (error) {
      if (!(error instanceof StintError)) throw error
      return { isMerged: false, error }
    } finally {
      this.#handle = undefined
    }
  }

  async #merge(): Promise<MergeOutcome | undefined> {
    const { stopping, workspace } = this.stage
    // The run itself starts it again, once the queue has released it.
    const sendBack = stopping.isAfterTask ? {} : { sendBack: async () => {} }
    const [outcome] = await runMergeQueue(
      workspace,
      [this.#id],
      { ...sendBack, isStopped: stopping.now },
      (event) => this.#passMerge(event),
    )
    return outcome
  }

  async #merged({ commit, target }: MergeOutcome): Promise<PartEnd> {
    const { listener, purse, workspace } = this.stage
    const { task: name } = this.#about
    const summary = this.#now().ready?.summary
    this.#emit('delegate.merged', { target, ...defined({ commit }) })
    await completeInSource(this.stage, { task: this.task, name }, summary ?? '')
    listener({
      kind: 'attempt.ended',
      at: new Date().toISOString(),
      ...this.#about,
      data: {
        seconds: 0,
        spend: purse.spend,
        attempt: this.#id,
        ...this.#done?.data,
        outcome: 'done',
        ...defined({ commit, summary }),
      },
    })
    if (this.#done === undefined) workspace.say(`${name.name} had been ready, and is merged now`)
    return { isMerged: true }
  }

  async #left(outcome: MergeOutcome | undefined): Promise<PartEnd> {
    const { listener, source, stopping, workspace } = this.stage
    const { because = 'it could not be merged', how, next } = outcome ?? {}
    const { id } = this.task
    if (how === 'parked') {
      this.#emit('delegate.parked', { because, ...defined({ next }) })
      const moved = { task: id, status: 'failed' as const, summary: because }
      appendToBacklog(workspace, [draftEntry('task.moved', moved, { by: 'run' })])
      await refreshTasks(workspace, source.name === '.tasks' ? [id] : [])
      const data = { task: id, reason: because }
      listener({ kind: 'task.parked', at: new Date().toISOString(), ...this.#about, data })
    } else if (!stopping.now.aborted)
      this.#emit('message', {
        text: `${this.#about.delegate} is not merged: ${because}${next === undefined ? '' : `; ${next}`}`,
      })
    return { isMerged: false }
  }

  #pass(event: RunEvent): void {
    const { listener, purse } = this.stage
    if (NOT_PASSED_ON.has(event.kind)) return
    // It is done when it is merged.
    if (event.kind === 'attempt.ended' && event.data.outcome === 'done') this.#done = event
    else if (event.kind === 'usage') this.#emit('usage', { ...event.data, spend: purse.spend })
    else listener({ ...event, delegate: this.#about.delegate })
  }

  #passMerge(event: MergeEvent): void {
    const { emit, listener, said } = this.stage
    if (event.kind === 'message') {
      // The queue repeats itself with each merge.
      if (!said.has(event.data.text)) emit('message', event.data)
      said.add(event.data.text)
    } else if (event.kind === 'verify.started' || event.kind === 'verify.ended')
      listener({ ...event, ...this.#about })
    else if (
      event.kind === 'merge.ended' &&
      (event.data.how === 'conflicted' || event.data.how === 'red')
    ) {
      const {
        because = 'it does not go into the branch of the run',
        files = [],
        isSentBack = false,
      } = event.data
      this.#emit('delegate.conflicted', { because, files, isSentBack })
    }
  }

  readonly #emit: Emit = (kind, data) => this.stage.emit(kind, data, this.#about)
}
