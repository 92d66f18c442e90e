// The tasks of a run by name, as its runner wrote them down for the commands of its agents. Tasks may come from a backlog
// that is not ours, so that no other place here knows them.
import { join } from 'node:path'
import { StintError } from '../../journal/errors.ts'
import { readOrUndefined } from '../../journal/look.ts'
import { isId } from '../../journal/ids.ts'
import { isRecord, line, matchTasks, readChecklist } from '../../backlog/task.ts'
import type { Place } from '../store/place.ts'
import { runFolder } from '../store/run-files.ts'
import { defined } from '../../text/defined.ts'

export interface RunTask {
  readonly id: string
  /** What the agent was told to call it. */
  readonly name: string
  readonly title: string
  /** The texts of its checklist, in the order of their numbers, when they are known. */
  readonly checklist?: readonly string[]
}

export interface RunTasks {
  /** The id of the task that is being worked on. */
  readonly current?: string
  readonly tasks: readonly RunTask[]
}

/** Where the runner keeps the list. */
export function runTasksPath(place: Pick<Place, 'sessions'>, run: string): string {
  return join(runFolder(place, run), 'tasks.json')
}

/** The list of a run. What in it cannot be understood is left out. */
export function readRunTasks(place: Pick<Place, 'sessions'>, run: string): RunTasks {
  // An id leads to no other folder.
  const text = isId(run) ? readOrUndefined(runTasksPath(place, run))?.toString('utf8') : undefined
  const value = text === undefined ? undefined : parsed(text)
  if (value === undefined) {
    throw new StintError(
      'NO_RUN',
      `there is no list of tasks for the run ${JSON.stringify(line(run).slice(0, 60))}`,
      'STINT_RUN names the run; stint run sets it',
    )
  }
  const current = line(value.current)
  const tasks = Array.isArray(value.tasks) ? value.tasks.filter(isRecord).flatMap(readTask) : []
  return { tasks, ...(current === '' ? {} : { current }) }
}

/** The one task that a name means: its id, its name in any case, or a part of the id that only it has. */
export function findRunTask({ tasks }: RunTasks, reference: string): RunTask {
  const named = tasks.map((task) => ({ ...task, shortname: task.name }))
  const wanted = line(reference).toLowerCase()
  const found = [
    matchTasks(named, reference),
    named.filter(({ name }) => wanted !== '' && bare(name) === bare(wanted)),
  ].find((some) => some.length > 0)
  const [only, ...others] = found ?? []
  const candidates = (found ?? tasks).map(({ name, title }) => `  ${name}: ${title}`)
  if (only === undefined) {
    const list =
      candidates.length === 0 ? 'it has no tasks' : `its tasks are\n${candidates.join('\n')}`
    throw new StintError(
      'TASK_NOT_FOUND',
      `this run has no task ${JSON.stringify(reference)}; ${list}`,
      'name it as its # Task line does',
    )
  }
  if (others.length > 0) {
    throw new StintError(
      'TASK_AMBIGUOUS',
      `${JSON.stringify(reference)} may mean any of ${candidates.length} tasks:\n${candidates.join('\n')}`,
      'name it by its id',
    )
  }
  const { shortname: _name, ...task } = only
  return task
}

/** As people write it: `#12` and `12` are one name. */
function bare(name: string): string {
  return name.toLowerCase().replace(/^#/, '')
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    // Not JSON, so no list; the caller says so.
    return undefined
  }
}

function readTask(task: Readonly<Record<string, unknown>>): readonly RunTask[] {
  const id = line(task.id)
  if (id === '') return []
  const name = line(task.name) || id
  const checklist = readChecklist(task.checklist)?.map(({ item }) => item)
  return [{ id, name, title: line(task.title), ...defined({ checklist }) }]
}
