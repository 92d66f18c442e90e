// A run that works on several tasks at once: each by a delegate in this process, all of them merged into the run's branch.
import { StintError } from '../../journal/errors.ts'
import { orderOfWork } from '../plan/order.ts'
import type { Claims } from '../loop/claims.ts'
import { DoneElsewhere, type Selection } from '../loop/selection.ts'
import { type RunContext, readBacklog } from '../attempt/run-context.ts'
import type {
  Emit,
  EndOfRun,
  Listener,
  MergeEvent,
  MergeOutcome,
  RunEvent,
  RunEventKind,
  Spend,
  TaskName,
} from '../entries.ts'
import { spendOf } from '../report.ts'
import type { Backlog } from '../../backlog/backlog.ts'
import { type Task, isTaskOpen } from '../../backlog/task.ts'
import { createDelegate } from '../delegate/create-delegate.ts'
import { type DelegateState, delegateNow } from '../delegate/delegates.ts'
import { type Candidate, candidatesIn, nextTasks } from './schedule.ts'
import { defined } from '../../text/defined.ts'
import { appendToBacklog, refreshTasks } from '../../project/tasks/backlog.ts'
import { settle } from '../attempt/record-done.ts'
import type { ResolvedOptions, RunOptions } from '../options.ts'
import type { RunHandle } from '../loop/start-run.ts'
import { nameOf } from '../attempt/agent-environment.ts'
import { type Usage, draft } from '../../session/entries.ts'
import { mergeDelegates } from '../merge/queue.ts'
import { workDelegate } from '../delegate/work-delegate.ts'
import type { OwnPrice } from '../../context/budget/prices.ts'
import { addSpent, totalOf } from '../run-state.ts'

/** Ends of a delegate after which others would fare alike: nothing more is begun. */
const ENDS_ALL: ReadonlySet<EndOfRun> = new Set([
  'budget tokens',
  'budget usd',
  'usage limit',
  'harness failed',
  'task failed',
])

/** Why a task is not for this run, which is no reason to end it. */
const NOT_OURS: ReadonlySet<string> = new Set([
  'TASK_DELEGATED',
  'TASK_DONE',
  'TASK_WAITS',
  'TASK_NOT_FOUND',
])

