import type { ChecklistItem, TaskFields, TaskStatus } from '../session/entries.ts'
import { type RawEntry, effectiveEntries } from '../session/effective-entries.ts'
import { defined } from '../text/defined.ts'
import {
  type Task,
  resolveTaskId,
  isRecord,
  cleanLine,
  readChecklist,
  readLine,
  readList,
  readPassage,
  readPriority,
  readSize,
  readStatus,
  shortnameFor,
} from './task.ts'
import { backlogProblems } from './task-graph.ts'

export interface TaskEntry extends RawEntry {
  readonly session?: string
}

export interface Backlog {
  readonly tasks: readonly Task[]
  readonly byId: ReadonlyMap<string, Task>
  /** Cycles, unknown dependencies, parents completed before their sub-tasks; one line each. */
  readonly problems: readonly string[]
  /** Ids of tasks that were added and retracted: their files are orphaned, not new tasks. */
  readonly withdrawn: ReadonlySet<string>
  readonly unsized: ReadonlySet<string>
  readonly lastId: string
}

/** Folds entries of any number of journals, in any order. Never throws on any data. */
export function foldBacklog(entries: readonly TaskEntry[]): Backlog {
  const concerned = entries.filter(
    ({ kind }) => kind.startsWith('task.') || kind.startsWith('entry.'),
  )
  const isAdded = ({ kind }: TaskEntry) => kind === 'task.added'
  const inForce = effectiveEntries(concerned) as readonly TaskEntry[]
  const drafts = new Map<string, Working>()
  // Additions first: after a merge of journals a change may have a smaller id than its addition.
  for (const entry of inForce.filter(isAdded)) add(drafts, entry)
  for (const entry of inForce) {
    const working = drafts.get(cleanLine(entry.data.task))
    if (working !== undefined) apply(working, entry)
  }
  const all = [...drafts.values()]
  const tasks = withRelations(all.map(finished))
  const byId = new Map(tasks.map((task) => [task.id, task]))
  const added = concerned.filter(isAdded).map((entry) => cleanLine(entry.data.task))
  const unsized = all.filter(({ fields }) => readSize(fields.size) === undefined)
  return {
    tasks,
    byId,
    problems: backlogProblems({ tasks, byId }),
    withdrawn: new Set(added.filter((id) => !byId.has(id))),
    unsized: new Set(unsized.map(({ id }) => id)),
    lastId: concerned.reduce((newest, { id }) => (id > newest ? id : newest), ''),
  }
}

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

function add(drafts: Map<string, Working>, { at, data }: TaskEntry) {
  const id = cleanLine(data.task)
  if (id === '') return
  const fields = fieldsOf(data)
  const earlier = drafts.get(id)
  if (earlier !== undefined) {
    // Two machines absorbed the same hand-written file: the second only adds what the first lacks.
    earlier.fields = { ...fields, ...earlier.fields }
    return
  }
  // Set once, so that a reworded title does not rename its file.
  fields.shortname ||= shortnameFor(fields.title || id)
  const updatedAt = cleanLine(at)
  const createdAt = cleanLine(data.when) || updatedAt
  const sessions = new Set<string>()
  drafts.set(id, { id, createdAt, sessions, fields, status: 'ready', summary: '', updatedAt })
}

function apply(working: Working, { at, data, kind, session }: TaskEntry) {
  if (session !== undefined) working.sessions.add(session)
  if (kind === 'task.unlinked' && session !== undefined) working.sessions.delete(session)
  if (kind === 'task.changed') {
    working.fields = { ...working.fields, ...fieldsOf(data) }
  } else if (kind === 'task.moved') {
    const status = readStatus(data.status)
    // A later version's unknown status does not replace the known one.
    if (status === undefined) return
    working.status = status
    working.summary = cleanLine(data.summary)
  } else if (kind === 'task.checked') {
    const item = cleanLine(data.item)
    const tick = (one: ChecklistItem) =>
      one.item === item ? { ...one, done: data.done === true } : one
    if (working.fields.checklist !== undefined)
      working.fields.checklist = working.fields.checklist.map(tick)
  } else return
  // By the order of entries: the time of one may come from a clock that was wrong.
  working.updatedAt = cleanLine(at)
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

/** Unreadable values are left out, so that they change nothing. */
function fieldsOf(data: unknown) {
  if (!isRecord(data)) return {}
  const read = Object.entries(READERS).map(([name, reader]) => [name, reader(data[name])])
  return defined(Object.fromEntries(read))
}

function finished(working: Working) {
  const { id, fields, status, summary, sessions, createdAt, updatedAt } = working
  const title = fields.title || id
  const { parent, group, assignee, verify } = fields
  const optional = Object.entries({ parent, group, assignee, verify, summary })
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
    ...Object.fromEntries(optional.filter(([, value]) => value)),
  }
}

function withRelations(tasks: readonly Task[]) {
  const ids = new Set(tasks.map((task) => task.id))
  const idOf = (reference: string) => resolveTaskId(tasks, ids, reference)
  const blocks = new Map<string, string[]>(tasks.map(({ id }) => [id, []]))
  const children = new Map<string, string[]>(tasks.map(({ id }) => [id, []]))
  const resolved = tasks.map((task) => {
    const dependsOn = [...new Set(task.dependsOn.map(idOf))]
    const parent = task.parent && idOf(task.parent)
    for (const dependency of dependsOn) blocks.get(dependency)?.push(task.id)
    children.get(parent ?? '')?.push(task.id)
    return { ...task, dependsOn, ...defined({ parent }) }
  })
  return resolved.map((task) => ({
    ...task,
    blocks: blocks.get(task.id) ?? [],
    children: children.get(task.id) ?? [],
  }))
}
