import type { Harness, PermissionRequest } from '../../harness/contract/drive.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import type { Backlog } from '../../backlog/backlog.ts'
import type { BacklogSource } from '../sources/foreign.ts'
import type { Tracking } from '../plan/complexity.ts'
import type { ProofOptions } from '../proof/prove.ts'
import type { Emit, EndOfRun, TaskName } from '../entries.ts'
import type { ResolvedOptions } from '../options.ts'
import type { Profile } from '../profiles/profile.ts'
import type { Failure } from '../texts/task-text.ts'
import type { RunLog } from '../run-log.ts'
import type { Usage } from '../../session/entries.ts'
import type { RunTree } from '../worktree/tree.ts'
import type { PlannedTask } from '../plan/order.ts'
import type { Task } from '../../backlog/task.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { oneLine } from '../../text/clean.ts'

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
  readonly delegate?: DelegateRun
  /** What those use that share its budget. */
  readonly spentBeside?: () => Readonly<Record<string, Usage>>
  /** Told what it has used itself, by model, whenever that is more. */
  readonly spending?: (spent: Readonly<Record<string, Usage>>) => void
  /** What the agent, the set-up and the verify command find in their environment besides the user's. */
  readonly extraEnv: Readonly<Record<string, string>>
  /** The words of a command to put before the agent's own. */
  readonly wrap?: readonly string[]
  readonly emit: Emit
  readonly decide?: (request: PermissionRequest) => Promise<boolean>
}

/** How a run differs that is a delegate. The folder `delegate` decides it, and the run follows. */
export interface DelegateRun {
  /** What its prompt says besides the task. */
  readonly brief: string
  /** What to fix: its work was finished, and did not merge into its target. */
  readonly failure?: Failure
  /** What its proof asks for besides. */
  readonly proof: Pick<ProofOptions, 'contains' | 'produces' | 'report'>
  readonly env: Readonly<Record<string, string>>
  readonly wrap?: readonly string[]
  /** The command that makes its worktree ready. */
  readonly setup?: string
  /** Called before an attempt. What it answers says afterwards whether the agent moved the target branch itself. */
  watchTarget(): () => string | undefined
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

/** The run ends here, whatever it was about to do; what was begun goes on when it is resumed. */
export class RunEnds extends Error {
  override readonly name = 'RunEnds'
  constructor(
    readonly how: EndOfRun,
    readonly because: string,
  ) {
    super(because)
  }
}

/** A task as a run works on it. */
export interface TaskWork {
  readonly task: Task
  readonly name: TaskName
  readonly planned: PlannedTask
  /** Tokens that it is expected to add at most. */
  readonly forecast: number
  /** Where the branch was when this run began on it, which is what it goes back to when it fails. */
  readonly base: string
  /** What was not committed then, such as what an earlier task left and was too large to be kept. */
  readonly leftBefore: readonly string[]
  /** Attempts that this run has made already. */
  readonly attempts: number
}

const TRIES = 3
const PAUSE_MS = 1000

/** The backlog now. One that cannot be asked just now, as a server may not answer once, is as it was when it last could. */
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

/** What a program said, in one line that fits into a log. */
export function bounded(text: string): string {
  const line = oneLine(text)
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST - 1)}…`
}
