// Which tasks are begun now, beside those that run. Pure.
import { type Specialist, proposeSpecialist } from '../../backlog/specialist.ts'
import { type Task, isTaskOpen } from '../../backlog/task.ts'
import { KnownPaths, type Touches, overlapOf, touchesOf } from '../delegate/overlap.ts'
import { fewOf } from '../worktree/remove-if-clean.ts'
import { runGit } from '../../git/run-git.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { defined } from '../../text/defined.ts'
import { type PlannedWave, type RunPlan, planRun } from '../loop/plan-run.ts'
import type { RunOptions } from '../options.ts'
import { shareOf } from '../report.ts'
import { openSource } from '../sources/open-source.ts'

/** A task with the files that it will probably change. */
export interface Candidate {
  readonly task: Task
  readonly touches: Touches
}

export interface Situation {
  /** What can be worked on, in the order in which it would be one after the other. */
  readonly tasks: readonly Candidate[]
  /** What was begun and is neither in the target nor given up. */
  readonly running: readonly Candidate[]
  /** Completed, with its work in the target. */
  readonly isDone: (task: string) => boolean
  readonly most: number
}

export interface Held {
  readonly task: Task
  readonly because: string
}

export interface NextTasks {
  readonly start: readonly Candidate[]
  readonly waits: readonly Held[]
}

/**
 * What is begun now. What depends on something waits until that is in the target; what comes behind something by the kind
 * of its work waits for that; what changes the same files goes one after the other. As long as anything can be begun and nothing
 * runs, something is.
 */
export function nextTasks({ tasks, running, isDone, most }: Situation): NextTasks {
  const before = waitsOf(tasks, running, isDone)
  const start: Candidate[] = []
  const waits: Held[] = []
  const inTheWay: Candidate[] = []
  const room = most - running.length
  for (const candidate of tasks) {
    const { task } = candidate
    const [wait] = before.get(task.id)!.values()
    // Beside one that waits for its files nothing is begun that would make it wait longer.
    const conflict =
      wait === undefined ? conflictWith(candidate, [...running, ...start, ...inTheWay]) : undefined
    if (wait !== undefined) waits.push({ task, because: wait })
    else if (conflict !== undefined) {
      inTheWay.push(candidate)
      waits.push({ task, because: conflict })
    } else if (start.length >= room) waits.push({ task, because: `${most} at once is the most` })
    else start.push(candidate)
  }
  return { start, waits }
}

/** What each task waits for, and why. */
function waitsOf(
  tasks: readonly Candidate[],
  running: readonly Candidate[],
  isDone: Situation['isDone'],
): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const names = new Map([...running, ...tasks].map(({ task }) => [task.id, task.shortname]))
  const waits = new Map<string, Map<string, string>>()
  for (const { task } of tasks) {
    const open = [...new Set([...task.dependsOn, ...task.children])].filter((id) => !isDone(id))
    waits.set(task.id, new Map(open.map((id) => [id, `waits for ${names.get(id) ?? id}`])))
  }
  const addUnlessCircular = (first: Task, second: Task, because: string) => {
    const own = waits.get(second.id)
    // Of rules that contradict each other the later ones are left out, so that the order of the backlog decides.
    if (own === undefined || own.has(first.id) || doesWaitFor(waits, first.id, second.id)) return
    own.set(first.id, `waits for ${first.shortname}: ${because}`)
  }
  const all = [...running, ...tasks]
  for (const [index, { task: one }] of all.entries()) {
    for (const { task: other } of all.slice(Math.max(index + 1, running.length))) {
      const pair = pairOf(one, other)
      if (pair === undefined || pair.how === 'together') continue
      if (pair.how === 'first before second') addUnlessCircular(one, other, pair.because)
      else addUnlessCircular(other, one, pair.because)
    }
  }
  return waits
}

function doesWaitFor(
  waits: ReadonlyMap<string, ReadonlyMap<string, string>>,
  task: string,
  wanted: string,
): boolean {
  const seen = new Set<string>()
  const left = [task]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (next === wanted) return true
    if (seen.has(next)) continue
    seen.add(next)
    left.push(...(waits.get(next)?.keys() ?? []))
  }
  return false
}

function conflictWith(candidate: Candidate, others: readonly Candidate[]): string | undefined {
  for (const { task, touches } of others) {
    const { how, paths } = overlapOf(candidate.touches, touches)
    if (how === 'none') continue
    return `goes after ${task.shortname}, which ${how === 'likely' ? 'probably ' : ''}changes ${fewOf(paths, 2)} too`
  }
  return undefined
}

/** How two tasks go: the first of them before the second, the other way round, or at once. */
export interface Pair {
  readonly how: 'together' | 'first before second' | 'second before first'
  readonly because: string
}

type Kind = 'research' | 'architect' | 'code' | 'documentation' | 'tests' | 'reviewer'

/** Whoever mends or builds changes code too. */
const KIND_OF: Readonly<Record<Specialist, Kind>> = {
  architect: 'architect',
  code: 'code',
  debugger: 'code',
  devops: 'code',
  reviewer: 'reviewer',
  documentation: 'documentation',
  research: 'research',
  tests: 'tests',
}

