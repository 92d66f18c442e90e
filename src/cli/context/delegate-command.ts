// Commands about delegates, which select the named ones or all that fit.
import type { DelegateRow, Delegates } from '../../library.ts'
import type { Project } from '../../core.ts'
import { StintError } from '../../public/projection.ts'
import { redactDeep } from '../../text/redact.ts'
import { type RunInvocation, commandFactory, openForRuns } from './command.ts'
import { withSuggestions } from './suggestions.ts'
import { argument, completions } from './flags.ts'

export interface DelegateInvocation extends RunInvocation {
  readonly delegates: Delegates
  /** A redacted copy: agents may write secrets, and output ends up in logs. */
  redacted<T>(value: T): T
  /** The short names of these tasks. */
  taskNames(ids: readonly (string | undefined)[]): Promise<ReadonlyMap<string, string>>
}

export const defineDelegateCommand = commandFactory<DelegateInvocation>((invocation, work) =>
  openForRuns(invocation, async (opened) => {
    const { project } = opened
    const secrets = await project.redaction()
    try {
      await work({
        ...opened,
        delegates: project.delegates,
        redacted: (value) => redactDeep(value, secrets).value,
        taskNames: (ids) => taskShortNames(project, ids),
      })
    } catch (error) {
      const isUnknown = error instanceof StintError && error.code === 'NO_DELEGATE'
      throw isUnknown ? await withSuggestions(project, error) : error
    }
  }),
)

async function taskShortNames(
  { tasks }: Project,
  ids: readonly (string | undefined)[],
): Promise<ReadonlyMap<string, string>> {
  const taskIds = ids.filter((id) => id !== undefined)
  if (taskIds.length === 0) return new Map()
  const { byId } = await tasks.list()
  return new Map(taskIds.map((id) => [id, byId.get(id)?.shortname ?? id]))
}

export function delegateArguments(brief: string) {
  return argument(brief, 'NAME', completions.delegates)
}

interface DelegateSelection {
  readonly names?: readonly string[]
  readonly group?: string | undefined
  /** Requires the full name. */
  readonly isExact?: boolean
  /** Without names: which delegates to select. */
  readonly isSelected: (row: DelegateRow) => boolean
}

export async function selectDelegates(
  invocation: DelegateInvocation,
  { names = [], group, isExact, isSelected }: DelegateSelection,
): Promise<readonly DelegateRow[]> {
  const ids = new Set(await resolveDelegateIds(invocation, names, isExact))
  const all = await invocation.delegates.list()
  if (group !== undefined && !all.some((row) => row.group === group)) {
    throw new StintError(
      'NO_GROUP',
      `no delegate is of the group "${group}"`,
      'stint delegates --all lists them with their groups',
    )
  }
  return all.filter(
    (row) =>
      (ids.size === 0 ? isSelected(row) : ids.has(row.id)) &&
      (group === undefined || row.group === group),
  )
}

/** In the order of the names. */
export async function resolveDelegateIds(
  { delegates }: DelegateInvocation,
  names: readonly string[],
  isExact = false,
): Promise<readonly string[]> {
  const ids = await Promise.all(names.map((name) => delegates.find(name, isExact)))
  return [...new Set(ids)]
}

/** The current rows of these delegates, redacted. */
export async function readProjectDelegates(
  { delegates, redacted }: DelegateInvocation,
  ids: ReadonlySet<string>,
): Promise<readonly DelegateRow[]> {
  return redacted((await delegates.list()).filter(({ id }) => ids.has(id)))
}

export function idsOf(rows: readonly DelegateRow[]): ReadonlySet<string> {
  return new Set(rows.map(({ id }) => id))
}
