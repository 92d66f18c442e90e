import type { Backlog } from '../../backlog/backlog.ts'
import { type Task, findTask } from '../../backlog/task.ts'
import type { RunOptions } from '../options.ts'
import type { NeverBegun, RunEntry } from '../entries.ts'
import { type RunState, foldRun } from '../run-state.ts'
import { nameOf } from '../attempt/agent-environment.ts'
import { GitFailed, askGit } from '../../git/run-git.ts'
import type { PlannedTask } from '../plan/order.ts'
import { runIds } from '../../project/store/run-files.ts'
import { readRun } from '../run-log.ts'
import type { RunContext } from '../attempt/run-context.ts'

/** Which tasks a run is about: the named ones with all they depend on, those with one of the labels, or all. */
export class Selection {
  readonly #named: ReadonlySet<string>
  readonly #labels: readonly string[]
  readonly #isAll: boolean

  constructor(backlog: Backlog, { tasks = [], labels = [] }: Pick<RunOptions, 'tasks' | 'labels'>) {
    // A mistyped name is an error before anything is begun.
    this.#named = new Set(tasks.map((name) => findTask(backlog.tasks, name).id))
    this.#labels = labels
    this.#isAll = tasks.length === 0 && labels.length === 0
  }

  /** The backlog with everything that this run does not work on out of its reach, though still in the way of what waits for it. */
  within(backlog: Backlog, isOutOfReach: (task: Task) => boolean): Backlog {
    const wanted = this.#wanted(backlog)
    const tasks = backlog.tasks.map((task): Task => {
      if (task.status === 'completed') return task
      if (!wanted.has(task.id) || isOutOfReach(task)) return { ...task, status: 'blocked' }
      // Who names a task that failed wants it to be tried again.
      return this.#named.has(task.id) ? { ...task, status: 'ready' } : task
    })
    return { ...backlog, tasks, byId: new Map(tasks.map((task) => [task.id, task])) }
  }

  /** Those of the selection that are not done. */
  open(backlog: Backlog): readonly Task[] {
    const wanted = this.#wanted(backlog)
    return backlog.tasks.filter((task) => wanted.has(task.id) && task.status !== 'completed')
  }

  #wanted(backlog: Backlog): ReadonlySet<string> {
    const chosen = backlog.tasks.filter(
      ({ id, labels }) =>
        this.#isAll || this.#named.has(id) || labels.some((label) => this.#labels.includes(label)),
    )
    const wanted = new Set<string>()
    const add = (id: string) => {
      const task = backlog.byId.get(id)
      if (task === undefined || wanted.has(id)) return
      wanted.add(id)
      for (const other of [...task.dependsOn, ...task.children]) add(other)
    }
    for (const { id } of chosen) add(id)
    return wanted
  }
}

/** Of a long backlog only so many are named; the others are counted. */
const MOST = 300

/** What a run that ends now leaves as it found it: the tasks that it was for, are open, and were never begun. */
export function neverBegun(
  open: readonly Task[],
  state: RunState | undefined,
): NeverBegun | undefined {
  const begun = new Set([
    ...(state?.attempts ?? []).map(({ started }) => started.task.id),
    ...(state?.delegates ?? []).map(({ task }) => task),
  ])
  const left = open.filter(({ id }) => !begun.has(id))
  return left.length === 0
    ? undefined
    : { count: left.length, tasks: left.slice(0, MOST).map(nameOf) }
}

// A task may wait for one that another run did on a branch of its own, which is not merged here: worked on now, it would be
// built on code that lacks it.

/** Older runs are merged or forgotten. */
const RUNS = 100

type Seen = Pick<RunContext, 'workspace' | 'run' | 'latest' | 'tree'>

export class DoneElsewhere {
  readonly #scene: Seen
  readonly #commits = new Map<string, { readonly commit: string; readonly branch: string }>()
  readonly #said = new Set<string>()

  constructor(scene: Seen) {
    this.#scene = scene
    const { place } = scene.workspace
    for (const run of runIds(place)
      .filter((id) => id !== scene.run)
      .slice(-RUNS)) {
      const state = foldRun(readRun(place, run))
      for (const { commit, outcome, started } of state?.attempts ?? []) {
        if (outcome === 'done' && commit !== undefined)
          this.#commits.set(started.task.id, { commit, branch: state!.started.branch })
      }
    }
  }

  /** Whether everything that a task builds on is in the run's tree. */
  isHere({ id, dependsOn }: PlannedTask): boolean {
    const missing = dependsOn.find((other) => !this.#isReachable(other))
    if (missing === undefined) return true
    if (!this.#said.has(id)) {
      this.#said.add(id)
      const { latest, workspace } = this.#scene
      const name = (task: string) => latest.backlog?.byId.get(task)?.shortname ?? task
      const { branch } = this.#commits.get(missing)!
      workspace.say(
        `${name(id)} waits: ${name(missing)} was done on ${branch}, which is not merged here (git merge ${branch})`,
      )
    }
    return false
  }

  #isReachable(task: string): boolean {
    const done = this.#commits.get(task)
    if (done === undefined) return true
    try {
      return askGit(this.#scene.tree.tree, ['merge-base', '--is-ancestor', done.commit, 'HEAD'])
    } catch (error) {
      // The commit is gone, with a branch that somebody removed: they know why.
      if (error instanceof GitFailed) return true
      throw error
    }
  }
}

// A task that a delegate has is not begun a second time: neither while it is worked on nor while its work waits to be merged.

/** Older delegates are merged or forgotten. */
const NEWEST_RUNS = 200

/** After these nothing of its work is under way. */
const OVER: ReadonlySet<string> = new Set(['merged', 'discarded', 'failed', 'parked'])

export class DelegatedTasks {
  readonly #scene: RunContext
  readonly #said = new Set<string>()

  constructor(scene: RunContext) {
    this.#scene = scene
  }

  has({ id }: PlannedTask): boolean {
    const { place } = this.#scene.workspace
    const holder = runIds(place)
      .slice(-NEWEST_RUNS)
      .map((run) => holderIn(readRun(place, run)))
      .find((one) => one?.task === id)
    if (holder === undefined) return false
    if (!this.#said.has(id)) {
      this.#said.add(id)
      const name = this.#scene.latest.backlog?.byId.get(id)?.shortname ?? id
      this.#scene.workspace.say(
        `${name} is left to the delegate ${holder.name} (stint delegate show ${holder.name})`,
      )
    }
    return true
  }
}

function holderIn(
  entries: readonly RunEntry[],
): { readonly name: string; readonly task: string } | undefined {
  const order = entries.find((entry) => entry.kind === 'run.started')?.data.delegate
  if (order?.task === undefined) return undefined
  const last = entries.findLast(({ kind }) =>
    ['run.started', 'run.resumed', 'delegate.moved', 'merge.begun'].includes(kind),
  )
  const isOver =
    last?.kind === 'delegate.moved' &&
    (OVER.has(last.data.to) || (order.isReadOnly && last.data.to === 'ready'))
  return isOver ? undefined : { name: order.name, task: order.task }
}
