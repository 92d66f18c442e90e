// Which delegates a command means: those named, or all that it can be done to.
import type { DelegateRow } from '../run/delegate/contract.ts'
import { StintError } from '../journal/errors.ts'
import { propose } from './propose.ts'
import type { DelegateScene } from './with-delegates.ts'

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
  const { findDelegate, findExactly } = await import('../run/delegate/delegates.ts')
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
