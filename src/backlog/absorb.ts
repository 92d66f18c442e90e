import {
  type ChecklistItem,
  type Draft,
  type EntryData,
  type EntryKind,
  type TaskFields,
  draft,
} from '../session/entries.ts'
import { type Backlog, type TaskEntry, backlogAt, foldBacklog } from './backlog.ts'
import { type Task, idOrItself, shortnameFor } from './task.ts'
import { type TaskFileContent, parseTaskFile } from './parse-task-file.ts'
import { idOf, isUntouched, markerOf } from './task-file.ts'
import { type AbsorbedFile, type TaskFile, idFromFile } from './store.ts'

export interface AbsorbOptions {
  /** The backlog as it is now. */
  readonly backlog: Backlog
  /** The id of a new task, for a file that has none. The same for the same saving of a file, so that taking it in twice adds one task. */
  readonly mintId: () => string
  /** The file is a copy somebody made to write a new task into, and its id is the other's. */
  readonly isCopy?: boolean
}

export interface TaskProblem {
  readonly message: string
  /** The file holds something that rendering it again would lose: set it aside first. */
  readonly setAside: boolean
}

export interface TaskEdits {
  /** The task the file is about; absent when the file cannot be read. */
  readonly task?: string
  readonly drafts: readonly Draft[]
  readonly problems: readonly TaskProblem[]
}

/**
 * What a person changed in a task file, as entries.
 *
 * `base` is the task as it was at the entry that the file's marker names. Only what differs from it
 * is an edit, so an old file saved again takes back nothing that happened since. Without a marker
 * to go by (another tool wrote the file anew), what differs from the task as it is now is an edit.
 * Never throws on any text.
 */
export async function taskEdits(
  fileText: string,
  base: Task | undefined,
  options: AbsorbOptions,
): Promise<TaskEdits> {
  const { backlog, isCopy } = options
  const knownId = isCopy === true ? undefined : idOf(fileText)
  const isKnown =
    knownId !== undefined && (backlog.byId.has(knownId) || backlog.withdrawn.has(knownId))
  if (isKnown && isUntouched(fileText)) return { task: knownId, drafts: [], problems: [] }
  // Somebody made a copy and has not written into it yet.
  if (isCopy === true && isUntouched(fileText)) return { drafts: [], problems: [] }
  const parsed = await parseTaskFile(fileText)
  if (!parsed.readable)
    return {
      drafts: [],
      problems: [{ message: `cannot be read: ${parsed.reason}`, setAside: true }],
    }
  const content = resolved(parsed.content, backlog)
  const remarks = parsed.remarks.map((message) => ({ message, setAside: false }))
  const current = isCopy === true ? undefined : backlog.byId.get(content.id ?? '')
  if (current !== undefined) return changedTask(content, base ?? current, current, backlog, remarks)
  if (isCopy !== true && base !== undefined) {
    const message = 'was edited, but its task was taken back meanwhile'
    return { drafts: [], problems: [...remarks, { message, setAside: true }] }
  }
  return newTask(content, options, remarks)
}

function newTask(
  content: TaskFileContent,
  options: AbsorbOptions,
  remarks: readonly TaskProblem[],
): TaskEdits {
  const { backlog, mintId, isCopy } = options
  const given: Partial<TaskFileContent> = isCopy === true ? {} : content
  const id = given.id ?? mintId()
  if (backlog.byId.has(id)) return { task: id, drafts: [], problems: remarks }
  const { id: _id, status, createdAt: _at, blocks, ...written } = content
  const title = content.title ?? content.shortname ?? content.description.split('\n', 1)[0] ?? ''
  const fields = { ...written, title, shortname: shortnameFor(given.shortname ?? title) }
  const said = Object.fromEntries(Object.entries(fields).filter(([, value]) => value.length > 0))
  const when = given.createdAt === undefined ? {} : { when: given.createdAt }
  const added = byHand('task.added', { ...said, task: id, ...when })
  const moved =
    status === undefined || status === 'ready' ? [] : [byHand('task.moved', { task: id, status })]
  // What a copy blocks is what its pattern blocks.
  const others = blockEdits(id, isCopy === true ? [] : blocks, [], backlog)
  return {
    task: id,
    drafts: [added, ...moved, ...others.drafts],
    problems: [...remarks, ...others.problems],
  }
}

