import type { Forecast, SizeClass } from '../plan/contract.ts'
import type { TaskName } from './report.ts'

/** What a run would do, before it does anything. */
export interface RunPlan {
  /** Where the tasks are from, as a person would say it. */
  readonly source: string
  readonly harness: string
  readonly model?: string
  readonly sessions: readonly PlannedRunSession[]
  /** Tasks that cannot be begun. */
  readonly waiting: readonly WaitingTask[]
  /** What a person should know besides: what the forecasts rest on, what the harness cannot do. */
  readonly notes: readonly string[]
}

export interface PlannedRunSession {
  readonly tasks: readonly { readonly task: TaskName; readonly sizeClass: SizeClass; readonly forecast: Forecast }[]
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
