import type { Backlog } from '../../backlog/backlog.ts'
import { criteriaFor } from '../../backlog/waits.ts'
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

/** A task as the planner sees it. */
export function plannedTask(
  task: Task,
  backlog: Pick<Backlog, 'unsized'>,
  settings: PlanSettings = DEFAULT_PLAN,
): PlannedTask {
  const { size, ...unsized } = task
  return {
    id: task.id,
    sizeClass: sizeClassOf(backlog.unsized.has(task.id) ? unsized : { ...unsized, size }, settings),
    labels: task.labels,
    dependsOn: task.dependsOn,
    ...defined({ parent: task.parent, group: task.group }),
  }
}

/** Related before unknown before unrelated. */
const NEARNESS: Readonly<Record<Relation, number>> = { related: 0, unknown: 1, unrelated: 2 }

/** What is begun and what has priority goes before anything; what goes together, before what is small or frees others. */
const BEFORE_NEARNESS = 2

/** As many tasks as a conversation takes. What was done longer ago no longer draws others after it. */
const TOGETHER = 8

/**
 * Everything that can be worked on, in order, as if each task were completed in its turn. What waits for something that
 * cannot be completed is not in it. `done` are the tasks of the live conversation, the latest last.
 */
export function orderOfWork(
  backlog: Backlog,
  done: readonly PlannedTask[] = [],
  settings: PlanSettings = DEFAULT_PLAN,
): readonly PlannedTask[] {
  const criteria = criteriaFor(backlog)
  const waits = new Waits(backlog)
  // Each is judged by the same ranks from the beginning: only whether it can start, and what goes before it, changes.
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
  let together = done.slice(-TOGETHER)
  while (ready.size > 0) {
    let best:
      | { id: string; task: PlannedTask; key: readonly number[]; relation: Relation }
      | undefined
    for (const id of ready) {
      const { task, ranks } = candidates.get(id)!
      const relation = relationToAll(task, together)
      const key = [
        ...ranks.slice(0, BEFORE_NEARNESS),
        NEARNESS[relation],
        ...ranks.slice(BEFORE_NEARNESS),
      ]
      if (best === undefined || isBefore(key, best.key)) best = { id, task, key, relation }
    }
    const { id, task, relation } = best!
    ready.delete(id)
    ordered.push(task)
    together = relation === 'unrelated' ? [task] : [...together, task].slice(-TOGETHER)
    for (const freed of waits.complete(id)) if (candidates.has(freed)) ready.add(freed)
  }
  return ordered
}

function isBefore(a: readonly number[], b: readonly number[]): boolean {
  const place = a.findIndex((value, index) => value !== b[index])
  return place !== -1 && a[place]! < b[place]!
}

/** How many things each task still waits for: its dependencies, and the parts it is made of. */
class Waits {
  readonly #left = new Map<string, Set<string>>()
  readonly #waiting = new Map<string, string[]>()

  constructor(backlog: Backlog) {
    for (const task of backlog.tasks) {
      const isOpen = (id: string) => {
        const other = backlog.byId.get(id)
        return other === undefined || isTaskOpen(other)
      }
      const left = new Set([...task.dependsOn, ...task.children].filter(isOpen))
      this.#left.set(task.id, left)
      for (const id of left) this.#waiting.set(id, [...(this.#waiting.get(id) ?? []), task.id])
    }
  }

  isFree(id: string): boolean {
    return this.#left.get(id)?.size === 0
  }

  /** The tasks that wait for nothing any more. */
  complete(id: string): readonly string[] {
    const waiting = this.#waiting.get(id) ?? []
    for (const other of waiting) this.#left.get(other)?.delete(id)
    return waiting.filter((other) => this.isFree(other))
  }
}

export type Relation = 'related' | 'unrelated' | 'unknown'

/**
 * Whether what one task needs to know helps with the other. One thing that they share is enough; that they differ in a
 * label or in what they are part of says that they do not; and where nothing is known they may go together.
 */
export function areRelated(a: PlannedTask, b: PlannedTask): Relation {
  if (a.dependsOn.includes(b.id) || b.dependsOn.includes(a.id)) return 'related'
  if (a.parent === b.id || b.parent === a.id) return 'related'
  if (isSame(a.parent, b.parent) || isSame(a.group, b.group)) return 'related'
  if (a.labels.some((label) => b.labels.includes(label))) return 'related'
  const haveParents = isSaid(a.parent) && isSaid(b.parent)
  const haveLabels = a.labels.length > 0 && b.labels.length > 0
  return haveParents || haveLabels ? 'unrelated' : 'unknown'
}

/** How a task stands to those of a conversation: one that it goes together with is enough, else one that it does not. */
export function relationToAll(task: PlannedTask, others: readonly PlannedTask[]): Relation {
  let relation: Relation = 'unknown'
  for (const other of others) {
    const one = areRelated(task, other)
    if (one === 'related') return one
    if (one === 'unrelated') relation = one
  }
  return relation
}

function isSame(a: string | undefined, b: string | undefined): boolean {
  return isSaid(a) && a === b
}

function isSaid(value: string | undefined): boolean {
  return value !== undefined && value !== ''
}

/** What of a task tells how big it is. */
export interface SizedTask {
  /** Absent when nobody said it. */
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

/** An item of a checklist is work like a sentence or two, however short it is put. */
const ITEM = 150

/** How big a task is: as it says itself, else by how much there is to say about it. */
export function sizeClassOf(task: SizedTask, settings: PlanSettings = DEFAULT_PLAN): SizeClass {
  const said = (task.size ?? '').trim().toUpperCase()
  if (Object.hasOwn(CLASSES, said)) return CLASSES[said]!
  // Its parts are tasks of their own, whatever it says about them: what is left is to bring them together.
  if ((task.children ?? []).length > 0) return 'small'
  const length =
    task.title.length +
    task.description.length +
    (task.details ?? '').length +
    ITEM * (task.checklist ?? []).length
  if (length >= settings.length.largeFrom) return 'large'
  return length > settings.length.smallUpTo ? 'medium' : 'small'
}