type Change = { -readonly [K in keyof TaskFields]: TaskFields[K] }

function changedTask(
  content: TaskFileContent,
  base: Task,
  current: Task,
  backlog: Backlog,
  remarks: readonly TaskProblem[],
): TaskEdits {
  const task = current.id
  const changes: Change = {}
  const overruled: string[] = []
  const texts = {
    ...content,
    shortname: content.shortname === undefined ? undefined : shortnameFor(content.shortname),
  }
  for (const key of TEXTS) {
    const value = texts[key]
    const before = base[key] ?? ''
    const now = current[key] ?? ''
    if (value === undefined || value === before || value === now) continue
    changes[key] = value
    if (now !== before) overruled.push(key)
  }
  for (const key of ['labels', 'dependsOn'] as const) {
    const merged = mergeLists(base[key], content[key], current[key])
    if (!sameList(merged, current[key])) changes[key] = merged
  }
  const ticked = tickedItems(base.checklist, content.checklist, current.checklist)
  if (ticked === undefined) {
    const merged = mergeChecklists(base.checklist, content.checklist, current.checklist)
    if (JSON.stringify(merged) !== JSON.stringify(current.checklist)) changes.checklist = merged
  }
  const { status } = content
  const isMoved = status !== undefined && status !== base.status && status !== current.status
  if (isMoved && current.status !== base.status) overruled.push('status')
  const others = blockEdits(task, content.blocks, base.blocks, backlog)
  const drafts: readonly Draft[] = [
    ...(Object.keys(changes).length === 0 ? [] : [byHand('task.changed', { task, ...changes })]),
    ...(ticked ?? []).map(({ item, done }) => byHand('task.checked', { task, item, done })),
    ...(isMoved ? [byHand('task.moved', { task, status })] : []),
    ...others.drafts,
  ]
  const notices = overruled.map((key) => ({
    message: `${key} was changed elsewhere too; the file's is taken, the other stays in the journal`,
    setAside: false,
  }))
  return { task, drafts, problems: [...remarks, ...notices, ...others.problems] }
}

const TEXTS = [
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

/** `blocks` is read off the other tasks, so a change to it is a change to what they depend on. */
function blockEdits(
  task: string,
  written: readonly string[],
  before: readonly string[],
  backlog: Backlog,
): { drafts: readonly Draft[]; problems: readonly TaskProblem[] } {
  const drafts: Draft[] = []
  const problems: TaskProblem[] = []
  for (const id of written.filter((one) => !before.includes(one))) {
    const other = backlog.byId.get(id)
    if (id === task) {
      problems.push({ message: 'blocks: a task cannot wait for itself', setAside: false })
    } else if (other === undefined) {
      problems.push({
        message: `blocks: there is no task ${id}; say blocked_by in its file`,
        setAside: false,
      })
    } else if (!other.dependsOn.includes(task)) {
      drafts.push(byHand('task.changed', { task: id, dependsOn: [...other.dependsOn, task] }))
    }
  }
  for (const id of before.filter((one) => !written.includes(one))) {
    const other = backlog.byId.get(id)
    if (other?.dependsOn.includes(task) !== true) continue
    drafts.push(
      byHand('task.changed', {
        task: id,
        dependsOn: other.dependsOn.filter((one) => one !== task),
      }),
    )
  }
  return { drafts, problems }
}

/** The content with the tasks it names by shortname or part of an id named by id, as the fold has them. */
function resolved(content: TaskFileContent, backlog: Backlog): TaskFileContent {
  const named = (reference: string) => idOrItself(backlog.tasks, backlog.byId, reference)
  const ids = (references: readonly string[]) => [...new Set(references.map(named))]
  return {
    ...content,
    dependsOn: ids(content.dependsOn),
    blocks: ids(content.blocks),
    parent: content.parent === '' ? '' : named(content.parent),
  }
}

function byHand<K extends EntryKind>(kind: K, data: EntryData[K]): Draft<K> {
  return draft(kind, data, { by: 'document' })
}

// Three lists: as the file was rendered, as the file is, as the task is now. What the person did is
// the difference of the first two, and is done to the third.
function mergeLists(
  base: readonly string[],
  file: readonly string[],
  current: readonly string[],
): readonly string[] {
  if (sameMembers(base, file)) return current
  const removed = new Set(base.filter((item) => !file.includes(item)))
  const added = file.filter((item) => !base.includes(item))
  return [...new Set([...current.filter((item) => !removed.has(item)), ...added])]
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index])
}

