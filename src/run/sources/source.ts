import type { Backlog } from '../../backlog/backlog.ts'
import type { Task } from '../../backlog/task.ts'

/** Where a run's tasks come from. */
export interface BacklogSource {
  /** `.tasks`, `beads`, `github`, or the path of a file in the project. */
  readonly name: string
  /** The tasks as they stand, with what Stint's own journals say of them. */
  read(): Promise<Backlog>
  /**
   * Tells the source that a task is completed, where it can be told. `tree` is the working tree of the run. Answers the
   * paths that it changed there and that git tracks, relative to `tree`, for the runner to commit.
   */
  settle(task: Task, summary: string, tree: string): Promise<readonly string[]>
}
