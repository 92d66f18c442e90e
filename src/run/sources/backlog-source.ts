import type { Backlog } from '../../backlog/backlog.ts'
import type { Task } from '../../backlog/task.ts'

export interface BacklogSource {
  readonly name: string
  read(): Promise<Backlog>
  /** Marks a task as completed where the source can be changed. Returns the tracked paths it changed in the run's `tree`, for the runner to commit. */
  complete(task: Task, summary: string, tree: string): Promise<readonly string[]>
}
