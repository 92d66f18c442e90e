// What a run says while it goes on: the live view draws it, `--json` prints it one line each. Each also carries `at`.
import type { EndOfRun, RunReport, Spend, TaskName } from './report.ts'

/** How far a conversation is, against its lines. */
export interface Gauge {
  readonly context: number
  readonly window?: number
  /** Where the harness compacts. */
  readonly point?: number
  readonly smartZone: number
  /** Of the way to the point, in percent. */
  readonly percent?: number
  readonly stages: readonly number[]
}

/** `delegate`: the name of the one that it comes from, of a run that works on several tasks at once. */
export type RunEvent = { readonly at: string; readonly delegate?: string } & (
  | {
      readonly type: 'run.started'
      readonly run: string
      readonly harness: string
      readonly model?: string
      readonly branch?: string
      readonly worktree?: string
      readonly tasks: readonly TaskName[]
      readonly isResumed: boolean
      readonly expectedSeconds?: number
      /** How many tasks it works on at once, if more than one. */
      readonly parallel?: number
    }
  | { readonly type: 'said'; readonly text: string }
  | {
      readonly type: 'session.opened'
      readonly session: string
      readonly name: string
      readonly number: number
      readonly because: string
      readonly planned: readonly TaskName[]
    }
  | {
      readonly type: 'conversation.opened'
      readonly conversation?: string
      readonly number: number
      readonly handoff?: string
    }
  | {
      readonly type: 'task.started'
      readonly task: TaskName
      readonly attempt: number
      readonly place: AttemptPlace
    }
  | {
      readonly type: 'turn.started'
      readonly task: TaskName
      readonly why: 'task' | 'asked' | 'retry'
    }
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'tool'
      readonly name: string
      readonly status: 'started' | 'completed' | 'failed'
      readonly command?: string
      readonly path?: string
    }
  /** How full the conversation is, and what the whole run has spent so far. */
  | { readonly type: 'usage'; readonly gauge: Gauge; readonly spend: Spend }
  | { readonly type: 'stage'; readonly stage: number | 'smart-zone'; readonly gauge: Gauge }
  | { readonly type: 'compaction'; readonly task?: TaskName; readonly tokensBefore?: number }
  | { readonly type: 'verify.started'; readonly task: TaskName; readonly command: string }
  | {
      readonly type: 'verify.ended'
      readonly task: TaskName
      readonly passed: boolean
      readonly seconds: number
      readonly summary?: string
    }
  | {
      readonly type: 'task.done'
      readonly task: TaskName
      readonly commit?: string
      readonly summary?: string
      readonly spend: Spend
      readonly seconds: number
    }
  | {
      readonly type: 'attempt.failed'
      readonly task: TaskName
      readonly attempt: number
      readonly reason: string
      readonly next: AttemptPlace | 'parked'
    }
  | {
      readonly type: 'task.parked'
      readonly task: TaskName
      readonly reason: string
      readonly kept?: string
    }
  | { readonly type: 'task.blocked'; readonly task: TaskName; readonly reason: string }
  | {
      readonly type: 'breaker'
      readonly task: TaskName
      readonly which: Breaker
      readonly detail: string
    }
  | {
      readonly type: 'limit'
      readonly message: string
      readonly resetsAt?: string
      readonly isWaiting: boolean
    }
  | {
      readonly type: 'rotation'
      readonly stay: boolean
      readonly because: string
      readonly next: TaskName
    }
  | {
      readonly type: 'session.closed'
      readonly session: string
      readonly name: string
      readonly because: string
      /** Tasks of it that were done. */
      readonly done: number
      readonly handoff?: string
    }
  /** A task was given to a delegate, or given back to it with what did not go into the run's branch. */
  | {
      readonly type: 'delegate.started'
      readonly delegate: string
      readonly id: string
      readonly task: TaskName
      readonly branch: string
      readonly worktree: string
      readonly isAgain: boolean
    }
  /** Its work is proved, and waits to be merged. */
  | {
      readonly type: 'delegate.ready'
      readonly delegate: string
      readonly task: TaskName
      readonly commit?: string
      readonly summary?: string
    }
  | {
      readonly type: 'delegate.merged'
      readonly delegate: string
      readonly task: TaskName
      readonly target: string
      readonly commit?: string
    }
  /** Its work does not go together with what the run's branch has by now, or is red there. */
  | {
      readonly type: 'delegate.conflicted'
      readonly delegate: string
      readonly task: TaskName
      readonly because: string
      readonly files: readonly string[]
      readonly isSentBack: boolean
    }
  | {
      readonly type: 'delegate.parked'
      readonly delegate: string
      readonly task: TaskName
      readonly because: string
      readonly next?: string
    }
  | { readonly type: 'stopping'; readonly how: 'after task' | 'now' }
  | { readonly type: 'run.ended'; readonly how: EndOfRun; readonly report: RunReport }
)

/** Where an attempt at a task is made. */
export type AttemptPlace = 'live conversation' | 'same conversation again' | 'fresh conversation'

export type Breaker = 'silence' | 'same error' | 'no change' | 'time'