/** A longer one would go off at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export class ParallelRun {
  readonly #stage: Stage
  readonly #selection: Selection
  readonly #claims: Claims
  readonly #elsewhere: DoneElsewhere
  readonly #most: number
  /** Delegates of this run that it had begun before it was cut off, and that are gone on with. */
  readonly #leftBefore: DelegateState[]
  readonly #running = new Map<
    string,
    { readonly part: Part; readonly candidate: Candidate; readonly over: Promise<void> }
  >()
  /** Tasks that are not begun again: under way, merged, given up, or another's. */
  readonly #out = new Set<string>()
  readonly #begun: string[]
  #taken = 0
  #done: number
  /** Why nothing more is begun. */
  #end: EndOfRun | undefined
  /** Why what runs was stopped, too. */
  #stopped: EndOfRun | undefined
  #failure: unknown

  constructor(stage: Stage, selection: Selection, claims: Claims, before: TakenUp) {
    this.#stage = stage
    this.#selection = selection
    this.#claims = claims
    this.#elsewhere = new DoneElsewhere(stage)
    this.#most = stage.settled.parallel ?? 1
    this.#leftBefore = [...before.left]
    this.#begun = [...before.begun]
    this.#done = before.done
    for (const task of before.given) this.#out.add(task)
  }

  /** Until nothing runs and nothing more is to be begun. */
  async work(endsAt: number): Promise<EndOfRun> {
    // Of all together, so that no single one can keep to it.
    const left = Math.min(LONGEST_TIMER_MS, Math.max(0, endsAt - Date.now()))
    const timer =
      endsAt === Infinity ? undefined : setTimeout(() => this.#stopAll('max minutes'), left)
    const stop = () => this.#stopAll('interrupted')
    this.#stage.stopping.now.addEventListener('abort', stop, { once: true })
    try {
      for (;;) {
        await this.#beginMore().catch((error: unknown) => this.#broke(error))
        if (this.#running.size === 0) return await this.#how()
        await Promise.race([...this.#running.values()].map(({ over }) => over))
      }
    } finally {
      clearTimeout(timer)
      this.#stage.stopping.now.removeEventListener('abort', stop)
    }
  }

  #stopAll(how: EndOfRun): void {
    this.#stopped ??= how
    this.#stage.stopping.stop('now')
    for (const { part } of this.#running.values()) part.stopNow()
  }

  /** What is no end that a run can have: the others are stopped, and then it is thrown. */
  #broke(error: unknown): void {
    this.#failure ??= error
    if (!(error instanceof StintError)) this.#stopAll('interrupted')
  }

  async #how(): Promise<EndOfRun> {
    if (this.#failure !== undefined) throw this.#failure
    const end = this.#stopped ?? this.#end
    if (end !== undefined) return end
    const isAllDone = this.#selection.open(await readBacklog(this.#stage)).length === 0
    return isAllDone ? (this.#done > 0 ? 'finished' : 'nothing to do') : 'waiting'
  }

  async #beginMore(): Promise<void> {
    while (this.#running.size < this.#most && this.#mayBegin()) {
      const left = this.#leftBefore.shift()
      if (left !== undefined) await this.#goOnWith(left)
      else if (!(await this.#beginNext())) return
    }
  }

  #mayBegin(): boolean {
    const { purse, settled, stopping } = this.#stage
    if ((this.#stopped ?? this.#end) !== undefined || this.#failure !== undefined) return false
    const { maxSessions = Infinity, maxTasks = Infinity, once } = settled
    if (stopping.isAfterTask) this.#end = 'interrupted'
    else if (this.#taken >= (once === true ? 1 : maxTasks)) this.#end = 'max tasks'
    else if (maxSessions < Infinity && this.#sessions >= maxSessions) this.#end = 'max sessions'
    else this.#end = purse.over
    return this.#end === undefined
  }

  /** Whoever was begun has one, or will in a moment. */
  get #sessions(): number {
    const { place } = this.#stage.workspace
    return this.#begun.reduce(
      (sum, id) => sum + Math.max(1, delegateNow(place, id).run.sessions.length),
      0,
    )
  }

  async #goOnWith(state: DelegateState): Promise<void> {
    const backlog = await this.#backlogNow()
    const task = backlog.byId.get(state.order.task ?? '')
    if (task === undefined)
      return this.#stage.workspace.say(
        `${state.order.name} is left: its task is no longer in the backlog`,
      )
    this.#see(state, candidatesIn(this.#stage.tree.tree)(task, state.order.files))
  }

  /** Whether one could be begun. */
  async #beginNext(): Promise<boolean> {
    const backlog = await this.#backlogNow()
    const within = this.#selection.within(backlog, ({ id }) => this.#out.has(id))
    const candidate = candidatesIn(this.#stage.tree.tree)
    const tasks = orderOfWork(within, [], this.#stage.workspace.config.run.plan)
      .filter((planned) => this.#elsewhere.isHere(planned))
      .map(({ id }) => candidate(within.byId.get(id)!))
    const running = [...this.#running.values()].map(({ candidate }) => candidate)
    const isDone = (id: string) => backlog.byId.has(id) && !isTaskOpen(backlog.byId.get(id)!)
    const [next] = nextTasks({ tasks, running, isDone, most: this.#most }).start
    if (next === undefined) return false
    if (this.#isTakenByAnother(next.task)) this.#out.add(next.task.id)
    else await this.#begin(next)
    return true
  }

  #isTakenByAnother({ id }: Task): boolean {
    const isFree = this.#claims.take(id)
    // Its delegate has it from here on.
    this.#claims.release(id)
    return !isFree
  }

  async #begin(candidate: Candidate): Promise<void> {
    const { log, run, settled, tree, workspace } = this.#stage
    const { id, title } = candidate.task
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
      workspace.say(`${candidate.task.shortname} is left: ${error.message}`)
    }
  }

  #see(state: DelegateState, candidate: Candidate): void {
    const part = new Part(this.#stage, state, candidate.task)
    const { id } = candidate.task
    this.#begun.push(state.id)
    this.#taken += 1
    const over = part
      .see()
      .then((end) => this.#over(end))
      .catch((error: unknown) => this.#broke(error))
      .finally(() => this.#running.delete(id))
    this.#out.add(id)
    this.#running.set(id, { part, candidate, over })
  }

  #over({ isMerged, how, error }: PartEnd): void {
    if (isMerged) this.#done += 1
    if (error !== undefined) this.#broke(error)
    if (how !== undefined && ENDS_ALL.has(how)) this.#end ??= how
  }

  async #backlogNow(): Promise<Backlog> {
    const backlog = await readBacklog(this.#stage)
    this.#stage.latest.backlog = backlog
    return backlog
  }
}

// One task of a parallel run with its delegate: worked on, merged, and given back while it does not go together with the others.

/** How it ended for its task. */
export interface PartEnd {
  readonly isMerged: boolean
  /** What ended the work, where that was nobody's fault, or is to end the run. */
  readonly how?: EndOfRun
  readonly error?: StintError
}

/** What a delegate tells of itself as a run, and what the run tells of its tasks itself. */
const NOT_PASSED_ON: ReadonlySet<RunEventKind> = new Set([
  'run.started',
  'run.resumed',
  'run.planned',
  'run.ended',
  'run.report',
  'stopping',
])

export class Part {
  readonly id: string
  readonly task: Task
  readonly #stage: Stage
  readonly #name: string
  readonly #taskName: TaskName
  #handle: RunHandle | undefined
  #done: RunEvent<'attempt.ended'> | undefined

  constructor(stage: Stage, { id, order }: DelegateState, task: Task) {
    this.id = id
    this.task = task
    this.#stage = stage
    this.#name = order.name
    this.#taskName = nameOf(task)
  }

  stopNow(): void {
    this.#handle?.stop('now')
  }

  /** From here to its end: merged, or left for whoever resumes the run or looks at the delegate. */
  async see(): Promise<PartEnd> {
    const { stopping } = this.#stage
    for (let isAgain = false; ; isAgain = true) {
      if (this.#now().status !== 'ready') {
        const ended = await this.#work(isAgain)
        if (this.#now().status !== 'ready') return ended
        this.#tellReady()
      }
      if (stopping.now.aborted) return { isMerged: false }
      const outcome = await this.#stage.merges.add(() => this.#merge())
      if (outcome?.how === 'merged') return this.#merged(outcome)
      if (outcome?.isSentBack !== true || stopping.isAfterTask) return this.#left(outcome)
    }
  }

  #now(): DelegateState {
    return delegateNow(this.#stage.workspace.place, this.id)
  }

  async #work(isAgain: boolean): Promise<PartEnd> {
    const { purse, settled, stopping, workspace } = this.#stage
    const { run } = this.#now()
    const { branch, tree } = run.started
    this.#emit('delegate.started', { id: this.id, branch, worktree: tree, isAgain })
    try {
      this.#handle = await workDelegate(
        workspace,
        this.id,
        {
          spentBeside: () => purse.beside(this.id),
          spending: (spent) => purse.told(this.id, spent),
          told: told(settled),
        },
        (event) => this.#pass(event),
      )
      // It may have been told to stop before there was anything to stop.
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
    const { stopping, workspace } = this.#stage
    // Begun again by this run itself, once the queue has let go of it.
    const sendBack = stopping.isAfterTask ? {} : { sendBack: async () => {} }
    const [outcome] = await mergeDelegates(
      workspace,
      [this.id],
      { ...sendBack, isStopped: stopping.now },
      (event) => this.#passMerge(event),
    )
    return outcome
  }

  async #merged({ commit, target }: MergeOutcome): Promise<PartEnd> {
    const { workspace } = this.#stage
    const known = commit === undefined ? {} : { commit }
    const summary = this.#now().ready?.summary
    this.#emit('delegate.merged', { target, ...known })
    await settle(this.#stage, { task: this.task, name: this.#taskName }, summary ?? '')
    this.#stage.listener({
      kind: 'attempt.ended',
      at: new Date().toISOString(),
      ...this.#about,
      data: {
        seconds: 0,
        spend: this.#stage.purse.spend,
        attempt: this.id,
        ...this.#done?.data,
        outcome: 'done',
        ...known,
        ...defined({ summary }),
      },
    })
    if (this.#done === undefined)
      workspace.say(`${this.#taskName.name} had been ready, and is merged now`)
    return { isMerged: true }
  }

  async #left(outcome: MergeOutcome | undefined): Promise<PartEnd> {
    const because = outcome?.because ?? 'it could not be merged'
    const next = outcome?.next === undefined ? {} : { next: outcome.next }
    if (outcome?.how === 'parked') {
      this.#emit('delegate.parked', { because, ...next })
      const data = { task: this.task.id, status: 'failed' as const, summary: because }
      const { source, workspace } = this.#stage
      appendToBacklog(workspace, [draft('task.moved', data, { by: 'run' })])
      await refreshTasks(workspace, source.name === '.tasks' ? [this.task.id] : [])
      this.#stage.listener({
        kind: 'task.parked',
        at: new Date().toISOString(),
        ...this.#about,
        data: { task: this.task.id, reason: because },
      })
    } else if (!this.#stage.stopping.now.aborted)
      this.#emit('message', {
        text: `${this.#name} is not merged: ${because}${outcome?.next === undefined ? '' : `; ${outcome.next}`}`,
      })
    return { isMerged: false }
  }

  #tellReady(): void {
    const { ready } = this.#now()
    this.#emit('delegate.ready', defined({ commit: ready?.commit, summary: ready?.summary }))
  }

  /** What it says as a run is said by this one, with its name. */
  #pass(event: RunEvent): void {
    if (NOT_PASSED_ON.has(event.kind)) return
    // It is done when it is merged.
    if (event.kind === 'attempt.ended' && event.data.outcome === 'done') this.#done = event
    else if (event.kind === 'usage')
      this.#emit('usage', { ...event.data, spend: this.#stage.purse.spend })
    else this.#stage.listener({ ...event, delegate: this.#name })
  }

  #passMerge(event: MergeEvent): void {
    if (event.kind === 'message') this.#sayOnce(event.data.text)
    else if (event.kind === 'verify.started' || event.kind === 'verify.ended')
      this.#stage.listener({ ...event, ...this.#about })
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

  /** What the queue says of each merge is the same for all of this run. */
  #sayOnce(text: string): void {
    const { said } = this.#stage
    if (!said.has(text)) this.#stage.emit('message', { text })
    said.add(text)
  }

  get #about() {
    return { delegate: this.#name, task: this.#taskName }
  }

  readonly #emit: Emit = (kind, data) => this.#stage.emit(kind, data, this.#about)
}

