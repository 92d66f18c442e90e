import { PRIORITIES, SIZES, type Task, isTaskOpen } from './task.ts'
import { defined } from '../text/defined.ts'

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

/** More tasks than this at a time, and each takes longer than all would one after another. */
const WIP_LIMIT = 2

export interface NextTask {
  readonly task: Task
  /** Why it stands before the one behind it, in one line. */
  readonly because: string
}

export interface WaitingTask {
  readonly task: Task
  readonly waitingFor: readonly Wait[]
  readonly because: string
}

export interface NextTasks {
  /** What can be worked on, best first. */
  readonly tasks: readonly NextTask[]
  /** What could be worked on if something else were completed. */
  readonly waiting: readonly WaitingTask[]
  readonly hint?: string
}

/**
 * What to do next: of the tasks whose dependencies are met, those already begun, then by
 * priority, then the smaller, then the one that frees more others, then the one added first.
 */
export function nextTasks(backlog: TaskGraph): NextTasks {
  const candidates = backlog.tasks.filter(
    (task) => task.status === 'ready' || task.status === 'in_progress',
  )
  const canStart = (task: Task) =>
    isReady(backlog, task) && openChildren(backlog, task).length === 0
  const criteria = criteriaFor(backlog)
  const ordered = candidates.filter(canStart).toSorted((a, b) => {
    const deciding = criteria.find(({ rank }) => rank(a) !== rank(b))
    return deciding === undefined ? 0 : deciding.rank(a) - deciding.rank(b)
  })
  const tasks = ordered.map((task, index) => ({
    task,
    because: reasonFor(criteria, task, ordered[index + 1]),
  }))
  const waiting = candidates
    .filter((task) => !canStart(task))
    .map((task) => waitingTask(backlog, task))
  const begun = candidates.filter((task) => task.status === 'in_progress').length
  if (begun < WIP_LIMIT) return { tasks, waiting }
  return {
    tasks,
    waiting,
    hint: `${begun} tasks are in progress (limit ${WIP_LIMIT}): finish one before starting another`,
  }
}

export interface Criterion {
  readonly rank: (task: Task) => number
  readonly because: (task: Task, behind: Task) => string
}

/** What decides between two tasks that can both be worked on, the weightiest first. */
export function criteriaFor(backlog: TaskGraph): readonly Criterion[] {
  const freed = (task: Task) => openBlocks(backlog, task).length
  const place = new Map(backlog.tasks.map((task, index) => [task.id, index]))
  return [
    {
      rank: (task) => (task.status === 'in_progress' ? 0 : 1),
      because: () => 'already in progress',
    },
    {
      rank: (task) => PRIORITIES.indexOf(task.priority),
      because: (task, behind) => `${task.priority} before ${behind.priority}`,
    },
    {
      rank: (task) => SIZES.indexOf(task.size),
      because: (task, behind) => `smaller: ${task.size} before ${behind.size}`,
    },
    {
      rank: (task) => -freed(task),
      because: (task, behind) => `unblocks ${freed(task)}, the one behind it ${freed(behind)}`,
    },
    // A task taken over from elsewhere keeps the date it was written there, and its place in the queue with it.
    { rank: (task) => Date.parse(task.createdAt) || 0, because: () => 'added first' },
    { rank: (task) => place.get(task.id) ?? 0, because: () => 'added first' },
  ]
}

function reasonFor(criteria: readonly Criterion[], task: Task, behind: Task | undefined): string {
  const count = task.dependsOn.length
  const met =
    count === 0
      ? 'waits for nothing'
      : count === 1
        ? 'its dependency is completed'
        : `its ${count} dependencies are completed`
  if (behind === undefined) {
    const begun =
      task.status === 'in_progress' ? 'already in progress' : `${task.priority}, size ${task.size}`
    return `${met}; ${begun}`
  }
  const deciding = criteria.find(({ rank }) => rank(task) !== rank(behind))
  return `${met}; ${deciding?.because(task, behind) ?? 'added first'}`
}

function waitingTask(backlog: TaskGraph, task: Task): WaitingTask {
  const waits = waitingFor(backlog, task)
  const parts = openChildren(backlog, task)
  const because = [
    ...waits.map((wait) =>
      wait.task === undefined ? `${wait.reference} (not in the backlog)` : named(wait.task),
    ),
    ...parts.map((part) => `its part ${named(part)}`),
  ]
  return { task, waitingFor: waits, because: `waits for ${because.join(', ')}` }
}

function named(task: Task): string {
  return task.status === 'ready' ? task.shortname : `${task.shortname} (${task.status})`
}

