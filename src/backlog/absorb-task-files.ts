import {
  type ChecklistItem,
  type EntryDraft,
  type EntryData,
  type EntryKind,
  type TaskFields,
  draftEntry,
} from '../session/entries.ts'
import { defined } from '../text/defined.ts'
import { type Backlog, type TaskEntry, backlogAt, foldBacklog } from './backlog.ts'
import { type TaskFileContent, parseTaskFile } from './parse-task-file.ts'
import { type AbsorbedFile, type TaskFile, idFromFile } from './task-files.ts'
import { taskIdIn, isUntouched, taskFileMarker } from './task-file-format.ts'
import { type Task, resolveTaskId, shortnameFor } from './task.ts'

interface AbsorbOptions {
  readonly backlog: Backlog
  /** The id for a file that has none; the same for the same saved file, so that absorbing it twice adds one task. */
  readonly mintId: () => string
  /** The file is a copy made to write a new task, and its id belongs to the original. */
  readonly isCopy?: boolean
}

interface TaskProblem {
  readonly message: string
  /** Rendering the file again would lose text, so it is quarantined first. */
  readonly needsQuarantine: boolean
}

export interface TaskEdits {
  readonly task?: string
  readonly drafts: readonly EntryDraft[]
  readonly problems: readonly TaskProblem[]
}

/**
 * Absorbs the edits of all files. `append` writes drafts and returns their entries: once for all files, and once more before a
 * second file of one task, which is compared with the resulting backlog, so that both count.
 */
export async function absorbTaskFiles(
  files: readonly TaskFile[],
  entries: readonly TaskEntry[],
  append: (drafts: readonly EntryDraft[]) => readonly TaskEntry[] | Promise<readonly TaskEntry[]>,
) {
  const known = [...entries]
  let backlog = withPending(foldBacklog(known))
  let pending: EntryDraft[] = []
  let pendingTasks = new Set<string>()
  const write = async () => {
    known.push(...(await append(pending)))
    backlog = withPending(foldBacklog(known))
    pending = []
    pendingTasks = new Set()
  }
  const absorbed: AbsorbedFile[] = []
  const problems: (TaskProblem & { readonly file: TaskFile })[] = []
  const earlier = new Map<string, Backlog>()
  const at = (lastId: string) => {
    const found = earlier.get(lastId) ?? backlogAt(entries, lastId)
    earlier.set(lastId, found)
    return found
  }
  for (const file of files) {
    const { damage, id, isCopy, text } = file
    if (damage !== undefined) {
      problems.push({ file, message: `cannot be read: ${damage}`, needsQuarantine: true })
      continue
    }
    const marker = isUntouched(text) ? undefined : taskFileMarker(text)
    const base = marker === undefined ? undefined : at(marker.lastId).byId.get(id ?? '')
    const compare = () => taskEdits(text, base, { backlog, mintId: () => idFromFile(file), isCopy })
    let edits = await compare()
    if (pendingTasks.has(edits.task ?? '') && !isUntouched(text)) {
      await write()
      edits = await compare()
    }
    problems.push(...edits.problems.map((problem) => ({ ...problem, file })))
    pending.push(...edits.drafts)
    for (const draft of edits.drafts) pendingTasks.add(taskOf(draft))
    backlog.addPending(edits.drafts)
    if (edits.task !== undefined) absorbed.push({ file, task: edits.task })
  }
  if (pending.length > 0) await write()
  return { backlog: backlog as Backlog, absorbed, problems }
}

function taskOf({ data }: EntryDraft) {
  return String((data as { readonly task?: unknown }).task)
}

/** Later files may refer to what is not written yet; folding everything for each file would take too long. */
function withPending(backlog: Backlog) {
  const [tasks, byId] = [[...backlog.tasks], new Map(backlog.byId)]
  const addPending = (drafts: readonly EntryDraft[]) => {
    for (const draft of drafts) {
      const id = taskOf(draft)
      const { dependsOn } = draft.data as TaskFields
      if (draft.kind === 'task.added') {
        const [task] = foldBacklog([{ ...draft, id, at: '' } as TaskEntry]).tasks
        if (task !== undefined) tasks.push(task)
        if (task !== undefined) byId.set(id, task)
      } else if (dependsOn !== undefined && byId.has(id)) {
        byId.set(id, { ...byId.get(id)!, dependsOn })
      }
    }
  }
  return { ...backlog, tasks, byId, addPending }
}

