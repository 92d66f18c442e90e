import { proposeSpecialist } from '../../../core.ts'
import type { ReportedStatus, TaskStatus } from '../../../library.ts'
import { publicTask } from '../../../public.ts'
import { buildCommand, buildRouteMap } from '@stricli/core'
import type { Context } from '../../context/context.ts'
import { sayWaiting } from '../../print/handoff.ts'
import { describeTask, taskLine, taskLines } from '../../print/task.ts'
import { json, list as listFlag, taskArgument, text, toggle } from '../../context/flags.ts'
import { type TaskFlags, oneOf, singleFields, taskFlags } from '../../context/task-flags.ts'
import { withProject } from '../../context/with-project.ts'
import { changeTask } from './task-change.ts'
import { taskTree } from './task-tree.ts'
import { defined } from '../../../text/defined.ts'

interface AddFlags extends TaskFlags {
  readonly json?: boolean
}

const add = buildCommand<AddFlags, string[], Context>({
  docs: {
    brief: 'Add a task to the backlog',
    fullDescription:
      'Short forms at the end of the title are understood: (depends: [t1, t2]) (parallel: group1) → code agent, #label, P1, !S',
    customUsage: [
      { input: '"Fix the sweep trigger" --priority P1 --size M --label bug', brief: '' },
      {
        input: '"Add tests" --depends fix-the-sweep-trigger --checklist "unit" --checklist "race"',
        brief: '',
      },
      { input: '"Write docs (parallel: group1) → documentation agent"', brief: 'in short form' },
    ],
  },
  parameters: {
    positional: {
      kind: 'array',
      parameter: { parse: String, brief: 'What is to be done', placeholder: 'TITLE' },
    },
    flags: { ...taskFlags, json },
  },
  async func(flags, ...words) {
    await withProject(this, flags, async (project, output) => {
      const checklist = flags.checklist?.map((item) => ({ item, done: false }))
      const task = await project.tasks.add({
        by: 'cli',
        title: words.join(' '),
        ...singleFields(flags),
        ...defined({ dependsOn: flags.depends, labels: flags.label, checklist }),
      })
      output.result(flags.json, publicTask(task), () =>
        [
          `➕ ${output.bold(`Task Added: ${task.shortname}`)}`,
          `   ID: ${task.id}`,
          `   ${taskLine(task)}`,
        ].join('\n'),
      )
    })
  },
})

const STATUSES: readonly TaskStatus[] = ['ready', 'in_progress', 'blocked', 'completed', 'failed']

const list = buildCommand<
  { all?: boolean; status?: readonly string[]; label?: string; json?: boolean },
  [],
  Context
>({
  docs: {
    brief: 'List the tasks',
    customUsage: [
      { input: '', brief: 'those that are open' },
      { input: '--all', brief: 'completed ones too' },
    ],
  },
  parameters: {
    flags: {
      all: toggle('Completed tasks too'),
      status: listFlag(`Only these: ${STATUSES.join(', ')}`, 'STATUS'),
      label: text('Only with this label', 'LABEL'),
      json,
    },
  },
  async func(flags) {
    await withProject(this, flags, async (project, output) => {
      const statuses = flags.status?.map((status) => oneOf('status', status, STATUSES))
      const backlog = await project.tasks.list()
      const chosen = backlog.tasks.filter(
        (task) =>
          (statuses === undefined || statuses.length === 0
            ? flags.all === true || task.status !== 'completed'
            : statuses.includes(task.status)) &&
          (flags.label === undefined || task.labels.includes(flags.label)),
      )
      for (const problem of backlog.problems) output.talk(problem)
      output.result(flags.json, chosen.map(publicTask), () =>
        chosen.length === 0
          ? 'No tasks: stint task add "What is to be done" adds one.'
          : taskLines(chosen).join('\n'),
      )
    })
  },
})

const next = buildCommand<{ start?: boolean; json?: boolean }, [], Context>({
  docs: {
    brief: 'Say which task to do next, and why',
    fullDescription:
      'Of the tasks whose dependencies are met: those in progress first, then by priority, smaller size, how many\nothers it frees, and age. On a terminal it offers to start a session.',
    customUsage: [
      { input: '', brief: '' },
      { input: '--start', brief: 'and start a session on it' },
    ],
  },
  parameters: { flags: { start: toggle('Start a session on it'), json } },
  async func(flags) {
    await withProject(this, flags, async (project, output) => {
      const found = await project.tasks.next()
      const [first] = found.tasks
      if (first === undefined) {
        output.result(
          flags.json,
          { waiting: found.waiting.map((one) => ({ ...one, task: publicTask(one.task) })) },
          () =>
            found.waiting.length === 0
              ? 'Nothing to do: no task is ready.'
              : [
                  'Nothing can be started:',
                  ...found.waiting.map((one) => `  ${one.task.shortname}: ${one.because}`),
                ].join('\n'),
        )
        return
      }
      const { task, because } = first
      const specialist = proposeSpecialist(task)
      if (found.hint !== undefined) output.talk(found.hint)
      output.result(
        flags.json,
        {
          task: publicTask(task),
          because,
          specialist,
          after: found.tasks.slice(1).map((one) => publicTask(one.task)),
        },
        () =>
          [
            `▶️  ${output.bold(`Next: ${task.shortname}`)} (${task.priority}, ${task.size})`,
            `   ${task.title}`,
            `   Because: ${because}`,
            `   Specialist: ${specialist.specialist} (${specialist.because})`,
            ...(found.tasks.length > 1
              ? [
                  `   Then: ${found.tasks
                    .slice(1, 4)
                    .map((one) => one.task.shortname)
                    .join(', ')}`,
                ]
              : []),
          ].join('\n'),
      )
      await sayWaiting(project, task.id, output)
      if (flags.start === true || (flags.json !== true && this.canAsk && (await offer()))) {
        const { reading } = await project.init({ tasks: [task.id], by: 'cli' })
        output.talk(`session ${reading.state.name} started (${reading.state.id})`)
      } else if (flags.json !== true) {
        output.talk(`stint init --task ${task.shortname} starts a session on it`)
      }
    })
  },
})

