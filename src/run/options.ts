import type { Permissions } from '../harness/contract.ts'

/** More tasks than this are not worked on at once: merging would be what everything waits for. */
export const MOST_AT_ONCE = 8

/** What `stint run` may be told. What is absent is the configuration's, then the default's. */
export interface RunOptions {
  /** `.tasks`, or what stands in its place: a JSONL or Markdown file, `beads`, `github`. */
  readonly backlog?: string
  /** claude, codex, api, `api:NAME`, rehearsal, or `acp:COMMAND` for any agent that speaks ACP. */
  readonly harness?: string
  readonly model?: string
  /** Only these tasks and what they depend on. */
  readonly tasks?: readonly string[]
  /** Only tasks with one of these labels. */
  readonly labels?: readonly string[]
  readonly maxTasks?: number
  readonly maxSessions?: number
  readonly budgetTokens?: number
  readonly budgetUsd?: number
  readonly maxMinutes?: number
  readonly verify?: string
  readonly onFailure?: 'retry' | 'continue' | 'stop'
  readonly onLimit?: 'wait' | 'end'
  readonly batch?: 'forecast' | 'fixed' | 'one'
  readonly permissions?: Permissions
  readonly isInPlace?: boolean
  readonly branch?: string
  /** One task, then the end. */
  readonly once?: boolean
  /** So many tasks at once, each by a delegate. */
  readonly parallel?: number
  /** Script of the rehearsal harness. */
  readonly script?: string
}
