import type { Delegates } from '../run/control/delegates-of-project.ts'
import { StintError } from '../journal/errors.ts'
import type { Place } from '../project/store/place.ts'
import type { Workspace } from '../project/store/workspace.ts'
import { redactDeep } from '../text/redact.ts'
import type { Context } from './context.ts'
import { nearest } from './nearest.ts'
import type { Output } from './output.ts'
import { type SayBy, withWorkspace } from './with-workspace.ts'

/** What a command about delegates works with. */
export interface DelegateScene {
  readonly workspace: Workspace
  readonly delegates: Delegates
  readonly output: Output
  readonly sayBy: SayBy
  /** The same without secrets: what agents write of their work is theirs, and what is shown is kept in logs. */
  shown<T>(value: T): T
  /** What people call the tasks of these ids. */
  taskNames(ids: readonly (string | undefined)[]): Promise<ReadonlyMap<string, string>>
}

/** Opens the project's delegates for one command. With `--json` an error is JSON too. */
export async function withDelegates(
  context: Context,
  flags: { json?: boolean | undefined },
  work: (scene: DelegateScene) => Promise<void>,
): Promise<void> {
  await withWorkspace(context, flags, async (workspace, output, sayBy) => {
    const { delegatesOf } = await import('../run/control/delegates-of-project.ts')
    const { redaction } = await import('../project/store/clean-draft.ts')
    const secrets = redaction(workspace.config)
    try {
      await work({
        workspace,
        delegates: delegatesOf(workspace),
        output,
        sayBy,
        shown: (value) => redactDeep(value, secrets).value,
        taskNames: (ids) => namesOfTasks(workspace, ids),
      })
    } catch (error) {
      throw await withNearestDelegate(workspace.place, error)
    }
  })
}

async function namesOfTasks(
  workspace: Workspace,
  ids: readonly (string | undefined)[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = ids.filter((id) => id !== undefined)
  if (wanted.length === 0) return new Map()
  const { openBacklog } = await import('../project/tasks/backlog.ts')
  const { byId } = await openBacklog(workspace)
  return new Map(wanted.map((id) => [id, byId.get(id)?.shortname ?? id]))
}

const NOT_THERE = /^there is no delegate "(.*)"$/

/** The same error with the names that may have been meant. */
async function withNearestDelegate(place: Place, error: unknown): Promise<unknown> {
  const about =
    error instanceof StintError && error.code === 'NO_DELEGATE'
      ? NOT_THERE.exec(error.message)
      : null
  if (!(error instanceof StintError) || about === null) return error
  const { allDelegates } = await import('../run/delegate/delegates.ts')
  const near = nearest(
    about[1]!,
    allDelegates(place).map(({ order }) => order.name),
  )
  if (near.length === 0) return error
  return new StintError(
    error.code,
    `${error.message}; did you mean ${near.join(' or ')}?`,
    error.hint,
    { cause: error },
  )
}
