// A run's tasks as its runner wrote them for its agents; they may come from a foreign backlog.
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
  readonly name: string
  readonly title: string
  readonly checklist?: readonly string[]
}

export interface RunTasks {
  readonly current?: string
  readonly tasks: readonly RunTask[]
}

export function runTasksPath(place: Pick<Place, 'sessions'>, run: string): string {
  return join(runFolder(place, run), 'tasks.json')
}

/** Invalid tasks are left out. */
export function readRunTasks(place: Pick<Place, 'sessions'>, run: string): RunTasks {
  // An id cannot lead to another folder.
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

/** `#12` and `12` are one name. */
function bare(name: string): string {
  return name.toLowerCase().replace(/^#/, '')
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    // The caller reports it.
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