/** What comes before what. Everything else goes together: code with its documentation and its tests, a design with research. */
const BEFORE: readonly (readonly [Kind, Kind])[] = [
  ['research', 'code'],
  ['code', 'reviewer'],
]

/**
 * How two tasks of one piece of work go; undefined when they have nothing to do with each other. What one says it depends
 * on is not looked at here: that holds in any case.
 */
export function pairOf(first: Task, second: Task): Pair | undefined {
  if (isSaid(first.group) && first.group === second.group)
    return { how: 'together', because: `both are in the group ${first.group}` }
  if (!areOfOnePiece(first, second)) return undefined
  const [one, other] = [kindOf(first), kindOf(second)]
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

/** Each task is compared with all the others, and its words say the same every time. */
const known = new WeakMap<Task, Kind>()

function kindOf(task: Task): Kind {
  const kind = known.get(task) ?? KIND_OF[proposeSpecialist(task).specialist]
  known.set(task, kind)
  return kind
}

function areOfOnePiece(a: Task, b: Task): boolean {
  if (isSaid(a.parent) && a.parent === b.parent) return true
  return a.labels.some((label) => /^epic\b/i.test(label) && b.labels.includes(label))
}

function isSaid(value: string | undefined): value is string {
  return value !== undefined && value !== ''
}

/** What a run would do, whether it works on one task at a time or on several. */
export async function planAnyRun(workspace: Workspace, options: RunOptions): Promise<RunPlan> {
  return options.parallel === undefined
    ? planRun(workspace, options)
    : planParallel(workspace, options)
}

/** What a run of several at once would do, if every task took what is forecast. Begins nothing. */
export async function planParallel(workspace: Workspace, options: RunOptions): Promise<RunPlan> {
  const most = options.parallel ?? 1
  // A delegate has one task, and so one conversation.
  const plan = await planRun(workspace, { ...options, batch: 'one' })
  const backlog = await (await openSource(workspace, options.backlog)).read()
  const candidate = candidatesIn(workspace.place.repository?.worktree)
  const planned = plan.sessions.flatMap(({ tasks, seconds }) =>
    tasks.map((task) => ({ ...task, seconds })),
  )
  const tasks = planned.flatMap(({ task: { id } }) => {
    const task = backlog.byId.get(id)
    return task === undefined ? [] : [candidate(task)]
  })
  const secondsOf = new Map(planned.map(({ task, seconds }) => [task.id, seconds]))
  const isDoneBefore = (id: string) => backlog.byId.has(id) && !isTaskOpen(backlog.byId.get(id)!)
  const { begun, seconds } = playOut(tasks, most, isDoneBefore, (id) => secondsOf.get(id) ?? 0)
  const stretches = begun.map(({ id, at }) => ({
    task: id,
    from: at * 1000,
    to: (at + secondsOf.get(id)!) * 1000,
  }))
  const moments = [...new Set(begun.map(({ at }) => at))]
  const waves = moments.map((at): PlannedWave => {
    const own = begun.filter((one) => one.at === at)
    return {
      at,
      tasks: own.map(({ id, because }) => ({
        task: planned.find(({ task }) => task.id === id)!.task,
        ...defined({ because }),
      })),
    }
  })
  return { ...plan, parallel: { most, waves, seconds, ...shareOf(stretches, seconds) } }
}

interface Begun {
  readonly id: string
  readonly at: number
  /** What it had waited for. */
  readonly because?: string
}

/** As if each took its time and nothing failed. */
function playOut(
  tasks: readonly Candidate[],
  most: number,
  isDoneBefore: (id: string) => boolean,
  secondsOf: (id: string) => number,
): { readonly begun: readonly Begun[]; readonly seconds: number } {
  const begun: Begun[] = []
  const done = new Set<string>()
  const because = new Map<string, string>()
  let left = tasks
  let running: { readonly candidate: Candidate; readonly ends: number }[] = []
  let now = 0
  for (;;) {
    const isDone = (id: string) => done.has(id) || isDoneBefore(id)
    const { start, waits } = nextTasks({
      tasks: left,
      running: running.map(({ candidate }) => candidate),
      isDone,
      most,
    })
    for (const { task, because: why } of waits) because.set(task.id, why)
    for (const candidate of start) {
      const { id } = candidate.task
      const why = because.get(id)
      begun.push({ id, at: now, ...defined({ because: why }) })
      running.push({ candidate, ends: now + secondsOf(id) })
    }
    left = left.filter((candidate) => !start.includes(candidate))
    if (running.length === 0) return { begun, seconds: now }
    now = Math.min(...running.map(({ ends }) => ends))
    for (const { candidate, ends } of running) if (ends <= now) done.add(candidate.task.id)
    running = running.filter(({ ends }) => ends > now)
  }
}

/** Tasks with the files that they will probably change, as far as a working tree tells. `files` are those of an order. */
export function candidatesIn(
  tree: string | undefined,
): (task: Task, files?: readonly string[]) => Candidate {
  const listed = tree === undefined ? [] : runGit(tree, ['ls-files', '-z']).split('\0')
  const known = new KnownPaths(listed.filter((path) => path !== ''))
  return (task, files) => ({ task, touches: touchesOf(task, known, files) })
}
