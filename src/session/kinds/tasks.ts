import { type Folds, type Kinds, noEffect, outdatesWrittenTldr } from './kind.ts'
import { type GitState, type SourceDelegate, str } from './read-fields.ts'

/** Stands for the backlog where a session's id is expected. */
export const BACKLOG_ID = '00000000-0000-7000-8000-000000000000'

export interface TaskData {
  'task.linked': { task: string }
  'task.unlinked': { task: string }
  'task.added': { task: string; when?: string } & TaskFields
  'task.changed': { task: string } & TaskFields
  /** For a delegate's task, git is the state after the merge, which need not be where the session works. */
  'task.moved': {
    task: string
    status: TaskStatus
    summary?: string
    git?: GitState
    whose?: SourceDelegate
  }
  /** An agent's claim: the task stays as it is until the run has checked. */
  'task.reported': {
    task: string
    status: 'completed' | 'blocked' | 'failed'
    summary?: string
    run: string
  }
  'task.checked': { task: string; item: string; done: boolean }
}

export type TaskStatus = 'ready' | 'in_progress' | 'blocked' | 'completed' | 'failed'

export interface ChecklistItem {
  readonly item: string
  readonly done: boolean
}

/** The fields of a task that entries may set. An empty text or list clears its field. */
export interface TaskFields {
  readonly shortname?: string
  readonly title?: string
  readonly description?: string
  readonly details?: string
  readonly priority?: string
  readonly size?: string
  readonly labels?: readonly string[]
  readonly dependsOn?: readonly string[]
  readonly parent?: string
  readonly group?: string
  readonly assignee?: string
  readonly verify?: string
  readonly checklist?: readonly ChecklistItem[]
  /** Lines of the task file's frontmatter that are not Stint's, verbatim. */
  readonly extra?: string
}

export interface TasksState {
  readonly tasks: readonly string[]
}

/** A session only knows which tasks it has; the backlog folds the rest. */
export const fold: Folds<TaskData, TasksState> = {
  'task.linked': outdatesWrittenTldr((state, data) => {
    state.tasks = [...new Set([...state.tasks, str(data.task)])]
  }),
  'task.unlinked': outdatesWrittenTldr((state, data) => {
    state.tasks = state.tasks.filter((task) => task !== data.task)
  }),
  'task.added': outdatesWrittenTldr(noEffect),
  'task.changed': outdatesWrittenTldr(noEffect),
  'task.moved': { outdatesTldr: true, bindsBranch: false, apply: noEffect },
  'task.reported': outdatesWrittenTldr(noEffect),
  'task.checked': outdatesWrittenTldr(noEffect),
}

export const kinds = (): Kinds<TaskData, TasksState> => {
  const usual = {
    searchedAs: 'task',
    group: 'tasks',
    writers: [],
    amendable: [],
    about: 'work',
  } as const
  const link = { ...usual, searchedAs: undefined, writers: ['document'], prose: ['task'] } as const
  const described = {
    ...usual,
    prose: [
      'task',
      'shortname',
      'title',
      'description',
      'details',
      'priority',
      'size',
      'labels',
      'dependsOn',
      'parent',
      'group',
      'assignee',
      'verify',
      'checklist',
      'extra',
    ],
    line: ['title', 'task'],
  } as const
  return {
    'task.linked': link,
    'task.unlinked': link,
    'task.added': described,
    'task.changed': described,
    'task.moved': {
      ...usual,
      writers: ['document'],
      // Task outcomes are compared on their own.
      about: 'handover',
      prose: ['task', 'summary', 'whose'],
      line: ['summary', 'status', 'task'],
    },
    'task.reported': {
      ...usual,
      writers: ['agent'],
      prose: ['task', 'summary', 'run'],
      line: ['summary', 'status', 'task'],
    },
    'task.checked': {
      ...usual,
      searchedAs: undefined,
      writers: ['agent'],
      prose: ['task', 'item'],
      line: ['task'],
    },
  }
}
