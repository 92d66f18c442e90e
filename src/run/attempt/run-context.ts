import { setTimeout as sleep } from 'node:timers/promises'
import type { Backlog } from '../../backlog/backlog.ts'
import type { Task } from '../../backlog/task.ts'
import type { Harness, PermissionRequest } from '../../harness/contract/drive.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { oneLine } from '../../text/clean.ts'
import type { Emit, EndOfRun, TaskName } from '../entries.ts'
import type { ResolvedOptions } from '../options.ts'
import type { TrackingLevel } from '../plan/complexity.ts'
import type { PlannedTask } from '../plan/order-tasks.ts'
import type { Profile } from '../profiles/profile.ts'
import type { ProofOptions } from '../proof/prove.ts'
import type { RunLog } from '../run-log.ts'
import type { UsageByModel } from '../run-state.ts'
import type { BacklogSource } from '../sources/backlog-source.ts'
import { type TaskFailure, taskWord as wordFor } from '../agent-prompts/task-text.ts'
import type { RunTree } from '../worktree/run-tree.ts'
import { delimiter, dirname, join } from 'node:path'
import { reasonOf } from '../../journal/errors.ts'
import { createExecutable, replaceFile } from '../../journal/write-files.ts'
import { findStintProgram } from '../../harness/process/find-program.ts'
import type { ProjectPaths } from '../../project/store/project-paths.ts'
import { runFolder, runProgramPath } from '../../project/store/run-files.ts'
import { existsSync } from 'node:fs'
import { runTasksPath } from '../../project/tasks/report-task.ts'
import { defined } from '../../text/defined.ts'

export interface RunContext {
  readonly run: string
  /** In the run's tree. */
  readonly workspace: Workspace
  readonly log: RunLog
  readonly harness: Harness
  readonly options: ResolvedOptions
  readonly tree: RunTree
  readonly source: BacklogSource
  readonly profiles: readonly Profile[]
  readonly setup: string
  readonly latest: { backlog?: Backlog }
  readonly tracking: TrackingLevel
  readonly stopping: StopSignal
  readonly delegate?: DelegateContext
  /** Tokens used by the others that share its budget. */
  readonly usedByOthers?: () => UsageByModel
  /** Called with the run's own usage whenever it grows. */
  readonly onUsage?: (spent: UsageByModel) => void
  readonly extraEnv: Readonly<Record<string, string>>
  /** The command the agent's own is wrapped in. */
  readonly wrap?: readonly string[]
  readonly emit: Emit
  readonly decide?: (request: PermissionRequest) => Promise<boolean>
}

export interface DelegateContext {
  readonly brief: string
  /** The branch its work is for. */
  readonly target: string
  /** Why its finished work did not merge. */
  readonly failure?: TaskFailure
  readonly proof: Pick<ProofOptions, 'contains' | 'produces' | 'report'>
  readonly env: Readonly<Record<string, string>>
  readonly wrap?: readonly string[]
  readonly setup?: string
  /** Called before an attempt; the returned function reports afterwards whether the agent moved the target branch itself. */
  watchTarget(): () => string | undefined
}

export class StopSignal {
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

export class RunEndedError extends Error {
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
  /** The commit the task started from, and a failed task is rolled back to. */
  readonly base: string
  /** Paths that were uncommitted then, such as files of an earlier task too large to save. */
  readonly leftBefore: readonly string[]
  readonly attempts: number
}

const TRIES = 3
const PAUSE_MS = 1000

/** Falls back to the last backlog when a tracker cannot be read now. */
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
      workspace.say(`${source.name} cannot be read now, and is taken as it was: ${reasonOf(error)}`)
      return latest.backlog
    }
  }
}

const LONGEST = 300

export function boundedLine(text: string): string {
  const line = oneLine(text)
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST - 1)}…`
}

// Set by a harness or git command that started Stint; the agent would mistake them for its own.
const INHERITED_VARIABLES =
  /^(?:STINT_(?!STATE_HOME$|CLAUDE$|CODEX$|REHEARSAL)|CLAUDECODE$|CLAUDE_CODE_(?:SESSION_ID|ENTRYPOINT|SSE_PORT)$|GIT_(?:DIR|WORK_TREE|INDEX_FILE|PREFIX|COMMON_DIR|OBJECT_DIRECTORY|NAMESPACE)$)/

export function plainEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !INHERITED_VARIABLES.test(name)))
}

export function commandEnvironment({
  workspace,
  extraEnv,
}: Pick<RunContext, 'workspace' | 'extraEnv'>): NodeJS.ProcessEnv {
  return { ...plainEnvironment(workspace.env), ...extraEnv }
}

/** Adds the run, the session, and this `stint` first on the PATH. */
export function agentEnvironment(
  context: Pick<RunContext, 'workspace' | 'extraEnv' | 'run'>,
  session: string,
): NodeJS.ProcessEnv {
  const { run, workspace } = context
  const env = commandEnvironment(context)
  const bin = dirname(runProgramPath(workspace.paths, run))
  return {
    ...env,
    STINT_RUN: run,
    STINT_SESSION: session,
    PATH: [bin, env.PATH ?? ''].join(delimiter),
  }
}

function writeStintCommand(paths: ProjectPaths, run: string): void {
  const program = [process.execPath, findStintProgram()].map(
    (part) => `'${part.replaceAll("'", `'\\''`)}'`,
  )
  createExecutable(runProgramPath(paths, run), `#!/bin/sh\nexec ${program.join(' ')} "$@"\n`)
}

/** Writes the agent's own `stint` and the names of the tasks, which `git clean` may have removed. */
export function writeAgentFiles(
  context: RunContext,
  tasks: readonly Task[],
  current?: string,
): void {
  const { paths } = context.workspace
  if (!existsSync(join(runFolder(paths, context.run), 'bin', 'stint')))
    writeStintCommand(paths, context.run)
  if (current !== undefined || !existsSync(runTasksPath(paths, context.run)))
    writeTaskList(context, tasks, current)
}

export function toTaskName({
  id,
  shortname,
  title,
}: Pick<Task, 'id' | 'shortname' | 'title'>): TaskName {
  return { id, name: wordFor({ shortname }), title }
}

function writeTaskList(
  context: Pick<RunContext, 'workspace' | 'run'>,
  tasks: readonly Task[],
  current?: string,
): void {
  const list = tasks.map((task) => ({ ...toTaskName(task), checklist: task.checklist }))
  const path = runTasksPath(context.workspace.paths, context.run)
  replaceFile(path, `${JSON.stringify({ ...defined({ current }), tasks: list }, null, 1)}\n`)
}

/** Commands an agent may run. None starts a program, writes a file of the agent's choice, or does what the run does. */
export const AGENT_COMMANDS: readonly string[] = [
  'stint task',
  'stint log',
  'stint view',
  'stint checkpoint save',
  'stint checkpoint list',
  'stint checkpoint diff',
  'stint handoff create',
  'stint handoff show',
  'stint handoff list',
  'stint profiles',
  'stint pack',
  'stint search',
  'stint project',
  'stint budget',
  'stint list',
  'stint runs',
  'stint digest list',
  'stint digest show',
  'stint --help',
  'stint --version',
]
