// Tasks that are kept elsewhere. They become entries that are never written, and are folded with the project's own, so that
// what journals say of such a task counts as it does for any other.
import { withoutSecrets } from '../../project/store/clean-draft.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import type { TaskFields, TaskStatus } from '../../session/entries.ts'
import { type Backlog, type TaskEntry, foldBacklog } from '../../backlog/backlog.ts'
import { joined } from '../../backlog/canonical.ts'
import { shortnames } from './names.ts'
import { outsideChecklist, outsideLabels, outsidePassage, outsideTitle } from './outside-text.ts'

/** A task as its source has it. */
export interface ForeignTask extends Omit<TaskFields, 'shortname' | 'extra'> {
  /** Its id there. */
  readonly own: string
  /** What people would call it. */
  readonly name: string
  readonly title: string
  /** By their ids there; what the source does not have stays as it is written. */
  readonly dependsOn: readonly string[]
  readonly parent?: string
  readonly status?: TaskStatus
  /** Why it has that status. */
  readonly because?: string
  readonly createdAt?: string
}

/** The tasks of a source, with what the project's journals say of them. `key` stands before their ids. */
export async function readForeign(
  workspace: Workspace,
  key: string,
  tasks: readonly ForeignTask[],
): Promise<Backlog> {
  const hide = (text: string) => withoutSecrets(text, workspace.config)
  // Only looking must not make a folder.
  const told = workspace.hasSessions() ? [...(await workspace.index()).taskEntries()] : []
  return foldForeign(key, tasks, told, hide)
}

export function foldForeign(
  key: string,
  tasks: readonly ForeignTask[],
  told: readonly TaskEntry[] = [],
  hide: (text: string) => string = (text) => text,
): Backlog {
  const names = shortnames(tasks)
  const idOf = (own: string) => (names.has(own) ? `${key}/${own}` : own)
  const added = tasks.map((task, index) => {
    const when = task.createdAt === undefined ? {} : { when: task.createdAt }
    const data = {
      task: idOf(task.own),
      ...when,
      ...fieldsOf(task, idOf, hide),
      shortname: names.get(task.own),
    }
    return entry('task.added', index, data)
  })
  // Tasks of `.tasks/` belong to another backlog.
  const entries = [...added, ...told.filter(({ kind }) => kind !== 'task.added')]
  const journalled = foldBacklog(entries)
  const moved = tasks.flatMap(({ own, status, because = '' }, index) => {
    const task = idOf(own)
    if (status === undefined || !goesBefore(status, journalled.byId.get(task)!.status)) return []
    return [entry('task.moved', index, { task, status, summary: hide(because) })]
  })
  if (moved.length === 0) return journalled
  return { ...foldBacklog([...entries, ...moved]), lastId: journalled.lastId }
}

/**
 * Whether what the source says counts, and not what journals do. A task that a run has begun goes on although its source
 * calls it blocked: it may be the agent that said so there.
 */
function goesBefore(said: TaskStatus, journalled: TaskStatus): boolean {
  return journalled === 'ready' || (said === 'completed' && journalled !== 'completed')
}

function fieldsOf(
  task: ForeignTask,
  idOf: (own: string) => string,
  hide: (text: string) => string,
): TaskFields {
  const { priority, size, group, assignee, verify, parent } = task
  const title = outsideTitle(hide(task.title))
  // What a title has too much is not lost.
  const whole = title.endsWith('…') ? hide(task.title) : ''
  return {
    title: title || task.own,
    description: outsidePassage(joined(whole, hide(task.description ?? ''))),
    details: outsidePassage(hide(task.details ?? '')),
    labels: outsideLabels(task.labels ?? []),
    checklist: outsideChecklist(
      (task.checklist ?? []).map(({ item, done }) => ({ item: hide(item), done })),
    ),
    dependsOn: task.dependsOn.map(idOf),
    ...defined({
      priority,
      size,
      group,
      assignee,
      verify,
      parent: parent === undefined ? undefined : idOf(parent),
    }),
  }
}

function defined(fields: {
  readonly [K in keyof TaskFields]: TaskFields[K] | undefined
}): TaskFields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

// A source without dates has its tasks in the order of its lines.
const UNDATED = new Date(0).toISOString()

/** Tasks come before everything that was ever minted, in the order of the source, and what it says of them after. */
function entry(
  kind: 'task.added' | 'task.moved',
  index: number,
  data: Readonly<Record<string, unknown>>,
): TaskEntry {
  const time = kind === 'task.added' ? '00000000-0000' : 'ffffffff-ffff'
  return {
    id: `${time}-7000-8000-${(index + 1).toString(16).padStart(12, '0')}`,
    at: UNDATED,
    kind,
    by: 'backlog',
    data,
  }
}
