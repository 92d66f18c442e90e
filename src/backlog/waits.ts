import { type Task, isTaskOpen } from './task.ts'

/** The part of a backlog that relations are read from. */
export interface TaskGraph {
  readonly tasks: readonly Task[]
  readonly byId: ReadonlyMap<string, Task>
}

/** Something a task waits for. Without `task`, the backlog has nothing by that name. */
export interface Wait {
  readonly reference: string
  readonly task?: Task
}

/**
 * The dependencies that are not completed. One that the backlog does not know counts as not
 * completed: whoever wrote it meant something, and starting too early costs more than asking.
 */
export function waitingFor(graph: TaskGraph, task: Task): readonly Wait[] {
  return task.dependsOn.flatMap((reference): readonly Wait[] => {
    const dependency = graph.byId.get(reference)
    if (dependency === undefined) return [{ reference }]
    return isTaskOpen(dependency) ? [{ reference, task: dependency }] : []
  })
}

/** Whether every dependency is completed, and the task is neither finished nor parked itself. */
export function isReady(graph: TaskGraph, task: Task): boolean {
  return (
    (task.status === 'ready' || task.status === 'in_progress') &&
    waitingFor(graph, task).length === 0
  )
}

export function openChildren(graph: TaskGraph, task: Task): readonly Task[] {
  return task.children.flatMap((id) => graph.byId.get(id) ?? []).filter(isTaskOpen)
}

/** The tasks that wait for this one and are not completed. */
export function openBlocks(graph: TaskGraph, task: Task): readonly Task[] {
  return task.blocks.flatMap((id) => graph.byId.get(id) ?? []).filter(isTaskOpen)
}

/** What stands in the way of a sensible order, each in one line. */
export function backlogProblems(graph: TaskGraph): readonly string[] {
  const cycles = dependencyCycles(graph).map(
    (cycle) => `dependency cycle: ${cycle.map((task) => task.shortname).join(' → ')}`,
  )
  const others = graph.tasks.flatMap((task) => [
    ...(isTaskOpen(task) ? waitingFor(graph, task) : [])
      .filter((wait) => wait.task === undefined)
      .map(
        ({ reference }) => `${task.shortname} waits for ${reference}, which is not in the backlog`,
      ),
    ...(isTaskOpen(task) && task.parent !== undefined && !graph.byId.has(task.parent)
      ? [`${task.shortname} is a part of ${task.parent}, which is not in the backlog`]
      : []),
    ...(isTaskOpen(task) ? [] : openChildren(graph, task)).map(
      (child) =>
        `${task.shortname} is completed, but its part ${child.shortname} is ${child.status}`,
    ),
  ])
  return [...cycles, ...others]
}

/** A way from one task to another along what each waits for, its parts among it; both ends are named. Undefined where there is none. */
export function wayBetween(
  from: string,
  to: string,
  waitsOf: (id: string) => readonly string[],
): readonly string[] | undefined {
  const cameFrom = new Map<string, string | undefined>([[from, undefined]])
  for (const id of cameFrom.keys()) {
    if (id === to) {
      const way: string[] = []
      for (let at: string | undefined = id; at !== undefined; at = cameFrom.get(at)) way.unshift(at)
      return way
    }
    // A map's keys are walked in the order they were put in, also those put in meanwhile.
    for (const next of waitsOf(id)) if (!cameFrom.has(next)) cameFrom.set(next, id)
  }
  return undefined
}

/**
 * Circles of tasks of which each waits for the next; the first task comes again at the end. A
 * parent waits for its children, so a child that depends on its parent is such a circle too.
 * Of a tangle at least one circle is named, not every way around it.
 */
export function dependencyCycles(graph: TaskGraph): readonly (readonly Task[])[] {
  const open = graph.tasks.filter(isTaskOpen)
  const waits = new Map(
    open.map((task) => [
      task,
      [...new Set([...task.dependsOn, ...task.children])]
        .flatMap((id) => graph.byId.get(id) ?? [])
        .filter(isTaskOpen),
    ]),
  )
  const cycles: (readonly Task[])[] = []
  const settled = new Set<Task>()
  // Without recursion: a long chain of tasks must not exhaust the stack.
  for (const start of open) {
    const path: Task[] = []
    const onPath = new Set<Task>()
    const pending: Iterator<Task>[] = [[start].values()]
    while (pending.length > 0) {
      const { value: task, done } = pending.at(-1)!.next()
      if (done === true) {
        pending.pop()
        const left = path.pop()
        if (left !== undefined) onPath.delete(left)
      } else if (onPath.has(task)) {
        cycles.push([...path.slice(path.indexOf(task)), task])
      } else if (!settled.has(task)) {
        settled.add(task)
        path.push(task)
        onPath.add(task)
        pending.push((waits.get(task) ?? []).values())
      }
    }
  }
  return cycles
}
