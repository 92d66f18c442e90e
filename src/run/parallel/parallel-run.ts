import type { Backlog } from '../../backlog/backlog.ts'
import { type Task, isTaskOpen } from '../../backlog/task.ts'
import type { ConfiguredPrice } from '../../context/budget/prices.ts'
import { StintError } from '../../journal/errors.ts'
import { appendToBacklog, refreshTasks } from '../../project/tasks/project-backlog.ts'
import { draftEntry } from '../../session/entries.ts'
import { defined } from '../../text/defined.ts'
import { type RunContext, readBacklog, toTaskName } from '../attempt/run-context.ts'
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
  readonly budget: SharedBudget
  readonly mergeQueue: SerialQueue
  readonly emittedMessages: Set<string>
}

/** Runs async work one after the other, in the order it was added. */
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
    private readonly limits: Pick<RunOptions, 'budgetTokens' | 'budgetUsd'>,
    private readonly prices: readonly ConfiguredPrice[],
  ) {}

  record(delegate: string, spent: UsageByModel): void {
    this.#spent.set(delegate, spent)
  }

  usedByOthers(delegate: string): UsageByModel {
    const others = [...this.#spent].filter(([id]) => id !== delegate)
    return sumAttemptUsage(others.map(([, spent]) => ({ spent })))
  }

  get spend(): Spend {
    return priceUsage(this.usedByOthers(''), this.prices)
  }

  get exceededLimit(): 'budget tokens' | 'budget usd' | undefined {
    const { budgetTokens = Infinity, budgetUsd } = this.limits
    const { spend } = this
    if (totalTokens(spend) > budgetTokens) return 'budget tokens'
    return budgetUsd !== undefined && (spend.usd ?? Infinity) > budgetUsd ? 'budget usd' : undefined
  }
}

export interface ResumedDelegates {
  readonly unfinished: readonly DelegateState[]
  readonly takenTasks: readonly string[]
  readonly started: readonly string[]
  readonly done: number
}

/** When a delegate ends like this the others would too, so nothing more is started. */
const ENDS_ALL: ReadonlySet<EndOfRun> = new Set([
  'budget tokens',
  'budget usd',
  'usage limit',
  'harness failed',
  'task failed',
])

/** Errors that skip one task and do not end the run. */
const NOT_OURS: ReadonlySet<string> = new Set([
  'TASK_DELEGATED',
  'TASK_DONE',
  'TASK_WAITS',
  'TASK_NOT_FOUND',
])

