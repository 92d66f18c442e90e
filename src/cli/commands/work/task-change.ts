import { findItem, matchTasks } from '../../../core.ts'
import type { Task, TaskFields } from '../../../library.ts'
import { StintError, publicTask } from '../../../public.ts'
import { buildCommand } from '@stricli/core'
import type { Context } from '../../context/context.ts'
import { taskLine } from '../../print/task.ts'
import { Misuse } from '../../context/errors.ts'
import { json, list, taskArgument, text, texts } from '../../context/flags.ts'
import { type TaskFlags, singleFields, taskFlags } from '../../context/task-flags.ts'
import { withProject } from '../../context/with-project.ts'
import { defined } from '../../../text/defined.ts'

interface ChangeFlags extends TaskFlags {
  readonly title?: string
  readonly dropDepends?: readonly string[]
  readonly dropLabel?: readonly string[]
  readonly dropItem?: readonly string[]
  readonly json?: boolean
}

/** What takes a single value away. */
const NONE = 'none'

export const changeTask = buildCommand<ChangeFlags, [string], Context>({
  docs: {
    brief: 'Change what a task says: where it belongs, what it waits for, who does it',
    fullDescription:
      'Dependencies, labels and items are added to those there are; --drop-depends, --drop-label and --drop-item take some away.\nFor --parent, --group, --assign and --verify, none takes away what was said. The short name stays when the title changes.',
    customUsage: [
      { input: 'write-docs --parent release --group group1 --assign documentation', brief: '' },
      { input: 'write-docs --depends fix-auth,add-tests --drop-depends design', brief: '' },
      { input: 'write-docs --parent none --priority P1 --checklist "in --help"', brief: '' },
    ],
  },
  parameters: {
    positional: { kind: 'tuple', parameters: [taskArgument] },
    flags: {
      title: text('Other words for it'),
      ...taskFlags,
      dropDepends: list('Tasks it no longer waits for'),
      dropLabel: list('Labels to take away', 'LABEL'),
      dropItem: texts('An item to take off its checklist, by number or text', 'ITEM'),
      json,
    },
  },
  async func(flags, name) {
    await withProject(this, flags, async (project, output) => {
      const { json: _, ...given } = flags
      if (Object.keys(defined(given)).length === 0) {
        throw new Misuse('nothing was said to change', 'stint task change --help lists what can be')
      }
      const { tasks } = await project.tasks.list()
      const task = await project.tasks.change(
        name,
        (before) => changes(flags, before, tasks),
        'cli',
      )
      output.result(flags.json, publicTask(task), () => taskLine(task))
    })
  },
})

function changes(flags: ChangeFlags, task: Task, tasks: readonly Task[]): TaskFields {
  const { depends, label, checklist, dropDepends = [], dropLabel = [], dropItem = [] } = flags
  const single = Object.entries({ ...singleFields(flags), ...defined({ title: flags.title }) })
  const dropped = new Set(dropDepends.map((name) => dependencyNamed(name, task, tasks)))
  const noLabels = new Set(dropLabel.map((name) => labelNamed(name, task)))
  const items = task.checklist.map(({ item }) => item)
  const off = new Set(dropItem.map((wanted) => findItem(items, wanted, task.shortname)))
  return {
    ...Object.fromEntries(
      single.map(([key, value]) => [key, CAN_BE_NONE.has(key) && value === NONE ? '' : value]),
    ),
    ...(depends === undefined && dropped.size === 0
      ? {}
      : { dependsOn: [...task.dependsOn.filter((id) => !dropped.has(id)), ...(depends ?? [])] }),
    ...(label === undefined && noLabels.size === 0
      ? {}
      : {
          labels: [
            ...new Set([...task.labels.filter((one) => !noLabels.has(one)), ...(label ?? [])]),
          ],
        }),
    ...(checklist === undefined && off.size === 0
      ? {}
      : {
          checklist: [
            ...task.checklist.filter(({ item }) => !off.has(item)),
            ...(checklist ?? []).map((item) => ({ item, done: false })),
          ],
        }),
  }
}

const CAN_BE_NONE: ReadonlySet<string> = new Set(['parent', 'group', 'assignee', 'verify'])

/** The dependency that is meant, also one that the backlog does not know. */
function dependencyNamed(
  name: string,
  { dependsOn, shortname }: Task,
  tasks: readonly Task[],
): string {
  const meant = new Set([name, ...matchTasks(tasks, name).map(({ id }) => id)])
  const found = dependsOn.find((id) => meant.has(id))
  if (found !== undefined) return found
  throw notThere(`${shortname} does not depend on ${JSON.stringify(name)}`, shortname)
}

function labelNamed(name: string, { labels, shortname }: Task): string {
  const found = labels.find((label) => label.toLowerCase() === name.replace(/^#/, '').toLowerCase())
  if (found !== undefined) return found
  throw notThere(`${shortname} has no label ${JSON.stringify(name)}`, shortname)
}

function notThere(message: string, shortname: string): StintError {
  return new StintError('NOT_ON_TASK', message, `stint task show ${shortname} says what it has`)
}
