import type { FinishedTask } from './contract.ts'

/** Older ones say little of how a project is now. */
const REMEMBERED = 200
/** No task takes more of anything. */
const MOST = 1_000_000_000

/** The tasks of a history that can be reckoned with. A log may hold anything. */
export function usable(finished: readonly FinishedTask[]): readonly FinishedTask[] {
  return finished.slice(-REMEMBERED).filter((task) => {
    const figures = [task.added, task.requests, task.output, task.seconds]
    return (
      isSizeClass(task.sizeClass) &&
      figures.every((figure) => figure >= 0 && figure <= MOST) &&
      task.added >= 1
    )
  })
}

function isSizeClass(value: unknown): boolean {
  return value === 'small' || value === 'medium' || value === 'large'
}
