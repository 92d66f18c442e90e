import type { GitState, HandoffTarget, TaskStatus } from '../../session/entries.ts'
import type { SessionState } from '../../session/state.ts'
import type { Claim, Verdict } from './probes/claim.ts'

/** Everything a handoff is built from: the state, and what was looked up when it was made. */
export interface HandoffFacts {
  readonly state: SessionState
  /** The id of the entry that will say that it was made. */
  readonly id: string
  readonly number: number
  readonly createdAt: string
  readonly reason?: string
  readonly isDraft: boolean
  readonly to?: HandoffTarget
  readonly git?: GitState
  readonly position: LogPosition
  /** Branch and HEAD. */
  readonly where: readonly Claim[]
  readonly uncommitted: Uncommitted
  readonly files: readonly FileToReview[]
  readonly verify: readonly VerifyCommand[]
  readonly commits: readonly Claim[]
  readonly tasks: readonly Claim[]
  readonly deliverables: readonly FileToReview[]
  readonly commands: readonly Claim[]
  /** What the repository is, a thing each. */
  readonly project?: readonly string[]
  readonly madeBy?: {
    readonly harness: string
    readonly conversation: string
    readonly model?: string
  }
  /** For comparing later: the files it speaks of as they are, and the tasks. */
  readonly fingerprints: readonly { readonly path: string; readonly sum: string }[]
  readonly taskStatuses: readonly { readonly task: string; readonly status: TaskStatus }[]
}

/** How far a journal goes. */
export interface LogPosition {
  readonly bytes: number
  /** How many of its entries are about the work. */
  readonly entries: number
  /** The id of the last entry. */
  readonly last: string
}

export interface Uncommitted {
  /** Undefined when it is not known, or there is no repository. */
  readonly paths?: readonly string[]
  readonly verdict: Verdict
  readonly kept?: KeptWork
}

/** Where uncommitted work is kept. */
export interface KeptWork {
  readonly commit: string
  readonly ref: string
  readonly checkpoint: string
  /** Too large or unreadable, and so only in the working tree. */
  readonly leftOut: readonly string[]
  readonly verdict: Verdict
}

/** A command that shows whether the work is well. Shown, and never run by Stint. */
export interface VerifyCommand {
  readonly command: string
  /** How it last went, in its own words; empty when no run is recorded. */
  readonly lastRun: string
  readonly verdict: Verdict
}

export interface FileToReview {
  readonly path: string
  readonly why: string
  readonly verdict: Verdict
}
