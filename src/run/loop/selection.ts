import type { Backlog } from '../../backlog/backlog.ts'
import { type Task, findTask } from '../../backlog/task.ts'
import type { RunOptions } from '../options.ts'
import type { NeverBegun } from '../report.ts'
import type { RunState } from '../run-state.ts'
import { nameOf } from '../attempt/agent-environment.ts'

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
