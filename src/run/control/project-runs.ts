import { redaction } from '../../project/store/clean-draft.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { redactDeep } from '../../text/redact.ts'
import type { DelegateState } from '../delegate/delegates.ts'
import type { RunListener, RunReport, RunRow } from '../entries.ts'
import type { RunPlan } from '../loop/plan-run.ts'
import type { RunHandle, StartOptions } from '../loop/start-run.ts'
import type { RunOptions } from '../options.ts'

export type Runs = ReturnType<typeof projectRuns>

/** What can be done with the runs of a project. Each part is loaded when it is needed. */
export function projectRuns(workspace: Workspace) {
  return {
    /** Starts or resumes a run. What is wrong is thrown here; afterwards the handle says how it ended. */
    async start(options: StartOptions = {}, tell: RunListener = () => {}): Promise<RunHandle> {
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
      const { readRunReport } = await import('../runs.ts')
      return readRunReport(workspace, run)
    },
  }
}

type Operations = typeof import('./delegate-operations.ts')

export type Delegates = ReturnType<typeof projectDelegates>

/** A delegate as its log has it. */
export interface RecordedDelegate extends Pick<DelegateState, 'id' | 'order' | 'status'> {
  readonly isOrphaned: boolean
  /** Its work is neither merged nor discarded. */
  readonly isUnsettled: boolean
}

/** What can be done with the delegates of a project. Loaded when it is needed. */
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
    /** Waits until none of them is at work; without names, all. */
    wait: bound(({ waitForDelegates }) => waitForDelegates),
    /** Ends them and everything they started; without names, all. Their work stays. */
    stop: bound(({ stopDelegates }) => stopDelegates),
    /** Starts them again; without names, all that failed, conflict or are parked. */
    retry: bound(({ retryDelegates }) => retryDelegates),
    /** Gives them up, by whole names; without any, all that are not merged. */
    discard: bound(({ discardDelegates }) => discardDelegates),
    /** Merges them one after another; `all` are those that are ready. */
    merge: bound(({ mergeDelegatesByName }) => mergeDelegatesByName),
    /** The id of the one that a name means; a part of a name is enough unless it has to be exact. */
    async find(name: string, isExact = false): Promise<string> {
      const { findDelegate, findExactly } = await import('../delegate/delegates.ts')
      return (isExact ? findExactly : findDelegate)(workspace.paths, name).id
    },
    /** As their logs have them, oldest first. Only reads, where `list` also reconciles them with what runs. */
    async recorded(): Promise<readonly RecordedDelegate[]> {
      const { readDelegates, isOrphaned, isOpenDelegate } = await import('../delegate/delegates.ts')
      return readDelegates(workspace.paths).map((state) => ({
        id: state.id,
        order: state.order,
        status: state.status,
        isOrphaned: isOrphaned(state),
        isUnsettled: isOpenDelegate(state),
      }))
    },
    /** What changed between two commits, as git prints it. */
    async diff(from: string, to: string): Promise<string> {
      const { runGit } = await import('../../git/run-git.ts')
      const flags = ['--no-color', '--no-ext-diff', '--no-textconv']
      return runGit(workspace.paths.root, ['diff', ...flags, from, to, '--'])
    },
    /** What the background process runs. */
    async work(id: string, tell: RunListener): Promise<void> {
      const { runDelegateProcess } = await import('../delegate/start-delegate.ts')
      await runDelegateProcess(workspace, id, tell)
    },
  }
}
