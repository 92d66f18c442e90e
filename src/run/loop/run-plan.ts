import type { Forecast, SizeClass } from '../plan/contract.ts'
import type { Complexity } from '../../document/export/work.ts'
import type { TaskDomain, Tracking } from '../plan/complexity.ts'
import type { ParallelReport, TaskName } from '../report.ts'

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
