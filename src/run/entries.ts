// The entries of a run log, from which a killed run resumes, and its live events. Only the session's journal says whether a task is done.
import type { ProcessTag } from '../harness/contract/drive.ts'
import type { SizeClass } from '../project/config/run-config.ts'
import type { Usage } from '../session/entries.ts'
import type { RunOptions } from './options.ts'
import { isRecord } from '../backlog/task.ts'
import { asArray, asCount } from '../text/json-fields.ts'

/** How users and agents refer to a task. */
export interface TaskName {
  readonly id: string
  readonly name: string
  readonly title: string
}

/** Tokens used, and their price unless that of a model is unknown. */
export interface Spend extends Usage {
  readonly usd?: number
}

/** How a run ended. */
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

/** The cost and outcome of a task in one session. */
export interface TaskReport {
  readonly task: TaskName
  readonly outcome: 'done' | 'parked' | 'blocked' | 'open'
  readonly reason?: string
  readonly attempts: number
  readonly spend: Spend
  readonly seconds: number
  readonly commit?: string
  readonly added?: number
  readonly compactions: number
  /** The ref that holds its unfinished work. */
  readonly kept?: string
}

/** The tasks a run selected and never started. */
export interface UnstartedTasks {
  readonly count: number
  readonly tasks: readonly TaskName[]
}

/** The cost of a session and its tasks. */
export interface SessionReport {
  readonly session: string
  readonly name: string
  readonly conversations: number
  readonly tasks: readonly TaskReport[]
  readonly spend: Spend
  readonly seconds: number
}

/** The cost and outcome of a run. */
export interface RunReport {
  readonly run: string
  readonly harness: string
  readonly models: readonly string[]
  readonly how: EndOfRun | 'running'
  readonly startedAt: string
  readonly seconds: number
  readonly sessions: readonly SessionReport[]
  readonly neverBegun?: UnstartedTasks
  readonly spend: Spend
  /** Where the prices behind `usd` come from, or which models have none. */
  readonly prices: string
  readonly compared: Comparison
  /** The source of its tasks, if not the project's own backlog. */
  readonly backlog?: string
  /** The branch to merge; absent for a run in place. */
  readonly branch?: string
  readonly commits: number
  readonly parallel?: ParallelReport
}

/** How much of a parallel run really ran in parallel. */
export interface ParallelReport {
  readonly most: number
  /** The share of tasks that ran in parallel with another, from 0 to 1. */
  readonly share: number
  readonly target: number
  /** Time saved against a sequential run; negative when parallel was slower. */
  readonly savedSeconds: number
  readonly delegates: number
}

/** A run in a list of runs. */
export interface RunRow {
  readonly id: string
  readonly startedAt: string
  readonly state: 'running' | 'ended' | 'resumable'
  readonly how: RunReport['how']
  readonly harness: string
  readonly done: number
  /** Parked or blocked. */
  readonly failed: number
  readonly open: number
  readonly spend: Spend
}

/** A run compared with one conversation per task, estimated from measured sizes. */
export interface Comparison {
  /** Set-up tokens that later tasks of a conversation did not repeat. */
  readonly boilerplateAvoided: number
  /** Tokens of earlier tasks that later requests read again. */
  readonly historyReread: number
  /** Positive: the run was cheaper. Absent where a price is unknown. */
  readonly savedUsd?: number
  /** Tokens of profiles that were indexed and never loaded. */
  readonly profilesNotLoaded: number
}