/**
 * A person's edits of a task file, as entries. `base` is the task at the entry in the file's marker: only what differs from it is an
 * edit, so an old file saved again reverts nothing. Without a marker the file is compared with the current task. Never throws.
 */
export async function taskEdits(
  fileText: string,
  base: Task | undefined,
  options: AbsorbOptions,
): Promise<TaskEdits> {
  const { backlog, isCopy } = options
  const knownId = isCopy === true ? undefined : taskIdIn(fileText)
  const isKnown =
    knownId !== undefined && (backlog.byId.has(knownId) || backlog.withdrawn.has(knownId))
  // An unedited copy has not been filled in yet.
  if ((isKnown || isCopy === true) && isUntouched(fileText))
    return { ...defined({ task: knownId }), drafts: [], problems: [] }
  const parsed = await parseTaskFile(fileText)
  if (!parsed.readable) {
    const problem = { message: `cannot be read: ${parsed.reason}`, needsQuarantine: true }
    return { drafts: [], problems: [problem] }
  }
  const content = resolveReferences(parsed.content, backlog)
  const remarks = parsed.remarks.map(warning)
  const current = isCopy === true ? undefined : backlog.byId.get(content.id ?? '')
  if (current !== undefined) return changedTask(content, base ?? current, current, backlog, remarks)
  if (isCopy === true || base === undefined) return newTask(content, options, remarks)
  const message = 'was edited, but its task was taken back meanwhile'
  return { drafts: [], problems: [...remarks, { message, needsQuarantine: true }] }
}

function warning(message: string) {
  return { message, needsQuarantine: false }
}

function newTask(
  content: TaskFileContent,
  { backlog, mintId, isCopy }: AbsorbOptions,
  remarks: readonly TaskProblem[],
) {
  const own: Partial<TaskFileContent> = isCopy === true ? {} : content
  const id = own.id ?? mintId()
  if (backlog.byId.has(id)) return { task: id, drafts: [], problems: remarks }
  const { id: _id, status, createdAt: _at, blocks, ...written } = content
  const title = content.title ?? content.shortname ?? content.description.split('\n', 1)[0] ?? ''
  const fields = { ...written, title, shortname: shortnameFor(own.shortname ?? title) }
  const filled = Object.fromEntries(Object.entries(fields).filter(([, value]) => value.length > 0))
  const when = defined({ when: own.createdAt })
  const added = draftByPerson('task.added', { ...filled, task: id, ...when })
  const moved =
    status === undefined || status === 'ready'
      ? []
      : [draftByPerson('task.moved', { task: id, status })]
  // The `blocks` of a copy are its original's.
  const blockChanges = blockEdits(id, isCopy === true ? [] : blocks, [], backlog)
  const problems = [...remarks, ...blockChanges.problems]
  return { task: id, drafts: [added, ...moved, ...blockChanges.drafts], problems }
}

function changedTask(
  content: TaskFileContent,
  base: Task,
  current: Task,
  backlog: Backlog,
  remarks: readonly TaskProblem[],
) {
  const task = current.id
  const changes: { -readonly [K in keyof TaskFields]: TaskFields[K] } = {}
  const overwritten: string[] = []
  const shortname = content.shortname && shortnameFor(content.shortname)
  const texts = { ...content, shortname }
  for (const key of TEXT_FIELDS) {
    const value = texts[key]
    const before = base[key] ?? ''
    const now = current[key] ?? ''
    if (value === undefined || value === before || value === now) continue
    changes[key] = value
    if (now !== before) overwritten.push(key)
  }
  for (const key of ['labels', 'dependsOn'] as const) {
    const merged = mergeLists(base[key], content[key], current[key])
    if (!isSame(merged, current[key])) changes[key] = merged
  }
  const ticked = tickedItems(base.checklist, content.checklist, current.checklist)
  if (ticked === undefined) {
    const merged = mergeChecklists(base.checklist, content.checklist, current.checklist)
    if (!isSame(merged, current.checklist)) changes.checklist = merged
  }
  const { status } = content
  const isMoved = status !== undefined && status !== base.status && status !== current.status
  if (isMoved && current.status !== base.status) overwritten.push('status')
  const blockChanges = blockEdits(task, content.blocks, base.blocks, backlog)
  const drafts: readonly EntryDraft[] = [
    ...(Object.keys(changes).length === 0
      ? []
      : [draftByPerson('task.changed', { task, ...changes })]),
    ...(ticked ?? []).map(({ item, done }) => draftByPerson('task.checked', { task, item, done })),
    ...(isMoved ? [draftByPerson('task.moved', { task, status })] : []),
    ...blockChanges.drafts,
  ]
  const warnings = overwritten.map((key) =>
    warning(
      `${key} was changed elsewhere too; the file's is taken, the other stays in the journal`,
    ),
  )
  return { task, drafts, problems: [...remarks, ...warnings, ...blockChanges.problems] }
}

