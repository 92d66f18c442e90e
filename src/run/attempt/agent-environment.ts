import { delimiter, dirname, join } from 'node:path'
import { createExecutable, replaceFile } from '../../journal/files.ts'
import { stintProgram } from '../../harness/process/find-program.ts'
import type { Place } from '../../project/store/place.ts'
import { runFolder, runProgram } from '../../project/store/run-files.ts'
import type { RunContext } from './run-context.ts'
import { existsSync } from 'node:fs'
import { runTasksPath } from '../../project/tasks/report-task.ts'
import type { Task } from '../../backlog/task.ts'
import { nameOf as wordFor } from '../texts/task-text.ts'
import type { TaskName } from '../entries.ts'
import { defined } from '../../text/defined.ts'

// Set by a harness or git command that started Stint; the agent would take them for its own.
const FOREIGN =
  /^(?:STINT_(?!STATE_HOME$|CLAUDE$|CODEX$|REHEARSAL)|CLAUDECODE$|CLAUDE_CODE_(?:SESSION_ID|ENTRYPOINT|SSE_PORT)$|GIT_(?:DIR|WORK_TREE|INDEX_FILE|PREFIX|COMMON_DIR|OBJECT_DIRECTORY|NAMESPACE)$)/

export function plainEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !FOREIGN.test(name)))
}

export function commandEnvironment({
  workspace,
  extraEnv,
}: Pick<RunContext, 'workspace' | 'extraEnv'>): NodeJS.ProcessEnv {
  return { ...plainEnvironment(workspace.env), ...extraEnv }
}

/** Names the run and the session, and puts this very `stint` first on the PATH. */
export function agentEnvironment(
  scene: Pick<RunContext, 'workspace' | 'extraEnv' | 'run'>,
  session: string,
): NodeJS.ProcessEnv {
  const { run, workspace } = scene
  const env = commandEnvironment(scene)
  const bin = dirname(runProgram(workspace.place, run))
  return {
    ...env,
    STINT_RUN: run,
    STINT_SESSION: session,
    PATH: [bin, env.PATH ?? ''].join(delimiter),
  }
}

function writeOwnCommand(place: Place, run: string): void {
  const program = [process.execPath, stintProgram()].map(
    (part) => `'${part.replaceAll("'", `'\\''`)}'`,
  )
  createExecutable(runProgram(place, run), `#!/bin/sh\nexec ${program.join(' ')} "$@"\n`)
}

/** Writes the agent's own `stint` and the names of the tasks, which `git clean` may have removed. */
export function equip(scene: RunContext, tasks: readonly Task[], current?: string): void {
  const { place } = scene.workspace
  if (!existsSync(join(runFolder(place, scene.run), 'bin', 'stint')))
    writeOwnCommand(place, scene.run)
  if (current !== undefined || !existsSync(runTasksPath(place, scene.run)))
    writeTaskList(scene, tasks, current)
}

export function nameOf({
  id,
  shortname,
  title,
}: Pick<Task, 'id' | 'shortname' | 'title'>): TaskName {
  return { id, name: wordFor({ shortname }), title }
}

function writeTaskList(
  scene: Pick<RunContext, 'workspace' | 'run'>,
  tasks: readonly Task[],
  current?: string,
): void {
  const list = tasks.map((task) => ({ ...nameOf(task), checklist: task.checklist }))
  const path = runTasksPath(scene.workspace.place, scene.run)
  replaceFile(path, `${JSON.stringify({ ...defined({ current }), tasks: list }, null, 1)}\n`)
}

/** Commands an agent may run: none starts a program, writes a file of the agent's choice, or does what the run does. */
export const OWN_COMMANDS: readonly string[] = [
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
