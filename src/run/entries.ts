// What the log of a run holds. It is what a killed run goes on from, and what reports and forecasts are made of.
// Whether a task is done stands in the journal of its session and nowhere else.
import type { ProcessMark } from '../harness/contract/drive.ts'
import type { SizeClass } from '../project/config/run-config.ts'
import type { Usage } from '../session/entries.ts'
import type { RunOptions } from './options.ts'
import { isRecord } from '../backlog/task.ts'
import { countOf, listOf } from '../text/json-fields.ts'

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
  'session.opened': {
    session: string
    name: string
    number: number
    because: string
    /** The first tasks it is opened for. */
    planned?: readonly TaskName[]
  }
  'session.closed': {
    session: string
    because: string
    handoff?: string
    name?: string
    /** Tasks that were done in it. */
    done?: number
  }
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
  'limit.reached': { message: string; resetsAt?: string; isWaiting?: boolean }
  'attempt.ended': {
    attempt: string
    number?: number
    outcome: AttemptOutcome
    reason?: string
    commit?: string
    /** Tokens it added to the history. */
    added?: number
    summary?: string
    /** Where its work is kept, of a task that is blocked. */
    kept?: string
    /** Where a failed task is tried again. */
    next?: AttemptPlace | 'parked'
    /** What the task has taken by now, over all its attempts. */
    spend?: Spend
    seconds?: number
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

/** Where an attempt at a task is made. */
export type AttemptPlace = 'live conversation' | 'same conversation again' | 'fresh conversation'

export type Breaker = 'silence' | 'same error' | 'no change' | 'time'

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

// Entries come from a file that another version may have written. One that lacks what the fold stands on is passed over.

type Shape = Readonly<Record<string, 'string' | 'number' | 'object'>>

const SHAPES: Readonly<Partial<Record<RunEntryKind, Shape>>> = {
  'run.started': {
    options: 'object',
    harness: 'string',
    tree: 'string',
    branch: 'string',
    base: 'string',
    runner: 'object',
  },
  'run.resumed': { runner: 'object' },
  'session.opened': { session: 'string', name: 'string' },
  'session.closed': { session: 'string' },
  'conversation.opened': {
    number: 'number',
    session: 'string',
    process: 'object',
    setup: 'number',
  },
  'conversation.started': { number: 'number', conversation: 'string' },
  'conversation.ended': { number: 'number' },
  'attempt.started': {
    attempt: 'string',
    task: 'object',
    session: 'string',
    conversation: 'number',
  },
  'turn.ended': { attempt: 'string', conversation: 'number', spent: 'object', requests: 'number' },
  'context.compacted': { attempt: 'string' },
  'limit.reached': { message: 'string' },
  'attempt.ended': { attempt: 'string', outcome: 'string' },
  'work.kept': { attempt: 'string', kept: 'string' },
  'task.parked': { task: 'string', reason: 'string' },
  'delegate.begun': { delegate: 'string', task: 'string' },
  'delegate.moved': { to: 'string' },
  'delegate.told': { text: 'string' },
  'merge.begun': {
    target: 'string',
    onto: 'string',
    tip: 'string',
    merger: 'object',
    tree: 'string',
  },
  'merge.landing': { target: 'string', from: 'string', to: 'string' },
  'run.ended': { how: 'string' },
}

export function isWhole({ kind, data }: RunEntry): boolean {
  const shape = Object.hasOwn(SHAPES, kind) ? SHAPES[kind] : undefined
  if (shape === undefined) return true
  const fields: unknown = data
  if (!isRecord(fields)) return false
  return Object.entries(shape).every(([name, type]) => {
    return type === 'object' ? isRecord(fields[name]) : typeof fields[name] === type
  })
}

/** What an entry tells of tasks that were never begun, as far as it does. */
export function neverBegunIn(value: unknown): NeverBegun | undefined {
  const { count, tasks } = isRecord(value) ? value : {}
  const named = listOf(tasks).filter(isTaskName)
  const counted = Math.max(named.length, Math.floor(countOf(count) ?? 0))
  return counted === 0 ? undefined : { count: counted, tasks: named }
}

function isTaskName(value: unknown): value is TaskName {
  return (
    isRecord(value) && ['id', 'name', 'title'].every((field) => typeof value[field] === 'string')
  )
}

/** What a delegate was asked for, as its log keeps it. A delegate is a run of one task in the background. */
export interface DelegateOrder {
  /** What people call it; no two delegates of a project have the same. */
  readonly name: string
  /** The order in the words it was given in. */
  readonly what: string
  /** The specialist it works as. */
  readonly as?: string
  readonly group?: string
  /** The id of the backlog's task that it works on. Without one it has no task but its order. */
  readonly task?: string
  /** The session that it works for: its result goes there. */
  readonly parent?: string
  /** The run that it is a part of. */
  readonly run?: string
  /** The branch that its work is to go to. */
  readonly target: string
  /** It reads and reports; nothing of it is merged. */
  readonly isReadOnly: boolean
  /** Globs of the files it is expected to change. */
  readonly files: readonly string[]
  /** A path in its tree that it has to bring forth. */
  readonly output?: string
  /** The lowest number that no other living delegate has: its ports follow from it. */
  readonly slot: number
  /** What its task file says behind the order: what it should know, and what it has to bring forth. */
  readonly brief: string
}

/** Where a delegate stands. */
export type DelegateStatus =
  | 'running'
  | 'ready'
  | 'merging'
  | 'merged'
  | 'conflicted'
  | 'failed'
  | 'parked'
  | 'discarded'

/** A step of a delegate, with what the next one has to know of it. */
export interface DelegateMove {
  readonly to: Exclude<DelegateStatus, 'running' | 'merging'>
  readonly because?: string
  /** `ready`: what was proved. `merged`: what the target was moved to. */
  readonly commit?: string
  /** `merged`, `discarded`: how many commits it had beyond where it began. */
  readonly commits?: number
  /** What the agent said of its work. */
  readonly summary?: string
  /** Of what did not go into the target: the branch, and the commit it stood at. */
  readonly target?: string
  readonly onto?: string
  /** Paths in conflict. */
  readonly files?: readonly string[]
  readonly verify?: { readonly command: string; readonly exit?: number; readonly output: string }
  /** A reference under which work is kept that is on no branch. */
  readonly kept?: string
  /** What is in no commit, so that its worktree stays, and its branch too. */
  readonly left?: readonly string[]
  /** The report of one that only reads, as a path in `.sessions/`. */
  readonly report?: string
  /** Address of a pull request. */
  readonly pr?: string
}

// What a run emits while it works: each entry of its log as it is appended, and live events that are stored nowhere.
// The live view draws them, `--json` prints them one line each.

/** How full a conversation is. */
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

export interface MergeOutcome {
  readonly delegate: string
  readonly name: string
  /** `would merge` in a dry run; `waiting`: nothing is wrong with it, but the target cannot be moved now; `refused` by the review. */
  readonly how:
    | 'merged'
    | 'would merge'
    | 'conflicted'
    | 'red'
    | 'parked'
    | 'waiting'
    | 'refused'
    | 'pull request'
    | 'not ready'
  readonly target: string
  readonly commit?: string
  readonly because?: string
  readonly files?: readonly string[]
  readonly isSentBack?: boolean
  readonly contradictions?: readonly string[]
  readonly pr?: string
  /** What a person would do next, as a command. */
  readonly next?: string
}

interface LiveEventData {
  /** A run starts or resumes: what it will work on. */
  'run.planned': {
    run: string
    harness: string
    model?: string
    branch?: string
    worktree?: string
    tasks: readonly TaskName[]
    isResumed: boolean
    expectedSeconds?: number
    /** How many tasks it works on at once, if more than one. */
    parallel?: number
  }
  message: { text: string }
  'turn.started': { why: 'task' | 'asked' | 'retry' }
  text: { text: string }
  tool: {
    name: string
    status: 'started' | 'completed' | 'failed'
    command?: string
    path?: string
  }
  /** How full the conversation is, and what the whole run has spent so far. */
  usage: { gauge: Gauge; spend: Spend }
  stage: { stage: number | 'smart-zone'; gauge: Gauge }
  'verify.started': { command: string }
  'verify.ended': { passed: boolean; seconds: number; summary?: string }
  /** A delegate starts on its task, or starts again with what did not merge. */
  'delegate.started': { id: string; branch: string; worktree: string; isAgain: boolean }
  /** Its work is proved and waits to be merged. */
  'delegate.ready': { commit?: string; summary?: string }
  'delegate.merged': { target: string; commit?: string }
  /** Its work conflicts with the run's branch, or fails the verify command there. */
  'delegate.conflicted': { because: string; files: readonly string[]; isSentBack: boolean }
  'delegate.parked': { because: string; next?: string }
  /** The queue begins to merge a delegate. */
  'merge.started': { id: string; target: string }
  'setup.started': { command: string }
  'merge.ended': MergeOutcome
  stopping: { how: 'after task' | 'now' }
  /** The last event: what the run came to. */
  'run.report': RunReport
}

type EventData = RunEntryData & LiveEventData

export type RunEventKind = keyof EventData

/** `task`: the one it is about. `delegate`: the name of the one it comes from, in a run that works on several tasks at once. */
export type RunEvent<K extends RunEventKind = RunEventKind> = {
  [Kind in K]: {
    readonly kind: Kind
    readonly at: string
    readonly task?: TaskName
    readonly delegate?: string
    readonly data: Readonly<EventData[Kind]>
  }
}[K]

/** What the merge queue emits; `delegate` is the name of the one that is merged. */
export type MergeEvent = RunEvent<
  'merge.started' | 'setup.started' | 'verify.started' | 'verify.ended' | 'merge.ended' | 'message'
>

export type Listener = (event: RunEvent) => void

type About = Pick<RunEvent, 'task' | 'delegate'>

/** Emits a live event now. */
export type Emit = <K extends keyof LiveEventData>(
  kind: K,
  data: LiveEventData[K],
  about?: About,
) => void

export function emitTo(listener: Listener): Emit {
  return (kind, data, about = {}) =>
    listener({ kind, at: new Date().toISOString(), ...about, data } as RunEvent)
}