const TEXT_FIELDS = [
  'shortname',
  'title',
  'description',
  'details',
  'priority',
  'size',
  'assignee',
  'parent',
  'group',
  'verify',
  'extra',
] as const

/** `blocks` is derived from the other tasks, so a change to it changes their dependencies. */
function blockEdits(
  task: string,
  written: readonly string[],
  before: readonly string[],
  backlog: Backlog,
) {
  const drafts: EntryDraft[] = []
  const problems: TaskProblem[] = []
  for (const id of written.filter((one) => !before.includes(one))) {
    const other = backlog.byId.get(id)
    if (id === task) problems.push(warning('blocks: a task cannot wait for itself'))
    else if (other === undefined)
      problems.push(warning(`blocks: there is no task ${id}; say blocked_by in its file`))
    else if (!other.dependsOn.includes(task))
      drafts.push(
        draftByPerson('task.changed', { task: id, dependsOn: [...other.dependsOn, task] }),
      )
  }
  for (const id of before.filter((one) => !written.includes(one))) {
    const { dependsOn = [] } = backlog.byId.get(id) ?? {}
    const left = dependsOn.filter((one) => one !== task)
    if (left.length < dependsOn.length)
      drafts.push(draftByPerson('task.changed', { task: id, dependsOn: left }))
  }
  return { drafts, problems }
}

function resolveReferences(content: TaskFileContent, backlog: Backlog) {
  const named = (reference: string) => resolveTaskId(backlog.tasks, backlog.byId, reference)
  const ids = (references: readonly string[]) => [...new Set(references.map(named))]
  const parent = content.parent === '' ? '' : named(content.parent)
  return { ...content, dependsOn: ids(content.dependsOn), blocks: ids(content.blocks), parent }
}

function draftByPerson<K extends EntryKind>(kind: K, data: EntryData[K]) {
  return draftEntry(kind, data, { by: 'document' })
}

/** Applies the difference between the rendered list and the file's list to the current list. */
function mergeLists(base: readonly string[], file: readonly string[], current: readonly string[]) {
  const hasSameItems = base.length === file.length && base.every((item) => file.includes(item))
  if (hasSameItems) return current
  const removed = new Set(base.filter((item) => !file.includes(item)))
  const added = file.filter((item) => !base.includes(item))
  return [...new Set([...current.filter((item) => !removed.has(item)), ...added])]
}

function isSame(a: unknown, b: unknown) {
  return JSON.stringify(a) === JSON.stringify(b)
}

type Checklist = readonly ChecklistItem[]

/** The items that were ticked or cleared, when nothing else changed and no two items have the same text; else undefined. */
function tickedItems(base: Checklist, file: Checklist, current: Checklist) {
  const wordings = (items: Checklist) => items.map(({ item }) => item)
  if (!isSame(wordings(base), wordings(file))) return undefined
  const changed = file.filter(({ done }, index) => done !== base[index]?.done)
  if (changed.length > 0 && new Set(wordings(file)).size < file.length) return undefined
  return changed.filter(({ item, done }) =>
    current.some((one) => one.item === item && one.done !== done),
  )
}

function mergeChecklists(base: Checklist, file: Checklist, current: Checklist) {
  if (isSame(base, current)) return file
  const before = keyed(base)
  const written = keyed(file)
  const merged = [...keyed(current)].filter(([key]) => !before.has(key) || written.has(key))
  let position = 0
  for (const [key, item] of written) {
    const at = merged.findIndex(([other]) => other === key)
    if (at !== -1) {
      const was = before.get(key)
      // An item that both sides added is done when either side ticked it.
      if (was === undefined ? item.done : item.done !== was.done) merged[at] = [key, item]
      position = at + 1
    } else if (!before.has(key)) {
      // After the item it follows in the file.
      merged.splice(position, 0, [key, item])
      position += 1
    }
  }
  return merged.map(([, item]) => item)
}

function keyed(items: Checklist) {
  const seen = new Map<string, number>()
  return new Map(
    items.map((item) => {
      const nth = (seen.get(item.item) ?? 0) + 1
      seen.set(item.item, nth)
      return [`${nth} ${item.item}`, item]
    }),
  )
}