/** What holds for all of them now, however each was begun. Whose model and agent it has is settled with its beginning. */
function told({
  budgetTokens,
  budgetUsd,
  onFailure,
  onLimit,
  verify,
}: ResolvedOptions): RunOptions {
  return {
    onFailure,
    onLimit,
    ...defined({ budgetTokens, budgetUsd, verify }),
  }
}

/** What the parts of one parallel run share. */
export interface Stage extends Pick<
  RunContext,
  'run' | 'workspace' | 'log' | 'tree' | 'source' | 'stopping' | 'emit' | 'latest'
> {
  readonly settled: ResolvedOptions
  readonly purse: Purse
  readonly listener: Listener
  readonly merges: InTurn
  readonly said: Set<string>
}

/** One after the other, in the order of asking. */
export class InTurn {
  #last: Promise<unknown> = Promise.resolve()

  add<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => undefined)
    return result
  }
}

type Spent = Readonly<Record<string, Usage>>

export class Purse {
  readonly #bounds: Pick<RunOptions, 'budgetTokens' | 'budgetUsd'>
  readonly #prices: readonly OwnPrice[]
  readonly #spent = new Map<string, Spent>()

  constructor(bounds: Pick<RunOptions, 'budgetTokens' | 'budgetUsd'>, prices: readonly OwnPrice[]) {
    this.#bounds = bounds
    this.#prices = prices
  }

