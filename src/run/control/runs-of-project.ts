import { redaction } from '../../project/store/clean-draft.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { redactDeep } from '../../text/redact.ts'
import type { DelegateState } from '../delegate/delegates.ts'
import type { Listener, RunReport, RunRow } from '../entries.ts'
import type { RunPlan } from '../loop/plan-run.ts'
import type { RunHandle, StartOptions } from '../loop/start-run.ts'
import type { RunOptions } from '../options.ts'

export type Runs = ReturnType<typeof runsOf>

/** What can be done with the runs of a project. Each part is loaded when it is needed. */
export function runsOf(workspace: Workspace) {
  return {
    /** Starts or resumes a run. What is wrong is thrown here; afterwards the handle says how it ended. */
    async start(options: StartOptions = {}, tell: Listener = () => {}): Promise<RunHandle> {
      const { startAnyRun } = await import('../parallel/start-parallel.ts')
      const secrets = redaction(workspace.config)
      // What an agent says and runs may hold a secret, and the listener may keep it.
      return startAnyRun(workspace, options, (event) => tell(redactDeep(event, secrets).value))
    },
    /** What a run would do, and why. Begins nothing. */
    async plan(options: RunOptions = {}): Promise<RunPlan> {
      const { planAnyRun } = await import('../parallel/schedule.ts')
      return planAnyRun(workspace, options)
    },
    /** All runs, newest first. */
    async list(): Promise<readonly RunRow[]> {
      const { listRuns } = await import('../runs.ts')
      return listRuns(workspace)
    },
    /** What a run cost and what came of it, by its id or any unique part of it. */
    async report(run: string): Promise<RunReport> {
      const { reportOf } = await import('../runs.ts')
      return reportOf(workspace, run)
    },
  }
}

type Operations = typeof import('./delegate-operations.ts')

export type Delegates = ReturnType<typeof delegatesOf>

/** A delegate as its log has it. */
export interface RecordedDelegate extends Pick<DelegateState, 'id' | 'order' | 'status'> {
  readonly isOrphaned: boolean
  /** Its work is neither merged nor discarded. */
  readonly isUnsettled: boolean
}

/** What can be done with the delegates of a project. Loaded when it is needed. */
export function delegatesOf(workspace: Workspace) {
  const bound =
    <Args extends readonly unknown[], Result>(
      choose: (operations: Operations) => (on: Workspace, ...args: Args) => Promise<Result>,
    ) =>
    async (...args: Args): Promise<Result> =>
      choose(await import('./delegate-operations.ts'))(workspace, ...args)
  return {
    /** Creates a delegate and starts it in the background. */
    start: bound(({ start }) => start),
    /** All delegates, oldest first. */
    list: bound(({ list }) => list),
    show: bound(({ show }) => show),
    /** Waits until none of them is at work; without names, all. */
    wait: bound(({ wait }) => wait),
    /** Ends them and everything they started; without names, all. Their work stays. */
    stop: bound(({ stop }) => stop),
    /** Starts them again; without names, all that failed, conflict or are parked. */
    retry: bound(({ retry }) => retry),
    /** Gives them up, by whole names; without any, all that are not merged. */
    discard: bound(({ discard }) => discard),
    /** Merges them one after another; `all` are those that are ready. */
    merge: bound(({ merge }) => merge),
    /** The id of the one that a name means; a part of a name is enough unless it has to be exact. */
    async find(name: string, isExact = false): Promise<string> {
      const { findDelegate, findExactly } = await import('../delegate/delegates.ts')
      return (isExact ? findExactly : findDelegate)(workspace.place, name).id
    },
    /** As their logs have them, oldest first. Only reads, where `list` also reconciles them with what runs. */
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
    /** What the background process runs. */
    async work(id: string, tell: Listener): Promise<void> {
      const { runDelegateProcess } = await import('../delegate/work-delegate.ts')
      await runDelegateProcess(workspace, id, tell)
    },
  }
}
