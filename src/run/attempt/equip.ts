import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { runFolder } from '../../project/store/run-files.ts'
import { runTasksPath } from '../../project/tasks/run-tasks.ts'
import type { Task } from '../../backlog/task.ts'
import { writeOwnCommand } from './agent-environment.ts'
import type { RunContext } from './run-context.ts'
import { writeTaskList } from './task-list.ts'

/** What the agent needs to report: a `stint` of its own, and the names of the tasks. `git clean` may have taken them away. */
export function equip(scene: RunContext, tasks: readonly Task[], current?: string): void {
  const { place } = scene.workspace
  if (!existsSync(join(runFolder(place, scene.run), 'bin', 'stint')))
    writeOwnCommand(place, scene.run)
  if (current !== undefined || !existsSync(runTasksPath(place, scene.run)))
    writeTaskList(scene, tasks, current)
}
