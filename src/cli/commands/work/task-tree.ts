import {
  findTask,
  isTaskOpen,
  proposeSpecialist,
  taskTrees,
  unmetDependencies,
} from '../../../core.ts'
import type { Task, TreeNode } from '../../../library.ts'
import type { Project } from '../../../core.ts'
import { publicTask } from '../../../public/projection.ts'
import { defined } from '../../../text/defined.ts'
import type { CliContext } from '../../context/context.ts'
import { taskArgument, toggle } from '../../context/flags.ts'
import { defineRunCommand } from '../../context/command.ts'
import { withSuggestions } from '../../context/suggestions.ts'
import { type TaskDelegate, drawTaskTrees, tasksByGroup } from '../../print/task-tree.ts'
import { painter } from '../../print/terminal/layout.ts'
import { shortLine, plural } from '../../print/terminal/text.ts'

type ListedBacklog = Awaited<ReturnType<Project['tasks']['list']>>

/** JSON parsers limit the nesting, too. */
const JSON_LEVELS = 100
const MAX_LEVELS = 12
const MIN_LEVELS = 2

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
  async run({ project, context, output, print, json }, { all: showsAll = false }, name) {
    const backlog = await project.tasks.list()
    const root = name === undefined ? undefined : await findTaskOrSuggest(project, backlog, name)
    const isShown = (task: Task) => showsAll || isTaskOpen(task)
    const trees = (levels: number) =>
      taskTrees(backlog, { levels, isShown, ...defined({ top: root }) })
    const delegates = await delegatesByTask(project, showsAll)
    if (json) return print(treesJson(trees(JSON_LEVELS), backlog, delegates), () => '')
    for (const problem of backlog.problems) output.info(problem)
    const columns = terminalColumns(context)
    const levelsThatFit = Math.floor((columns ?? Infinity) / 10)
    const shownTrees = trees(Math.min(MAX_LEVELS, Math.max(MIN_LEVELS, levelsThatFit)))
    if (shownTrees.length === 0) return output.line(emptyText(backlog))
    const isFull = (task: Task) => showsAll || task === root
    const paint = painter(context.hasColour)
    const options = { backlog, delegates, isFull, paint, ...defined({ columns }) }
    output.line(drawTaskTrees(shownTrees, options).join('\n'))
    const hidden =
      root === undefined && !showsAll ? backlog.tasks.length - countTasks(shownTrees) : 0
    if (hidden > 0)
      output.info(`${plural(hidden, 'completed task')} not shown: stint task tree --all`)
  },
})

async function findTaskOrSuggest(
  project: Project,
  { tasks }: ListedBacklog,
  name: string,
): Promise<Task> {
  try {
    return findTask(tasks, name)
  } catch (error) {
    throw await withSuggestions(project, error)
  }
}

function emptyText({ tasks }: ListedBacklog): string {
  if (tasks.length === 0) return 'No tasks: stint task add "What is to be done" adds one.'
  return `No open tasks, ${tasks.length} completed: stint task tree --all shows them.`
}

/** Some terminals wrap after a character in the last column. Off a terminal nothing is cut. */
function terminalColumns({ process }: CliContext): number | undefined {
  const { isTTY, columns } = process.stdout as Partial<NodeJS.WriteStream>
  return isTTY === true && columns !== undefined && columns > 1 ? columns - 1 : undefined
}

/** The delegates of each task; merged and discarded ones only with --all. */
async function delegatesByTask(
  { delegates }: Project,
  showsAll: boolean,
): Promise<ReadonlyMap<string, readonly TaskDelegate[]>> {
  const byTask = new Map<string, readonly TaskDelegate[]>()
  for (const { id, order, status, isOrphaned, isUnsettled } of await delegates.recorded()) {
    if (order.task === undefined || (!showsAll && !isUnsettled)) continue
    const delegate = { id, name: shortLine(order.name, 60), status, isOrphaned }
    byTask.set(order.task, [...(byTask.get(order.task) ?? []), delegate])
  }
  return byTask
}

function countTasks(trees: readonly TreeNode[]): number {
  return trees.reduce((sum, { parts }) => sum + 1 + countTasks(parts), 0)
}

function treesJson(
  trees: readonly TreeNode[],
  backlog: ListedBacklog,
  delegates: ReadonlyMap<string, readonly TaskDelegate[]>,
) {
  const node = ({ task, parts, progress, partOf }: TreeNode): object => ({
    ...publicTask(task),
    specialist: specialistJson(task),
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

function specialistJson(task: Task) {
  if (task.assignee !== undefined) return { name: task.assignee, isProposed: false }
  const { specialist, because } = proposeSpecialist(task)
  return { name: specialist, isProposed: true, because }
}
