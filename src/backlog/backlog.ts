import type { ChecklistItem, TaskFields, TaskStatus } from '../session/entries.ts'
import { type RawEntry, inEffect } from '../session/in-effect.ts'
import {
  type Task,
  idOrItself,
  isRecord,
  line,
  readChecklist,
  readLine,
  readList,
  readPassage,
  readPriority,
  readSize,
  readStatus,
  shortnameFor,
} from './task.ts'
import { backlogProblems } from './waits.ts'

/** An entry about tasks, and the session whose journal it came from when it came from one. */
export interface TaskEntry extends RawEntry {
  readonly session?: string
}

export interface Backlog {
  /** In the order in which they were added. */
  readonly tasks: readonly Task[]
  readonly byId: ReadonlyMap<string, Task>
  /** Cycles, unknown dependencies, parents completed before their parts; each in one line. */
  readonly problems: readonly string[]
  /** Ids of tasks that were added and taken back: their files are leftovers, not news. */
  readonly withdrawn: ReadonlySet<string>
  /** Ids of tasks of which nobody said how big they are: their size is only the usual one. */
  readonly unsized: ReadonlySet<string>
  /** The newest entry that was looked at: what a rendered file says it was rendered from. */
  readonly lastId: string
}

/** The backlog that these entries make, in whatever order and from however many journals they come. Never throws on any data. */
export function foldBacklog(entries: readonly TaskEntry[]): Backlog {
  const concerned = entries.filter(
    (entry) => entry.kind.startsWith('task.') || entry.kind.startsWith('entry.'),
  )
  const inForce = inEffect(concerned) as readonly TaskEntry[]
  const drafts = new Map<string, Working>()
  // Additions first: after a merge of journals a change may carry a smaller id than the addition it belongs to.
  for (const entry of inForce) if (entry.kind === 'task.added') add(drafts, entry)
  for (const entry of inForce) {
    const working = drafts.get(line(entry.data.task))
    if (working !== undefined) apply(working, entry)
  }
  const tasks = withRelations([...drafts.values()].map(finished))
  const byId = new Map(tasks.map((task) => [task.id, task]))
  const lastId = concerned.reduce((newest, entry) => (entry.id > newest ? entry.id : newest), '')
  const unsized = new Set(
    [...drafts.values()]
      .filter(({ fields }) => readSize(fields.size) === undefined)
      .map(({ id }) => id),
  )
  return {
    tasks,
    byId,
    problems: backlogProblems({ tasks, byId }),
    withdrawn: withdrawnIds(concerned, byId),
    unsized,
    lastId,
  }
}

/** The backlog as it was when the entry with this id was the newest. */
export function backlogAt(entries: readonly TaskEntry[], lastId: string): Backlog {
  return foldBacklog(entries.filter((entry) => entry.id <= lastId))
}

type Fields = { -readonly [K in keyof TaskFields]: TaskFields[K] }

interface Working {
  readonly id: string
  readonly createdAt: string
  readonly sessions: Set<string>
  fields: Fields
  status: TaskStatus
  summary: string
  updatedAt: string
}

function add(drafts: Map<string, Working>, entry: TaskEntry): void {
  const id = line(entry.data.task)
  if (id === '') return
  const earlier = drafts.get(id)
  if (earlier !== undefined) {
    // Two machines took in the same hand-written file: the second may only tell what the first did not.
    earlier.fields = { ...fieldsOf(entry.data), ...earlier.fields }
    return
  }
  const createdAt = line(entry.data.when) || line(entry.at)
  const fields = fieldsOf(entry.data)
  // Named once: a title that is reworded later must not move the file it is known by.
  fields.shortname ||= shortnameFor(fields.title || id)
  drafts.set(id, {
    id,
    createdAt,
    sessions: new Set(),
    fields,
    status: 'ready',
    summary: '',
    updatedAt: line(entry.at),
  })
}

