// What is asked of delegates and of the merge queue, and what they answer.
import type { DelegateStatus } from '../entries.ts'
import type { Spend } from '../report.ts'

/** What `stint delegate` may be told. */
export interface DelegateRequest {
  readonly what: string
  /** tests, docs, review, research or any profile. Those that review and research only read. */
  readonly as?: string
  /** A task of the backlog, by id or short name. */
  readonly task?: string
  readonly group?: string
  /** Where its branch begins: a branch, which is then also its target, or any commit. */
  readonly base?: string
  readonly harness?: string
  readonly model?: string
  readonly files?: readonly string[]
  readonly output?: string
  /** The session it works for; the one that is active here when absent. */
  readonly session?: string
  readonly verify?: string
  readonly budgetTokens?: number
  readonly budgetUsd?: number
  readonly maxMinutes?: number
  readonly permissions?: 'edits' | 'all'
  /** Script of the rehearsal harness. */
  readonly script?: string
}

/** A delegate as it is listed. */
export interface DelegateRow {
  readonly id: string
  readonly name: string
  readonly status: DelegateStatus
  /** It is called running, and nobody runs it. */
  readonly isOrphaned: boolean
  readonly what: string
  readonly as?: string
  readonly group?: string
  readonly task?: string
  readonly parent?: string
  readonly run?: string
  readonly harness: string
  readonly branch: string
  readonly tree: string
  readonly target: string
  readonly isReadOnly: boolean
  readonly startedAt: string
  readonly since: string
  /** Seconds that somebody worked on it. */
  readonly seconds: number
  readonly spend: Spend
  /** Commits beyond where it began. */
  readonly commits: number
  readonly summary?: string
  readonly because?: string
  /** When the usage limit ends that it waits for. */
  readonly waitsUntil?: string
  readonly report?: string
  readonly kept?: string
  /** What is in no commit, and still in its worktree. */
  readonly left?: readonly string[]
  readonly pr?: string
  /** What a person would do next, as a command. */
  readonly next?: string
}

export interface MergeOptions {
  /** Says what would happen, in a worktree that is thrown away. Changes nothing. */
  readonly isDryRun?: boolean
  /** Asked when all is green, before the target moves. */
  readonly review?: (proposal: MergeProposal) => Promise<boolean>
  /** Begins the delegate again with the conflict; it is told the id. Absent: it stays as it is. */
  readonly sendBack?: (delegate: string) => Promise<void>
  /** Opens a pull request instead of moving the target. */
  readonly isPullRequest?: boolean
  readonly isStopped?: AbortSignal
}

export interface MergeProposal {
  readonly delegate: string
  readonly name: string
  readonly target: string
  readonly from: string
  readonly to: string
  /** `git diff --stat` of what the target would gain. */
  readonly stat: string
  readonly summary?: string
  /** Decisions that do not go together with those of others. */
  readonly contradictions: readonly string[]
}
