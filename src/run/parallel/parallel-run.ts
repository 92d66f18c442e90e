// A run that works on several tasks at once: each by a delegate in this process, all of them merged into the run's branch.
import { StintError } from '../../journal/errors.ts'
import { orderOfWork } from '../plan/order.ts'
import type { Claims } from '../loop/claims.ts'
import { DoneElsewhere } from '../loop/tasks-elsewhere.ts'
import { readBacklog } from '../attempt/run-context.ts'
import type { EndOfRun } from '../report.ts'
import type { Selection } from '../loop/selection.ts'
import type { Backlog } from '../../backlog/backlog.ts'
import { type Task, isTaskOpen } from '../../backlog/task.ts'
import { createDelegate } from '../delegate/create-delegate.ts'
import { type DelegateState, delegateNow } from '../delegate/delegates.ts'
import { candidatesIn } from './plan-parallel.ts'
import { Part, type PartEnd } from './part.ts'
import { type Candidate, nextTasks } from './schedule.ts'
import type { Stage, TakenUp } from './parallel-context.ts'
import { defined } from '../../text/defined.ts'

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
