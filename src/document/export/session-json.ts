import { formatToSecond } from '../../text/times.ts'
import { type ExportedWork, type ExportSource, collectWork } from './collect-work.ts'

/** The field names belong to that format, not to Stint. */
export function sessionJson(source: ExportSource) {
  const work = collectWork(source)
  return {
    session_id: work.id,
    start_time: formatToSecond(source.state.createdAt),
    complexity: work.complexity,
    domain: work.domain,
    tasks: work.tasks.map((task) => ({
      id: task.id,
      description: task.description,
      status: task.status,
      assigned_to: task.assignedTo,
      parent_id: task.parent,
      dependencies: task.dependencies,
      checklist: task.checklist,
      start_time: task.startedAt,
      end_time: task.endedAt,
      files: task.files,
    })),
    delegates: work.delegates.map(({ id, agent, task, prompt, status, result }) => {
      return { id, agent, task_id: task, prompt, status, result }
    }),
    parallel_groups: groupsOf(work),
    updated_at: formatToSecond(source.state.updatedAt),
  }
}

function groupsOf({ delegates, tasks }: ExportedWork) {
  const names = new Set([...tasks, ...delegates].flatMap(({ group }) => group ?? []))
  return [...names].map((group) => {
    const members = tasks.filter((task) => task.group === group)
    const groupDelegates = delegates.filter((one) => one.group === group)
    const isDone =
      members.every(({ status }) => status === 'done') &&
      groupDelegates.every(({ status }) => status === 'completed')
    const ids = [
      ...members.map(({ id }) => id),
      ...groupDelegates.flatMap(({ task }) => task ?? []),
    ]
    return { group_id: group, tasks: [...new Set(ids)], status: isDone ? 'completed' : 'running' }
  })
}

export function renderSessionJson(source: ExportSource): string {
  return `${JSON.stringify(sessionJson(source), undefined, 2)}\n`
}
