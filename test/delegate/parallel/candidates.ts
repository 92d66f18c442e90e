// Backlog tasks with the fields that matter for running them in parallel.
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

/** A task with its declared files. */
export function candidate(
  id: string,
  fields: Partial<Task> = {},
  files: readonly string[] = [],
): Candidate {
  return { task: someTask(id, fields), touches: { declared: files, likely: [] } }
}
