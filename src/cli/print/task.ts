import type { Task, TaskStatus, TreeNode } from '../../library.ts'
import type { Project } from '../../core.ts'
import { taskTrees } from '../../core.ts'
import { labelledLines, indent, joinLines } from './terminal/text.ts'
import { markOrigin } from './origin.ts'
import { shorten } from '../../text/clean.ts'
import type { Output } from '../context/context.ts'

/** Falls back to the id where the backlog does not have the task. */
export async function taskNames(
  project: Project,
  ids: readonly string[],
): Promise<readonly string[]> {
  if (ids.length === 0) return []
  const { byId } = await project.tasks.list()
  return ids.map((id) => byId.get(id)?.shortname ?? id)
}

export const TASK_MARKS: Record<TaskStatus, string> = {
  ready: '○',
  in_progress: '◆',
  blocked: '⊘',
  completed: '✓',
  failed: '✗',
}

export function taskLine(task: Task): string {
  const { status, checklist, assignee } = task
  const labels = task.labels.map((label) => ` #${label}`).join('')
  const done = checklist.filter((item) => item.done).length
  const checklistText = checklist.length === 0 ? '' : ` [${done}/${checklist.length}]`
  const assigneeText = assignee === undefined ? '' : ` → ${assignee}`
  const statusText = status === 'ready' ? '' : `  (${status})`
  return `${TASK_MARKS[status]} ${task.shortname}  ${task.priority} ${task.size}  ${shorten(task.title, 60)}${checklistText}${labels}${assigneeText}${statusText}${markOrigin(task)}`
}

const MAX_INDENT = 20

export function taskLines(tasks: readonly Task[]): readonly string[] {
  const lines = ({ task, parts }: TreeNode, depth: number): readonly string[] => [
    indent(taskLine(task), '  '.repeat(depth)),
    ...parts.flatMap((part) => lines(part, depth + 1)),
  ]
  const trees = taskTrees(
    { tasks, byId: new Map(tasks.map((task) => [task.id, task])) },
    { levels: MAX_INDENT },
  )
  return trees.flatMap((tree) => lines(tree, 0))
}

export function describeTask(task: Task, output: Output): string {
  const { description, checklist, details } = task
  return joinLines(
    `${TASK_MARKS[task.status]} ${output.bold(task.title)}${markOrigin(task)}`,
    labelledLines([
      ['ID', task.id],
      ['Status', task.status],
      ['Priority', `${task.priority}, size ${task.size}`],
      ['Labels', task.labels.join(', ')],
      ['Depends on', task.dependsOn.join(', ')],
      ['Blocks', task.blocks.join(', ')],
      ['Part of', task.parent],
      ['Parts', task.children.join(', ')],
      ['Group', task.group],
      ['Assigned to', task.assignee],
      ['Verify', task.verify],
      ['Summary', task.summary],
    ]),
    description !== '' && ['', indent(description)],
    checklist.length > 0 && [
      '',
      checklist.map(({ item, done }, index) => `   ${index + 1}. [${done ? 'x' : ' '}] ${item}`),
    ],
    details !== '' && ['', indent(details)],
  )
}
