// What the log of a run holds. It is what a killed run goes on from, and what reports and forecasts are made of.
// Whether a task is done stands in the journal of its session and nowhere else.
import type { ProcessMark } from '../harness/contract/drive.ts'
import type { SizeClass } from './plan/contract.ts'
import type { Usage } from '../session/entries.ts'
import type { EndOfRun, NeverBegun, Spend, TaskName } from './report.ts'
import type { RunOptions } from './options.ts'
import { isRecord } from '../backlog/task.ts'
import { countOf, listOf } from '../text/json-fields.ts'

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
