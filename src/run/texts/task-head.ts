import { safeLine } from '../../text/safe-text.ts'
import type { Task } from '../../backlog/task.ts'
import { shorten } from '../../text/clean.ts'

/** What the texts about a task need of it. */
export type PromptTask = Pick<
  Task,
  'shortname' | 'title' | 'description' | 'details' | 'checklist' | 'verify'
>

const LONGEST_TITLE = 200

/** What the agent calls the task: one word, that a shell takes for one. */
export function nameOf(task: Pick<Task, 'shortname'>): string {
  return (
    safeLine(task.shortname)
      .replaceAll(/[^\w./-]+/g, '-')
      .replaceAll(/^-+|-+$/g, '') || 'task'
  )
}

/** The line that every text about a task begins with, and no other. */
export function taskHead(task: Pick<Task, 'shortname' | 'title'>): string {
  const title = shorten(safeLine(task.title), LONGEST_TITLE)
  return `# Task ${nameOf(task)}: ${title}`
}
