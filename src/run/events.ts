// What a run emits while it works: each entry of its log as it is appended, and live events that are stored nowhere.
// The live view draws them, `--json` prints them one line each.
import type { RunEntryData } from './entries.ts'
import type { RunReport, Spend, TaskName } from './report.ts'

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