export interface RunEntryData {
  'run.started': {
    options: RunOptions
    harness: string
    source: string
    tree: string
    branch: string
    base: string
    isInPlace: boolean
    runner: ProcessTag
    delegate?: DelegateSpec
  }
  'run.resumed': { runner: ProcessTag }
  /** The set-up command of the worktree has passed. */
  'tree.ready': Record<string, never>
  'session.opened': {
    session: string
    name: string
    number: number
    because: string
    planned?: readonly TaskName[]
  }
  'session.closed': {
    session: string
    because: string
    handoff?: string
    name?: string
    done?: number
  }
  'conversation.opened': {
    number: number
    session: string
    process: ProcessTag
    setup: number
    handoff?: string
    resumes?: string
  }
  'conversation.started': { number: number; conversation: string; model?: string; window?: number }
  'conversation.ended': { number: number; because: string; profilesNotLoaded?: number }
  'attempt.started': {
    attempt: string
    task: TaskName
    number: number
    place: AttemptConversation
    session: string
    conversation: number
    /** The commit that the task's own commits are counted from. */
    base: string
    leftBefore?: readonly string[]
    sizeClass: SizeClass
    forecast?: number
    context?: number
    isFirst: boolean
    /** The newest session entry at the start; the agent's reports come after it. */
    since: string
    text: number
  }
  'turn.ended': {
    attempt: string
    conversation: number
    how: string
    failure?: string
    spent: Readonly<Record<string, Usage>>
    requests: number
    context?: number
    /** Cost of the conversation so far, as reported by the harness. */
    costUsd?: number
    seconds: number
  }
  'context.compacted': { attempt: string; conversation: number; tokensBefore?: number }
  'breaker.tripped': { attempt: string; which: TrippedDetector; detail: string }
  'limit.reached': { message: string; resetsAt?: string; isWaiting?: boolean }
  'attempt.ended': {
    attempt: string
    number?: number
    outcome: AttemptOutcome
    reason?: string
    commit?: string
    added?: number
    summary?: string
    kept?: string
    next?: AttemptConversation | 'parked'
    /** Of all attempts at the task so far. */
    spend?: Spend
    seconds?: number
  }
  'work.kept': { attempt: string; kept: string }
  'task.parked': { task: string; reason: string; kept?: string }
  /** Whether the next task continues the same conversation, and why. */
  'rotation.decided': { task: string; stay: boolean; rule: string; because: string }
  'delegate.begun': { delegate: string; task: string }
  'delegate.moved': DelegateStatusChange
  'delegate.told': { text: string }
  'merge.begun': { target: string; onto: string; tip: string; merger: ProcessTag; tree: string }
  /** The merge is verified and the target moves next; after a crash the target branch shows whether it did. */
  'merge.landing': { target: string; from: string; to: string }
  'run.ended': { how: EndOfRun; neverBegun?: UnstartedTasks }
}

export type AttemptConversation =
  | 'live conversation'
  | 'same conversation again'
  | 'fresh conversation'

export type TrippedDetector = 'silence' | 'same error' | 'no change' | 'time'

/** `interrupted` does not count against the task. */
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

/** Fields the fold needs, each with an example of its type: another version may have written entries without them. */
const NEEDED_FIELDS: Readonly<
  Partial<Record<RunEntryKind, Readonly<Record<string, '' | 0 | object>>>>
> = {
  'run.started': { options: {}, harness: '', tree: '', branch: '', base: '', runner: {} },
  'run.resumed': { runner: {} },
  'session.opened': { session: '', name: '' },
  'session.closed': { session: '' },
  'conversation.opened': { number: 0, session: '', process: {}, setup: 0 },
  'conversation.started': { number: 0, conversation: '' },
  'conversation.ended': { number: 0 },
  'attempt.started': { attempt: '', task: {}, session: '', conversation: 0 },
  'turn.ended': { attempt: '', conversation: 0, spent: {}, requests: 0 },
  'context.compacted': { attempt: '' },
  'limit.reached': { message: '' },
  'attempt.ended': { attempt: '', outcome: '' },
  'work.kept': { attempt: '', kept: '' },
  'task.parked': { task: '', reason: '' },
  'delegate.begun': { delegate: '', task: '' },
  'delegate.moved': { to: '' },
  'delegate.told': { text: '' },
  'merge.begun': { target: '', onto: '', tip: '', merger: {}, tree: '' },
  'merge.landing': { target: '', from: '', to: '' },
  'run.ended': { how: '' },
}

export function hasNeededFields({ kind, data }: Pick<RunEntry, 'kind' | 'data'>): boolean {
  const needed = Object.hasOwn(NEEDED_FIELDS, kind) ? NEEDED_FIELDS[kind] : undefined
  if (needed === undefined) return true
  const fields: unknown = data
  return (
    isRecord(fields) &&
    Object.entries(needed).every(([name, example]) =>
      isRecord(example) ? isRecord(fields[name]) : typeof fields[name] === typeof example,
    )
  )
}

export function readUnstartedTasks(value: unknown): UnstartedTasks | undefined {
  const { count, tasks } = isRecord(value) ? value : {}
  const named = asArray(tasks).filter(isTaskName)
  const counted = Math.max(named.length, Math.floor(asCount(count) ?? 0))
  return counted === 0 ? undefined : { count: counted, tasks: named }
}

function isTaskName(value: unknown): value is TaskName {
  return (
    isRecord(value) && ['id', 'name', 'title'].every((field) => typeof value[field] === 'string')
  )
}

