import { resolve } from 'node:path'
import { StintError } from '../../journal/errors.ts'
import { withoutSecrets } from '../../project/store/clean-draft.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { openBacklog } from '../../project/tasks/project-backlog.ts'
import { parseChecklist, tickItem } from './checklist.ts'
import type { BacklogSource } from './backlog-source.ts'
import { markDone, parseJsonl } from './jsonl.ts'
import { fileSource } from './file-source.ts'
import { beadsSource, githubSource } from './trackers.ts'

export async function openBacklogSource(
  workspace: Workspace,
  given: string | undefined,
): Promise<BacklogSource> {
  const word = given?.trim() ?? '.tasks'
  // Task files are views of the journals, so there is nothing to change in them.
  if (resolve(workspace.cwd, word) === workspace.paths.tasks || /^\.tasks\/?$/.test(word))
    return { name: '.tasks', read: () => openBacklog(workspace), complete: async () => [] }
  if (word === 'beads') return beadsSource(workspace)
  if (word === 'github') return githubSource(workspace)
  if (/\.(?:jsonl|ndjson)$/i.test(word))
    return fileSource(workspace, word, { parse: parseJsonl, markDone })
  if (/\.(?:md|markdown)$/i.test(word)) {
    const hide = (text: string) => withoutSecrets(text, workspace.config)
    return fileSource(workspace, word, {
      parse: (text) => parseChecklist(text, hide),
      markDone: (text, own) => tickItem(text, own, hide),
      emptyMessage: 'has no line of the form "- [ ] what is to be done"',
    })
  }
  throw new StintError(
    'BACKLOG_UNKNOWN',
    `${JSON.stringify(word)} is no backlog`,
    'use .tasks, a .jsonl file, a .md file with "- [ ]" lines, beads, or github',
  )
}
