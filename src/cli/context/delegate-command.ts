// Commands about delegates, and which of them are meant: those named, or all that it can be done to.
import type { DelegateRow, Delegates, Project } from '../../library.ts'
import { StintError } from '../../public.ts'
import { redactDeep } from '../../text/redact.ts'
import { type RunInvocation, commandFactory, withSuggestions, openForRuns } from './command.ts'
import { argument, completions } from './flags.ts'

/** What a command about delegates works with. */
export interface DelegateInvocation extends RunInvocation {
  readonly delegates: Delegates
  /** The same without secrets: what agents write of their work is theirs, and what is shown is kept in logs. */
  redacted<T>(value: T): T
  /** What people call the tasks of these ids. */
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
        taskNames: (ids) => namesOfTasks(project, ids),
      })
    } catch (error) {
      const isAbsent = error instanceof StintError && error.code === 'NO_DELEGATE'
      throw isAbsent ? await withSuggestions(project, error) : error
    }
  }),
)

async function namesOfTasks(
  { tasks }: Project,
  ids: readonly (string | undefined)[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = ids.filter((id) => id !== undefined)
  if (wanted.length === 0) return new Map()
  const { byId } = await tasks.list()
  return new Map(wanted.map((id) => [id, byId.get(id)?.shortname ?? id]))
}

export function delegateArguments(brief: string) {
  return argument(brief, 'NAME', completions.delegates)
}

interface Choice {
  readonly names?: readonly string[]
  readonly group?: string | undefined
  /** A part of a name is not enough. */
  readonly isExact?: boolean
  /** Without names: whether it can be done to this one. */
  readonly fits: (row: DelegateRow) => boolean
}

export async function selectDelegates(
  scene: DelegateInvocation,
  { names = [], group, isExact, fits }: Choice,
): Promise<readonly DelegateRow[]> {
  const ids = new Set(await resolveDelegateIds(scene, names, isExact))
  const all = await scene.delegates.list()
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

/** The ids of those named, in the order of the names. */
export async function resolveDelegateIds(
  { delegates }: DelegateInvocation,
  names: readonly string[],
  isExact = false,
): Promise<readonly string[]> {
  const ids = await Promise.all(names.map((name) => delegates.find(name, isExact)))
  return [...new Set(ids)]
}

/** The same delegates as they stand now. */
export async function readProjectDelegates(
  { delegates, redacted: shown }: DelegateInvocation,
  ids: ReadonlySet<string>,
): Promise<readonly DelegateRow[]> {
  return shown((await delegates.list()).filter(({ id }) => ids.has(id)))
}

export function idsOf(rows: readonly DelegateRow[]): ReadonlySet<string> {
  return new Set(rows.map(({ id }) => id))
}
