import type { Project } from '../project/open-project.ts'
import type { TaskStatus } from '../session/entries.ts'
import type { Task } from '../tasks/task.ts'
import { shorten } from '../text/clean.ts'
import { indent } from './describe.ts'
import type { Output } from './output.ts'

/** The short names of tasks, or what they were linked by when the backlog does not have them. */
export async function taskNames(project: Project, ids: readonly string[]): Promise<readonly string[]> {
  if (ids.length === 0) return []
  const { byId } = await project.tasks.list()
  return ids.map((id) => byId.get(id)?.shortname ?? id)
}

const MARKS: Record<TaskStatus, string> = { ready: '○', in_progress: '◆', blocked: '⊘', completed: '✓', failed: '✗' }

export function taskLine(task: Task): string {
  const labels = task.labels.map((label) => ` #${label}`).join('')
  const ticked =
    task.checklist.length === 0 ? '' : ` [${task.checklist.filter((item) => item.done).length}/${task.checklist.length}]`
  const who = task.assignee === undefined ? '' : ` → ${task.assignee}`
  return `${MARKS[task.status]} ${task.shortname}  ${task.priority} ${task.size}  ${shorten(task.title, 60)}${ticked}${labels}${who}${task.status === 'ready' ? '' : `  (${task.status})`}`
}

/** Parts stand under the task they are a part of. */
export function taskTree(tasks: readonly Task[], parent?: string, depth = 0): readonly string[] {
  const ids = new Set(tasks.map((task) => task.id))
  const here = tasks.filter((task) =>
    parent === undefined ? task.parent === undefined || !ids.has(task.parent) : task.parent === parent,
  )
  // A task that is its own ancestor would recurse for ever.
  if (depth > 20) return []
  return here.flatMap((task) => [indent(taskLine(task), '  '.repeat(depth)), ...taskTree(tasks, task.id, depth + 1)])
}

export function describeTask(task: Task, output: Output): string {
  const facts: [string, string][] = [
    ['ID', task.id],
    ['Status', task.status],
    ['Priority', `${task.priority}, size ${task.size}`],
    ['Labels', task.labels.join(', ')],
    ['Depends on', task.dependsOn.join(', ')],
    ['Blocks', task.blocks.join(', ')],
    ['Part of', task.parent ?? ''],
    ['Parts', task.children.join(', ')],
    ['Group', task.group ?? ''],
    ['Assigned to', task.assignee ?? ''],
    ['Verify', task.verify ?? ''],
    ['Summary', task.summary ?? ''],
  ]
  return [
    `${MARKS[task.status]} ${output.bold(task.title)}`,
    ...facts.filter(([, value]) => value !== '').map(([name, value]) => `   ${name}: ${value}`),
    ...(task.description === '' ? [] : ['', indent(task.description)]),
    ...(task.checklist.length === 0
      ? []
      : ['', ...task.checklist.map((item, index) => `   ${index + 1}. [${item.done ? 'x' : ' '}] ${item.item}`)]),
    ...(task.details === '' ? [] : ['', indent(task.details)]),
  ].join('\n')
}
