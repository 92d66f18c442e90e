// Which delegates a command means: those named, or all that it can be done to.
import type { Delegates } from '../../run/control/delegates-of-project.ts'
import { StintError } from '../../journal/errors.ts'
import type { Place } from '../../project/store/place.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { redactDeep } from '../../text/redact.ts'
import type { Context } from './context.ts'
import { nearest } from './nearest.ts'
import type { Output } from './output.ts'
import { type SayBy, withWorkspace } from './with-project.ts'
import type { DelegateRow } from '../../run/delegate/contract.ts'
import { propose } from './propose.ts'

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
    const { delegatesOf } = await import('../../run/control/delegates-of-project.ts')
    const { redaction } = await import('../../project/store/clean-draft.ts')
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
  const { openBacklog } = await import('../../project/tasks/backlog.ts')
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
  const { allDelegates } = await import('../../run/delegate/delegates.ts')
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

/** Names of delegates, none of which has to be there. */
export function delegateNames(brief: string) {
  const parameter = {
    parse: String,
    brief,
    placeholder: 'NAME',
    proposeCompletions: propose.delegates,
  } as const
  return { kind: 'array', parameter } as const
}

export interface Choice {
  readonly names: readonly string[]
  readonly group?: string | undefined
  /** A part of a name is not enough. */
  readonly isExact?: boolean
  /** Without names: whether it can be done to this one. */
  readonly fits: (row: DelegateRow) => boolean
}

export async function chosenDelegates(
  { delegates, workspace }: DelegateScene,
  choice: Choice,
): Promise<readonly DelegateRow[]> {
  const { names, group, isExact = false, fits } = choice
  const { findDelegate, findExactly } = await import('../../run/delegate/delegates.ts')
  const find = isExact ? findExactly : findDelegate
  const ids = new Set(names.map((name) => find(workspace.place, name).id))
  const all = await delegates.list()
  if (group !== undefined && !all.some((row) => row.group === group)) {
    throw new StintError(
      'NO_GROUP',
      `no delegate is of the group "${group}"`,
      'stint delegates --all lists them with their groups',
    )
  }
  return all.filter(
    (row) =>
      (ids.size === 0 ? fits(row) : ids.has(row.id)) &&
      (group === undefined || row.group === group),
  )
}

/** The same delegates as they stand now. */
export async function standing(
  { delegates, shown }: DelegateScene,
  ids: ReadonlySet<string>,
): Promise<readonly DelegateRow[]> {
  return shown((await delegates.list()).filter(({ id }) => ids.has(id)))
}

export function idsOf(rows: readonly DelegateRow[]): ReadonlySet<string> {
  return new Set(rows.map(({ id }) => id))
}
