import type { Harness, PermissionRequest } from '../../harness/contract/drive.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import type { Backlog } from '../../backlog/backlog.ts'
import type { BacklogSource } from '../sources/source.ts'
import type { Tracking } from '../plan/complexity.ts'
import type { DelegateOrder } from '../delegate-order.ts'
import type { RunEvent } from '../events.ts'
import type { ResolvedOptions } from '../options.ts'
import type { Profile } from '../profiles/profile.ts'
import type { Failure } from '../texts/retry-text.ts'
import type { RunLog } from '../run-log.ts'
import type { Usage } from '../../session/entries.ts'
import type { RunTree } from '../worktree/tree.ts'

/** An event before it has its time. */
export type Untimed<T = RunEvent> = T extends RunEvent ? Omit<T, 'at'> : never

/** What all parts of one run share. */
export interface RunContext {
  readonly run: string
  /** In the run's tree. */
  readonly workspace: Workspace
  readonly log: RunLog
  readonly harness: Harness
  readonly settled: ResolvedOptions
  readonly tree: RunTree
  readonly source: BacklogSource
  readonly profiles: readonly Profile[]
  /** What every conversation is told once. */
  readonly setup: string
  /** The backlog as it was last read. */
  readonly latest: { backlog?: Backlog }
  /** How much is written down besides what is needed to go on. */
  readonly tracking: Tracking
  readonly stopping: Stopping
  /** It works in the background for somebody else, and what it does is merged by somebody else. */
  readonly delegate?: Delegated
  /** What those use that share its budget. */
  readonly spentBeside?: () => Readonly<Record<string, Usage>>
  /** Told what it has used itself, by model, whenever that is more. */
  readonly spending?: (spent: Readonly<Record<string, Usage>>) => void
  /** What the agent, the set-up and the verify command find in their environment besides the user's. */
  readonly extraEnv: Readonly<Record<string, string>>
  /** The words of a command to put before the agent's own. */
  readonly wrap?: readonly string[]
  readonly tell: (event: Untimed) => void
  readonly decide?: (request: PermissionRequest) => Promise<boolean>
}

/** What a run has to know that is a delegate. */
export interface Delegated {
  readonly order: DelegateOrder
  /** What is to be mended: its work was finished, and did not go into its target. */
  readonly mend?: { readonly failure: Failure; readonly onto: string }
}

/** What the person has asked for: nothing, an end after this task, an end now. */
export class Stopping {
  readonly #now = new AbortController()
  isAfterTask = false

  get now(): AbortSignal {
    return this.#now.signal
  }

  stop(how: 'after task' | 'now'): void {
    this.isAfterTask = true
    if (how === 'now') this.#now.abort()
  }
}
