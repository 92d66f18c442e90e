import type { ReportedStatus, Task } from '../../library.ts'
import type { Project } from '../../core.ts'
import { defined } from '../../text/defined.ts'
import { fromElsewhere } from './refuse-foreign.ts'
import { clipDeep, latestWithin } from './clip-output.ts'
import { type McpToolResult, badArguments, stringSchema, defineTool } from './tool.ts'

const LIST_TOKENS = 3000
const MAX_FIELD_LENGTH = 4000

export const taskTool = defineTool({
  name: 'task',
  description:
    'The backlog. check ticks an item; done, blocked and failed say what became of a task (a run verifies and closes it).',
  effect: 'records',
  properties: {
    action: {
      type: 'string',
      enum: ['list', 'next', 'show', 'start', 'check', 'done', 'blocked', 'failed'],
    },
    task: { type: 'string', description: 'id or name' },
    summary: stringSchema,
    item: { type: 'string', description: 'to check' },
  },
  required: ['action'],
  async run({ project }, { action, task: name, summary, item }) {
    const { tasks } = project
    if (action === 'list') return listTasks(project)
    if (action === 'next') return nextTask(project)
    if (name === undefined)
      throw badArguments(
        `${action} needs task`,
        'give the id or short name of a task; list shows them',
      )
    const isInRun = project.run !== undefined
    // In a run the name may belong to another backlog, and the run was agreed to.
    if (!isInRun || action === 'show') refuseForeignTask(await tasks.show(name))
    if (action === 'show') return taskResult(await tasks.show(name))
    if (action === 'check') {
      if (item === undefined)
        throw badArguments('check needs item', 'give the number of the item or a part of its text')
      if (!isInRun) return taskResult(await tasks.check(name, item))
      const checked = await tasks.checkInRun(name, item)
      return {
        value: { ticked: checked.item, task: checked.name },
        text: `ticked: ${checked.name}: ${checked.item}`,
      }
    }
    const options = { by: 'mcp', ...defined({ summary }) }
    if (action === 'start') return taskResult(await tasks.move(name, 'in_progress', options))
    const status = action === 'done' ? 'completed' : action
    if (!isInRun) return taskResult(await tasks.move(name, status, options))
    // In a run this is only a claim and closes nothing.
    const { name: reported, current, isLeft } = await tasks.report(name, status, options)
    const whatFollows = WHAT_FOLLOWS[status]
    const advice = current && `${reported} is not the task at hand, which is ${current}`
    const line = `reported: ${reported} ${status}; ${whatFollows}`
    return {
      value: { reported, status, whatFollows, advice, left: isLeft },
      text: advice === undefined ? line : `${line}\n${advice}`,
    }
  },
})

const WHAT_FOLLOWS: Readonly<Record<ReportedStatus, string>> = {
  completed: 'it is closed when verify passes and the work is committed',
  blocked: 'the run sets it aside and goes on',
  failed: 'the run decides whether it is tried again',
}

async function listTasks(project: Project): Promise<McpToolResult> {
  const { tasks, problems } = await project.tasks.list()
  const all = tasks.filter(({ status }) => status !== 'completed')
  const open = all.filter(isShown).map(taskRow)
  const withheld = withheldNote(all)
  const { latest, leftOut } = latestWithin(open.toReversed(), LIST_TOKENS)
  const shown = latest.toReversed()
  return {
    value: {
      tasks: shown,
      more: leftOut || undefined,
      // A problem names tasks, also those that are left out.
      problems: problems.length === 0 || withheld.length > 0 ? undefined : problems,
      withheld: withheld[0],
    },
    text: [...(shown.length === 0 ? ['No open tasks.'] : shown.map(taskLine)), ...withheld].join(
      '\n',
    ),
  }
}

async function nextTask(project: Project): Promise<McpToolResult> {
  const next = await project.tasks.next()
  const tasks = next.tasks.filter(({ task }) => isShown(task))
  const waiting = next.waiting.filter(({ task }) => isShown(task))
  const withheld = withheldNote(next.backlog.tasks)
  const [first, ...after] = tasks
  if (first === undefined) {
    const waitingTasks = waiting
      .slice(0, 20)
      .map(({ task, because }) => ({ task: task.shortname, because }))
    const reasons = waitingTasks.map(({ task, because }) => `${task}: ${because}`)
    return {
      value: { task: null, waiting: waitingTasks, withheld: withheld[0] },
      text: ['No task can be started.', ...reasons, ...withheld].join('\n'),
    }
  }
  const { task, because } = first
  const afterwards = after.slice(0, 5).map((one) => one.task.shortname)
  return {
    value: { task: taskDetail(task), because, after: afterwards, withheld: withheld[0] },
    text: [`Next: ${taskLine(taskRow(task))}`, `Because: ${because}`, ...withheld].join('\n'),
  }
}

function isShown({ isFromElsewhere }: Task): boolean {
  return isFromElsewhere !== true
}

function refuseForeignTask(task: Task): void {
  if (!isShown(task)) throw fromElsewhere('NEEDS_CONSENT', 'this task')
}

/** Without their names: these come from elsewhere too. */
function withheldNote(tasks: readonly Task[]): readonly string[] {
  const count = tasks.filter((task) => !isShown(task) && task.status !== 'completed').length
  return count === 0
    ? []
    : [`${count} more came with the repository; stint trust asks the user whether to use them`]
}

function taskResult(task: Task): McpToolResult {
  return { value: { task: taskDetail(task) }, text: taskLine(taskRow(task)) }
}

function taskRow({ id, shortname: name, title, status, priority, size, dependsOn }: Task) {
  const depends = dependsOn.length === 0 ? undefined : dependsOn
  return { id, name, title, status, priority, size, dependsOn: depends }
}

function taskDetail(task: Task) {
  const { description, details, checklist, summary, verify, labels } = task
  const value = { ...taskRow(task), labels, description, details, checklist, verify, summary }
  return clipDeep(value, MAX_FIELD_LENGTH)
}

function taskLine({ name, title, status, priority, size }: ReturnType<typeof taskRow>): string {
  return `${name} (${status}, ${priority}, ${size}): ${title}`
}
