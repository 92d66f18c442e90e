import { defined } from '../text/defined.ts'
import { PRIORITIES, SIZES, type Task, isTaskOpen } from './task.ts'

export interface TaskGraph {
  readonly tasks: readonly Task[]
  readonly byId: ReadonlyMap<string, Task>
}

/** `task` is absent when the backlog has no such task. */
export interface UnmetDependency {
  readonly reference: string
  readonly task?: Task
}

/** The dependencies that are not completed. An unknown one counts, since starting too early costs more than asking. */
export function unmetDependencies(graph: TaskGraph, task: Task): readonly UnmetDependency[] {
  return task.dependsOn.flatMap((reference): readonly UnmetDependency[] => {
    const dependency = graph.byId.get(reference)
    if (dependency === undefined) return [{ reference }]
    return isTaskOpen(dependency) ? [{ reference, task: dependency }] : []
  })
}

export function isReady(graph: TaskGraph, task: Task): boolean {
  return isCandidate(task) && unmetDependencies(graph, task).length === 0
}

function isCandidate({ status }: Task): boolean {
  return status === 'ready' || status === 'in_progress'
}

function openTasks(graph: TaskGraph, ids: readonly string[]): readonly Task[] {
  return ids.flatMap((id) => graph.byId.get(id) ?? []).filter(isTaskOpen)
}

export function openDependents(graph: TaskGraph, task: Task): readonly Task[] {
  return openTasks(graph, task.blocks)
}

export function backlogProblems(graph: TaskGraph): readonly string[] {
  const cycles = dependencyCycles(graph).map(
    (cycle) => `dependency cycle: ${cycle.map((task) => task.shortname).join(' → ')}`,
  )
  const others = graph.tasks.flatMap((task) => {
    const { children, parent, shortname } = task
    if (!isTaskOpen(task))
      return openTasks(graph, children).map(
        (child) => `${shortname} is completed, but its part ${child.shortname} is ${child.status}`,
      )
    const missing = unmetDependencies(graph, task).filter((wait) => wait.task === undefined)
    const isParentUnknown = parent !== undefined && !graph.byId.has(parent)
    return [
      ...missing.map(
        ({ reference }) => `${shortname} waits for ${reference}, which is not in the backlog`,
      ),
      ...(isParentUnknown
        ? [`${shortname} is a part of ${parent}, which is not in the backlog`]
        : []),
    ]
  })
  return [...cycles, ...others]
}

export function dependencyPath(
  from: string,
  to: string,
  waitsOf: (id: string) => readonly string[],
): readonly string[] | undefined {
  const cameFrom = new Map<string, string | undefined>([[from, undefined]])
  for (const id of cameFrom.keys()) {
    if (id === to) {
      const path: string[] = []
      for (let at: string | undefined = id; at !== undefined; at = cameFrom.get(at))
        path.unshift(at)
      return path
    }
    // A Map iterates also over keys that are added during the loop.
    for (const next of waitsOf(id)) if (!cameFrom.has(next)) cameFrom.set(next, id)
  }
  return undefined
}

/**
 * Cycles of tasks that wait for each other, with the first task repeated at the end. A parent waits for its children. Of overlapping
 * cycles at least one is listed.
 */
export function dependencyCycles(graph: TaskGraph): readonly (readonly Task[])[] {
  const cycles: (readonly Task[])[] = []
  const visited = new Set<Task>()
  // Without recursion: a long chain of tasks must not overflow the stack.
  for (const start of graph.tasks.filter(isTaskOpen)) {
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
      } else if (!visited.has(task)) {
        visited.add(task)
        path.push(task)
        onPath.add(task)
        const waits = new Set([...task.dependsOn, ...task.children])
        pending.push(openTasks(graph, [...waits]).values())
      }
    }
  }
  return cycles
}

/** With more tasks at a time, each takes longer than all would one after another. */
const WIP_LIMIT = 2

export type NextTasks = ReturnType<typeof nextTasks>

/** Orders tasks with met dependencies: in progress first, then by priority, size, number of tasks unblocked, and age. */
export function nextTasks(backlog: TaskGraph) {
  const candidates = backlog.tasks.filter(isCandidate)
  const canStart = (task: Task) =>
    isReady(backlog, task) && openTasks(backlog, task.children).length === 0
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
    .map((task) => {
      const waits = unmetDependencies(backlog, task)
      const because = [
        ...waits.map((wait) =>
          wait.task === undefined
            ? `${wait.reference} (not in the backlog)`
            : describeTask(wait.task),
        ),
        ...openTasks(backlog, task.children).map((part) => `its part ${describeTask(part)}`),
      ]
      return { task, waitingFor: waits, because: `waits for ${because.join(', ')}` }
    })
  const inProgress = candidates.filter((task) => task.status === 'in_progress').length
  const hint =
    inProgress < WIP_LIMIT
      ? undefined
      : `${inProgress} tasks are in progress (limit ${WIP_LIMIT}): finish one before starting another`
  return { tasks, waiting, ...defined({ hint }) }
}

interface Criterion {
  readonly rank: (task: Task) => number
  readonly because: (task: Task, behind: Task) => string
}

