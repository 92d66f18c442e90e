import type { Backlog } from '../../backlog/backlog.ts'
import { type Task, isTaskOpen } from '../../backlog/task.ts'
import { findPrice } from '../../context/budget/prices.ts'
import type { SessionComplexity } from '../../document/export/collect-work.ts'
import { compactionPointFor } from '../../harness/registry.ts'
import type { SizeClass } from '../../project/config/run-config.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { defined } from '../../text/defined.ts'
import { toTaskName } from '../attempt/run-context.ts'
import type { ParallelReport, TaskName } from '../entries.ts'
import { configuredCompactionPoint, loadHarness } from './make-run-context.ts'
import { type RunOptions, resolveOptions } from '../options.ts'
import {
  type TaskDomain,
  type TrackingLevel,
  combineDomains,
  findTaskDomain,
  runComplexity,
  taskComplexity,
  trackingLevelFor,
} from '../plan/complexity.ts'
import { planSessions } from '../plan/rotation.ts'
import { type Forecast, forecastsFrom } from '../plan/forecast.ts'
import { orderTasks } from '../plan/order-tasks.ts'
import { loadProfiles, profileFor } from '../profiles/profile.ts'
import { finishedTasks } from '../runs.ts'
import { openBacklogSource } from '../sources/open-backlog-source.ts'
import { DEFAULT_BASE_TOKENS } from './loop.ts'
import { TaskSelection } from './task-selection.ts'

/** Assumes that every task takes what is forecast. Starts nothing. */
export async function planRun(workspace: Workspace, options: RunOptions): Promise<RunPlan> {
  const { config, env, paths } = workspace
  const { plan } = config.run
  const { batch, harness: named, model, script } = resolveOptions(workspace, options)
  const harness = await loadHarness(named, workspace, defined({ script }))
  const { multiTurn } = harness.capabilities
  const source = await openBacklogSource(workspace, options.backlog)
  const backlog = await source.read()
  const selection = new TaskSelection(backlog, options)
  const { maxSessions = Infinity, maxTasks = Infinity, once } = options
  const within = selection.restrict(backlog, () => false)
  const order = orderTasks(within, [], plan).slice(0, once === true ? 1 : maxTasks)
  const finished = finishedTasks(paths, harness.name)
  const point =
    configuredCompactionPoint(named, model, config) ??
    compactionPointFor(named, env, paths.root)(undefined, model)
  const price = model === undefined ? undefined : findPrice(model, config.prices)?.price
  const beginning = {
    context: 0,
    base: DEFAULT_BASE_TOKENS,
    smartZone: config.budget.smartZone,
    done: [],
    isWarm: false,
    ...defined({ point, price }),
  }
  const mode = multiTurn ? batch : 'one'
  const sessions = planSessions(order, beginning, forecastsFrom(finished), mode, plan)
  const planned = new Set(order.map(({ id }) => id))
  const { profiles } = loadProfiles(paths.repository?.worktree ?? paths.root, paths.root)
  const tasks = order.map(({ id }) => backlog.byId.get(id)!)
  const complexity = runComplexity(tasks)
  const plannedTask = (id: string, sizeClass: SizeClass, forecast: Forecast): PlannedRunTask => {
    const task = backlog.byId.get(id)!
    const chosen = profileFor(task, profiles)
    const profile = chosen && { name: chosen.profile.name, because: chosen.because }
    return {
      task: toTaskName(task),
      sizeClass,
      forecast,
      complexity: taskComplexity(task),
      domain: findTaskDomain(task),
      ...defined({ profile }),
    }
  }
  const notes = [
    finished.length === 0
      ? 'forecasts rest on the table that comes with Stint: no task was done by a run here yet'
      : `forecasts rest on ${finished.length} tasks that runs did here`,
    ...(multiTurn ? [] : ['this harness takes one task a conversation']),
    ...(price === undefined
      ? [`what it costs is not known${model === undefined ? ' without --model' : ` for ${model}`}`]
      : []),
  ]
  return {
    source: source.name,
    harness: harness.name,
    complexity,
    domain: combineDomains(tasks.map(findTaskDomain)),
    tracking: trackingLevelFor(complexity),
    ...defined({ model }),
    sessions: sessions.slice(0, maxSessions).map((session) => ({
      ...session,
      tasks: session.tasks.map(({ task, forecast }) =>
        plannedTask(task.id, task.sizeClass, forecast),
      ),
    })),
    waiting: selection
      .openTasks(backlog)
      .filter(({ id }) => !planned.has(id))
      .map((task) => ({ task: toTaskName(task), reason: whyWaiting(backlog, task) })),
    notes: order.length === 0 ? [] : notes,
  }
}

function whyWaiting({ byId }: Backlog, task: Task): string {
  const { dependsOn, children, shortname, status, summary } = task
  const detail = summary === undefined ? '' : `: ${summary}`
  if (status === 'failed') return `failed, and --task ${shortname} tries it again${detail}`
  if (status === 'blocked') return `blocked, and --task ${shortname} takes it up${detail}`
  const waits = [...dependsOn, ...children].flatMap((id) => {
    const other = byId.get(id)
    if (other === undefined) return [`${id}, which is not in the backlog`]
    if (!isTaskOpen(other)) return []
    const isUnderWay = other.status === 'ready' || other.status === 'in_progress'
    return [isUnderWay ? other.shortname : `${other.shortname} (${other.status})`]
  })
  return waits.length === 0 ? 'beyond what this run may do' : `waits for ${waits.join(', ')}`
}

/** What a run would do. */
export interface RunPlan {
  readonly source: string
  readonly harness: string
  readonly model?: string
  /** The size of the work, which decides how much the run records. */
  readonly complexity: SessionComplexity
  readonly domain: TaskDomain
  readonly tracking: TrackingLevel
  readonly sessions: readonly PlannedRunSession[]
  readonly waiting: readonly { readonly task: TaskName; readonly reason: string }[]
  /** What the forecasts are based on, and what the harness cannot do. */
  readonly notes: readonly string[]
  readonly parallel?: PlannedParallel
}

export interface PlannedParallel extends Omit<ParallelReport, 'delegates'> {
  readonly waves: readonly PlannedWave[]
  readonly seconds: number
}

export interface PlannedWave {
  readonly at: number
  readonly tasks: readonly { readonly task: TaskName; readonly because?: string }[]
}

interface PlannedRunTask {
  readonly task: TaskName
  readonly sizeClass: SizeClass
  readonly forecast: Forecast
  readonly complexity: SessionComplexity
  readonly domain: TaskDomain
  readonly profile?: { readonly name: string; readonly because: string }
}

export interface PlannedRunSession {
  readonly tasks: readonly PlannedRunTask[]
  /** Why it does not continue the conversation before it. */
  readonly because: string
  readonly context: { readonly middle: number; readonly margin: number }
  /** Absent when a price is unknown. */
  readonly usd?: number
  readonly seconds: number
}
