import { readTracking } from '../../conversation/tracking.ts'
import { isConversationId } from '../../harness/conversation-id.ts'
import type { SessionState } from '../../session/state.ts'
import type { Backlog } from '../../tasks/backlog.ts'
import { proposeSpecialist } from '../../tasks/specialist.ts'
import type { Task } from '../../tasks/task.ts'
import type { BacklogTask, UnfinishedAgent, WorkSource } from '../../views/export/work.ts'
import { openBacklog } from '../backlog.ts'
import { redactedForExport } from '../clean-draft.ts'
import { trackingFolderOf } from '../conversation-binding.ts'
import type { Reading } from '../live-session.ts'
import type { Workspace } from '../workspace.ts'

/** All that the work of a session is told from: its journal, its tasks wherever they were moved, and what hooks noted. */
export async function workSourceOf(
  workspace: Workspace,
  { state, entries }: Pick<Reading, 'state' | 'entries'>,
): Promise<WorkSource> {
  const tasks = state.tasks.length === 0 ? [] : tasksOf(state, await openBacklog(workspace))
  const ids = new Set(tasks.map((task) => task.id))
  const known = new Set(entries.map((entry) => entry.id))
  const elsewhere =
    ids.size === 0
      ? []
      : [...(await workspace.index()).taskEntries()].filter(
          ({ id, kind, data }) => kind === 'task.moved' && ids.has(String(data.task)) && !known.has(id),
        )
  const source = { state, entries: [...entries, ...elsewhere], tasks, unfinished: unfinishedAgents(workspace, state) }
  return { ...redactedForExport(workspace, source), propose: (text) => proposed({ title: text }) }
}

/** The tasks the session is linked to, each followed by its parts. One that is in no backlog here is known by its name alone. */
function tasksOf(state: SessionState, { byId, tasks }: Backlog): readonly BacklogTask[] {
  const found = new Map<string, BacklogTask>()
  const take = (id: string) => {
    if (found.has(id)) return
    const task = byId.get(id)
    if (task === undefined)
      found.set(id, { id, title: id, status: 'ready', dependsOn: [], proposed: proposed({ title: id }), checklist: [] })
    else found.set(id, asExported(task))
    for (const part of tasks) if (part.parent === id) take(part.id)
  }
  for (const id of state.tasks) take(id)
  return [...found.values()]
}

function asExported(task: Task): BacklogTask {
  const { id, title, status, dependsOn, parent, group, assignee, checklist } = task
  return {
    id,
    title,
    status,
    dependsOn,
    checklist,
    proposed: proposed(task),
    ...(parent === undefined ? {} : { parent }),
    ...(group === undefined ? {} : { group }),
    ...(assignee === undefined ? {} : { assignee }),
  }
}

function proposed(task: { title: string; description?: string; labels?: readonly string[] }): string {
  return proposeSpecialist({ description: '', labels: [], ...task }).specialist
}

/** Agents whose end no hook has seen. */
function unfinishedAgents(workspace: Workspace, state: SessionState): readonly UnfinishedAgent[] {
  const folder = trackingFolderOf(workspace.place)
  return state.conversations.items
    .filter(({ text }) => isConversationId(text))
    .flatMap(({ text, endedAt }) => {
      const tracking = readTracking(folder, text)
      // Its agents belong to the session it works on now.
      if (tracking?.session !== state.id) return []
      return Object.entries(tracking.agents).map(([id, prompt]) => ({ id, prompt, isLost: endedAt !== undefined }))
    })
}
