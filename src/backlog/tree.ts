// The tasks as trees: parts under the task that they are a part of. Parents are written by people and by other tools, so they
// may be unknown, lead in a circle, or nest deeper than anybody reads. Every task stands in the trees exactly once all the same.
import { type Task, isTaskOpen } from './task.ts'
import type { TaskGraph } from './waits.ts'
import { defined } from '../text/defined.ts'

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
    const partOf = isTop(depth) ? reasonFor(task, depth, graph, top) : undefined
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

function reasonFor(
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
