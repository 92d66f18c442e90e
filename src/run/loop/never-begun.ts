import type { Task } from '../../backlog/task.ts'
import type { NeverBegun } from '../report.ts'
import type { RunState } from '../run-state.ts'
import { nameOf } from '../attempt/task-list.ts'

/** Of a long backlog only so many are named; the others are counted. */
const MOST = 300

/** What a run that ends now leaves as it found it: the tasks that it was for, are open, and were never begun. */
export function neverBegun(
  open: readonly Task[],
  state: RunState | undefined,
): NeverBegun | undefined {
  const begun = new Set([
    ...(state?.attempts ?? []).map(({ started }) => started.task.id),
    ...(state?.delegates ?? []).map(({ task }) => task),
  ])
  const left = open.filter(({ id }) => !begun.has(id))
  return left.length === 0
    ? undefined
    : { count: left.length, tasks: left.slice(0, MOST).map(nameOf) }
}
