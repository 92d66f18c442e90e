import { priceOf } from '../../context/budget/prices.ts'
import { pointFor } from '../../harness/registry.ts'
import { type Forecast, forecastsFrom } from '../plan/forecast.ts'
import { type PlannedTask, orderOfWork } from '../plan/order.ts'
import type { SizeClass } from '../../project/config/run-config.ts'
import { type Standing, planSessions } from '../plan/decide.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import type { Backlog } from '../../backlog/backlog.ts'
import { type Task, isTaskOpen } from '../../backlog/task.ts'
import { openSource } from '../sources/open-source.ts'
import { finishedTasks } from '../runs.ts'
import { harnessNamed, pointOfModel } from '../harnesses.ts'
import { USUAL_BASE } from './loop.ts'
import { type RunOptions, resolveOptions } from '../options.ts'
import {
  type TaskDomain,
  type Tracking,
  classOfRun,
  classOfTask,
  domainOfRun,
  domainOfTask,
  trackingFor,
} from '../plan/complexity.ts'
import { type Profile, loadProfiles, profileFor } from '../profiles/profile.ts'
import { Selection } from './selection.ts'
import { nameOf } from '../attempt/agent-environment.ts'
import { defined } from '../../text/defined.ts'
import type { Complexity } from '../../document/export/work.ts'
import type { ParallelReport, TaskName } from '../entries.ts'

/** What a run would do, and why, if every task took what is forecast. Begins nothing. */
export async function planRun(workspace: Workspace, options: RunOptions): Promise<RunPlan> {
  const settled = resolveOptions(workspace, options)
  const { plan } = workspace.config.run
  const harness = await harnessNamed(
    settled.harness,
    workspace,
    settled.script === undefined ? {} : { script: settled.script },
  )
  const source = await openSource(workspace, options.backlog)
  const backlog = await source.read()
  const selection = new Selection(backlog, options)
  const order = orderOfWork(
    selection.within(backlog, () => false),
    [],
    plan,
  ).slice(0, mostTasks(options))
  const finished = finishedTasks(workspace.place, harness.name)
  const forecasts = forecastsFrom(finished)
  const mode = harness.capabilities.multiTurn ? settled.batch : 'one'
  const sessions = planSessions(
    order,
    beginning(workspace, settled.harness, settled.model),
    forecasts,
    mode,
    plan,
  )
  const planned = new Set(order.map(({ id }) => id))
  const { profiles } = loadProfiles(workspace.place.repository?.worktree ?? workspace.place.root)
  const tasks = order.map(({ id }) => backlog.byId.get(id)!)
  const { complexity } = classOfRun({ tasks })
  return {
    source: source.name,
    harness: harness.name,
    complexity,
    domain: domainOfRun(tasks.map((task) => domainOfTask(task).domain)),
    tracking: trackingFor(complexity).level,
    ...defined({ model: settled.model }),
    sessions: sessions.slice(0, options.maxSessions ?? Infinity).map((session) => ({
      ...session,
      tasks: session.tasks.map(({ task, forecast }) =>
        plannedRunTask(backlog.byId.get(task.id)!, task.sizeClass, forecast, profiles),
      ),
    })),
    waiting: selection
      .open(backlog)
      .filter(({ id }) => !planned.has(id))
      .map((task) => ({ task: nameOf(task), reason: whyWaiting(backlog, task) })),
    notes: notes(order, finished.length, harness.capabilities.multiTurn, settled.model, workspace),
  }
}

/** How long a run will probably take, from what is forecast. */
export async function expectedSeconds(workspace: Workspace, options: RunOptions): Promise<number> {
  const { sessions } = await planRun(workspace, options)
  return sessions.reduce((sum, { seconds }) => sum + seconds, 0)
}

function plannedRunTask(
  task: Task,
  sizeClass: SizeClass,
  forecast: Forecast,
  profiles: readonly Profile[],
): PlannedRunTask {
  const chosen = profileFor(task, profiles)
  return {
    task: nameOf(task),
    sizeClass,
    forecast,
    complexity: classOfTask(task).complexity,
    domain: domainOfTask(task).domain,
    ...(chosen === undefined
      ? {}
      : { profile: { name: chosen.profile.name, because: chosen.because } }),
  }
}