  /** What one has used so far, all in all. */
  told(delegate: string, spent: Spent): void {
    this.#spent.set(delegate, spent)
  }

  /** What all the others have used. */
  beside(delegate: string): Spent {
    return this.#sum((id) => id !== delegate)
  }

  get spend(): Spend {
    return spendOf(
      this.#sum(() => true),
      this.#prices,
    )
  }

  /** The bound that is passed, before anything else is begun. */
  get over(): 'budget tokens' | 'budget usd' | undefined {
    const { budgetTokens = Infinity, budgetUsd } = this.#bounds
    const { spend } = this
    if (totalOf(spend) > budgetTokens) return 'budget tokens'
    return budgetUsd !== undefined && (spend.usd ?? Infinity) > budgetUsd ? 'budget usd' : undefined
  }

  #sum(isCounted: (delegate: string) => boolean): Spent {
    return [...this.#spent].reduce<Spent>(
      (sum, [id, spent]) => (isCounted(id) ? addSpent(sum, spent) : sum),
      {},
    )
  }
}

export interface TakenUp {
  /** Those to go on with, in the order in which they were begun. */
  readonly left: readonly DelegateState[]
  /** Tasks whose delegates are not gone on with. */
  readonly given: readonly string[]
  readonly begun: readonly string[]
  /** How many are merged. */
  readonly done: number
}