/** What a delegate is for. A delegate is a run of one task in the background. */
export interface DelegateSpec {
  /** Unique in the project. */
  readonly name: string
  readonly what: string
  readonly as?: string
  readonly group?: string
  /** The id of its backlog task; absent if it has only a prompt. */
  readonly task?: string
  readonly parent?: string
  readonly run?: string
  readonly target: string
  readonly isReadOnly: boolean
  readonly files: readonly string[]
  readonly output?: string
  /** The lowest number no other open delegate has; its ports follow from it. */
  readonly slot: number
  /** The context its task prompt contains after the prompt itself. */
  readonly brief: string
}

export type DelegateStatus =
  | 'running'
  | 'ready'
  | 'merging'
  | 'merged'
  | 'conflicted'
  | 'failed'
  | 'parked'
  | 'discarded'

/** A status change of a delegate. */
export interface DelegateStatusChange {
  readonly to: Exclude<DelegateStatus, 'running' | 'merging'>
  readonly because?: string
  /** `ready`: the proved commit. `merged`: the new tip of the target. */
  readonly commit?: string
  /** `merged`, `discarded`: its commits beyond its base. */
  readonly commits?: number
  readonly summary?: string
  /** Of a failed merge: the target branch and its commit. */
  readonly target?: string
  readonly onto?: string
  readonly files?: readonly string[]
  readonly verify?: { readonly command: string; readonly exit?: number; readonly output: string }
  /** A ref that holds work which is on no branch. */
  readonly kept?: string
  /** Uncommitted paths because of which its worktree and branch stay. */
  readonly left?: readonly string[]
  /** The report of a read-only delegate, as a path in `.sessions/`. */
  readonly report?: string
  readonly pr?: string
}

/** How full a conversation is. */
export interface Gauge {
  readonly context: number
  readonly window?: number
  readonly point?: number
  readonly smartZone: number
  readonly percent?: number
  readonly stages: readonly number[]
}

/** The outcome of one merge. */
export interface MergeOutcome {
  readonly delegate: string
  readonly name: string
  /** `would merge` in a dry run; `waiting`: the target cannot move now; `refused` by the review. */
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
  /** The command the user would run next. */
  readonly next?: string
}

interface LiveEventData {
  'run.planned': {
    run: string
    harness: string
    model?: string
    branch?: string
    worktree?: string
    tasks: readonly TaskName[]
    isResumed: boolean
    expectedSeconds?: number
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
  /** `spend` is that of the whole run. */
  usage: { gauge: Gauge; spend: Spend }
  stage: { stage: number | 'smart-zone'; gauge: Gauge }
  'verify.started': { command: string }
  'verify.ended': { passed: boolean; seconds: number; summary?: string }
  'delegate.started': { id: string; branch: string; worktree: string; isAgain: boolean }
  'delegate.ready': { commit?: string; summary?: string }
  'delegate.merged': { target: string; commit?: string }
  /** Its work conflicts with the run's branch, or fails the verify command there. */
  'delegate.conflicted': { because: string; files: readonly string[]; isSentBack: boolean }
  'delegate.parked': { because: string; next?: string }
  'merge.started': { id: string; target: string }
  'setup.started': { command: string }
  'merge.ended': MergeOutcome
  stopping: { how: 'after task' | 'now' }
  'run.report': RunReport
}

type EventData = RunEntryData & LiveEventData

export type RunEventKind = keyof EventData

/** `delegate`: in a parallel run, the name of the delegate it comes from. */
export type RunEvent<K extends RunEventKind = RunEventKind> = {
  [Kind in K]: {
    readonly kind: Kind
    readonly at: string
    readonly task?: TaskName
    readonly delegate?: string
    readonly data: Readonly<EventData[Kind]>
  }
}[K]

/** What the merge queue emits; `delegate` is the one being merged. */
export type MergeEvent = RunEvent<
  'merge.started' | 'setup.started' | 'verify.started' | 'verify.ended' | 'merge.ended' | 'message'
>

export type RunListener = (event: RunEvent) => void

export type Emit = <K extends keyof LiveEventData>(
  kind: K,
  data: LiveEventData[K],
  about?: Pick<RunEvent, 'task' | 'delegate'>,
) => void

export function emitTo(listener: RunListener): Emit {
  return (kind, data, about = {}) =>
    listener({ kind, at: new Date().toISOString(), ...about, data } as RunEvent)
}