function mostTasks({ once, maxTasks = Infinity }: RunOptions): number {
  return once === true ? 1 : maxTasks
}

function beginning(workspace: Workspace, harness: string, model: string | undefined): Standing {
  const { budget, prices } = workspace.config
  const point =
    pointOfModel(harness, model, workspace.config) ??
    pointFor(harness, workspace.env, workspace.place.root)(undefined, model)
  const price = model === undefined ? undefined : priceOf(model, prices)?.price
  return {
    context: 0,
    base: USUAL_BASE,
    smartZone: budget.smartZone,
    done: [],
    isWarm: false,
    ...defined({ point, price }),
  }
}

function whyWaiting(backlog: Backlog, task: Backlog['tasks'][number]): WaitingTask['reason'] {
  if (task.status === 'failed')
    return `failed, and --task ${task.shortname} tries it again${task.summary === undefined ? '' : `: ${task.summary}`}`
  if (task.status === 'blocked')
    return `blocked, and --task ${task.shortname} takes it up${task.summary === undefined ? '' : `: ${task.summary}`}`
  const waits = [...task.dependsOn, ...task.children].flatMap((id) => {
    const other = backlog.byId.get(id)
    if (other === undefined) return [`${id}, which is not in the backlog`]
    return isTaskOpen(other)
      ? [
          other.status === 'ready' || other.status === 'in_progress'
            ? other.shortname
            : `${other.shortname} (${other.status})`,
        ]
      : []
  })
  return waits.length === 0 ? 'beyond what this run may do' : `waits for ${waits.join(', ')}`
}

function notes(
  order: readonly PlannedTask[],
  finished: number,
  isMultiTurn: boolean,
  model: string | undefined,
  { config }: Workspace,
): readonly string[] {
  if (order.length === 0) return []
  const hasPrice = model !== undefined && priceOf(model, config.prices) !== undefined
  return [
    finished === 0
      ? 'forecasts rest on the table that comes with Stint: no task was done by a run here yet'
      : `forecasts rest on ${finished} tasks that runs did here`,
    ...(isMultiTurn ? [] : ['this harness takes one task a conversation']),
    ...(hasPrice
      ? []
      : [
          `what it costs is not known${model === undefined ? ' without --model' : ` for ${model}`}`,
        ]),
  ]
}

/** What a run would do, before it does anything. */
export interface RunPlan {
  /** Where the tasks are from, as a person would say it. */
  readonly source: string
  readonly harness: string
  readonly model?: string
  /** How big the whole is, and what that makes the run write down. */
  readonly complexity: Complexity
  readonly domain: TaskDomain
  readonly tracking: Tracking['level']
  readonly sessions: readonly PlannedRunSession[]
  /** Tasks that cannot be begun. */
  readonly waiting: readonly WaitingTask[]
  /** What a person should know besides: what the forecasts rest on, what the harness cannot do. */
  readonly notes: readonly string[]
  /** Of a run that works on several tasks at once. */
  readonly parallel?: PlannedParallel
}

export interface PlannedParallel extends Omit<ParallelReport, 'delegates'> {
  readonly waves: readonly PlannedWave[]
  /** How long all of it would take. */
  readonly seconds: number
}

/** Tasks that would be begun at one moment. */
export interface PlannedWave {
  /** Seconds from the start. */
  readonly at: number
  /** `because`: what it had to wait for. */
  readonly tasks: readonly { readonly task: TaskName; readonly because?: string }[]
}

export interface PlannedRunTask {
  readonly task: TaskName
  readonly sizeClass: SizeClass
  readonly forecast: Forecast
  readonly complexity: Complexity
  readonly domain: TaskDomain
  /** The agent profile that it would be given. */
  readonly profile?: { readonly name: string; readonly because: string }
}

export interface PlannedRunSession {
  readonly tasks: readonly PlannedRunTask[]
  /** Why it begins here and not in the conversation before it. */
  readonly because: string
  /** Tokens in the context at its end, in the middle and at the margin. */
  readonly context: { readonly middle: number; readonly margin: number }
  /** Absent when a price is unknown. */
  readonly usd?: number
  readonly seconds: number
}

export interface WaitingTask {
  readonly task: TaskName
  readonly reason: string
}
