// In a run only the runner opens and closes sessions and tasks; an agent only reports.
import { StintError } from '../../journal/errors.ts'

export function runFromEnv(env: NodeJS.ProcessEnv): string | undefined {
  const { STINT_RUN: run = '' } = env
  return run === '' ? undefined : run
}

export function refuseInRun({ env }: { env: NodeJS.ProcessEnv }, action: string): void {
  if (runFromEnv(env) === undefined) return
  throw new StintError(
    'IN_RUN',
    `${action} is not for an agent in a run: that is left to the run, or to a person`,
    'stint task done NAME --summary TEXT reports a task (or blocked, or failed); then end the turn',
  )
}
