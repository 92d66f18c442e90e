// What the planner is asked and answers. Pure: no files, no clock, no chance.
import type { Price } from '../../context/budget/prices.ts'
import type { SizeClass } from '../../project/config/plan-settings.ts'
import type { Usage } from '../../session/entries.ts'

export type { SizeClass }

export interface PlannedTask {
  readonly id: string
  readonly sizeClass: SizeClass
  readonly labels: readonly string[]
  readonly dependsOn: readonly string[]
  readonly parent?: string
  readonly group?: string
}

/** One task that was done, as a run's log tells it. Lists of them have the earliest first. */
export interface FinishedTask {
  readonly sizeClass: SizeClass
  /** Tokens that it added to the history of its conversation. */
  readonly added: number
  readonly requests: number
  readonly output: number
  readonly seconds: number
  /** The conversation was compacted while it was done, so that `added` is a lower bound. */
  readonly wasCompacted: boolean
  /** It was the first of its conversation, and paid for finding its way. */
  readonly wasFirst: boolean
  /** What had been forecast at the margin, when it was: `marginOf` says it. */
  readonly forecast?: number
}

/** What a task of a class will probably take. */
export interface Forecast {
  /** Tokens it adds: half the tasks stay below the first, nearly all below the second. */
  readonly added: { readonly middle: number; readonly margin: number }
  readonly requests: number
  readonly output: number
  readonly seconds: number
  /** `history`: from so many tasks of this project; `prior`: from the table that comes with Stint. */
  readonly from: { readonly source: 'history' | 'prior'; readonly count: number }
}

/** What the first task of a conversation takes besides its own: finding its way. */
export interface Start {
  readonly added: number
  readonly requests: number
  readonly output: number
  readonly seconds: number
}

/** Everything that is foreseen at one moment. */
export interface Forecasts {
  readonly of: Readonly<Record<SizeClass, Forecast>>
  readonly start: Start
  /** The same, towards the dear end of what it may be: how it is weighed against staying, as long as it is not surely known. */
  readonly weighedStart: Start
}

/** A conversation as it is between two tasks. */
export interface Standing {
  /** Tokens in its context now; 0 when there is none yet. */
  readonly context: number
  /** What a fresh conversation begins with: the harness's own prompt, tools and our set-up. */
  readonly base: number
  /** Where the harness compacts; unknown for some. */
  readonly point?: number
  readonly smartZone: number
  /** The tasks that were done in it, the latest last. */
  readonly done: readonly PlannedTask[]
  /** Absent when the model's price is unknown: tokens are weighed as prices usually are to each other. */
  readonly price?: Price
  /** The prefix is still in the provider's cache. */
  readonly isWarm: boolean
}

export interface Decision {
  readonly stay: boolean
  /** In one line, with the figures that decided. */
  readonly because: string
  readonly rule:
    | 'first'
    | 'fits'
    | 'compaction point'
    | 'smart zone'
    | 'cheaper fresh'
    | 'unrelated'
    | 'batch'
    | 'one'
  /** What staying and leaving would cost from here on: US dollars, or tokens of input where the price is unknown. */
  readonly cost?: { readonly stay: number; readonly leave: number }
}

export interface PlannedSession {
  readonly tasks: readonly { readonly task: PlannedTask; readonly forecast: Forecast }[]
  /** Why it begins with its first task, and not the session before it goes on. */
  readonly because: string
  /** Tokens in the context at its end, in the middle and at the margin. */
  readonly context: { readonly middle: number; readonly margin: number }
  readonly tokens: Usage
  readonly usd?: number
  readonly seconds: number
}
