import type { PlannedTask } from './contract.ts'

export type Relation = 'related' | 'unrelated' | 'unknown'

/**
 * Whether what one task needs to know helps with the other. One thing that they share is enough; that they differ in a
 * label or in what they are part of says that they do not; and where nothing is known they may go together.
 */
export function areRelated(a: PlannedTask, b: PlannedTask): Relation {
  if (a.dependsOn.includes(b.id) || b.dependsOn.includes(a.id)) return 'related'
  if (a.parent === b.id || b.parent === a.id) return 'related'
  if (isSame(a.parent, b.parent) || isSame(a.group, b.group)) return 'related'
  if (a.labels.some((label) => b.labels.includes(label))) return 'related'
  const haveParents = isSaid(a.parent) && isSaid(b.parent)
  const haveLabels = a.labels.length > 0 && b.labels.length > 0
  return haveParents || haveLabels ? 'unrelated' : 'unknown'
}

/** How a task stands to those of a conversation: one that it goes together with is enough, else one that it does not. */
export function relationToAll(task: PlannedTask, others: readonly PlannedTask[]): Relation {
  let relation: Relation = 'unknown'
  for (const other of others) {
    const one = areRelated(task, other)
    if (one === 'related') return one
    if (one === 'unrelated') relation = one
  }
  return relation
}

function isSame(a: string | undefined, b: string | undefined): boolean {
  return isSaid(a) && a === b
}

function isSaid(value: string | undefined): boolean {
  return value !== undefined && value !== ''
}
