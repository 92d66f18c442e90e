import { redaction } from '../../project/store/clean-draft.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { redactDeep } from '../../text/redact.ts'
import type { Listener, RunEvent, RunReport, RunRow } from '../entries.ts'
import type { RunPlan } from '../loop/plan-run.ts'
import type { RunHandle, StartOptions } from '../loop/start-run.ts'
import type { RunOptions } from '../options.ts'
import type { DelegateState } from '../delegate/delegates.ts'

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
      const { planAnyRun } = await import('../parallel/schedule.ts')
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

type Operations = typeof import('./delegate-operations.ts')

export type Delegates = ReturnType<typeof delegatesOf>

export interface RecordedDelegate extends Pick<DelegateState, 'id' | 'order' | 'status'> {
  readonly isOrphaned: boolean
  /** Its work is neither merged nor discarded. */
  readonly isUnsettled: boolean
}

/** What can be done with the delegates of a project. Rarely needed, so it is loaded when it is asked for. */
export function delegatesOf(workspace: Workspace) {
  const load = () => import('./delegate-operations.ts')
  const bound =
    <Args extends readonly unknown[], Result>(
      choose: (operations: Operations) => (on: Workspace, ...args: Args) => Promise<Result>,
    ) =>
    async (...args: Args): Promise<Result> =>
      choose(await load())(workspace, ...args)
  return {
    start: bound(({ start }) => start),
    list: bound(({ list }) => list),
    show: bound(({ show }) => show),
    wait: bound(({ wait }) => wait),
    stop: bound(({ stop }) => stop),
    retry: bound(({ retry }) => retry),
    discard: bound(({ discard }) => discard),
    merge: bound(({ merge }) => merge),
    /** The id of the one that a name means; a part of a name is enough unless it has to be exact. */
    async find(name: string, isExact = false): Promise<string> {
      const { findDelegate, findExactly } = await import('../delegate/delegates.ts')
      return (isExact ? findExactly : findDelegate)(workspace.place, name).id
    },
    /** As their logs have them, the oldest first. Only reads, where `list` also reconciles them with what runs. */
    async recorded(): Promise<readonly RecordedDelegate[]> {
      const { allDelegates, isOrphaned, isUnsettled } = await import('../delegate/delegates.ts')
      return allDelegates(workspace.place).map((state) => ({
        id: state.id,
        order: state.order,
        status: state.status,
        isOrphaned: isOrphaned(state),
        isUnsettled: isUnsettled(state),
      }))
    },
    /** What changed between two commits, as git prints it. */
    async diff(from: string, to: string): Promise<string> {
      const { runGit } = await import('../../git/run-git.ts')
      const flags = ['--no-color', '--no-ext-diff', '--no-textconv']
      return runGit(workspace.place.root, ['diff', ...flags, from, to, '--'])
    },
    /** What the process in the background runs. */
    async work(id: string, tell: (event: RunEvent) => void): Promise<void> {
      const { runDelegateProcess } = await import('../delegate/work-delegate.ts')
      await runDelegateProcess(workspace, id, tell)
    },
  }
}
