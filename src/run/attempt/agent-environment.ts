// What an agent of a run finds in its environment.
import { delimiter, dirname } from 'node:path'
import { createExecutable } from '../../journal/files.ts'
import { stintProgram } from '../../harness/process/stint-program.ts'
import type { Place } from '../../project/store/place.ts'
import { runProgram } from '../../project/store/run-files.ts'
import type { RunContext } from './run-context.ts'

// Of the harness or the git command that Stint itself may have been started from; the agent would take them for its own.
const FOREIGN =
  /^(?:STINT_(?!STATE_HOME$|CLAUDE$|CODEX$|REHEARSAL)|CLAUDECODE$|CLAUDE_CODE_(?:SESSION_ID|ENTRYPOINT|SSE_PORT)$|GIT_(?:DIR|WORK_TREE|INDEX_FILE|PREFIX|COMMON_DIR|OBJECT_DIRECTORY|NAMESPACE)$)/

/** The environment as it was, without what is not meant for an agent or a command of a run. */
export function plainEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !FOREIGN.test(name)))
}

/** What the set-up and the verify command of a run find in theirs. */
export function commandEnvironment({
  workspace,
  extraEnv,
}: Pick<RunContext, 'workspace' | 'extraEnv'>): NodeJS.ProcessEnv {
  return { ...plainEnvironment(workspace.env), ...extraEnv }
}

/** With the run and the session named, and a `stint` that is this very program first on the PATH. */
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

export function writeOwnCommand(place: Place, run: string): void {
  const program = [process.execPath, stintProgram()].map(
    (part) => `'${part.replaceAll("'", `'\\''`)}'`,
  )
  createExecutable(runProgram(place, run), `#!/bin/sh\nexec ${program.join(' ')} "$@"\n`)
}
