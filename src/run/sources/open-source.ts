import { resolve } from 'node:path'
import { StintError } from '../../journal/errors.ts'
import { openBacklog } from '../../project/tasks/backlog.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { beadsSource, githubSource } from './trackers.ts'
import { checklistSource } from './checklist.ts'
import { jsonlSource } from './jsonl.ts'
import type { BacklogSource } from './foreign.ts'
import { SourceFile } from './source-file.ts'

/** The source that a word or a path means; `.tasks/` when none is given. */
export async function openSource(
  workspace: Workspace,
  given: string | undefined,
): Promise<BacklogSource> {
  const word = given?.trim() ?? '.tasks'
  if (resolve(workspace.cwd, word) === workspace.place.tasks || /^\.tasks\/?$/.test(word))
    return tasksSource(workspace)
  if (word === 'beads') return beadsSource(workspace)
  if (word === 'github') return githubSource(workspace)
  if (/\.(?:jsonl|ndjson)$/i.test(word))
    return jsonlSource(workspace, SourceFile.find(workspace, word))
  if (/\.(?:md|markdown)$/i.test(word))
    return checklistSource(workspace, SourceFile.find(workspace, word))
  throw new StintError(
    'BACKLOG_UNKNOWN',
    `${JSON.stringify(word)} is no backlog`,
    'use .tasks, a .jsonl file, a .md file with "- [ ]" lines, beads, or github',
  )
}

/** The project's own tasks. Their files are views of the journals and need not be told anything. */
function tasksSource(workspace: Workspace): BacklogSource {
  return { name: '.tasks', read: () => openBacklog(workspace), settle: async () => [] }
}
