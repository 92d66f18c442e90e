import { redaction } from '../../project/store/clean-draft.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { redactDeep } from '../../text/redact.ts'
import type { Listener } from '../events.ts'
import type { RunPlan } from '../loop/plan-run.ts'
import type { RunHandle, StartOptions } from '../loop/start-run.ts'
import type { RunOptions } from '../options.ts'
import type { RunReport, RunRow } from '../report.ts'

export type Runs = ReturnType<typeof runsOf>

/** What can be done with runs of a project. Rarely needed, so each part is loaded when it is asked for. */
export function runsOf(workspace: Workspace) {
  return {
    /** Begins a run, or goes on with one. What is wrong is an error here; afterwards the handle tells how it ended. */
    async start(options: StartOptions = {}, tell: Listener = () => {}): Promise<RunHandle> {
      const { startAnyRun } = await import('../parallel/start-parallel.ts')
      const secrets = redaction(workspace.config)
      // What an agent says and runs may hold a secret, and whoever is told may keep it.
      return startAnyRun(workspace, options, (event) => tell(redactDeep(event, secrets).value))
    },
    /** What a run would do, and why. Begins nothing. */
    async plan(options: RunOptions = {}): Promise<RunPlan> {
      const { planAnyRun } = await import('../parallel/plan-parallel.ts')
      return planAnyRun(workspace, options)
    },
    /** The runs there were, the latest first. */
    async list(): Promise<readonly RunRow[]> {
      const { listRuns } = await import('../runs.ts')
      return listRuns(workspace)
    },
    /** What one took and what came of it, by its id or any unique part of it. */
    async report(run: string): Promise<RunReport> {
      const { reportOf } = await import('../runs.ts')
      return reportOf(workspace, run)
    },
  }
}
