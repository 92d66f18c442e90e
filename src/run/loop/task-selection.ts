import type { Backlog } from '../../backlog/backlog.ts'
import { type Task, findTask } from '../../backlog/task.ts'
import { GitFailed, gitSucceeds } from '../../git/run-git.ts'
import { runIds } from '../../project/store/run-files.ts'
import { type RunContext, toTaskName } from '../attempt/run-context.ts'
import type { NeverBegun, RunEntry } from '../entries.ts'
import type { RunOptions } from '../options.ts'
import type { PlannedTask } from '../plan/order-tasks.ts'
import { readRun } from '../run-log.ts'
import { type RunState, foldRun } from '../run-state.ts'

/** Which tasks a run is about: the named ones with all they depend on, those with one of the labels, or all. */
export class TaskSelection {
  readonly #named: ReadonlySet<string>
  readonly #isChosen: (task: Task) => boolean

  constructor(backlog: Backlog, { tasks = [], labels = [] }: Pick<RunOptions, 'tasks' | 'labels'>) {
    // A mistyped name is an error before anything is begun.
    const named = new Set(tasks.map((name) => findTask(backlog.tasks, name).id))
    const isAll = tasks.length === 0 && labels.length === 0
    this.#named = named
    this.#isChosen = (task) =>
      isAll || named.has(task.id) || task.labels.some((label) => labels.includes(label))
  }

  within(backlog: Backlog, isOutOfReach: (task: Task) => boolean): Backlog {
    const wanted = this.#wanted(backlog)
    const tasks = backlog.tasks.map((task): Task => {
      if (task.status === 'completed') return task
      if (!wanted.has(task.id) || isOutOfReach(task)) return { ...task, status: 'blocked' }
      // A failed task that the user names is tried again.
      return this.#named.has(task.id) ? { ...task, status: 'ready' } : task
    })
    return { ...backlog, tasks, byId: new Map(tasks.map((task) => [task.id, task])) }
  }

  open(backlog: Backlog): readonly Task[] {
    const wanted = this.#wanted(backlog)
    return backlog.tasks.filter((task) => wanted.has(task.id) && task.status !== 'completed')
  }

  #wanted({ byId, tasks }: Backlog): ReadonlySet<string> {
    const wanted = new Set<string>()
    const add = (id: string) => {
      const task = byId.get(id)
      if (task === undefined || wanted.has(id)) return
      wanted.add(id)
      for (const other of [...task.dependsOn, ...task.children]) add(other)
    }
    for (const task of tasks) if (this.#isChosen(task)) add(task.id)
    return wanted
  }
}

const MOST_NAMED = 300

export function findNeverBegun(
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
    : { count: left.length, tasks: left.slice(0, MOST_NAMED).map(toTaskName) }
}

/** Older runs and delegates are merged or forgotten. */
const NEWEST_RUNS = 100
const NEWEST_DELEGATES = 200

class Remarks {
  readonly #said = new Set<string>()

  constructor(
    protected readonly scene: Pick<RunContext, 'workspace' | 'run' | 'latest' | 'tree'>,
  ) {}

  protected name(task: string): string {
    return this.scene.latest.backlog?.byId.get(task)?.shortname ?? task
  }

  protected sayOnce(task: string, text: string): void {
    if (!this.#said.has(task)) this.scene.workspace.say(text)
    this.#said.add(task)
  }
}

/** Tasks that other runs did on branches which are not merged here: work that depends on them would lack their code. */
export class DoneElsewhere extends Remarks {
  readonly #commits = new Map<string, { readonly commit: string; readonly branch: string }>()

  constructor(scene: Remarks['scene']) {
    super(scene)
    const { paths: place } = scene.workspace
    const others = runIds(place).filter((id) => id !== scene.run)
    for (const run of others.slice(-NEWEST_RUNS)) {
      const state = foldRun(readRun(place, run))
      for (const { commit, outcome, started } of state?.attempts ?? []) {
        if (outcome === 'done' && commit !== undefined)
          this.#commits.set(started.task.id, { commit, branch: state!.started.branch })
      }
    }
  }

  isHere({ id, dependsOn }: PlannedTask): boolean {
    const missing = dependsOn.find((other) => !this.#isReachable(other))
    if (missing === undefined) return true
    const { branch } = this.#commits.get(missing)!
    this.sayOnce(
      id,
      `${this.name(id)} waits: ${this.name(missing)} was done on ${branch}, which is not merged here (git merge ${branch})`,
    )
    return false
  }

  #isReachable(task: string): boolean {
    const done = this.#commits.get(task)
    if (done === undefined) return true
    try {
      return gitSucceeds(this.scene.tree.tree, ['merge-base', '--is-ancestor', done.commit, 'HEAD'])
    } catch (error) {
      // The user removed the commit with its branch.
      if (error instanceof GitFailed) return true
      throw error
    }
  }
}

/** After these a delegate's work is not under way. */
const OVER: ReadonlySet<string> = new Set(['merged', 'discarded', 'failed', 'parked'])

/** Tasks that a delegate works on, or whose work waits to be merged. */
export class DelegatedTasks extends Remarks {
  has({ id }: PlannedTask): boolean {
    const { paths: place } = this.scene.workspace
    const holder = runIds(place)
      .slice(-NEWEST_DELEGATES)
      .map((run) => holderIn(readRun(place, run)))
      .find((order) => order?.task === id)
    if (holder === undefined) return false
    this.sayOnce(
      id,
      `${this.name(id)} is left to the delegate ${holder.name} (stint delegate show ${holder.name})`,
    )
    return true
  }
}

function holderIn(entries: readonly RunEntry[]) {
  const order = entries.find((entry) => entry.kind === 'run.started')?.data.delegate
  const last = entries.findLast(({ kind }) =>
    ['run.started', 'run.resumed', 'delegate.moved', 'merge.begun'].includes(kind),
  )
  const isOver =
    last?.kind === 'delegate.moved' &&
    (OVER.has(last.data.to) || (order?.isReadOnly === true && last.data.to === 'ready'))
  return isOver ? undefined : order
}
