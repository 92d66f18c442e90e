// What a run, each of its sessions and each of its tasks cost, and what one conversation per task would have.
import type { Usage } from '../session/entries.ts'

export interface TaskName {
  readonly id: string
  /** What people and agents call it. */
  readonly name: string
  readonly title: string
}

export interface Spend extends Usage {
  /** Absent when the price of a model is not known. */
  readonly usd?: number
}

export type EndOfRun =
  | 'finished'
  | 'nothing to do'
  | 'waiting' // what is left waits for something that failed or is blocked
  | 'max tasks'
  | 'max sessions'
  | 'budget tokens'
  | 'budget usd'
  | 'max minutes'
  | 'task failed'
  | 'usage limit'
  | 'interrupted'
  | 'harness failed'

export interface TaskReport {
  readonly task: TaskName
  readonly outcome: 'done' | 'parked' | 'blocked' | 'open'
  readonly reason?: string
  readonly attempts: number
  readonly spend: Spend
  readonly seconds: number
  readonly commit?: string
  /** How much longer the history got by it. */
  readonly added?: number
  readonly compactions: number
  /** Where the work of a task that is not done is kept. */
  readonly kept?: string
}

/** Tasks that a run was for and did not come to. */
export interface NeverBegun {
  readonly count: number
  /** The first of them. */
  readonly tasks: readonly TaskName[]
}

export interface SessionReport {
  readonly session: string
  readonly name: string
  readonly conversations: number
  readonly tasks: readonly TaskReport[]
  readonly spend: Spend
  readonly seconds: number
}

export interface RunReport {
  readonly run: string
  readonly harness: string
  readonly models: readonly string[]
  readonly how: EndOfRun | 'running'
  readonly startedAt: string
  readonly seconds: number
  readonly sessions: readonly SessionReport[]
  /** Open, and in none of the sessions; told once it has ended. */
  readonly neverBegun?: NeverBegun
  readonly spend: Spend
  /** The prices that `usd` rests on, or which model has none. */
  readonly prices: string
  readonly compared: Comparison
  /** Where its tasks are, if not in the project's own backlog. */
  readonly backlog?: string
  /** The branch to merge; absent of a run in place. */
  readonly branch?: string
  readonly commits: number
  /** Of a run that works on several tasks at once. */
  readonly parallel?: ParallelReport
}

export interface ParallelReport {
  /** How many tasks it may have worked on at once. */
  readonly most: number
  /** Of the tasks, how many were at some time worked on beside another: from 0 to 1. */
  readonly share: number
  /** What that should be at least. */
  readonly target: number
  /** What one after the other would have taken more; negative when it took longer than that. */
  readonly savedSeconds: number
  readonly delegates: number
}

/** A run in a list of them. */
export interface RunRow {
  readonly id: string
  readonly startedAt: string
  /** `resumable`: it ended, or died, with something left to do that it can go on with. */
  readonly state: 'running' | 'ended' | 'resumable'
  readonly how: RunReport['how']
  readonly harness: string
  readonly done: number
  /** Parked or blocked. */
  readonly failed: number
  readonly open: number
  readonly spend: Spend
}

/** Against one conversation per task. Both sides: what was not said again, and what was read again. Estimates from measured sizes. */
export interface Comparison {
  /** Tokens of set-up that were not said again, because a conversation took several tasks. */
  readonly boilerplateAvoided: number
  /** Tokens of earlier tasks that later requests read again. */
  readonly historyReread: number
  /** What the difference comes to, in dollars; absent where a price is unknown. Positive: the run was cheaper. */
  readonly savedUsd?: number
  /** Tokens of profiles that were indexed and never loaded. */
  readonly profilesNotLoaded: number
}
