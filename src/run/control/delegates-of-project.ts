import type { Workspace } from '../../project/store/workspace.ts'

type Operations = typeof import('./delegate-operations.ts')

export type Delegates = ReturnType<typeof delegatesOf>

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
  }
}