/**
 * The boxes that were ticked or cleared, when that is all that happened; else undefined. Boxes of
 * one wording cannot be told apart by it, so with those the whole list has to be said.
 */
function tickedItems(
  base: readonly ChecklistItem[],
  file: readonly ChecklistItem[],
  current: readonly ChecklistItem[],
): readonly ChecklistItem[] | undefined {
  const wordings = (items: readonly ChecklistItem[]) => items.map(({ item }) => item)
  if (!sameList(wordings(base), wordings(file))) return undefined
  const changed = file.filter(({ done }, index) => done !== base[index]?.done)
  if (changed.length > 0 && new Set(wordings(file)).size < file.length) return undefined
  return changed.filter(({ item, done }) =>
    current.some((one) => one.item === item && one.done !== done),
  )
}

function mergeChecklists(
  base: readonly ChecklistItem[],
  file: readonly ChecklistItem[],
  current: readonly ChecklistItem[],
): readonly ChecklistItem[] {
  if (JSON.stringify(base) === JSON.stringify(current)) return file
  const before = keyed(base)
  const written = keyed(file)
  const merged = [...keyed(current)].filter(([key]) => !before.has(key) || written.has(key))
  let place = 0
  for (const [key, item] of written) {
    const at = merged.findIndex(([other]) => other === key)
    if (at !== -1) {
      const was = before.get(key)
      // An item that both have added is done when either says so.
      if (was === undefined ? item.done : item.done !== was.done) merged[at] = [key, item]
      place = at + 1
    } else if (!before.has(key)) {
      // Behind the item it stands behind in the file.
      merged.splice(place, 0, [key, item])
      place += 1
    }
  }
  return merged.map(([, item]) => item)
}

/** Items by wording and, among equal ones, by which of them it is. */
function keyed(items: readonly ChecklistItem[]): ReadonlyMap<string, ChecklistItem> {
  const seen = new Map<string, number>()
  return new Map(
    items.map((item) => {
      const nth = (seen.get(item.item) ?? 0) + 1
      seen.set(item.item, nth)
      return [`${nth} ${item.item}`, item]
    }),
  )
}

function sameMembers(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item) => b.includes(item))
}

export interface FileProblem extends TaskProblem {
  readonly file: TaskFile
}

export interface AbsorbedFiles {
  /** The backlog with the edits in it. */
  readonly backlog: Backlog
  readonly absorbed: readonly AbsorbedFile[]
  readonly problems: readonly FileProblem[]
}

/**
 * Takes the edits of all files into the journal. `append` writes drafts and answers with the
 * entries they became; it is called once for each file that holds an edit, and the next file is
 * compared with the backlog after it, so that two files that speak of one task both count.
 */
export async function absorbTaskFiles(
  files: readonly TaskFile[],
  entries: readonly TaskEntry[],
  append: (drafts: readonly Draft[]) => readonly TaskEntry[] | Promise<readonly TaskEntry[]>,
): Promise<AbsorbedFiles> {
  const known = [...entries]
  let backlog = foldBacklog(known)
  const absorbed: AbsorbedFile[] = []
  const problems: FileProblem[] = []
  const earlier = new Map<string, Backlog>()
  const at = (lastId: string) => {
    const found = earlier.get(lastId) ?? backlogAt(entries, lastId)
    earlier.set(lastId, found)
    return found
  }
  for (const file of files) {
    if (file.damage !== undefined) {
      problems.push({ file, message: `cannot be read: ${file.damage}`, setAside: true })
      continue
    }
    const marker = isUntouched(file.text) ? undefined : markerOf(file.text)
    const base =
      marker === undefined || file.id === undefined
        ? undefined
        : at(marker.lastId).byId.get(file.id)
    const mintId = () => idFromFile(file)
    const edits = await taskEdits(file.text, base, { backlog, mintId, isCopy: file.isCopy })
    problems.push(...edits.problems.map((problem) => ({ ...problem, file })))
    if (edits.drafts.length > 0) {
      known.push(...(await append(edits.drafts)))
      backlog = foldBacklog(known)
    }
    if (edits.task !== undefined) absorbed.push({ file, task: edits.task })
  }
  return { backlog, absorbed, problems }
}
