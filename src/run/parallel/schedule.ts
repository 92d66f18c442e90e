import { type Specialist, proposeSpecialist } from '../../backlog/specialist.ts'
import { type Task, isTaskOpen } from '../../backlog/task.ts'
import { dependencyPath } from '../../backlog/task-graph.ts'

import type { Workspace } from '../../project/store/workspace.ts'
import { defined } from '../../text/defined.ts'
import {
  KnownPaths,
  type TouchedFiles,
  findOverlap,
  findTouchedFiles,
} from '../delegate/overlap.ts'
import { type RunPlan, planRun } from '../loop/plan-run.ts'
import type { RunOptions } from '../options.ts'
import { computeParallelShare } from '../report.ts'
import { openBacklogSource } from '../sources/open-backlog-source.ts'
import { abbreviateList } from '../worktree/remove-worktree.ts'

export interface Candidate {
  readonly task: Task
  readonly touches: TouchedFiles
}

interface ScheduleInput {
  /** Tasks that can be worked on, in the order of a sequential run. */
  readonly tasks: readonly Candidate[]
  /** Started, and neither in the target nor given up. */
  readonly running: readonly Candidate[]
  /** Completed, with its work in the target. */
  readonly isDone: (task: string) => boolean
  readonly most: number
}

interface ScheduledTasks {
  readonly start: readonly Candidate[]
  readonly waits: readonly { readonly task: Task; readonly because: string }[]
}

/**
 * A task waits until its dependencies are in the target, for kinds of work that come before it, and for tasks that change
 * the same files. If nothing runs and anything can start, something starts.
 */
export function scheduleTasks({ tasks, running, isDone, most }: ScheduleInput): ScheduledTasks {
  const before = findWaits(tasks, running, isDone)
  const start: Candidate[] = []
  const waits: ScheduledTasks['waits'][number][] = []
  const conflicting: Candidate[] = []
  const room = most - running.length
  for (const candidate of tasks) {
    const { task } = candidate
    const [wait] = before.get(task.id)!.values()
    // Nothing starts that would make an earlier task wait longer for its files.
    const conflict =
      wait === undefined
        ? conflictWith(candidate, [...running, ...start, ...conflicting])
        : undefined
    const because =
      wait ?? conflict ?? (start.length >= room ? `${most} at once is the most` : undefined)
    if (conflict !== undefined) conflicting.push(candidate)
    if (because === undefined) start.push(candidate)
    else waits.push({ task, because })
  }
  return { start, waits }
}

function findWaits(
  tasks: readonly Candidate[],
  running: readonly Candidate[],
  isDone: ScheduleInput['isDone'],
): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const all = [...running, ...tasks]
  const names = new Map(all.map(({ task }) => [task.id, task.shortname]))
  const waits = new Map<string, Map<string, string>>()
  for (const { task } of tasks) {
    const open = [...new Set([...task.dependsOn, ...task.children])].filter((id) => !isDone(id))
    waits.set(task.id, new Map(open.map((id) => [id, `waits for ${names.get(id) ?? id}`])))
  }
  const waitsFor = (id: string) => [...(waits.get(id)?.keys() ?? [])]
  const addUnlessCircular = (first: Task, second: Task, because: string) => {
    const own = waits.get(second.id)
    // A rule that would close a cycle is dropped, so that the backlog order decides.
    if (own === undefined || own.has(first.id) || dependencyPath(first.id, second.id, waitsFor))
      return
    own.set(first.id, `waits for ${first.shortname}: ${because}`)
  }
  for (const [index, { task: one }] of all.entries()) {
    for (const { task: other } of all.slice(Math.max(index + 1, running.length))) {
      const { how, because = '' } = orderPair(one, other) ?? {}
      if (how === 'first before second') addUnlessCircular(one, other, because)
      else if (how === 'second before first') addUnlessCircular(other, one, because)
    }
  }
  return waits
}

function conflictWith(candidate: Candidate, others: readonly Candidate[]): string | undefined {
  for (const { task, touches } of others) {
    const { how, paths } = findOverlap(candidate.touches, touches)
    if (how === 'none') continue
    return `goes after ${task.shortname}, which ${how === 'likely' ? 'probably ' : ''}changes ${abbreviateList(paths, 2)} too`
  }
  return undefined
}

interface PairOrder {
  readonly how: 'together' | 'first before second' | 'second before first'
  readonly because: string
}

type Kind = Exclude<Specialist, 'debugger' | 'devops'>

/** All other pairs may run together. */
const BEFORE: readonly (readonly [Kind, Kind])[] = [
  ['research', 'code'],
  ['code', 'reviewer'],
]

