// How much of a run went on side by side. Pure.
import type { ParallelReport } from './report.ts'

/** A stretch of time in which a task was worked on, in milliseconds. */
export interface Stretch {
  readonly task: string
  readonly from: number
  readonly to: number
}

export type ParallelShare = Pick<ParallelReport, 'share' | 'target' | 'savedSeconds'>

/** More than half of the tasks should find another to run beside. */
export const TARGET_SHARE = 0.6

/** `seconds`: how long all of it took, with what is no work on a task. */
export function shareOf(stretches: readonly Stretch[], seconds: number): ParallelShare {
  const real = stretches.filter(({ from, to }) => to > from).toSorted((a, b) => a.from - b.from)
  const beside = new Set<string>()
  for (const [index, one] of real.entries()) {
    for (const other of real.slice(index + 1)) {
      if (other.from >= one.to) break
      if (other.task !== one.task) beside.add(one.task).add(other.task)
    }
  }
  const tasks = new Set(stretches.map(({ task }) => task)).size
  const worked = real.reduce((sum, { from, to }) => sum + (to - from), 0) / 1000
  return {
    share: tasks === 0 ? 0 : beside.size / tasks,
    target: TARGET_SHARE,
    savedSeconds: Math.round(worked - seconds),
  }
}
