import type { Project, ReportedStatus, Task } from '../../library.ts'
import { defined } from '../../text/defined.ts'
import { clipDeep, latestWithin } from './clip-output.ts'
import { type McpToolResult, badArguments, stringSchema, defineTool } from './tool.ts'

const LIST_TOKENS = 3000
const LONGEST_FIELD = 4000

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
    if (action === 'show') return shown(await tasks.show(name))
    if (action === 'check') {
      if (item === undefined)
        throw badArguments('check needs item', 'give the number of the item or a part of its text')
      if (project.run === undefined) return shown(await tasks.check(name, item))
      const checked = await tasks.checkInRun(name, item)
      return {
        value: { ticked: checked.item, task: checked.name },
        text: `ticked: ${checked.name}: ${checked.item}`,
      }
    }
    const options = { by: 'mcp', ...defined({ summary }) }
    if (action === 'start') return shown(await tasks.move(name, 'in_progress', options))
    const status = action === 'done' ? 'completed' : action
    if (project.run === undefined) return shown(await tasks.move(name, status, options))
    // In a run it is a claim, which closes nothing.
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
  const open = tasks.filter(({ status }) => status !== 'completed').map(row)
  const { kept, leftOut } = latestWithin(open.toReversed(), LIST_TOKENS)
  const told = kept.toReversed()
  return {
    value: {
      tasks: told,
      more: leftOut || undefined,
      problems: problems.length === 0 ? undefined : problems,
    },
    text: told.length === 0 ? 'No open tasks.' : told.map(lineOf).join('\n'),
  }
}

async function nextTask(project: Project): Promise<McpToolResult> {
  const { tasks, waiting } = await project.tasks.next()
  const [first, ...after] = tasks
  if (first === undefined) {
    const waits = waiting
      .slice(0, 20)
      .map(({ task: one, because }) => ({ task: one.shortname, because }))
    const words = waits.map(({ task: one, because }) => `${one}: ${because}`)
    return {
      value: { task: null, waiting: waits },
      text: ['No task can be started.', ...words].join('\n'),
    }
  }
  const { task: next, because } = first
  const afterwards = after.slice(0, 5).map((one) => one.task.shortname)
  return {
    value: { task: detail(next), because, after: afterwards },
    text: `Next: ${lineOf(row(next))}\nBecause: ${because}`,
  }
}

function shown(one: Task): McpToolResult {
  return { value: { task: detail(one) }, text: lineOf(row(one)) }
}

function row({ id, shortname: name, title, status, priority, size, dependsOn }: Task) {
  const depends = dependsOn.length === 0 ? undefined : dependsOn
  return { id, name, title, status, priority, size, dependsOn: depends }
}

function detail(one: Task) {
  const { description, details, checklist, summary, verify, labels } = one
  const value = { ...row(one), labels, description, details, checklist, verify, summary }
  return clipDeep(value, LONGEST_FIELD)
}

function lineOf({ name, title, status, priority, size }: ReturnType<typeof row>): string {
  return `${name} (${status}, ${priority}, ${size}): ${title}`
}
