import type { ChecklistItem } from '../../session/entries.ts'
import { second } from '../../text/times.ts'
import {
  type Complexity,
  type Delegate,
  type Work,
  type WorkSource,
  type WorkStatus,
  workOf,
} from './work.ts'
import type { Domain } from './domain.ts'

/** The field names belong to that format, not to Stint. */
export interface SessionJson {
  readonly session_id: string
  readonly start_time: string
  readonly complexity: Complexity
  readonly domain: Domain
  readonly tasks: readonly {
    readonly id: string
    readonly description: string
    readonly status: WorkStatus
    readonly assigned_to: string
    readonly parent_id: string | null
    readonly dependencies: readonly string[]
    readonly checklist: readonly ChecklistItem[]
    readonly start_time: string | null
    readonly end_time: string | null
    readonly files: readonly string[]
  }[]
  readonly delegates: readonly {
    readonly id: string
    readonly agent: string
    readonly task_id: string | null
    readonly prompt: string
    readonly status: Delegate['status']
    readonly result: string | null
  }[]
  readonly parallel_groups: readonly {
    readonly group_id: string
    readonly tasks: readonly string[]
    readonly status: 'running' | 'completed'
  }[]
  readonly updated_at: string
}

export function sessionJson(source: WorkSource): SessionJson {
  const work = workOf(source)
  return {
    session_id: work.id,
    start_time: second(source.state.createdAt),
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
    delegates: work.delegates.map(({ id, agent, task, prompt, status, result }) => ({
      id,
      agent,
      task_id: task,
      prompt,
      status,
      result,
    })),
    parallel_groups: groupsOf(work),
    updated_at: second(source.state.updatedAt),
  }
}

function groupsOf({ delegates, tasks }: Work): SessionJson['parallel_groups'] {
  const names = new Set([...tasks, ...delegates].flatMap(({ group }) => group ?? []))
  return [...names].map((group) => {
    const members = tasks.filter((task) => task.group === group)
    const begun = delegates.filter((one) => one.group === group)
    const isDone =
      members.every(({ status }) => status === 'done') &&
      begun.every(({ status }) => status === 'completed')
    return {
      group_id: group,
      tasks: [
        ...new Set([...members.map(({ id }) => id), ...begun.flatMap(({ task }) => task ?? [])]),
      ],
      status: isDone ? 'completed' : 'running',
    }
  })
}

export function renderSessionJson(source: WorkSource): string {
  return `${JSON.stringify(sessionJson(source), undefined, 2)}\n`
}