/** Node fires a longer timer at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export class ParallelRun {
  readonly #doneElsewhere: DoneElsewhere
  readonly #most: number
  /** Delegates from before the resume, which continue first. */
  readonly #unfinished: DelegateState[]
  readonly #running = new Map<
    string,
    { readonly part: DelegatedTask; readonly candidate: Candidate; readonly over: Promise<void> }
  >()
  /** Tasks not to start: running, merged, given up, or taken by others. */
  readonly #excluded: Set<string>
  readonly #started: string[]
  #taken = 0
  #done: number
  #end: EndOfRun | undefined
  #stopped: EndOfRun | undefined
  #failure: unknown

  constructor(
    private readonly context: ParallelContext,
    private readonly selection: TaskSelection,
    private readonly claims: Claims,
    before: ResumedDelegates,
  ) {
    this.#doneElsewhere = new DoneElsewhere(context)
    this.#most = context.options.parallel ?? 1
    this.#unfinished = [...before.unfinished]
    this.#started = [...before.started]
    this.#done = before.done
    this.#excluded = new Set(before.takenTasks)
  }

  async work(endsAt: number): Promise<EndOfRun> {
    const { now } = this.context.stopping
    const left = Math.min(LONGEST_TIMER_MS, Math.max(0, endsAt - Date.now()))
    const timer =
      endsAt === Infinity ? undefined : setTimeout(() => this.#stopAll('max minutes'), left)
    const stop = () => this.#stopAll('interrupted')
    now.addEventListener('abort', stop, { once: true })
    try {
      for (;;) {
        await this.#startMore().catch((error: unknown) => this.#fail(error))
        if (this.#running.size === 0) return await this.#findEnd()
        await Promise.race([...this.#running.values()].map(({ over }) => over))
      }
    } finally {
      clearTimeout(timer)
      now.removeEventListener('abort', stop)
    }
  }

  #stopAll(how: EndOfRun): void {
    this.#stopped ??= how
    this.context.stopping.stop('now')
    for (const { part } of this.#running.values()) part.stopNow()
  }

  /** An unexpected error stops the other delegates and is thrown at the end. */
  #fail(error: unknown): void {
    this.#failure ??= error
    if (!(error instanceof StintError)) this.#stopAll('interrupted')
  }

  async #findEnd(): Promise<EndOfRun> {
    if (this.#failure !== undefined) throw this.#failure
    const end = this.#stopped ?? this.#end
    if (end !== undefined) return end
    if (this.selection.openTasks(await readBacklog(this.context)).length > 0) return 'waiting'
    return this.#done > 0 ? 'finished' : 'nothing to do'
  }

  async #startMore(): Promise<void> {
    while (this.#running.size < this.#most && this.#mayStart()) {
      const left = this.#unfinished.shift()
      if (left !== undefined) await this.#resumeDelegate(left)
      else if (!(await this.#startNext())) return
    }
  }

  #mayStart(): boolean {
    const { budget, options, stopping } = this.context
    if ((this.#stopped ?? this.#end) !== undefined || this.#failure !== undefined) return false
    const { maxSessions = Infinity, maxTasks = Infinity, once } = options
    if (stopping.isAfterTask) this.#end = 'interrupted'
    else if (this.#taken >= (once === true ? 1 : maxTasks)) this.#end = 'max tasks'
    else if (maxSessions < Infinity && this.#sessions >= maxSessions) this.#end = 'max sessions'
    else this.#end = budget.exceededLimit
    return this.#end === undefined
  }

  /** A delegate that was just started will have at least one session. */
  get #sessions(): number {
    const { paths } = this.context.workspace
    return this.#started.reduce(
      (sum, id) => sum + Math.max(1, readDelegate(paths, id).run.sessions.length),
      0,
    )
  }

  async #resumeDelegate(state: DelegateState): Promise<void> {
    const { name, task: id = '', files } = state.order
    const task = (await this.#readBacklog()).byId.get(id)
    if (task === undefined)
      this.context.workspace.say(`${name} is left: its task is no longer in the backlog`)
    else this.#follow(state, candidatesIn(this.context.tree.tree)(task, files))
  }

  async #startNext(): Promise<boolean> {
    const { tree, workspace } = this.context
    const backlog = await this.#readBacklog()
    const within = this.selection.restrict(backlog, ({ id }) => this.#excluded.has(id))
    const candidate = candidatesIn(tree.tree)
    const tasks = orderTasks(within, [], workspace.config.run.plan)
      .filter((planned) => this.#doneElsewhere.areDependenciesMerged(planned))
      .map(({ id }) => candidate(within.byId.get(id)!))
    const running = [...this.#running.values()].map((one) => one.candidate)
    const isDone = (id: string) => backlog.byId.has(id) && !isTaskOpen(backlog.byId.get(id)!)
    const [next] = scheduleTasks({ tasks, running, isDone, most: this.#most }).start
    if (next === undefined) return false
    const { id } = next.task
    const isFree = this.claims.claim(id)
    // From here on its delegate claims it.
    this.claims.release(id)
    if (isFree) await this.#start(next)
    else this.#excluded.add(id)
    return true
  }

  async #start(candidate: Candidate): Promise<void> {
    const { log, run, options, tree, workspace } = this.context
    const { id, shortname, title } = candidate.task
    const { backlog, harness, model, permissions, script, verify } = options
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
      this.#follow(state, candidate)
    } catch (error) {
      if (!(error instanceof StintError) || !NOT_OURS.has(error.code)) throw error
      this.#excluded.add(id)
      workspace.say(`${shortname} is left: ${error.message}`)
    }
  }

  #follow(state: DelegateState, candidate: Candidate): void {
    const part = new DelegatedTask(this.context, state, candidate.task)
    const { id } = candidate.task
    this.#started.push(state.id)
    this.#taken += 1
    const over = part
      .run()
      .then(({ isMerged, how, error }) => {
        if (isMerged) this.#done += 1
        if (error !== undefined) this.#fail(error)
        if (how !== undefined && ENDS_ALL.has(how)) this.#end ??= how
      })
      .catch((error: unknown) => this.#fail(error))
      .finally(() => this.#running.delete(id))
    this.#excluded.add(id)
    this.#running.set(id, { part, candidate, over })
  }

  async #readBacklog(): Promise<Backlog> {
    return (this.context.latest.backlog = await readBacklog(this.context))
  }
}

interface DelegatedTaskEnd {
  readonly isMerged: boolean
  readonly how?: EndOfRun
  readonly error?: StintError
}

/** Events a delegate emits only because it is a run itself. */
const NOT_FORWARDED: ReadonlySet<RunEventKind> = new Set([
  'run.started',
  'run.resumed',
  'run.planned',
  'run.ended',
  'run.report',
  'stopping',
])

/** One task with its delegate: worked on, merged, and returned for rework until it merges. */
class DelegatedTask {
  readonly #id: string
  readonly #about: Required<Pick<RunEvent, 'delegate' | 'task'>>
  #handle: RunHandle | undefined
  #done: RunEvent<'attempt.ended'> | undefined

  constructor(
    private readonly context: ParallelContext,
    { id, order }: DelegateState,
    private readonly task: Task,
  ) {
    this.#id = id
    this.#about = { delegate: order.name, task: toTaskName(task) }
  }

  stopNow(): void {
    this.#handle?.stop('now')
  }

  async run(): Promise<DelegatedTaskEnd> {
    const { mergeQueue: merges, stopping } = this.context
    for (let isAgain = false; ; isAgain = true) {
      if (this.#readState().status !== 'ready') {
        const ended = await this.#work(isAgain)
        const { ready, status } = this.#readState()
        if (status !== 'ready') return ended
        this.#emit('delegate.ready', defined({ commit: ready?.commit, summary: ready?.summary }))
      }
      if (stopping.now.aborted) return { isMerged: false }
      const outcome = await merges.add(() => this.#merge())
      if (outcome?.how === 'merged') return this.#handleMerged(outcome)
      if (outcome?.isSentBack !== true || stopping.isAfterTask) return this.#handleUnmerged(outcome)
    }
  }

  #readState(): DelegateState {
    return readDelegate(this.context.workspace.paths, this.#id)
  }

  async #work(isAgain: boolean): Promise<DelegatedTaskEnd> {
    const { budget, options, stopping, workspace } = this.context
    const { branch, tree } = this.#readState().run.started
    this.#emit('delegate.started', { id: this.#id, branch, worktree: tree, isAgain })
    // Current limits apply to all delegates; harness and model stay as the delegate was created.
    const { allowProtected, budgetTokens, budgetUsd, onFailure, onLimit, verify } = options
    try {
      this.#handle = await startDelegate(
        workspace,
        this.#id,
        {
          usedByOthers: () => budget.usedByOthers(this.#id),
          onUsage: (spent) => budget.record(this.#id, spent),
          overrides: {
            onFailure,
            onLimit,
            ...defined({ allowProtected, budgetTokens, budgetUsd, verify }),
          },
        },
        (event) => this.#forward(event),
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
    const { options, stopping, workspace } = this.context
    // The run itself restarts it, once the queue is released.
    const sendBack = stopping.isAfterTask ? {} : { sendBack: async () => {} }
    const [outcome] = await runMergeQueue(
      workspace,
      [this.#id],
      {
        ...sendBack,
        isStopped: stopping.now,
        ...defined({ allowProtected: options.allowProtected }),
      },
      (event) => this.#forwardMergeEvent(event),
    )
    return outcome
  }

  async #handleMerged({ commit, target }: MergeOutcome): Promise<DelegatedTaskEnd> {
    const { listener, budget, workspace } = this.context
    const { task: name } = this.#about
    const summary = this.#readState().ready?.summary
    this.#emit('delegate.merged', { target, ...defined({ commit }) })
    await completeInSource(this.context, { task: this.task, name }, summary ?? '')
    listener({
      kind: 'attempt.ended',
      at: new Date().toISOString(),
      ...this.#about,
      data: {
        seconds: 0,
        spend: budget.spend,
        attempt: this.#id,
        ...this.#done?.data,
        outcome: 'done',
        ...defined({ commit, summary }),
      },
    })
    if (this.#done === undefined) workspace.say(`${name.name} had been ready, and is merged now`)
    return { isMerged: true }
  }

  async #handleUnmerged(outcome: MergeOutcome | undefined): Promise<DelegatedTaskEnd> {
    const { listener, source, stopping, workspace } = this.context
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

  #forward(event: RunEvent): void {
    const { listener, budget } = this.context
    if (NOT_FORWARDED.has(event.kind)) return
    // The task counts as done when it is merged.
    if (event.kind === 'attempt.ended' && event.data.outcome === 'done') this.#done = event
    else if (event.kind === 'usage') this.#emit('usage', { ...event.data, spend: budget.spend })
    else listener({ ...event, delegate: this.#about.delegate })
  }

  #forwardMergeEvent(event: MergeEvent): void {
    const { emit, listener, emittedMessages } = this.context
    if (event.kind === 'message') {
      // The queue repeats some messages with each merge.
      if (!emittedMessages.has(event.data.text)) emit('message', event.data)
      emittedMessages.add(event.data.text)
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

  readonly #emit: Emit = (kind, data) => this.context.emit(kind, data, this.#about)
}
