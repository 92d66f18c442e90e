// One task of a parallel run with its delegate: worked on, merged, and given back while it does not go together with the others.
import { StintError } from '../../journal/errors.ts'
import { appendToBacklog, refreshTasks } from '../../project/tasks/backlog.ts'
import { settle } from '../attempt/record-done.ts'
import type { RunOptions, ResolvedOptions } from '../options.ts'
import type { EndOfRun, TaskName } from '../report.ts'
import type { Emit, MergeEvent, MergeOutcome, RunEvent, RunEventKind } from '../events.ts'
import type { RunHandle } from '../loop/start-run.ts'
import { nameOf } from '../attempt/agent-environment.ts'
import { draft } from '../../session/entries.ts'
import type { Task } from '../../backlog/task.ts'
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
