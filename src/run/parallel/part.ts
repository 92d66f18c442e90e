// One task of a parallel run with its delegate: worked on, merged, and given back while it does not go together with the others.
import { StintError } from '../../journal/errors.ts'
import { appendToBacklog, refreshTasks } from '../../project/tasks/backlog.ts'
import { settle } from '../attempt/record-done.ts'
import type { RunOptions, ResolvedOptions } from '../options.ts'
import type { EndOfRun, TaskName } from '../report.ts'
import type { RunEvent } from '../events.ts'
import type { Untimed } from '../attempt/run-context.ts'
import type { RunHandle } from '../loop/start-run.ts'
import { nameOf } from '../attempt/task-list.ts'
import { draft } from '../../session/entries.ts'
import type { Task } from '../../backlog/task.ts'
import type { MergeEvent, MergeOutcome } from '../delegate/contract.ts'
import { type DelegateState, delegateNow } from '../delegate/delegates.ts'
import { mergeDelegates } from '../merge/queue.ts'
import { workDelegate } from '../delegate/work-delegate.ts'
import type { Stage } from './parallel-context.ts'
import { defined } from '../../text/defined.ts'

/** How it ended for its task. */
export interface PartEnd {
  readonly isMerged: boolean
  /** What ended the work, where that was nobody's fault, or is to end the run. */
  readonly how?: EndOfRun
  readonly error?: StintError
}

/** What a delegate tells of itself as a run, and what the run tells of its tasks itself. */
const NOT_PASSED_ON: ReadonlySet<RunEvent['type']> = new Set([
  'run.started',
  'run.ended',
  'stopping',
  'task.done',
])

export class Part {
  readonly id: string
  readonly task: Task
  readonly #stage: Stage
  readonly #name: string
  readonly #taskName: TaskName
  #handle: RunHandle | undefined
  #done: Extract<Untimed, { type: 'task.done' }> | undefined

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
    this.#tell({
      type: 'delegate.started',
      delegate: this.#name,
      id: this.id,
      task: this.#taskName,
      branch,
      worktree: tree,
      isAgain,
    })
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
    this.#tell({
      type: 'delegate.merged',
      delegate: this.#name,
      task: this.#taskName,
      target,
      ...known,
    })
    await settle(this.#stage, { task: this.task, name: this.#taskName }, summary ?? '')
    const { seconds = 0, spend = this.#stage.purse.spend } = this.#done ?? {}
    this.#tell({
      type: 'task.done',
      task: this.#taskName,
      seconds,
      spend,
      ...known,
      ...defined({ summary }),
    })
    if (this.#done === undefined)
      workspace.say(`${this.#taskName.name} had been ready, and is merged now`)
    return { isMerged: true }
  }

  async #left(outcome: MergeOutcome | undefined): Promise<PartEnd> {
    const because = outcome?.because ?? 'it could not be merged'
    const next = outcome?.next === undefined ? {} : { next: outcome.next }
    if (outcome?.how === 'parked') {
      this.#tell({
        type: 'delegate.parked',
        delegate: this.#name,
        task: this.#taskName,
        because,
        ...next,
      })
      const data = { task: this.task.id, status: 'failed' as const, summary: because }
      const { source, workspace } = this.#stage
      appendToBacklog(workspace, [draft('task.moved', data, { by: 'run' })])
      await refreshTasks(workspace, source.name === '.tasks' ? [this.task.id] : [])
      this.#tell({ type: 'task.parked', task: this.#taskName, reason: because })
    } else if (!this.#stage.stopping.now.aborted)
      this.#tell({
        type: 'said',
        text: `${this.#name} is not merged: ${because}${outcome?.next === undefined ? '' : `; ${outcome.next}`}`,
      })
    return { isMerged: false }
  }

  #tellReady(): void {
    const { ready } = this.#now()
    const known = {
      ...defined({ commit: ready?.commit, summary: ready?.summary }),
    }
    this.#tell({ type: 'delegate.ready', delegate: this.#name, task: this.#taskName, ...known })
  }

  /** What it says as a run is said by this one, with its name. */
  #pass(event: RunEvent): void {
    if (event.type === 'task.done') this.#done = event
    if (NOT_PASSED_ON.has(event.type)) return
    const { at: _, ...told } = event
    this.#tell(
      (told.type === 'usage' ? { ...told, spend: this.#stage.purse.spend } : told) as Untimed,
    )
  }

  #passMerge(event: MergeEvent): void {
    const task = this.#taskName
    if (event.type === 'said') this.#sayOnce(event.text)
    else if (event.type === 'verify.started')
      this.#tell({ type: 'verify.started', task, command: event.command })
    else if (event.type === 'verify.ended')
      this.#tell({ type: 'verify.ended', task, passed: event.passed, seconds: event.seconds })
    else if (
      event.type === 'merge.ended' &&
      (event.outcome.how === 'conflicted' || event.outcome.how === 'red')
    ) {
      const {
        because = 'it does not go into the branch of the run',
        files = [],
        isSentBack = false,
      } = event.outcome
      this.#tell({
        type: 'delegate.conflicted',
        delegate: this.#name,
        task,
        because,
        files,
        isSentBack,
      })
    }
  }

  /** What the queue says of each merge is the same for all of this run. */
  #sayOnce(text: string): void {
    const { said, tell } = this.#stage
    if (!said.has(text)) tell({ type: 'said', text })
    said.add(text)
  }

  #tell(event: Untimed): void {
    this.#stage.tell({ ...event, delegate: this.#name })
  }
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
