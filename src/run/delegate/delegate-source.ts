import type { Workspace } from '../../project/store/workspace.ts'
import type { Backlog } from '../../backlog/backlog.ts'
import { joined } from '../../backlog/canonical.ts'
import { findTask } from '../../backlog/find.ts'
import type { Task } from '../../backlog/task.ts'
import { oneLine, shorten } from '../../text/clean.ts'
import { openSource } from '../sources/open-source.ts'
import type { BacklogSource } from '../sources/source.ts'
import type { DelegateOrder } from '../entries.ts'
import { defined } from '../../text/defined.ts'

const LONGEST_TITLE = 100

/**
 * The one task of a delegate: that of the backlog, or its order when it has none. It is done when it was proved, though the
 * backlog hears of it only when it is merged.
 */
export async function delegateSource(
  workspace: Workspace,
  id: string,
  order: DelegateOrder,
  backlog: string | undefined,
): Promise<BacklogSource> {
  const source = order.task === undefined ? undefined : await openSource(workspace, backlog)
  let isDone = false
  const own = async (): Promise<Task> => {
    if (source === undefined || order.task === undefined) return taskOf(id, order)
    const task = findTask((await source.read()).tasks, order.task)
    const details = joined(task.details, ...(order.what === task.title ? [] : [order.what]))
    return { ...task, details, ...defined({ assignee: order.as }) }
  }
  return {
    name: `delegate ${order.name}`,
    async read() {
      const task: Task = {
        ...(await own()),
        dependsOn: [],
        children: [],
        status: isDone ? 'completed' : 'ready',
      }
      return backlogOf(task)
    },
    async settle() {
      isDone = true
      return []
    },
  }
}

function taskOf(id: string, { name, what, as }: DelegateOrder): Task {
  return {
    id,
    shortname: name,
    title: shorten(oneLine(what), LONGEST_TITLE),
    description: what,
    details: '',
    priority: 'P2',
    size: 'M',
    status: 'ready',
    labels: [],
    dependsOn: [],
    blocks: [],
    children: [],
    checklist: [],
    extra: '',
    createdAt: '',
    updatedAt: '',
    sessions: [],
    ...defined({ assignee: as }),
  }
}

function backlogOf(task: Task): Backlog {
  return {
    tasks: [task],
    byId: new Map([[task.id, task]]),
    problems: [],
    withdrawn: new Set(),
    unsized: new Set([task.id]),
    lastId: '',
  }
}
