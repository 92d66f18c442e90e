import { setTimeout as sleep } from 'node:timers/promises'
import type { Backlog } from '../../backlog/backlog.ts'
import type { Task } from '../../backlog/task.ts'
import type { Harness, PermissionRequest } from '../../harness/contract/drive.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { oneLine } from '../../text/clean.ts'
import type { Emit, EndOfRun, TaskName } from '../entries.ts'
import type { ResolvedOptions } from '../options.ts'
import type { Tracking } from '../plan/complexity.ts'
import type { PlannedTask } from '../plan/order.ts'
import type { Profile } from '../profiles/profile.ts'
import type { ProofOptions } from '../proof/prove.ts'
import type { RunLog } from '../run-log.ts'
import type { Spent } from '../run-state.ts'
import type { BacklogSource } from '../sources/foreign.ts'
import type { Failure } from '../texts/task-text.ts'
import type { RunTree } from '../worktree/tree.ts'

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
  readonly setup: string
  readonly latest: { backlog?: Backlog }
  readonly tracking: Tracking
  readonly stopping: Stopping
  readonly delegate?: DelegateRun
  /** What those use that share its budget. */
  readonly spentBeside?: () => Spent
  /** Called with what the run has used itself, whenever that grows. */
  readonly spending?: (spent: Spent) => void
  readonly extraEnv: Readonly<Record<string, string>>
  /** The command in front of the agent's own. */
  readonly wrap?: readonly string[]
  readonly emit: Emit
  readonly decide?: (request: PermissionRequest) => Promise<boolean>
}

export interface DelegateRun {
  readonly brief: string
  /** Why its finished work did not merge. */
  readonly failure?: Failure
  readonly proof: Pick<ProofOptions, 'contains' | 'produces' | 'report'>
  readonly env: Readonly<Record<string, string>>
  readonly wrap?: readonly string[]
  readonly setup?: string
  /** Called before an attempt; the result says afterwards whether the agent moved the target branch itself. */
  watchTarget(): () => string | undefined
}

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

export class RunEnds extends Error {
  override readonly name = 'RunEnds'
  constructor(
    readonly how: EndOfRun,
    readonly because: string,
  ) {
    super(because)
  }
}

export interface TaskWork {
  readonly task: Task
  readonly name: TaskName
  readonly planned: PlannedTask
  readonly forecast: number
  /** Where the branch was when this run began the task, and where a failed task goes back to. */
  readonly base: string
  /** What was uncommitted then, such as what an earlier task left that was too large to keep. */
  readonly leftBefore: readonly string[]
  readonly attempts: number
}

const TRIES = 3
const PAUSE_MS = 1000

/** A backlog that cannot be read now, as a server may fail once, is taken as it last was. */
export async function readBacklog({
  latest,
  source,
  workspace,
}: Pick<RunContext, 'latest' | 'source' | 'workspace'>): Promise<Backlog> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await source.read()
    } catch (error) {
      if (latest.backlog === undefined || source.name === '.tasks') throw error
      if (attempt < TRIES) {
        await sleep(PAUSE_MS * attempt)
        continue
      }
      workspace.say(
        `${source.name} cannot be read now, and is taken as it was: ${error instanceof Error ? error.message : String(error)}`,
      )
      return latest.backlog
    }
  }
}

const LONGEST = 300

export function bounded(text: string): string {
  const line = oneLine(text)
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST - 1)}…`
}
