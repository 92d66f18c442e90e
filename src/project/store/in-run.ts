// A command that an agent gives in a run. The run alone opens and closes its sessions and closes its tasks, so that an agent
// which says that a task is done has said so and nothing more.
import { StintError } from '../../journal/errors.ts'

/** The run that a command is given in, if it is in one. */
export function runOf(env: NodeJS.ProcessEnv): string | undefined {
  const { STINT_RUN: run = '' } = env
  return run === '' ? undefined : run
}

/** Refuses what only the run itself may do. */
export function refuseInRun({ env }: { readonly env: NodeJS.ProcessEnv }, what: string): void {
  if (runOf(env) === undefined) return
  throw new StintError(
    'IN_RUN',
    `${what} is not for an agent in a run: that is left to the run, or to a person`,
    'stint task done NAME --summary TEXT reports a task (or blocked, or failed); then end the turn',
  )
}
