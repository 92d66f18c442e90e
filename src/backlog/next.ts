import type { Backlog } from './backlog.ts'
import { PRIORITIES, SIZES, type Task } from './task.ts'
import { type Wait, isReady, openBlocks, openChildren, waitingFor } from './waits.ts'

/** More tasks than this at a time, and each takes longer than all would one after another. */
const WIP_LIMIT = 2

export interface NextTask {
  readonly task: Task
  /** Why it stands before the one behind it, in one line. */
  readonly because: string
}

export interface WaitingTask {
  readonly task: Task
  readonly waitingFor: readonly Wait[]
  readonly because: string
}

export interface NextTasks {
  /** What can be worked on, best first. */
  readonly tasks: readonly NextTask[]
  /** What could be worked on if something else were completed. */
  readonly waiting: readonly WaitingTask[]
  readonly hint?: string
}

/**
 * What to do next: of the tasks whose dependencies are met, those already begun, then by
 * priority, then the smaller, then the one that frees more others, then the one added first.
 */
export function nextTasks(backlog: Backlog): NextTasks {
  const candidates = backlog.tasks.filter(
    (task) => task.status === 'ready' || task.status === 'in_progress',
  )
  const canStart = (task: Task) =>
    isReady(backlog, task) && openChildren(backlog, task).length === 0
  const criteria = criteriaFor(backlog)
  const ordered = candidates.filter(canStart).toSorted((a, b) => {
    const deciding = criteria.find(({ rank }) => rank(a) !== rank(b))
    return deciding === undefined ? 0 : deciding.rank(a) - deciding.rank(b)
  })
  const tasks = ordered.map((task, index) => ({
    task,
    because: reasonFor(criteria, task, ordered[index + 1]),
  }))
  const waiting = candidates
    .filter((task) => !canStart(task))
    .map((task) => waitingTask(backlog, task))
  const begun = candidates.filter((task) => task.status === 'in_progress').length
  if (begun < WIP_LIMIT) return { tasks, waiting }
  return {
    tasks,
    waiting,
    hint: `${begun} tasks are in progress (limit ${WIP_LIMIT}): finish one before starting another`,
  }
}

export interface Criterion {
  readonly rank: (task: Task) => number
  readonly because: (task: Task, behind: Task) => string
}

/** What decides between two tasks that can both be worked on, the weightiest first. */
export function criteriaFor(backlog: Backlog): readonly Criterion[] {
  const freed = (task: Task) => openBlocks(backlog, task).length
  const place = new Map(backlog.tasks.map((task, index) => [task.id, index]))
  return [
    {
      rank: (task) => (task.status === 'in_progress' ? 0 : 1),
      because: () => 'already in progress',
    },
    {
      rank: (task) => PRIORITIES.indexOf(task.priority),
      because: (task, behind) => `${task.priority} before ${behind.priority}`,
    },
    {
      rank: (task) => SIZES.indexOf(task.size),
      because: (task, behind) => `smaller: ${task.size} before ${behind.size}`,
    },
    {
      rank: (task) => -freed(task),
      because: (task, behind) => `unblocks ${freed(task)}, the one behind it ${freed(behind)}`,
    },
    // A task taken over from elsewhere keeps the date it was written there, and its place in the queue with it.
    { rank: (task) => Date.parse(task.createdAt) || 0, because: () => 'added first' },
    { rank: (task) => place.get(task.id) ?? 0, because: () => 'added first' },
  ]
}

function reasonFor(criteria: readonly Criterion[], task: Task, behind: Task | undefined): string {
  const count = task.dependsOn.length
  const met =
    count === 0
      ? 'waits for nothing'
      : count === 1
        ? 'its dependency is completed'
        : `its ${count} dependencies are completed`
  if (behind === undefined) {
    const begun =
      task.status === 'in_progress' ? 'already in progress' : `${task.priority}, size ${task.size}`
    return `${met}; ${begun}`
  }
  const deciding = criteria.find(({ rank }) => rank(task) !== rank(behind))
  return `${met}; ${deciding?.because(task, behind) ?? 'added first'}`
}

function waitingTask(backlog: Backlog, task: Task): WaitingTask {
  const waits = waitingFor(backlog, task)
  const parts = openChildren(backlog, task)
  const because = [
    ...waits.map((wait) =>
      wait.task === undefined ? `${wait.reference} (not in the backlog)` : named(wait.task),
    ),
    ...parts.map((part) => `its part ${named(part)}`),
  ]
  return { task, waitingFor: waits, because: `waits for ${because.join(', ')}` }
}

function named(task: Task): string {
  return task.status === 'ready' ? task.shortname : `${task.shortname} (${task.status})`
}
