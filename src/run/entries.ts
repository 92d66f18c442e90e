// What the log of a run holds. It is what a killed run goes on from, and what reports and forecasts are made of.
// Whether a task is done stands in the journal of its session and nowhere else.
import type { ProcessMark } from '../harness/contract/drive.ts'
import type { SizeClass } from './plan/contract.ts'
import type { Usage } from '../session/entries.ts'
import type { DelegateMove, DelegateOrder } from './delegate-order.ts'
import type { AttemptPlace, Breaker } from './events.ts'
import type { EndOfRun, NeverBegun, TaskName } from './report.ts'
import type { RunOptions } from './options.ts'

export interface RunEntryData {
  'run.started': {
    options: RunOptions
    harness: string
    source: string
    /** Where the agent works, and on which branch. */
    tree: string
    branch: string
    /** The commit it began from. */
    base: string
    isInPlace: boolean
    runner: ProcessMark
    /** It is a delegate, and this is its order. */
    delegate?: DelegateOrder
  }
  'run.resumed': { runner: ProcessMark }
  /** The set-up command of the worktree has passed. */
  'tree.ready': Record<string, never>
  'session.opened': { session: string; name: string; number: number; because: string }
  'session.closed': { session: string; because: string; handoff?: string }
  'conversation.opened': {
    number: number
    session: string
    process: ProcessMark
    /** Tokens of what is said once. */
    setup: number
    handoff?: string
    resumes?: string
  }
  'conversation.started': { number: number; conversation: string; model?: string; window?: number }
  /** `profilesNotLoaded`: tokens of profiles that were indexed and that no task needed. */
  'conversation.ended': { number: number; because: string; profilesNotLoaded?: number }
  'attempt.started': {
    attempt: string
    task: TaskName
    number: number
    place: AttemptPlace
    session: string
    conversation: number
    /** Where the branch was when work on the task began in this run: what its commits are counted from. */
    base: string
    /** What was not committed then. */
    leftBefore?: readonly string[]
    sizeClass: SizeClass
    /** Tokens it was expected to add at most. */
    forecast?: number
    /** Tokens in the context before it. */
    context?: number
    isFirst: boolean
    /** The newest entry of the session then: what the agent reports comes behind it. */
    since: string
    /** Tokens of its own text. */
    text: number
  }
  'turn.ended': {
    attempt: string
    conversation: number
    how: string
    failure?: string
    /** By model. */
    spent: Readonly<Record<string, Usage>>
    requests: number
    context?: number
    /** What the harness says the conversation has cost so far. */
    costUsd?: number
    seconds: number
  }
  'context.compacted': { attempt: string; conversation: number; tokensBefore?: number }
  'breaker.tripped': { attempt: string; which: Breaker; detail: string }
  'limit.reached': { message: string; resetsAt?: string }
  'attempt.ended': {
    attempt: string
    outcome: AttemptOutcome
    reason?: string
    commit?: string
    /** Tokens it added to the history. */
    added?: number
    summary?: string
    /** Where its work is kept, of a task that is blocked. */
    kept?: string
  }
  /** What an attempt left that was not ended, or not gone on with. */
  'work.kept': { attempt: string; kept: string }
  'task.parked': { task: string; reason: string; kept?: string }
  /** Why the next task went into the same conversation, or not. */
  'rotation.decided': { task: string; stay: boolean; rule: string; because: string }
  /** A run that works in parallel has given a task to a delegate. */
  'delegate.begun': { delegate: string; task: string }
  'delegate.moved': DelegateMove
  /** What whoever begins it again wants it to know. */
  'delegate.told': { text: string }
  /** Its work is being merged, in a worktree made for that, by this process. */
  'merge.begun': { target: string; onto: string; tip: string; merger: ProcessMark; tree: string }
  /** The merge is made and verified; next the target moves. After a crash the target itself says whether it did. */
  'merge.landing': { target: string; from: string; to: string }
  'run.ended': { how: EndOfRun; neverBegun?: NeverBegun }
}

/** `interrupted`: nobody's fault; it goes again. */
export type AttemptOutcome = 'done' | 'failed' | 'blocked' | 'interrupted'

export type RunEntryKind = keyof RunEntryData

export type RunEntry = {
  [K in RunEntryKind]: {
    readonly id: string
    readonly at: string
    readonly kind: K
    readonly data: Readonly<RunEntryData[K]>
  }
}[RunEntryKind]