async function offer(): Promise<boolean> {
  const { askYes } = await import('../../context/ask.ts')
  return askYes('Start a session for it? (recommended for tracking)')
}

const idArgument = { kind: 'tuple', parameters: [taskArgument] } as const

const show = buildCommand<{ json?: boolean }, [string], Context>({
  docs: { brief: 'Show a task' },
  parameters: { positional: idArgument, flags: { json } },
  async func(flags, name) {
    await withProject(this, flags, async (project, output) => {
      const task = await project.tasks.show(name)
      output.result(flags.json, publicTask(task), () => describeTask(task, output))
      await sayWaiting(project, task.id, output)
    })
  },
})

const check = buildCommand<{ undo?: boolean; json?: boolean }, [string, string], Context>({
  docs: {
    brief: 'Tick an item of a task',
    customUsage: [
      { input: 'fix-auth 2', brief: 'the second' },
      { input: 'fix-auth "race" --undo', brief: 'by a part of its text' },
    ],
  },
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        taskArgument,
        { parse: String, brief: 'The item, by number or text', placeholder: 'ITEM' },
      ],
    },
    flags: { undo: toggle('Untick it'), json },
  },
  async func(flags, name, item) {
    await withProject(this, flags, async (project, output) => {
      if (project.run !== undefined) {
        const checked = await project.tasks.checkInRun(name, item, flags.undo !== true)
        return output.result(
          flags.json,
          checked,
          () => `${checked.done ? 'ticked' : 'unticked'}: ${checked.name}: ${checked.item}`,
        )
      }
      const task = await project.tasks.check(name, item, flags.undo !== true)
      output.result(flags.json, publicTask(task), () => describeTask(task, output))
    })
  },
})

function mover(brief: string, status: TaskStatus, inRun = '') {
  return buildCommand<{ summary?: string; json?: boolean }, [string], Context>({
    docs: {
      brief,
      customUsage: [{ input: 'fix-auth --summary "What came of it"', brief: '' }],
      ...(inRun === '' ? {} : { fullDescription: `${brief}. ${inRun}` }),
    },
    parameters: {
      positional: idArgument,
      flags: { summary: text('What is to be remembered'), json },
    },
    async func(flags, name) {
      await withProject(this, flags, async (project, output) => {
        const options = { by: 'cli', ...defined({ summary: flags.summary }) }
        if (project.run !== undefined && isReportable(status)) {
          const reported = await project.tasks.report(name, status, options)
          if (reported.current !== undefined) {
            output.talk(
              `${reported.name} is not the task at hand, which is ${reported.current}; it is recorded all the same`,
            )
          }
          return output.result(
            flags.json,
            reported,
            () => `reported: ${reported.name} ${WHAT_FOLLOWS[status]}`,
          )
        }
        const task = await project.tasks.move(name, status, options)
        output.result(flags.json, publicTask(task), () => taskLine(task))
        if (status === 'in_progress') await sayWaiting(project, task.id, output)
      })
    },
  })
}

const WHAT_FOLLOWS: Readonly<Record<ReportedStatus, string>> = {
  completed: 'done — it is closed when verify passes and the work is committed',
  blocked: 'blocked — the run sets it aside and goes on',
  failed: 'failed — the run decides whether it is tried again',
}

function isReportable(status: TaskStatus): status is ReportedStatus {
  return Object.hasOwn(WHAT_FOLLOWS, status)
}

const IN_RUN =
  'In a run (STINT_RUN) it only reports: the run verifies the work and closes the task itself.'

export const task = buildRouteMap<
  | 'add'
  | 'change'
  | 'list'
  | 'tree'
  | 'next'
  | 'show'
  | 'check'
  | 'start'
  | 'done'
  | 'blocked'
  | 'failed',
  Context
>({
  routes: {
    add,
    change: changeTask,
    list,
    tree: taskTree,
    next,
    show,
    check,
    start: mover('Mark a task as in progress', 'in_progress'),
    done: mover('Mark a task as completed', 'completed', IN_RUN),
    blocked: mover('Mark a task as blocked', 'blocked', IN_RUN),
    failed: mover('Mark a task as failed', 'failed', IN_RUN),
  },
  docs: { brief: 'The backlog: add, change, list and move tasks' },
})
