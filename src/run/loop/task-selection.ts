import type { Backlog } from '../../backlog/backlog.ts'
import { type Task, findTask } from '../../backlog/task.ts'
import { gitSucceeds, unlessGitFails } from '../../git/run-git.ts'
import { runIds } from '../../project/store/run-files.ts'
import { type RunContext, toTaskName } from '../attempt/run-context.ts'
import type { UnstartedTasks, RunEntry } from '../entries.ts'
import type { RunOptions } from '../options.ts'
import type { PlannedTask } from '../plan/order-tasks.ts'
import { readRun } from '../run-log.ts'
import { type RunState, foldRun } from '../run-state.ts'

/** The tasks of a run: the named or labelled ones with all their dependencies, or all tasks. */
export class TaskSelection {
  readonly #named: ReadonlySet<string>
  readonly #isChosen: (task: Task) => boolean

  constructor(backlog: Backlog, { tasks = [], labels = [] }: Pick<RunOptions, 'tasks' | 'labels'>) {
    // A mistyped name fails before anything starts.
    const named = new Set(tasks.map((name) => findTask(backlog.tasks, name).id))
    const isAll = tasks.length === 0 && labels.length === 0
    this.#named = named
    this.#isChosen = (task) =>
      isAll || named.has(task.id) || task.labels.some((label) => labels.includes(label))
  }

  restrict(backlog: Backlog, isExcluded: (task: Task) => boolean): Backlog {
    const wanted = this.#wanted(backlog)
    const tasks = backlog.tasks.map((task): Task => {
      if (task.status === 'completed') return task
      // Also a task whose text a pull changed after the run started.
      if (!wanted.has(task.id) || isExcluded(task) || task.isFromElsewhere === true)
        return { ...task, status: 'blocked' }
      // A failed task is retried when the user names it.
      return this.#named.has(task.id) ? { ...task, status: 'ready' } : task
    })
    return { ...backlog, tasks, byId: new Map(tasks.map((task) => [task.id, task])) }
  }

  openTasks(backlog: Backlog): readonly Task[] {
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

export function findUnstartedTasks(
  open: readonly Task[],
  state: RunState | undefined,
): UnstartedTasks | undefined {
  const started = new Set([
    ...(state?.attempts ?? []).map(({ started }) => started.task.id),
    ...(state?.delegates ?? []).map(({ task }) => task),
  ])
  const left = open.filter(({ id }) => !started.has(id))
  return left.length === 0
    ? undefined
    : { count: left.length, tasks: left.slice(0, MOST_NAMED).map(toTaskName) }
}

/** Older runs and delegates are assumed to be merged or abandoned. */
const NEWEST_RUNS = 100
const NEWEST_DELEGATES = 200

class TaskMessages {
  readonly #reported = new Set<string>()

  constructor(
    protected readonly context: Pick<RunContext, 'workspace' | 'run' | 'latest' | 'tree'>,
  ) {}

  protected name(task: string): string {
    return this.context.latest.backlog?.byId.get(task)?.shortname ?? task
  }

  protected sayOncePerTask(task: string, text: string): void {
    if (!this.#reported.has(task)) this.context.workspace.say(text)
    this.#reported.add(task)
  }
}

/** Tasks that other runs did on unmerged branches: work that depends on them would lack their code. */
export class DoneElsewhere extends TaskMessages {
  readonly #commits = new Map<string, { readonly commit: string; readonly branch: string }>()

  constructor(context: TaskMessages['context']) {
    super(context)
    const { paths } = context.workspace
    const others = runIds(paths).filter((id) => id !== context.run)
    for (const run of others.slice(-NEWEST_RUNS)) {
      const state = foldRun(readRun(paths, run))
      for (const { commit, outcome, started } of state?.attempts ?? []) {
        if (outcome === 'done' && commit !== undefined)
          this.#commits.set(started.task.id, { commit, branch: state!.started.branch })
      }
    }
  }

  areDependenciesMerged({ id, dependsOn }: PlannedTask): boolean {
    const missing = dependsOn.find((other) => !this.#isReachable(other))
    if (missing === undefined) return true
    const { branch } = this.#commits.get(missing)!
    this.sayOncePerTask(
      id,
      `${this.name(id)} waits: ${this.name(missing)} was done on ${branch}, which is not merged here (git merge ${branch})`,
    )
    return false
  }

  #isReachable(task: string): boolean {
    const done = this.#commits.get(task)
    if (done === undefined) return true
    const isAncestor = ['merge-base', '--is-ancestor', done.commit, 'HEAD']
    // Git fails if the user has deleted the commit with its branch.
    return unlessGitFails(() => gitSucceeds(this.context.tree.tree, isAncestor)) ?? true
  }
}

const FINAL_STATUSES: ReadonlySet<string> = new Set(['merged', 'discarded', 'failed', 'parked'])

/** Tasks that a delegate works on, or whose work is not merged yet. */
export class DelegatedTasks extends TaskMessages {
  has({ id }: PlannedTask): boolean {
    const { paths } = this.context.workspace
    const holder = runIds(paths)
      .slice(-NEWEST_DELEGATES)
      .map((run) => findHolder(readRun(paths, run)))
      .find((order) => order?.task === id)
    if (holder === undefined) return false
    this.sayOncePerTask(
      id,
      `${this.name(id)} is left to the delegate ${holder.name} (stint delegate show ${holder.name})`,
    )
    return true
  }
}

function findHolder(entries: readonly RunEntry[]) {
  const order = entries.find((entry) => entry.kind === 'run.started')?.data.delegate
  const last = entries.findLast(({ kind }) =>
    ['run.started', 'run.resumed', 'delegate.moved', 'merge.begun'].includes(kind),
  )
  const isOver =
    last?.kind === 'delegate.moved' &&
    (FINAL_STATUSES.has(last.data.to) || (order?.isReadOnly === true && last.data.to === 'ready'))
  return isOver ? undefined : order
}
