import { DEFAULT_HARNESS } from '../harness/registry.ts'
import type { Permissions } from '../harness/contract/drive.ts'
import type { Workspace } from '../project/store/workspace.ts'
import { defined } from '../text/defined.ts'

/** With more tasks in parallel, merging becomes the bottleneck. */
export const MAX_PARALLEL_TASKS = 8

/** The options of `stint run`. The configuration, then the default, fills in what is absent. */
export interface RunOptions {
  /** `.tasks`, a JSONL or Markdown file, `beads` or `github`. */
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
  /** Ends after one task. */
  readonly once?: boolean
  /** How many tasks run in parallel, each by a delegate. */
  readonly parallel?: number
  /** Paths of settings or hooks that the user lets the agents change. */
  readonly allowProtected?: readonly string[]
  /** Script of the rehearsal harness. */
  readonly script?: string
}

export type ResolvedOptions = RunOptions &
  Required<Pick<RunOptions, 'harness' | 'permissions' | 'onFailure' | 'onLimit' | 'batch'>> & {
    readonly silenceMs: number
    readonly taskMs: number
    readonly verifyMs: number
    readonly idleTurns: number
    readonly allow: readonly string[]
  }

export function resolveOptions({ config }: Workspace, options: RunOptions): ResolvedOptions {
  const { run } = config
  const { permissions, onFailure, onLimit, batch, idleTurns, allow } = run
  return {
    permissions,
    onFailure,
    onLimit,
    batch,
    ...defined({ model: run.model }),
    harness: run.harness ?? DEFAULT_HARNESS,
    ...options,
    silenceMs: run.silenceMinutes * 60_000,
    taskMs: run.taskMinutes * 60_000,
    verifyMs: run.verifyMinutes * 60_000,
    idleTurns,
    allow,
  }
}
