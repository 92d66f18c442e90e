import type { ChecklistItem, TaskStatus } from '../session/entries.ts'
import { cleanText, oneLine, slug } from '../text/clean.ts'
import { StintError } from '../journal/errors.ts'

export const PRIORITIES = ['P0', 'P1', 'P2', 'P3'] as const
export const SIZES = ['XS', 'S', 'M', 'L', 'XL'] as const

export type Priority = (typeof PRIORITIES)[number]
export type Size = (typeof SIZES)[number]

/** What can be said of one task: the entries' fields with the defaults filled in, and what follows from other tasks. */
export interface Task {
  readonly id: string
  readonly shortname: string
  readonly title: string
  readonly description: string
  readonly details: string
  readonly priority: Priority
  readonly size: Size
  readonly status: TaskStatus
  readonly labels: readonly string[]
  /** Ids where the backlog has the task, else what was written. */
  readonly dependsOn: readonly string[]
  /** The tasks that depend on this one. */
  readonly blocks: readonly string[]
  readonly parent?: string
  readonly children: readonly string[]
  readonly group?: string
  readonly assignee?: string
  readonly verify?: string
  readonly checklist: readonly ChecklistItem[]
  /** Lines of the task file's frontmatter that are not Stint's. */
  readonly extra: string
  readonly createdAt: string
  readonly updatedAt: string
  /** What was said when the status last changed. */
  readonly summary?: string
  /** The sessions whose journals speak of it. */
  readonly sessions: readonly string[]
}

// The words other task lists use, so that a file made by hand or by another tool is understood.
const STATUS_WORDS: Readonly<Record<string, TaskStatus>> = {
  ready: 'ready',
  pending: 'ready',
  todo: 'ready',
  open: 'ready',
  in_progress: 'in_progress',
  working: 'in_progress',
  doing: 'in_progress',
  started: 'in_progress',
  delegated: 'in_progress',
  blocked: 'blocked',
  paused: 'blocked',
  completed: 'completed',
  complete: 'completed',
  done: 'completed',
  closed: 'completed',
  failed: 'failed',
}

const PRIORITY_WORDS: Readonly<Record<string, Priority>> = {
  critical: 'P0',
  urgent: 'P0',
  high: 'P1',
  medium: 'P2',
  normal: 'P2',
  low: 'P3',
}

export function readStatus(value: unknown): TaskStatus | undefined {
  const word = line(value)
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_')
  return Object.hasOwn(STATUS_WORDS, word) ? STATUS_WORDS[word] : undefined
}

export function readPriority(value: unknown): Priority | undefined {
  const word = line(value)
  const exact = PRIORITIES.find((priority) => priority === word.toUpperCase())
  return (
    exact ??
    (Object.hasOwn(PRIORITY_WORDS, word.toLowerCase())
      ? PRIORITY_WORDS[word.toLowerCase()]
      : undefined)
  )
}

export function readSize(value: unknown): Size | undefined {
  const word = line(value).toUpperCase()
  return SIZES.find((size) => size === word)
}

/** A list of single lines, each once. */
export function readList(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined
  return [...new Set(value.map(line).filter((text) => text !== ''))]
}

export function readChecklist(value: unknown): readonly ChecklistItem[] | undefined {
  if (!Array.isArray(value)) return undefined
  return value
    .filter(isRecord)
    .map((item) => ({ item: line(item.item), done: item.done === true }))
    .filter(({ item }) => item !== '')
}

export function readLine(value: unknown): string | undefined {
  return typeof value === 'string' ? line(value) : undefined
}

export function readPassage(value: unknown): string | undefined {
  return typeof value === 'string' ? passage(value) : undefined
}

export function isTaskOpen(task: Pick<Task, 'status'>): boolean {
  return task.status !== 'completed'
}

// One spelling for every text, whichever way it came (an entry, a file, another tool), so that
// what is rendered and read back is the same text and not an edit.

/** A text of one line. Anything but a string is the empty text. */
export function line(value: unknown): string {
  return typeof value === 'string' ? oneLine(value) : ''
}

/** A text of several lines, without blank ones around it. */
export function passage(value: unknown): string {
  return typeof value === 'string' ? cleanText(value) : ''
}

export function joined(...passages: readonly string[]): string {
  return passages
    .map(passage)
    .filter((text) => text !== '')
    .join('\n\n')
}

/** The name a title gets in file names and commands. */
export function shortnameFor(title: string): string {
  const name = slug(title)
  // A title in which nothing can be spelled in Latin letters gets the word for want of a name.
  return name === slug('') && !title.toLowerCase().includes(name) ? 'task' : name
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

// Shorter pieces of an id match by accident: `a1` is in every eighth UUID.
const SHORTEST_PART = 4

type Named = Pick<Task, 'id' | 'shortname'>

/** The tasks a reference may mean: by id, else by shortname or file name, else by a part of the id. */
export function matchTasks<T extends Named>(tasks: readonly T[], reference: string): readonly T[] {
  const wanted = line(reference).replace(/\.md$/, '')
  if (wanted === '') return []
  const exact = tasks.filter((task) => task.id === wanted)
  if (exact.length > 0) return exact
  const named = tasks.filter(
    (task) => task.shortname === wanted || `${task.shortname}-${task.id}` === wanted,
  )
  if (named.length > 0 || wanted.length < SHORTEST_PART) return named
  return tasks.filter((task) => task.id.includes(wanted))
}

/** The id of the only task a reference may mean, or the reference itself. `ids` are those of the tasks. */
export function idOrItself(
  tasks: readonly Named[],
  ids: { has(id: string): boolean },
  reference: string,
): string {
  if (ids.has(reference)) return reference
  const [only, ...others] = matchTasks(tasks, reference)
  return only !== undefined && others.length === 0 ? only.id : reference
}

/** The one task a reference means. */
export function findTask<T extends Named & Pick<Task, 'title' | 'status'>>(
  tasks: readonly T[],
  reference: string,
): T {
  const [only, ...others] = matchTasks(tasks, reference)
  if (only === undefined) {
    throw new StintError(
      'TASK_NOT_FOUND',
      `there is no task ${JSON.stringify(reference)}`,
      'stint task list shows them all',
    )
  }
  if (others.length === 0) return only
  const candidates = [only, ...others].map(
    (task) => `  ${task.id}  ${task.shortname}  (${task.status}) ${task.title}`,
  )
  throw new StintError(
    'TASK_AMBIGUOUS',
    `${JSON.stringify(reference)} may mean any of ${candidates.length} tasks:\n${candidates.join('\n')}`,
    'name it by its id, or by a longer part of it',
  )
}

/** Groups by key, in the order in which the keys first come. */
export function grouped<K, T>(
  all: readonly T[],
  keyOf: (one: T) => K,
): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>()
  for (const one of all) {
    const group = groups.get(keyOf(one)) ?? []
    group.push(one)
    groups.set(keyOf(one), group)
  }
  return groups
}