// The tasks as trees: parts under the task that they are a part of. Parents are written by people and by other tools, so they
// may be unknown, lead in a circle, or nest deeper than anybody reads. Every task stands in the trees exactly once all the same.

export interface TreeNode {
  readonly task: Task
  readonly parts: readonly TreeNode[]
  /** Of everything under it, at whatever depth, shown or not. */
  readonly progress: { readonly done: number; readonly total: number }
  /** Of a part that stands at the top: of what, and why it does not stand there. */
  readonly partOf?: PartOf
}

export interface PartOf {
  /** The id of the task, or what was written. */
  readonly parent: string
  /** `deep`: its tree goes on here. `outside`: only this task was asked for. */
  readonly why: 'unknown' | 'circle' | 'deep' | 'outside'
}

export interface TreeOptions {
  /** Which tasks to show. One with a part that is shown is shown as well. */
  readonly isShown?: (task: Task) => boolean
  /** Only this task and what is under it. */
  readonly top?: Task
  /** More levels than these are not nested: what is below them makes a tree of its own, behind the one it belongs to. */
  readonly levels: number
}

/** The tasks as trees, in the order in which they were added. */
export function taskTrees(
  graph: TaskGraph,
  { isShown = () => true, top, levels }: TreeOptions,
): readonly TreeNode[] {
  const parents = soundParents(graph)
  const partsOf = new Map<string, Task[]>(graph.tasks.map(({ id }) => [id, []]))
  for (const task of graph.tasks) partsOf.get(parents.get(task.id) ?? '')?.push(task)
  const roots = top === undefined ? graph.tasks.filter(({ id }) => !parents.has(id)) : [top]
  const inOrder = parentsFirst(roots, partsOf)
  const isTop = (depth: number) => depth % levels === 0
  const nodes = new Map<string, TreeNode>()
  const progress = new Map<string, TreeNode['progress']>()
  // Backwards, the parts come before the whole; and without recursion, since a chain may be as long as the backlog.
  for (const { task, depth } of inOrder.toReversed()) {
    const parts = partsOf.get(task.id) ?? []
    const sum = { done: 0, total: 0 }
    for (const part of parts) {
      const below = progress.get(part.id)!
      sum.done += below.done + (isTaskOpen(part) ? 0 : 1)
      sum.total += below.total + 1
    }
    progress.set(task.id, sum)
    const shown = parts.flatMap((part) => nodes.get(part.id) ?? [])
    if (task !== top && shown.length === 0 && !isShown(task)) continue
    const partOf = isTop(depth) ? whyAtTop(task, depth, graph, top) : undefined
    const nested = isTop(depth + 1) ? [] : shown
    nodes.set(task.id, {
      task,
      parts: nested,
      progress: sum,
      ...defined({ partOf }),
    })
  }
  return inOrder.flatMap(({ task, depth }) => (isTop(depth) ? (nodes.get(task.id) ?? []) : []))
}

/** The parents that the backlog has. In a circle of them one is left out. */
export function soundParents({ tasks, byId }: TaskGraph): ReadonlyMap<string, string> {
  const parents = new Map<string, string>()
  for (const { id, parent } of tasks)
    if (parent !== undefined && byId.has(parent)) parents.set(id, parent)
  const settled = new Set<string>()
  for (const { id } of tasks) {
    const path = new Set<string>()
    let at: string | undefined = id
    for (; at !== undefined && !settled.has(at) && !path.has(at); at = parents.get(at)) path.add(at)
    if (at !== undefined && path.has(at)) parents.delete(at)
    for (const one of path) settled.add(one)
  }
  return parents
}

interface Placed {
  readonly task: Task
  readonly depth: number
}

function parentsFirst(
  roots: readonly Task[],
  partsOf: ReadonlyMap<string, readonly Task[]>,
): readonly Placed[] {
  const found: Placed[] = []
  const pending = roots.map((task) => ({ task, depth: 0 })).toReversed()
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { task, depth } = next
    found.push(next)
    for (const part of (partsOf.get(task.id) ?? []).toReversed())
      pending.push({ task: part, depth: depth + 1 })
  }
  return found
}

function whyAtTop(
  task: Task,
  depth: number,
  { byId }: TaskGraph,
  top: Task | undefined,
): PartOf | undefined {
  const { parent } = task
  if (parent === undefined) return undefined
  if (depth > 0) return { parent, why: 'deep' }
  if (!byId.has(parent)) return { parent, why: 'unknown' }
  return { parent, why: task === top ? 'outside' : 'circle' }
}
