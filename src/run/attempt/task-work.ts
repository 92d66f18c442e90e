import type { PlannedTask } from '../plan/contract.ts'
import type { Task } from '../../backlog/task.ts'
import type { TaskName } from '../report.ts'

/** A task as a run works on it. */
export interface TaskWork {
  readonly task: Task
  readonly name: TaskName
  readonly planned: PlannedTask
  /** Tokens that it is expected to add at most. */
  readonly forecast: number
  /** Where the branch was when this run began on it, which is what it goes back to when it fails. */
  readonly base: string
  /** What was not committed then, such as what an earlier task left and was too large to be kept. */
  readonly leftBefore: readonly string[]
  /** Attempts that this run has made already. */
  readonly attempts: number
}
