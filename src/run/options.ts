import { DEFAULT_HARNESS } from '../harness/registry.ts'
import type { Permissions } from '../harness/contract/drive.ts'
import type { Workspace } from '../project/store/workspace.ts'

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

/** The options with the configuration and the defaults filled in. */
export interface ResolvedOptions extends RunOptions {
  readonly harness: string
  readonly permissions: Permissions
  readonly onFailure: 'retry' | 'continue' | 'stop'
  readonly onLimit: 'wait' | 'end'
  readonly batch: 'forecast' | 'fixed' | 'one'
  readonly silenceMs: number
  readonly taskMs: number
  readonly verifyMs: number
  readonly idleTurns: number
  readonly allow: readonly string[]
}

/** The options, with what the configuration says where they do not. */
export function resolveOptions(workspace: Workspace, options: RunOptions): ResolvedOptions {
  const { run } = workspace.config
  return {
    ...options,
    harness: options.harness ?? run.harness ?? DEFAULT_HARNESS,
    permissions: options.permissions ?? run.permissions,
    onFailure: options.onFailure ?? run.onFailure,
    onLimit: options.onLimit ?? run.onLimit,
    batch: options.batch ?? run.batch,
    silenceMs: run.silenceMinutes * 60_000,
    taskMs: run.taskMinutes * 60_000,
    verifyMs: run.verifyMinutes * 60_000,
    idleTurns: run.idleTurns,
    allow: run.allow,
    ...((options.model ?? run.model) === undefined ? {} : { model: options.model ?? run.model! }),
  }
}
