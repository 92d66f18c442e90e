import { readConversationState } from '../conversation/conversation-state.ts'
import { isConversationId } from '../../history/paths.ts'
import type { SessionState } from '../../session/state.ts'
import type { Backlog } from '../../backlog/backlog.ts'
import { proposeSpecialist } from '../../backlog/specialist.ts'
import type { Task } from '../../backlog/task.ts'
import { validParents } from '../../backlog/task-graph.ts'
import type { BacklogTask, ExportSource } from '../../document/export/collect-work.ts'
import { openBacklog } from '../tasks/project-backlog.ts'
import { redactedForExport } from '../store/clean-draft.ts'
import { conversationStateFolder } from '../store/conversation-binding.ts'
import type { SessionReading } from '../store/live-session.ts'
import type { Workspace } from '../store/workspace.ts'
import { defined } from '../../text/defined.ts'

export async function workSourceOf(
  workspace: Workspace,
  { state, entries }: Pick<SessionReading, 'state' | 'entries'>,
): Promise<ExportSource> {
  const tasks = state.tasks.length === 0 ? [] : sessionTasks(state, await openBacklog(workspace))
  const ids = new Set(tasks.map((task) => task.id))
  const known = new Set(entries.map((entry) => entry.id))
  const otherMoves =
    ids.size === 0
      ? []
      : [...(await workspace.index()).taskEntries()].filter(
          ({ id, kind, data }) =>
            kind === 'task.moved' && ids.has(String(data.task)) && !known.has(id),
        )
  const source = {
    state,
    entries: [...entries, ...otherMoves],
    tasks,
    unfinished: unfinishedAgents(workspace, state),
  }
  return {
    ...redactedForExport(workspace, source),
    propose: (text) => proposedSpecialist({ title: text }),
  }
}

/** With the delegates' tasks, each followed by its sub-tasks; unknown tasks by name. */
function sessionTasks(state: SessionState, backlog: Backlog) {
  const parents = validParents(backlog)
  const subTasks = new Map<string, string[]>()
  for (const { id, parent } of backlog.tasks) {
    if (parent === undefined) continue
    const parts = subTasks.get(parent)
    if (parts === undefined) subTasks.set(parent, [id])
    else parts.push(id)
  }
  const found = new Map<string, BacklogTask>()
  // No recursion: sub-tasks may nest deeply.
  const delegated = state.delegates.items.flatMap(({ task }) => task ?? [])
  const pending = [...state.tasks, ...delegated].toReversed()
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    if (found.has(id)) continue
    const task = backlog.byId.get(id)
    if (task === undefined)
      found.set(id, {
        id,
        title: id,
        status: 'ready',
        dependsOn: [],
        proposed: proposedSpecialist({ title: id }),
        checklist: [],
      })
    // Circular parents are cut.
    else
      found.set(
        id,
        exportedTask(task, backlog.byId.has(task.parent ?? '') ? parents.get(id) : task.parent),
      )
    pending.push(...(subTasks.get(id) ?? []).toReversed())
  }
  return [...found.values()]
}

function exportedTask(task: Task, parent: string | undefined) {
  const { id, title, status, dependsOn, group, assignee, checklist } = task
  return {
    id,
    title,
    status,
    dependsOn,
    checklist,
    proposed: proposedSpecialist(task),
    ...defined({ parent, group, assignee }),
  }
}

function proposedSpecialist(task: {
  title: string
  description?: string
  labels?: readonly string[]
}) {
  return proposeSpecialist({ description: '', labels: [], ...task }).specialist
}

/** No hook saw their end. */
function unfinishedAgents(workspace: Workspace, state: SessionState) {
  const folder = conversationStateFolder(workspace.paths)
  return state.conversations.items
    .filter(({ text }) => isConversationId(text))
    .flatMap(({ text, endedAt }) => {
      const tracking = readConversationState(folder, text)
      // A conversation's agents belong to its current session.
      if (tracking?.session !== state.id) return []
      return Object.entries(tracking.agents).map(([id, prompt]) => ({
        id,
        prompt,
        isLost: endedAt !== undefined,
      }))
    })
}
