import type { Backlog } from '../../backlog/backlog.ts'
import { criteriaFor } from '../../backlog/task-graph.ts'
import { type Task, isTaskOpen } from '../../backlog/task.ts'
import { DEFAULT_PLAN, type PlanSettings, type SizeClass } from '../../project/config/run-config.ts'
import { defined } from '../../text/defined.ts'

export interface PlannedTask {
  readonly id: string
  readonly sizeClass: SizeClass
  readonly labels: readonly string[]
  readonly dependsOn: readonly string[]
  readonly parent?: string
  readonly group?: string
}

export function plannedTask(
  task: Task,
  { unsized }: Pick<Backlog, 'unsized'>,
  settings: PlanSettings = DEFAULT_PLAN,
): PlannedTask {
  const { id, labels, dependsOn, parent, group, size, ...rest } = task
  return {
    id,
    sizeClass: sizeClassOf(unsized.has(id) ? rest : { ...rest, size }, settings),
    labels,
    dependsOn,
    ...defined({ parent, group }),
  }
}

const RELATION_RANK: Readonly<Record<Relation, number>> = { related: 0, unknown: 1, unrelated: 2 }

/** The first two criteria, in progress and priority, outrank the relation. */
const RANKS_BEFORE_RELATION = 2

/** About as many tasks as a conversation takes; older ones no longer attract related tasks. */
const MOST_TOGETHER = 8

/**
 * All tasks that can be worked on, in order, as if each were completed in its turn. Tasks that wait for something that
 * cannot be completed are left out. `done` are the tasks of the live conversation, the latest last.
 */
export function orderTasks(
  backlog: Backlog,
  done: readonly PlannedTask[] = [],
  settings: PlanSettings = DEFAULT_PLAN,
): readonly PlannedTask[] {
  const criteria = criteriaFor(backlog)
  const waits = new OpenDependencies(backlog)
  // Ranks are computed once, at the beginning.
  const candidates = new Map(
    backlog.tasks
      .filter(({ status }) => status === 'ready' || status === 'in_progress')
      .map((task) => [
        task.id,
        {
          task: plannedTask(task, backlog, settings),
          ranks: criteria.map(({ rank }) => rank(task)),
        },
      ]),
  )
  const ready = new Set([...candidates.keys()].filter((id) => waits.isFree(id)))
  const ordered: PlannedTask[] = []
  let together = done.slice(-MOST_TOGETHER)
  while (ready.size > 0) {
    let best: { task: PlannedTask; key: readonly number[]; relation: Relation } | undefined
    for (const id of ready) {
      const { task, ranks } = candidates.get(id)!
      const relation = relationToAll(task, together)
      const key = ranks.toSpliced(RANKS_BEFORE_RELATION, 0, RELATION_RANK[relation])
      if (best === undefined || isBefore(key, best.key)) best = { task, key, relation }
    }
    const { task, relation } = best!
    ready.delete(task.id)
    ordered.push(task)
    together = relation === 'unrelated' ? [task] : [...together, task].slice(-MOST_TOGETHER)
    for (const freed of waits.complete(task.id)) if (candidates.has(freed)) ready.add(freed)
  }
  return ordered
}

function isBefore(a: readonly number[], b: readonly number[]): boolean {
  const paths = a.findIndex((value, index) => value !== b[index])
  return paths !== -1 && a[paths]! < b[paths]!
}

class OpenDependencies {
  readonly #left = new Map<string, Set<string>>()
  readonly #waiting = new Map<string, string[]>()

  constructor({ byId, tasks }: Backlog) {
    const isOpen = (id: string) => !byId.has(id) || isTaskOpen(byId.get(id)!)
    for (const { id, dependsOn, children } of tasks) {
      const left = new Set([...dependsOn, ...children].filter(isOpen))
      this.#left.set(id, left)
      for (const other of left) this.#waiting.set(other, [...(this.#waiting.get(other) ?? []), id])
    }
  }

  isFree(id: string): boolean {
    return this.#left.get(id)?.size === 0
  }

  complete(id: string): readonly string[] {
    const waiting = this.#waiting.get(id) ?? []
    for (const other of waiting) this.#left.get(other)?.delete(id)
    return waiting.filter((other) => this.isFree(other))
  }
}

type Relation = 'related' | 'unrelated' | 'unknown'

/** One thing in common relates two tasks; otherwise different labels or parents separate them. */
export function relationBetween(a: PlannedTask, b: PlannedTask): Relation {
  const isRelated =
    a.dependsOn.includes(b.id) ||
    b.dependsOn.includes(a.id) ||
    a.parent === b.id ||
    b.parent === a.id ||
    (a.parent && a.parent === b.parent) ||
    (a.group && a.group === b.group) ||
    a.labels.some((label) => b.labels.includes(label))
  if (isRelated) return 'related'
  const haveLabels = a.labels.length > 0 && b.labels.length > 0
  return (a.parent && b.parent) || haveLabels ? 'unrelated' : 'unknown'
}

export function relationToAll(task: PlannedTask, others: readonly PlannedTask[]): Relation {
  const relations = new Set(others.map((other) => relationBetween(task, other)))
  if (relations.has('related')) return 'related'
  return relations.has('unrelated') ? 'unrelated' : 'unknown'
}

interface SizedTask {
  readonly size?: string
  readonly title: string
  readonly description: string
  readonly details?: string
  readonly checklist?: readonly unknown[]
  readonly children?: readonly unknown[]
}

const CLASSES: Readonly<Record<string, SizeClass>> = {
  XS: 'small',
  S: 'small',
  M: 'medium',
  L: 'large',
  XL: 'large',
}

/** A checklist item counts as a sentence or two, however short. */
const ITEM = 150

/** By its own size, else by how long its text is. */
export function sizeClassOf(
  { size = '', title, description, details = '', checklist = [], children = [] }: SizedTask,
  { length: limits }: PlanSettings = DEFAULT_PLAN,
): SizeClass {
  const given = size.trim().toUpperCase()
  if (Object.hasOwn(CLASSES, given)) return CLASSES[given]!
  // Its parts are separate tasks; only joining them is left.
  if (children.length > 0) return 'small'
  const length = title.length + description.length + details.length + ITEM * checklist.length
  if (length >= limits.largeFrom) return 'large'
  return length > limits.smallUpTo ? 'medium' : 'small'
}
