import { replaceFile } from '../../journal/files.ts'
import { runTasksPath } from '../../project/tasks/run-tasks.ts'
import type { Task } from '../../backlog/task.ts'
import { nameOf as wordFor } from '../texts/task-head.ts'
import type { TaskName } from '../report.ts'
import type { RunContext } from './run-context.ts'
import { defined } from '../../text/defined.ts'

/** What people and agents call a task. */
export function nameOf({
  id,
  shortname,
  title,
}: Pick<Task, 'id' | 'shortname' | 'title'>): TaskName {
  return { id, name: wordFor({ shortname }), title }
}

/** Tells the commands of the agent which tasks there are, and which is meant now. */
export function writeTaskList(
  scene: Pick<RunContext, 'workspace' | 'run'>,
  tasks: readonly Task[],
  current?: string,
): void {
  const list = tasks.map((task) => ({ ...nameOf(task), checklist: task.checklist }))
  const path = runTasksPath(scene.workspace.place, scene.run)
  replaceFile(path, `${JSON.stringify({ ...defined({ current }), tasks: list }, null, 1)}\n`)
}
