import { redaction } from '../../project/store/clean-draft.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { redactDeep } from '../../text/redact.ts'
import type { DelegateState } from '../delegate/delegates.ts'
import type { RunListener, RunReport, RunRow } from '../entries.ts'
import type { RunPlan } from '../loop/plan-run.ts'
import type { RunHandle, StartOptions } from '../loop/start-run.ts'
import type { RunOptions } from '../options.ts'

export type Runs = ReturnType<typeof projectRuns>

/** The runs of a project. Each operation loads its module when it is called. */
export function projectRuns(workspace: Workspace) {
  return {
    /** Starts or resumes a run. Throws if it cannot start; after that the handle reports how it ended. */
    async start(options: StartOptions = {}, listener: RunListener = () => {}): Promise<RunHandle> {
      const { startAnyRun } = await import('../parallel/start-parallel.ts')
      const secrets = redaction(workspace.config)
      // Agent messages and commands may contain secrets, and the listener may store them.
      return startAnyRun(workspace, options, (event) => listener(redactDeep(event, secrets).value))
    },
    /** Plans a run without starting it. */
    async plan(options: RunOptions = {}): Promise<RunPlan> {
      const { planAnyRun } = await import('../parallel/schedule.ts')
      return planAnyRun(workspace, options)
    },
    /** All runs, newest first. */
    async list(): Promise<readonly RunRow[]> {
      const { listRuns } = await import('../runs.ts')
      return listRuns(workspace)
    },
    /** The report of a run, by its id or any unique part of it. */
    async report(run: string): Promise<RunReport> {
      const { readRunReport } = await import('../runs.ts')
      return readRunReport(workspace, run)
    },
  }
}

type Operations = typeof import('./delegate-operations.ts')

export type Delegates = ReturnType<typeof projectDelegates>

/** A delegate as recorded in its log. */
export interface RecordedDelegate extends Pick<DelegateState, 'id' | 'order' | 'status'> {
  readonly isOrphaned: boolean
  /** Its work is neither merged nor discarded. */
  readonly isUnsettled: boolean
}

/** The delegates of a project. The operations are loaded when one is called. */
export function projectDelegates(workspace: Workspace) {
  const bound =
    <Args extends readonly unknown[], Result>(
      choose: (operations: Operations) => (on: Workspace, ...args: Args) => Promise<Result>,
    ) =>
    async (...args: Args): Promise<Result> =>
      choose(await import('./delegate-operations.ts'))(workspace, ...args)
  return {
    /** Creates a delegate and starts it in the background. */
    start: bound(({ createAndStartDelegate }) => createAndStartDelegate),
    /** All delegates, oldest first. */
    list: bound(({ listDelegates }) => listDelegates),
    show: bound(({ showDelegate }) => showDelegate),
    /** Records how orphaned ones ended, and commits what their processes left. */
    reconcile: bound(({ reconcileOrphans }) => reconcileOrphans),
    /** Waits until none of them is running or merging; without names, all. */
    wait: bound(({ waitForDelegates }) => waitForDelegates),
    /** Stops them and everything they started; without names, all. Their work stays. */
    stop: bound(({ stopDelegates }) => stopDelegates),
    /** Restarts them; without names, all that are failed, conflicted or parked. */
    retry: bound(({ retryDelegates }) => retryDelegates),
    /** Discards them by their full names; without any, all that are not merged. */
    discard: bound(({ discardDelegates }) => discardDelegates),
    /** Merges them one after another; `all` are those that are ready. */
    merge: bound(({ mergeDelegatesByName }) => mergeDelegatesByName),
    /** The id of the delegate with this name or, unless `isExact`, this part of a name. */
    async find(name: string, isExact = false): Promise<string> {
      const { findDelegate, findExactly } = await import('../delegate/delegates.ts')
      return (isExact ? findExactly : findDelegate)(workspace.paths, name).id
    },
    /** As recorded in their logs, oldest first. */
    async recorded(): Promise<readonly RecordedDelegate[]> {
      const { readDelegates, isLeftBehind, isOpenDelegate } =
        await import('../delegate/delegates.ts')
      return readDelegates(workspace.paths).map((state) => ({
        id: state.id,
        order: state.order,
        status: state.status,
        isOrphaned: isLeftBehind(state),
        isUnsettled: isOpenDelegate(state),
      }))
    },
    /** The git diff between two commits. */
    async diff(from: string, to: string): Promise<string> {
      const { runGit } = await import('../../git/run-git.ts')
      return runGit(workspace.paths.root, ['diff', '--no-color', from, to, '--'])
    },
    /** Runs in the background process. */
    async work(id: string, listener: RunListener): Promise<void> {
      const { runDelegateProcess } = await import('../delegate/start-delegate.ts')
      await runDelegateProcess(workspace, id, listener)
    },
  }
}