export function criteriaFor(backlog: TaskGraph): readonly Criterion[] {
  const unblocked = (task: Task) => openDependents(backlog, task).length
  const position = new Map(backlog.tasks.map((task, index) => [task.id, index]))
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
      rank: (task) => -unblocked(task),
      because: (task, behind) =>
        `unblocks ${unblocked(task)}, the one behind it ${unblocked(behind)}`,
    },
    // An imported task keeps its date and therefore its position.
    { rank: (task) => Date.parse(task.createdAt) || 0, because: () => 'added first' },
    { rank: (task) => position.get(task.id) ?? 0, because: () => 'added first' },
  ]
}

function reasonFor(criteria: readonly Criterion[], task: Task, behind: Task | undefined): string {
  const count = task.dependsOn.length
  const many = `its ${count} dependencies are completed`
  const one = count === 1 ? 'its dependency is completed' : many
  const met = count === 0 ? 'waits for nothing' : one
  if (behind === undefined) {
    const inProgress =
      task.status === 'in_progress' ? 'already in progress' : `${task.priority}, size ${task.size}`
    return `${met}; ${inProgress}`
  }
  const deciding = criteria.find(({ rank }) => rank(task) !== rank(behind))
  return `${met}; ${deciding?.because(task, behind) ?? 'added first'}`
}

function describeTask({ shortname, status }: Task): string {
  return status === 'ready' ? shortname : `${shortname} (${status})`
}

// Parents are written by people and tools: they may be unknown, form a cycle, or nest too deep. Every task is in the trees exactly once.

export interface TreeNode {
  readonly task: Task
  readonly parts: readonly TreeNode[]
  readonly progress: { readonly done: number; readonly total: number }
  readonly partOf?: OmittedParent
}

export interface OmittedParent {
  readonly parent: string
  /** `deep`: its tree continues here. `outside`: only this task was requested. */
  readonly why: 'unknown' | 'circle' | 'deep' | 'outside'
}

interface TaskTreeOptions {
  /** A task with a shown sub-task is shown as well. */
  readonly isShown?: (task: Task) => boolean
  readonly top?: Task
  /** Deeper levels become a separate tree after the one they belong to. */
  readonly levels: number
}

export function taskTrees(
  graph: TaskGraph,
  { isShown = () => true, top, levels }: TaskTreeOptions,
): readonly TreeNode[] {
  const parents = validParents(graph)
  const partsOf = new Map<string, Task[]>(graph.tasks.map(({ id }) => [id, []]))
  for (const task of graph.tasks) partsOf.get(parents.get(task.id) ?? '')?.push(task)
  const roots = top === undefined ? graph.tasks.filter(({ id }) => !parents.has(id)) : [top]
  const inOrder = parentsFirst(roots, partsOf)
  const isTop = (depth: number) => depth % levels === 0
  const nodes = new Map<string, TreeNode>()
  const progressOf = new Map<string, TreeNode['progress']>()
  // In reverse, sub-tasks come before their parent; without recursion, because a chain may be as long as the backlog.
  for (const { task, depth } of inOrder.toReversed()) {
    const parts = partsOf.get(task.id) ?? []
    const progress = { done: 0, total: 0 }
    for (const part of parts) {
      const below = progressOf.get(part.id)!
      progress.done += below.done + (isTaskOpen(part) ? 0 : 1)
      progress.total += below.total + 1
    }
    progressOf.set(task.id, progress)
    const shown = parts.flatMap((part) => nodes.get(part.id) ?? [])
    if (task !== top && shown.length === 0 && !isShown(task)) continue
    const partOf = isTop(depth) ? reasonAtTop(task, depth, graph, top) : undefined
    const nested = isTop(depth + 1) ? [] : shown
    nodes.set(task.id, { task, parts: nested, progress, ...defined({ partOf }) })
  }
  return inOrder.flatMap(({ task, depth }) => (isTop(depth) ? (nodes.get(task.id) ?? []) : []))
}

/** The parents that exist in the backlog. Of a cycle one is left out. */
export function validParents({ tasks, byId }: TaskGraph): ReadonlyMap<string, string> {
  const parents = new Map<string, string>()
  for (const { id, parent } of tasks)
    if (parent !== undefined && byId.has(parent)) parents.set(id, parent)
  const visited = new Set<string>()
  for (const { id } of tasks) {
    const path = new Set<string>()
    let at: string | undefined = id
    for (; at !== undefined && !visited.has(at) && !path.has(at); at = parents.get(at)) path.add(at)
    if (at !== undefined && path.has(at)) parents.delete(at)
    for (const one of path) visited.add(one)
  }
  return parents
}

function parentsFirst(roots: readonly Task[], partsOf: ReadonlyMap<string, readonly Task[]>) {
  const found: { task: Task; depth: number }[] = []
  const pending = roots.map((task) => ({ task, depth: 0 })).toReversed()
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    found.push(next)
    for (const task of (partsOf.get(next.task.id) ?? []).toReversed())
      pending.push({ task, depth: next.depth + 1 })
  }
  return found
}

function reasonAtTop(
  task: Task,
  depth: number,
  { byId }: TaskGraph,
  top: Task | undefined,
): OmittedParent | undefined {
  const { parent } = task
  if (parent === undefined) return undefined
  if (depth > 0) return { parent, why: 'deep' }
  if (!byId.has(parent)) return { parent, why: 'unknown' }
  return { parent, why: task === top ? 'outside' : 'circle' }
}
