import type { PageTask } from '../../../src/serve/contract.ts'

export interface TaskNode {
  readonly task: PageTask
  readonly children: readonly TaskNode[]
}

const ORDER: Readonly<Record<PageTask['status'], number>> = {
  in_progress: 0,
  blocked: 1,
  failed: 1,
  ready: 2,
  completed: 3,
}

/** A task is included when it matches or one of its sub-tasks does. */
export function buildTaskTree(
  tasks: readonly PageTask[],
  { isAll, text }: { readonly isAll: boolean; readonly text: string },
): readonly TaskNode[] {
  const ids = new Set(tasks.map(({ id }) => id))
  const children = new Map<string, PageTask[]>()
  for (const task of tasks) {
    const under =
      task.parent !== undefined && ids.has(task.parent) && !isCircular(task, tasks)
        ? task.parent
        : ''
    children.set(under, [...(children.get(under) ?? []), task])
  }
  const query = text.trim().toLowerCase()
  const isMatch = (task: PageTask): boolean =>
    (isAll || task.status !== 'completed') &&
    (query === '' ||
      [task.title, task.name, task.description, ...task.labels].some((one) =>
        one.toLowerCase().includes(query),
      ))
  const nodesUnder = (id: string): readonly TaskNode[] =>
    (children.get(id) ?? [])
      .toSorted((a, b) => ORDER[a.status] - ORDER[b.status] || a.priority.localeCompare(b.priority))
      .flatMap((task) => {
        const below = nodesUnder(task.id)
        return isMatch(task) || below.length > 0 ? [{ task, children: below }] : []
      })
  return nodesUnder('')
}

/** Its parents form a cycle: hand-written files may contain one. */
function isCircular(task: PageTask, tasks: readonly PageTask[]): boolean {
  const byId = new Map(tasks.map((one) => [one.id, one]))
  const seen = new Set<string>()
  for (let at: PageTask | undefined = task; at !== undefined; at = byId.get(at.parent ?? '')) {
    if (seen.has(at.id)) return true
    seen.add(at.id)
  }
  return false
}
