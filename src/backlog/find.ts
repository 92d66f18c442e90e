import { StintError } from '../journal/errors.ts'
import { line } from './canonical.ts'
import type { Task } from './task.ts'

// Shorter pieces of an id match by accident: `a1` is in every eighth UUID.
const SHORTEST_PART = 4

type Named = Pick<Task, 'id' | 'shortname'>

/** The tasks a reference may mean: by id, else by shortname or file name, else by a part of the id. */
export function matchTasks<T extends Named>(tasks: readonly T[], reference: string): readonly T[] {
  const wanted = line(reference).replace(/\.md$/, '')
  if (wanted === '') return []
  const exact = tasks.filter((task) => task.id === wanted)
  if (exact.length > 0) return exact
  const named = tasks.filter(
    (task) => task.shortname === wanted || `${task.shortname}-${task.id}` === wanted,
  )
  if (named.length > 0 || wanted.length < SHORTEST_PART) return named
  return tasks.filter((task) => task.id.includes(wanted))
}

/** The id of the only task a reference may mean, or the reference itself. `ids` are those of the tasks. */
export function idOrItself(
  tasks: readonly Named[],
  ids: { has(id: string): boolean },
  reference: string,
): string {
  if (ids.has(reference)) return reference
  const [only, ...others] = matchTasks(tasks, reference)
  return only !== undefined && others.length === 0 ? only.id : reference
}

/** The one task a reference means. */
export function findTask<T extends Named & Pick<Task, 'title' | 'status'>>(
  tasks: readonly T[],
  reference: string,
): T {
  const [only, ...others] = matchTasks(tasks, reference)
  if (only === undefined) {
    throw new StintError(
      'TASK_NOT_FOUND',
      `there is no task ${JSON.stringify(reference)}`,
      'stint task list shows them all',
    )
  }
  if (others.length === 0) return only
  const candidates = [only, ...others].map(
    (task) => `  ${task.id}  ${task.shortname}  (${task.status}) ${task.title}`,
  )
  throw new StintError(
    'TASK_AMBIGUOUS',
    `${JSON.stringify(reference)} may mean any of ${candidates.length} tasks:\n${candidates.join('\n')}`,
    'name it by its id, or by a longer part of it',
  )
}
