import type { Project, Task } from '../../library.ts'
import type { ReportedStatus } from '../../library.ts'
import { clipped, latestWithin } from './bounds.ts'
import { badArguments } from './schema.ts'
import type { Answer, Tool } from './tool.ts'

type Action = 'list' | 'next' | 'show' | 'start' | 'check' | 'done' | 'blocked' | 'failed'

const ACTIONS: readonly Action[] = [
  'list',
  'next',
  'show',
  'start',
  'check',
  'done',
  'blocked',
  'failed',
]
const LIST_TOKENS = 3000
const LONGEST_FIELD = 4000

export const task: Tool = {
  name: 'task',
  description:
    'The backlog. check ticks an item; done, blocked and failed say what became of a task (a run verifies and closes it).',
  effect: 'records',
  inputSchema: {
    type: 'object',
    properties: {
      action: { type: 'string', enum: ACTIONS },
      task: { type: 'string', description: 'id or name' },
      summary: { type: 'string' },
      item: { type: 'string', description: 'to check' },
    },
    required: ['action'],
  },
  async run({ project }, args) {
    const action = args.action as Action
    if (action === 'list') return listTasks(project)
    if (action === 'next') return nextTask(project)
    const name = args.task as string | undefined
    if (name === undefined)
      throw badArguments(
        `${action} needs task`,
        'give the id or short name of a task; list shows them',
      )
    if (action === 'show') return shown(await project.tasks.show(name))
    if (action === 'check') return checkItem(project, name, args.item as string | undefined)
    const summary = args.summary === undefined ? {} : { summary: args.summary as string }
    if (action === 'start')
      return shown(await project.tasks.move(name, 'in_progress', { by: 'mcp', ...summary }))
    return closeTask(project, name, CLOSING[action], summary)
  },
}

const CLOSING = { done: 'completed', blocked: 'blocked', failed: 'failed' } as const

const WHAT_FOLLOWS: Readonly<Record<ReportedStatus, string>> = {
  completed: 'it is closed when verify passes and the work is committed',
  blocked: 'the run sets it aside and goes on',
  failed: 'the run decides whether it is tried again',
}

/** In a run it is a claim, which closes nothing. */
async function closeTask(
  project: Project,
  name: string,
  status: ReportedStatus,
  summary: { summary?: string },
): Promise<Answer> {
  const options = { by: 'mcp', ...summary }
  if (project.run === undefined) return shown(await project.tasks.move(name, status, options))
  const { name: task, current, isLeft } = await project.tasks.report(name, status, options)
  const elsewhere =
    current === undefined ? undefined : `${task} is not the task at hand, which is ${current}`
  return {
    value: {
      reported: task,
      status,
      whatFollows: WHAT_FOLLOWS[status],
      advice: elsewhere,
      left: isLeft,
    },
    text: [
      `reported: ${task} ${status}; ${WHAT_FOLLOWS[status]}`,
      ...(elsewhere === undefined ? [] : [elsewhere]),
    ].join('\n'),
  }
}

async function checkItem(
  project: Project,
  name: string,
  item: string | undefined,
): Promise<Answer> {
  if (item === undefined)
    throw badArguments('check needs item', 'give the number of the item or a part of its text')
  if (project.run === undefined) return shown(await project.tasks.check(name, item))
  const checked = await project.tasks.checkInRun(name, item)
  return {
    value: { ticked: checked.item, task: checked.name },
    text: `ticked: ${checked.name}: ${checked.item}`,
  }
}

async function listTasks(project: Project): Promise<Answer> {
  const { tasks, problems } = await project.tasks.list()
  const open = tasks.filter(({ status }) => status !== 'completed').map(row)
  const { kept, leftOut } = latestWithin(open.toReversed(), LIST_TOKENS)
  const told = kept.toReversed()
  return {
    value: {
      tasks: told,
      more: leftOut === 0 ? undefined : leftOut,
      problems: problems.length === 0 ? undefined : problems,
    },
    text: told.length === 0 ? 'No open tasks.' : told.map(lineOf).join('\n'),
  }
}

async function nextTask(project: Project): Promise<Answer> {
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
  const afterwards = after.slice(0, 5).map((one) => one.task.shortname)
  return {
    value: { task: detail(first.task), because: first.because, after: afterwards },
    text: `Next: ${lineOf(row(first.task))}\nBecause: ${first.because}`,
  }
}

function shown(one: Task): Answer {
  return { value: { task: detail(one) }, text: lineOf(row(one)) }
}

function row({ id, shortname, title, status, priority, size, dependsOn }: Task) {
  return {
    id,
    name: shortname,
    title,
    status,
    priority,
    size,
    dependsOn: dependsOn.length === 0 ? undefined : dependsOn,
  }
}

function detail(one: Task) {
  const { description, details, checklist, summary, verify, labels } = one
  return clipped(
    { ...row(one), labels, description, details, checklist, verify, summary },
    LONGEST_FIELD,
  )
}

function lineOf({ name, title, status, priority, size }: ReturnType<typeof row>): string {
  return `${name} (${status}, ${priority}, ${size}): ${title}`
}