/** The order of two related tasks, apart from dependencies; undefined for unrelated tasks. */
export function orderPair(first: Task, second: Task): PairOrder | undefined {
  if (first.group && first.group === second.group)
    return { how: 'together', because: `both are in the group ${first.group}` }
  if (!areRelatedWork(first, second)) return undefined
  const [one, other] = [taskKind(first), taskKind(second)]
  for (const [earlier, later] of BEFORE) {
    const because = `${earlier} comes before ${later === 'reviewer' ? 'its review' : later}`
    if (one === earlier && other === later) return { how: 'first before second', because }
    if (other === earlier && one === later) return { how: 'second before first', because }
  }
  return {
    how: 'together',
    because: one === other ? `both are ${one}` : `${one} goes together with ${other}`,
  }
}

/** A cache, because each task is compared with all the others. */
const kindCache = new WeakMap<Task, Kind>()

function taskKind(task: Task): Kind {
  const remembered = kindCache.get(task)
  if (remembered !== undefined) return remembered
  const { specialist } = proposeSpecialist(task)
  // These change code too.
  const kind = specialist === 'debugger' || specialist === 'devops' ? 'code' : specialist
  kindCache.set(task, kind)
  return kind
}

function areRelatedWork(a: Task, b: Task): boolean {
  if (a.parent && a.parent === b.parent) return true
  return a.labels.some((label) => /^epic\b/i.test(label) && b.labels.includes(label))
}

export async function planAnyRun(workspace: Workspace, options: RunOptions): Promise<RunPlan> {
  return (options.parallel === undefined ? planRun : planParallel)(workspace, options)
}

export async function planParallel(workspace: Workspace, options: RunOptions): Promise<RunPlan> {
  const most = options.parallel ?? 1
  // A delegate has one task, so one conversation.
  const plan = await planRun(workspace, { ...options, batch: 'one' })
  const { byId } = await (await openBacklogSource(workspace, options.backlog)).read()
  const candidate = candidatesIn(workspace.paths.repository?.worktree)
  const planned = plan.sessions.flatMap(({ tasks, seconds }) =>
    tasks.map(({ task }) => ({ task, seconds })),
  )
  const tasks = planned.flatMap(({ task: { id } }) => {
    const task = byId.get(id)
    return task === undefined ? [] : [candidate(task)]
  })
  const isDone = (id: string) => byId.has(id) && !isTaskOpen(byId.get(id)!)
  const plannedOf = new Map(planned.map((one) => [one.task.id, one]))
  const secondsOf = (id: string) => plannedOf.get(id)?.seconds ?? 0
  const { started, seconds } = simulate(tasks, most, isDone, secondsOf)
  const intervals = started.map(({ id, at }) => ({
    task: id,
    from: at * 1000,
    to: (at + secondsOf(id)) * 1000,
  }))
  const waves = [...new Set(started.map(({ at }) => at))].map((at) => ({
    at,
    tasks: started
      .filter((one) => one.at === at)
      .map(({ id, because }) => ({ task: plannedOf.get(id)!.task, ...defined({ because }) })),
  }))
  return {
    ...plan,
    parallel: { most, waves, seconds, ...computeParallelShare(intervals, seconds) },
  }
}

function simulate(
  tasks: readonly Candidate[],
  most: number,
  isDoneBefore: (id: string) => boolean,
  secondsOf: (id: string) => number,
) {
  const started: { readonly id: string; readonly at: number; readonly because?: string }[] = []
  const done = new Set<string>()
  const because = new Map<string, string>()
  let left = tasks
  let running: { readonly candidate: Candidate; readonly ends: number }[] = []
  let now = 0
  for (;;) {
    const { start, waits } = scheduleTasks({
      tasks: left,
      running: running.map(({ candidate }) => candidate),
      isDone: (id) => done.has(id) || isDoneBefore(id),
      most,
    })
    for (const { task, because: why } of waits) because.set(task.id, why)
    for (const candidate of start) {
      const { id } = candidate.task
      started.push({ id, at: now, ...defined({ because: because.get(id) }) })
      running.push({ candidate, ends: now + secondsOf(id) })
    }
    left = left.filter((candidate) => !start.includes(candidate))
    if (running.length === 0) return { started, seconds: now }
    now = Math.min(...running.map(({ ends }) => ends))
    for (const { candidate, ends } of running) if (ends <= now) done.add(candidate.task.id)
    running = running.filter(({ ends }) => ends > now)
  }
}

/** Guesses the files a task will change from the working tree, unless `files` are given. */
export function candidatesIn(
  tree: string | undefined,
): (task: Task, files?: readonly string[]) => Candidate {
  const paths = KnownPaths.inTree(tree)
  return (task, files) => ({ task, touches: findTouchedFiles(task, paths, files) })
}
