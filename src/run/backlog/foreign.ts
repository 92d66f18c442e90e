// Tasks that are kept elsewhere. They become entries that are never written, and are folded with the project's own, so that
// what journals say of such a task counts as it does for any other.
import { withoutSecrets } from '../../project/clean-draft.ts'
import type { Workspace } from '../../project/workspace.ts'
import type { TaskFields, TaskStatus } from '../../session/entries.ts'
import { type Backlog, type TaskEntry, foldBacklog } from '../../tasks/backlog.ts'
import { readStatus } from '../../tasks/task.ts'
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
export async function readForeign(workspace: Workspace, key: string, tasks: readonly ForeignTask[]): Promise<Backlog> {
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
    const data = { task: idOf(task.own), ...when, ...fieldsOf(task, idOf, hide), shortname: names.get(task.own) }
    return entry('task.added', index, data)
  })
  const moved = tasks.flatMap((task, index) => {
    const { status, because = '' } = task
    return status === undefined ? [] : [entry('task.moved', index, { task: idOf(task.own), status, summary: hide(because) })]
  })
  const statuses = new Map(tasks.map((task) => [idOf(task.own), task.status]))
  return foldBacklog([...added, ...moved, ...told.filter((one) => counts(one, statuses))])
}

function fieldsOf(task: ForeignTask, idOf: (own: string) => string, hide: (text: string) => string): TaskFields {
  const { priority, size, group, assignee, verify, parent } = task
  return {
    title: outsideTitle(hide(task.title)) || task.own,
    description: outsidePassage(hide(task.description ?? '')),
    details: outsidePassage(hide(task.details ?? '')),
    labels: outsideLabels(task.labels ?? []),
    checklist: outsideChecklist((task.checklist ?? []).map(({ item, done }) => ({ item: hide(item), done }))),
    dependsOn: task.dependsOn.map(idOf),
    ...defined({ priority, size, group, assignee, verify, parent: parent === undefined ? undefined : idOf(parent) }),
  }
}

function defined(fields: { readonly [K in keyof TaskFields]: TaskFields[K] | undefined }): TaskFields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

// What the source says goes before these. A task that a run has begun goes on although its source calls it blocked: it may
// be the agent that said so.
const OUTRANKED: Readonly<Partial<Record<TaskStatus, readonly (TaskStatus | undefined)[]>>> = {
  completed: ['ready', 'in_progress', 'blocked', 'failed'],
  blocked: ['ready'],
  failed: ['ready'],
}

/** Whether an entry of a journal has a say here. Tasks of `.tasks/` belong to another backlog. */
function counts(told: TaskEntry, statuses: ReadonlyMap<string, TaskStatus | undefined>): boolean {
  if (told.kind === 'task.added') return false
  if (told.kind !== 'task.moved') return true
  const status = typeof told.data.task === 'string' ? statuses.get(told.data.task) : undefined
  return status === undefined || OUTRANKED[status]?.includes(readStatus(told.data.status)) !== true
}

const KINDS = { 'task.added': '8000', 'task.moved': '8001' } as const

/** Ids older than every minted one, in the order of the source: what a journal says comes after. */
function entry(kind: keyof typeof KINDS, index: number, data: Readonly<Record<string, unknown>>): TaskEntry {
  const number = (index + 1).toString(16).padStart(12, '0')
  return { id: `00000000-0000-7000-${KINDS[kind]}-${number}`, at: '', kind, by: 'backlog', data }
}
