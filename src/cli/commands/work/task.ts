import {
  PRIORITIES,
  SIZES,
  findChecklistItem,
  matchTasks,
  proposeSpecialist,
} from '../../../core.ts'
import type { ReportedStatus, Task, TaskFields, TaskStatus } from '../../../library.ts'
import { StintError, publicTask } from '../../../public/projection.ts'
import { defined } from '../../../text/defined.ts'
import { type Flags, defineCommandGroup, defineProjectCommand } from '../../context/command.ts'
import { UsageError } from '../../context/context.ts'
import {
  oneOfIgnoringCase,
  argument,
  checkedFlag,
  listFlag,
  taskArgument,
  taskNameFlag,
  textFlag,
  repeatedTextFlag,
  toggle,
} from '../../context/flags.ts'
import { reportWaitingHandoffs } from '../../print/handoff.ts'
import { markOrigin } from '../../print/origin.ts'
import { describeTask, taskLine, taskLines } from '../../print/task.ts'
import { taskTree } from './task-tree.ts'

/** The flags that add and change share. */
const TASK_FLAGS = {
  description: textFlag('More about it'),
  parent: taskNameFlag('The task it is a part of'),
  depends: {
    ...listFlag('Tasks that must be done before'),
    proposeCompletions: taskNameFlag('').proposeCompletions,
  },
  checklist: repeatedTextFlag('An item to tick off', 'ITEM'),
  assign: textFlag(
    'Who is to do it: architect, code, debugger, reviewer, documentation, research, devops, tests',
    'AGENT',
  ),
  group: textFlag('Tasks of one group may be done at the same time', 'GROUP'),
  priority: checkedFlag(
    textFlag('P0 (highest) to P3', 'P0-P3'),
    oneOfIgnoringCase(PRIORITIES, (value) => `"${value}" is no priority`),
  ),
  size: checkedFlag(
    textFlag('XS, S, M, L or XL', 'SIZE'),
    oneOfIgnoringCase(SIZES, (value) => `"${value}" is no size`),
  ),
  label: listFlag('Labels', 'LABEL'),
  verify: textFlag('A command that shows it is done', 'COMMAND'),
}

/** The fields that hold a single value. */
function singleFields(flags: Flags<typeof TASK_FLAGS>) {
  const { description, parent, group, verify, assign: assignee, priority, size } = flags
  return defined({ description, parent, group, verify, assignee, priority, size })
}

const toChecklistItem = (item: string) => ({ item, done: false })

const add = defineProjectCommand({
  brief: 'Add a task to the backlog',
  about:
    'Short forms at the end of the title are understood: (depends: [t1, t2]) (parallel: group1) → code agent, #label, P1, !S',
  usage: [
    ['"Fix the sweep trigger" --priority P1 --size M --label bug', ''],
    ['"Add tests" --depends fix-the-sweep-trigger --checklist "unit" --checklist "race"', ''],
    ['"Write docs (parallel: group1) → documentation agent"', 'in short form'],
  ],
  args: argument('What is to be done', 'TITLE'),
  flags: TASK_FLAGS,
  async run({ project, output, print }, flags, ...words) {
    const { depends: dependsOn, label: labels } = flags
    const checklist = flags.checklist?.map(toChecklistItem)
    const task = await project.tasks.add({
      by: 'cli',
      title: words.join(' '),
      ...singleFields(flags),
      ...defined({ dependsOn, labels, checklist }),
    })
    print(publicTask(task), () =>
      [
        `➕ ${output.bold(`Task Added: ${task.shortname}`)}`,
        `   ID: ${task.id}`,
        `   ${taskLine(task)}`,
      ].join('\n'),
    )
  },
})

const CHANGE_FLAGS = {
  title: textFlag('Other words for it'),
  ...TASK_FLAGS,
  dropDepends: listFlag('Tasks it no longer waits for'),
  dropLabel: listFlag('Labels to take away', 'LABEL'),
  dropItem: repeatedTextFlag('An item to take off its checklist, by number or text', 'ITEM'),
}

const change = defineProjectCommand({
  brief: 'Change what a task says: where it belongs, what it waits for, who does it',
  about:
    'Dependencies, labels and items are added to those there are; --drop-depends, --drop-label and --drop-item take some away.\nFor --parent, --group, --assign and --verify, none takes away what was said. The short name stays when the title changes.',
  usage: [
    ['write-docs --parent release --group group1 --assign documentation', ''],
    ['write-docs --depends fix-auth,add-tests --drop-depends design', ''],
    ['write-docs --parent none --priority P1 --checklist "in --help"', ''],
  ],
  args: [taskArgument],
  flags: CHANGE_FLAGS,
  async run({ project, print }, flags, name) {
    if (Object.keys(flags).length === 0)
      throw new UsageError(
        'nothing was said to change',
        'stint task change --help lists what can be',
      )
    const { tasks } = await project.tasks.list()
    const task = await project.tasks.change(
      name,
      (before) => changedFields(flags, before, tasks),
      'cli',
    )
    print(publicTask(task), () => taskLine(task))
  },
})

