// What an agent of a run finds in its environment.
import { delimiter, dirname } from 'node:path'
import { createExecutable } from '../journal/files.ts'
import { stintProgram } from '../harness/rehearsal/stint-program.ts'
import type { Place } from '../project/place.ts'
import { runProgram } from '../project/run-files.ts'

// Of the harness or the git command that Stint itself may have been started from; the agent would take them for its own.
const FOREIGN =
  /^(?:STINT_(?!STATE_HOME$|CLAUDE$|CODEX$|REHEARSAL)|CLAUDECODE$|CLAUDE_CODE_(?:SESSION_ID|ENTRYPOINT|SSE_PORT)$|GIT_(?:DIR|WORK_TREE|INDEX_FILE|PREFIX|COMMON_DIR|OBJECT_DIRECTORY|NAMESPACE)$)/

/** The environment as it was, without what is not meant for an agent or a command of a run. */
export function plainEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !FOREIGN.test(name)))
}

/** With the run and the session named, and a `stint` that is this very program first on the PATH. */
export function agentEnvironment(env: NodeJS.ProcessEnv, place: Place, run: string, session: string): NodeJS.ProcessEnv {
  const bin = dirname(runProgram(place, run))
  return { ...plainEnvironment(env), STINT_RUN: run, STINT_SESSION: session, PATH: [bin, env.PATH ?? ''].join(delimiter) }
}

export function writeOwnCommand(place: Place, run: string): void {
  const program = [process.execPath, stintProgram()].map((part) => `'${part.replaceAll("'", `'\\''`)}'`)
  createExecutable(runProgram(place, run), `#!/bin/sh\nexec ${program.join(' ')} "$@"\n`)
}
