import { StintError } from '../../journal/errors.ts'
import type { TaskFields } from '../../session/entries.ts'
import type { Backlog } from '../../backlog/backlog.ts'
import { line } from '../../backlog/canonical.ts'
import { findTask } from '../../backlog/find.ts'
import type { Task } from '../../backlog/task.ts'
import { wayBetween } from '../../backlog/waits.ts'

type Waiting = Pick<Task, 'id' | 'shortname' | 'dependsOn' | 'parent'>

/** The fields with tasks that are named in them by their ids. What the task was told before stays as it was written. */
export function withIds<T extends TaskFields>(fields: T, { tasks }: Backlog, before?: Task): T {
  const { dependsOn, parent } = fields
  const known = new Set([...(before?.dependsOn ?? []), before?.parent])
  const idOf = (name: string) => (known.has(name) ? name : findTask(tasks, name).id)
  return {
    ...fields,
    ...(dependsOn === undefined ? {} : { dependsOn: [...new Set(dependsOn.map(idOf))] }),
    ...(parent === undefined ? {} : { parent: line(parent) === '' ? '' : idOf(parent) }),
  }
}

/** What of the fields says something else than the task does. */
export function differing(fields: TaskFields, task: Task): TaskFields {
  const before: Readonly<Record<string, unknown>> = { ...task }
  const isOther = ([key, value]: [string, unknown]) =>
    JSON.stringify(value) !== JSON.stringify(before[key] ?? '')
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .filter(isOther),
  )
}

/**
 * Refuses what would make a task wait for itself: by a new dependency, or as a part, since the whole waits for its parts.
 * A circle that is there already does not stand in the way of taking it apart.
 */
export function refuseCircle({ byId }: Backlog, task: Waiting, before?: Task): void {
  const waitsOf = (id: string): readonly string[] => {
    const other = byId.get(id)
    const parts = (other?.children ?? []).filter((part) => part !== task.id)
    return [
      ...(id === task.id ? task.dependsOn : (other?.dependsOn ?? [])),
      ...parts,
      ...(id === task.parent ? [task.id] : []),
    ]
  }
  const nameOf = (id: string) => (id === task.id ? task.shortname : (byId.get(id)?.shortname ?? id))
  const refuse = (way: readonly string[]) => {
    throw new StintError(
      'TASK_CIRCLE',
      `${nameOf(way[0]!)} would wait for itself: ${way.map(nameOf).join(' → ')}`,
      'a task waits for its dependencies and for its parts; leave one of them out',
    )
  }
  for (const dependency of task.dependsOn.filter((id) => before?.dependsOn.includes(id) !== true)) {
    const back = wayBetween(dependency, task.id, waitsOf)
    if (back !== undefined) refuse([task.id, ...back])
  }
  if (task.parent === undefined || task.parent === '' || task.parent === before?.parent) return
  const back = wayBetween(task.id, task.parent, waitsOf)
  if (back !== undefined) refuse([task.parent, ...back])
}