/** The fields that `none` clears. */
const CLEARABLE_FIELDS: ReadonlySet<string> = new Set(['parent', 'group', 'assignee', 'verify'])

function changedFields(
  flags: Flags<typeof CHANGE_FLAGS>,
  task: Task,
  tasks: readonly Task[],
): TaskFields {
  const { depends, label, checklist, dropDepends = [], dropLabel = [], dropItem = [] } = flags
  const { shortname } = task
  const singleValues = Object.entries({
    ...singleFields(flags),
    ...defined({ title: flags.title }),
  })
  const items = task.checklist.map(({ item }) => item)
  // A dependency may be missing from the backlog.
  const droppedDependencies = dropDepends.map((name) => {
    const names = new Set([name, ...matchTasks(tasks, name).map(({ id }) => id)])
    return find(
      task.dependsOn,
      (id) => names.has(id),
      `${shortname} does not depend on ${JSON.stringify(name)}`,
    )
  })
  const droppedLabels = dropLabel.map((name) => {
    const wanted = name.replace(/^#/, '').toLowerCase()
    return find(
      task.labels,
      (entry) => entry.toLowerCase() === wanted,
      `${shortname} has no label ${JSON.stringify(name)}`,
    )
  })
  const droppedItems = dropItem.map((wanted) => findChecklistItem(items, wanted, shortname))

  function find(
    all: readonly string[],
    matches: (entry: string) => boolean,
    missing: string,
  ): string {
    const match = all.find(matches)
    if (match !== undefined) return match
    throw new StintError('NOT_ON_TASK', missing, `stint task show ${shortname} says what it has`)
  }

  return {
    ...Object.fromEntries(
      singleValues.map(([key, value]) => [
        key,
        CLEARABLE_FIELDS.has(key) && value === 'none' ? '' : value,
      ]),
    ),
    ...((depends || droppedDependencies.length > 0) && {
      dependsOn: [
        ...task.dependsOn.filter((id) => !droppedDependencies.includes(id)),
        ...(depends ?? []),
      ],
    }),
    ...((label || droppedLabels.length > 0) && {
      labels: [
        ...new Set([
          ...task.labels.filter((entry) => !droppedLabels.includes(entry)),
          ...(label ?? []),
        ]),
      ],
    }),
    ...((checklist || droppedItems.length > 0) && {
      checklist: [
        ...task.checklist.filter(({ item }) => !droppedItems.includes(item)),
        ...(checklist ?? []).map(toChecklistItem),
      ],
    }),
  }
}

const STATUSES: readonly TaskStatus[] = ['ready', 'in_progress', 'blocked', 'completed', 'failed']

const list = defineProjectCommand({
  brief: 'List the tasks',
  usage: [
    ['', 'those that are open'],
    ['--all', 'completed ones too'],
  ],
  flags: {
    all: toggle('Completed tasks too'),
    status: checkedFlag(
      listFlag(`Only these: ${STATUSES.join(', ')}`, 'STATUS'),
      oneOfIgnoringCase(STATUSES, (value) => `"${value}" is no status`),
    ),
    label: textFlag('Only with this label', 'LABEL'),
  },
  async run({ project, output, print }, { all, status = [], label }) {
    const backlog = await project.tasks.list()
    const shown = backlog.tasks.filter(
      (task) =>
        (status.length === 0 ? all || task.status !== 'completed' : status.includes(task.status)) &&
        (label === undefined || task.labels.includes(label)),
    )
    for (const problem of backlog.problems) output.info(problem)
    print(shown.map(publicTask), () =>
      shown.length === 0
        ? 'No tasks: stint task add "What is to be done" adds one.'
        : taskLines(shown).join('\n'),
    )
  },
})

const next = defineProjectCommand({
  brief: 'Say which task to do next, and why',
  about:
    'Of the tasks whose dependencies are met: those in progress first, then by priority, smaller size, how many\nothers it frees, and age. On a terminal it offers to start a session.',
  usage: [
    ['', ''],
    ['--start', 'and start a session on it'],
  ],
  flags: { start: toggle('Start a session on it') },
  async run({ project, output, print, json, context }, { start }) {
    const { tasks, waiting, hint } = await project.tasks.next()
    const [first, ...others] = tasks
    if (first === undefined) {
      const value = waiting.map((entry) => ({ ...entry, task: publicTask(entry.task) }))
      return print({ waiting: value }, () =>
        waiting.length === 0
          ? 'Nothing to do: no task is ready.'
          : [
              'Nothing can be started:',
              ...waiting.map((entry) => `  ${entry.task.shortname}: ${entry.because}`),
            ].join('\n'),
      )
    }
    const { task, because } = first
    const specialist = proposeSpecialist(task)
    if (hint !== undefined) output.info(hint)
    const after = others.map((entry) => publicTask(entry.task))
    print({ task: publicTask(task), because, specialist, after }, () =>
      [
        `▶️  ${output.bold(`Next: ${task.shortname}`)} (${task.priority}, ${task.size})`,
        `   ${task.title}${markOrigin(task)}`,
        `   Because: ${because}`,
        `   Specialist: ${specialist.specialist} (${specialist.because})`,
        ...(after.length === 0
          ? []
          : [
              `   Then: ${after
                .slice(0, 3)
                .map(({ name }) => name)
                .join(', ')}`,
            ]),
      ].join('\n'),
    )
    await reportWaitingHandoffs(project, task.id, output)
    if (start || (!json && context.canAsk && (await askToStart()))) {
      const { reading } = await project.init({ tasks: [task.id], by: 'cli' })
      output.info(`session ${reading.state.name} started (${reading.state.id})`)
    } else if (!json) {
      output.info(`stint init --task ${task.shortname} starts a session on it`)
    }
  },
})

async function askToStart(): Promise<boolean> {
  const { askYes } = await import('../../context/ask.ts')
  return askYes('Start a session for it? (recommended for tracking)')
}

const show = defineProjectCommand({
  brief: 'Show a task',
  args: [taskArgument],
  async run({ project, output, print }, _flags, name) {
    const task = await project.tasks.show(name)
    print(publicTask(task), () => describeTask(task, output))
    await reportWaitingHandoffs(project, task.id, output)
  },
})

const check = defineProjectCommand({
  brief: 'Tick an item of a task',
  usage: [
    ['fix-auth 2', 'the second'],
    ['fix-auth "race" --undo', 'by a part of its text'],
  ],
  args: [taskArgument, argument('The item, by number or text', 'ITEM')],
  flags: { undo: toggle('Untick it') },
  async run({ project, output, print }, { undo = false }, name, item) {
    if (project.run !== undefined) {
      const checked = await project.tasks.checkInRun(name, item, !undo)
      return print(
        checked,
        () => `${checked.done ? 'ticked' : 'unticked'}: ${checked.name}: ${checked.item}`,
      )
    }
    const task = await project.tasks.check(name, item, !undo)
    print(publicTask(task), () => describeTask(task, output))
  },
})

function moveCommand(brief: string, status: TaskStatus, about?: string) {
  return defineProjectCommand({
    brief,
    usage: [['fix-auth --summary "What came of it"', '']],
    ...(about && { about: `${brief}. ${about}` }),
    args: [taskArgument],
    flags: { summary: textFlag('What is to be remembered') },
    async run({ project, output, print }, { summary }, name) {
      const options = { by: 'cli', ...defined({ summary }) }
      if (project.run !== undefined && isReportable(status)) {
        const reported = await project.tasks.report(name, status, options)
        if (reported.current !== undefined) {
          output.info(
            `${reported.name} is not the task at hand, which is ${reported.current}; it is recorded all the same`,
          )
        }
        return print(reported, () => `reported: ${reported.name} ${REPORTED_TEXTS[status]}`)
      }
      const task = await project.tasks.move(name, status, options)
      print(publicTask(task), () => taskLine(task))
      if (status === 'in_progress') await reportWaitingHandoffs(project, task.id, output)
    },
  })
}

const REPORTED_TEXTS: Readonly<Record<ReportedStatus, string>> = {
  completed: 'done — it is closed when verify passes and the work is committed',
  blocked: 'blocked — the run sets it aside and goes on',
  failed: 'failed — the run decides whether it is tried again',
}

function isReportable(status: TaskStatus): status is ReportedStatus {
  return Object.hasOwn(REPORTED_TEXTS, status)
}

const IN_RUN =
  'In a run (STINT_RUN) it only reports: the run verifies the work and closes the task itself.'

export const task = defineCommandGroup({
  brief: 'The backlog: add, change, list and move tasks',
  routes: {
    add,
    change,
    list,
    tree: taskTree,
    next,
    show,
    check,
    start: moveCommand('Mark a task as in progress', 'in_progress'),
    done: moveCommand('Mark a task as completed', 'completed', IN_RUN),
    blocked: moveCommand('Mark a task as blocked', 'blocked', IN_RUN),
    failed: moveCommand('Mark a task as failed', 'failed', IN_RUN),
  },
})
