// Tasks as they stand in a backlog, with what matters for running them side by side.
import type { Candidate } from '../../../src/run/parallel/schedule.ts'
import type { Task } from '../../../src/backlog/task.ts'

export function someTask(id: string, fields: Partial<Task> = {}): Task {
  return {
    id,
    shortname: id,
    title: `Task ${id}`,
    description: '',
    details: '',
    priority: 'P2',
    size: 'M',
    status: 'ready',
    labels: [],
    dependsOn: [],
    blocks: [],
    children: [],
    checklist: [],
    extra: '',
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    sessions: [],
    ...fields,
  }
}

/** A task with the files that it says it changes. */
export function candidate(
  id: string,
  fields: Partial<Task> = {},
  files: readonly string[] = [],
): Candidate {
  return { task: someTask(id, fields), touches: { declared: files, likely: [] } }
}
