// The backlog as it is shown: parts below what they belong to, what matters first.
import type { PublicTask } from '../../../src/serve/contract.ts'

export interface TaskNode {
  readonly task: PublicTask
  readonly parts: readonly TaskNode[]
}

const ORDER: Readonly<Record<PublicTask['status'], number>> = {
  in_progress: 0,
  blocked: 1,
  failed: 1,
  ready: 2,
  completed: 3,
}

/** A task is there when it is looked for, or when a part of it is. */
export function buildTaskTree(
  tasks: readonly PublicTask[],
  { isAll, text }: { readonly isAll: boolean; readonly text: string },
): readonly TaskNode[] {
  const ids = new Set(tasks.map(({ id }) => id))
  const parts = new Map<string, PublicTask[]>()
  for (const task of tasks) {
    const under =
      task.parent !== undefined && ids.has(task.parent) && !isCircular(task, tasks)
        ? task.parent
        : ''
    parts.set(under, [...(parts.get(under) ?? []), task])
  }
  const wanted = text.trim().toLowerCase()
  const isLookedFor = (task: PublicTask): boolean =>
    (isAll || task.status !== 'completed') &&
    (wanted === '' ||
      [task.title, task.name, task.description, ...task.labels].some((one) =>
        one.toLowerCase().includes(wanted),
      ))
  const nodesUnder = (id: string): readonly TaskNode[] =>
    (parts.get(id) ?? [])
      .toSorted((a, b) => ORDER[a.status] - ORDER[b.status] || a.priority.localeCompare(b.priority))
      .flatMap((task) => {
        const below = nodesUnder(task.id)
        return isLookedFor(task) || below.length > 0 ? [{ task, parts: below }] : []
      })
  return nodesUnder('')
}

/** It is, in the end, a part of itself: files written by hand may say so. */
function isCircular(task: PublicTask, tasks: readonly PublicTask[]): boolean {
  const byId = new Map(tasks.map((one) => [one.id, one]))
  const seen = new Set<string>()
  for (let at: PublicTask | undefined = task; at !== undefined; at = byId.get(at.parent ?? '')) {
    if (seen.has(at.id)) return true
    seen.add(at.id)
  }
  return false
}