function apply(working: Working, entry: TaskEntry): void {
  if (entry.session !== undefined) working.sessions.add(entry.session)
  if (entry.kind === 'task.unlinked' && entry.session !== undefined)
    working.sessions.delete(entry.session)
  const { data } = entry
  if (entry.kind === 'task.changed') {
    working.fields = { ...working.fields, ...fieldsOf(data) }
  } else if (entry.kind === 'task.moved') {
    const status = readStatus(data.status)
    // A status from a later version than this one is no reason to forget the one that is known.
    if (status === undefined) return
    working.status = status
    working.summary = line(data.summary)
  } else if (entry.kind === 'task.checked') {
    const item = line(data.item)
    const tick = (one: ChecklistItem) =>
      one.item === item ? { ...one, done: data.done === true } : one
    if (working.fields.checklist !== undefined)
      working.fields.checklist = working.fields.checklist.map(tick)
  } else return
  if (entry.at > working.updatedAt) working.updatedAt = line(entry.at)
}

const READERS: {
  readonly [K in keyof TaskFields]-?: (value: unknown) => TaskFields[K] | undefined
} = {
  shortname: readLine,
  title: readLine,
  description: readPassage,
  details: readPassage,
  priority: readPriority,
  size: readSize,
  labels: readList,
  dependsOn: readList,
  parent: readLine,
  group: readLine,
  assignee: readLine,
  verify: readPassage,
  checklist: readChecklist,
  extra: readPassage,
}

/** What of the data can be understood. The rest is left unsaid, so that it changes nothing. */
function fieldsOf(data: unknown): Fields {
  if (!isRecord(data)) return {}
  const read = Object.entries(READERS).map(([name, reader]) => [name, reader(data[name])])
  return Object.fromEntries(read.filter(([, value]) => value !== undefined))
}

function finished(working: Working): Task {
  const { id, fields, status, summary, sessions, createdAt, updatedAt } = working
  const title = fields.title || id
  const optional = {
    parent: fields.parent,
    group: fields.group,
    assignee: fields.assignee,
    verify: fields.verify,
    summary,
  }
  return {
    id,
    shortname: shortnameFor(fields.shortname || title),
    title,
    description: fields.description ?? '',
    details: fields.details ?? '',
    priority: readPriority(fields.priority) ?? 'P2',
    size: readSize(fields.size) ?? 'M',
    status,
    labels: fields.labels ?? [],
    dependsOn: fields.dependsOn ?? [],
    blocks: [],
    children: [],
    checklist: fields.checklist ?? [],
    extra: fields.extra ?? '',
    createdAt,
    updatedAt,
    sessions: [...sessions],
    ...Object.fromEntries(
      Object.entries(optional).filter(([, value]) => value !== undefined && value !== ''),
    ),
  }
}

function withRelations(tasks: readonly Task[]): readonly Task[] {
  const ids = new Set(tasks.map((task) => task.id))
  const idOf = (reference: string) => idOrItself(tasks, ids, reference)
  const resolved = tasks.map((task) => ({
    ...task,
    dependsOn: [...new Set(task.dependsOn.map(idOf))],
    ...(task.parent === undefined ? {} : { parent: idOf(task.parent) }),
  }))
  const blocks = new Map<string, string[]>(tasks.map((task) => [task.id, []]))
  const children = new Map<string, string[]>(tasks.map((task) => [task.id, []]))
  for (const task of resolved) {
    for (const dependency of task.dependsOn) blocks.get(dependency)?.push(task.id)
    if (task.parent !== undefined) children.get(task.parent)?.push(task.id)
  }
  return resolved.map((task) => ({
    ...task,
    blocks: blocks.get(task.id) ?? [],
    children: children.get(task.id) ?? [],
  }))
}

function withdrawnIds(
  entries: readonly TaskEntry[],
  byId: ReadonlyMap<string, Task>,
): ReadonlySet<string> {
  const added = entries
    .filter((entry) => entry.kind === 'task.added')
    .map((entry) => line(entry.data.task))
  return new Set(added.filter((id) => !byId.has(id)))
}
