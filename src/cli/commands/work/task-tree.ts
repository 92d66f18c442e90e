import {
  findTask,
  isTaskOpen,
  proposeSpecialist,
  taskTrees,
  unmetDependencies,
} from '../../../core.ts'
import type { Project, Task, TreeNode } from '../../../library.ts'
import { publicTask } from '../../../public.ts'
import { defined } from '../../../text/defined.ts'
import type { CliContext } from '../../context/context.ts'
import { taskArgument, toggle } from '../../context/flags.ts'
import { defineRunCommand, withSuggestions } from '../../context/command.ts'
import { type TaskDelegate, drawTaskTrees, tasksByGroup } from '../../print/task-tree.ts'
import { painter } from '../../print/terminal/layout.ts'
import { shortLine, plural } from '../../print/terminal/text.ts'

type Backlog = Awaited<ReturnType<Project['tasks']['list']>>

/** As deep as JSON is nested: programs that read it have a bound, too. */
const JSON_LEVELS = 100
const MOST_LEVELS = 12
const FEWEST_LEVELS = 2

export const taskTree = defineRunCommand({
  brief: 'Show the tasks as a tree: parts, checklists, dependencies, groups, and who has them',
  about:
    'Parts stand under their task, with how many of them are done. Tasks of one parallel group are joined by a double line. Below a task stand what it\nwaits for, what it blocks, and the delegate that has it. A specialist that nobody assigned is called proposed. Completed tasks are only counted, unless\nsomething under them is open.',
  usage: [
    ['', 'what is open'],
    ['release', 'one task and its parts, with the items of its checklist'],
    ['--all', 'completed tasks and all checklists too'],
    ['--json', 'nested, for programs'],
  ],
  args: [{ ...taskArgument, optional: true }],
  flags: { all: toggle('Completed tasks and the items of every checklist too') },
  async run({ project, context, output, print, json }, { all: isAll = false }, name) {
    const backlog = await project.tasks.list()
    const top = name === undefined ? undefined : await taskNamed(project, backlog, name)
    const isShown = (task: Task) => isAll || isTaskOpen(task)
    const trees = (levels: number) => taskTrees(backlog, { levels, isShown, ...defined({ top }) })
    const delegates = await delegatesByTask(project, isAll)
    if (json) return print(treesJson(trees(JSON_LEVELS), backlog, delegates), () => '')
    for (const problem of backlog.problems) output.info(problem)
    const columns = columnsOf(context)
    const room = Math.floor((columns ?? Infinity) / 10)
    const drawn = trees(Math.min(MOST_LEVELS, Math.max(FEWEST_LEVELS, room)))
    if (drawn.length === 0) return output.line(nothing(backlog))
    const isFull = (task: Task) => isAll || task === top
    const paint = painter(context.hasColour)
    const options = { backlog, delegates, isFull, paint, ...defined({ columns }) }
    output.line(drawTaskTrees(drawn, options).join('\n'))
    const hidden = top === undefined && !isAll ? backlog.tasks.length - countOf(drawn) : 0
    if (hidden > 0)
      output.info(`${plural(hidden, 'completed task')} not shown: stint task tree --all`)
  },
})

async function taskNamed(project: Project, { tasks }: Backlog, name: string): Promise<Task> {
  try {
    return findTask(tasks, name)
  } catch (error) {
    throw await withSuggestions(project, error)
  }
}

function nothing({ tasks }: Backlog): string {
  if (tasks.length === 0) return 'No tasks: stint task add "What is to be done" adds one.'
  return `No open tasks, ${tasks.length} completed: stint task tree --all shows them.`
}

/** What is written into the last column makes some terminals begin a line by themselves. Off a terminal nothing is cut. */
function columnsOf({ process }: CliContext): number | undefined {
  const { isTTY, columns } = process.stdout as Partial<NodeJS.WriteStream>
  return isTTY === true && columns !== undefined && columns > 1 ? columns - 1 : undefined
}

/** The delegates of each task; those whose work is merged or given up only when all are asked for. */
async function delegatesByTask(
  { delegates }: Project,
  isAll: boolean,
): Promise<ReadonlyMap<string, readonly TaskDelegate[]>> {
  const found = new Map<string, readonly TaskDelegate[]>()
  for (const { id, order, status, isOrphaned, isUnsettled } of await delegates.recorded()) {
    if (order.task === undefined || (!isAll && !isUnsettled)) continue
    const delegate = { id, name: shortLine(order.name, 60), status, isOrphaned }
    found.set(order.task, [...(found.get(order.task) ?? []), delegate])
  }
  return found
}

function countOf(trees: readonly TreeNode[]): number {
  return trees.reduce((sum, { parts }) => sum + 1 + countOf(parts), 0)
}

function treesJson(
  trees: readonly TreeNode[],
  backlog: Backlog,
  delegates: ReadonlyMap<string, readonly TaskDelegate[]>,
) {
  const node = ({ task, parts, progress, partOf }: TreeNode): object => ({
    ...publicTask(task),
    specialist: specialistOf(task),
    waitsFor: isTaskOpen(task)
      ? unmetDependencies(backlog, task).map(({ reference }) => reference)
      : [],
    progress,
    delegates: delegates.get(task.id) ?? [],
    ...defined({ partOf }),
    parts: parts.map(node),
  })
  const groups = [...tasksByGroup(backlog.tasks)].map(([group, members]) => ({
    group,
    tasks: members.map(({ id }) => id),
    progress: { done: members.filter((task) => !isTaskOpen(task)).length, total: members.length },
  }))
  return { tasks: trees.map(node), groups, problems: backlog.problems }
}

function specialistOf(task: Task) {
  if (task.assignee !== undefined) return { name: task.assignee, isProposed: false }
  const { specialist, because } = proposeSpecialist(task)
  return { name: specialist, isProposed: true, because }
}
