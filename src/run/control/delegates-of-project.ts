import type { Workspace } from '../../project/store/workspace.ts'
import type { RunEvent } from '../events.ts'
import type { DelegateState } from '../delegate/delegates.ts'

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
