import { StintError } from '../journal/errors.ts'
import type { ChecklistItem, TaskStatus } from '../session/entries.ts'
import { cleanText, oneLine, slug } from '../text/clean.ts'
import { nameFrom } from '../text/redact.ts'

export const PRIORITIES = ['P0', 'P1', 'P2', 'P3'] as const
export const SIZES = ['XS', 'S', 'M', 'L', 'XL'] as const

export type Priority = (typeof PRIORITIES)[number]
export type Size = (typeof SIZES)[number]

/** The fields of the entries with their defaults, and what is derived from other tasks. */
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
  /** Ids where the backlog has the task, else the text as written. */
  readonly dependsOn: readonly string[]
  readonly blocks: readonly string[]
  readonly parent?: string
  readonly children: readonly string[]
  readonly group?: string
  readonly assignee?: string
  readonly verify?: string
  readonly checklist: readonly ChecklistItem[]
  readonly extra: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly summary?: string
  readonly sessions: readonly string[]
  /** Its text was not written on this machine, and the user has not agreed to it. */
  readonly isFromElsewhere?: true
}

// Includes the words of other task lists, so that a file made by hand or by another tool is understood.
const STATUS_WORDS = wordsFor<TaskStatus>({
  ready: 'ready pending todo open',
  in_progress: 'in_progress working doing started delegated',
  blocked: 'blocked paused',
  completed: 'completed complete done closed',
  failed: 'failed',
})
const PRIORITY_WORDS = wordsFor<Priority>({
  P0: 'p0 critical urgent',
  P1: 'p1 high',
  P2: 'p2 medium normal',
  P3: 'p3 low',
})

function wordsFor<T extends string>(words: Readonly<Record<T, string>>) {
  const all = Object.entries<string>(words)
  return new Map(all.flatMap(([value, list]) => list.split(' ').map((word) => [word, value as T])))
}

export function readStatus(value: unknown): TaskStatus | undefined {
  const word = cleanLine(value).toLowerCase()
  return STATUS_WORDS.get(word.replaceAll(/[\s-]+/g, '_'))
}

export function readPriority(value: unknown): Priority | undefined {
  return PRIORITY_WORDS.get(cleanLine(value).toLowerCase())
}

export function readSize(value: unknown): Size | undefined {
  const word = cleanLine(value).toUpperCase()
  return SIZES.find((size) => size === word)
}

export function readList(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined
  return [...new Set(value.map(cleanLine).filter((text) => text !== ''))]
}

export function readChecklist(value: unknown): readonly ChecklistItem[] | undefined {
  if (!Array.isArray(value)) return undefined
  return value
    .filter(isRecord)
    .map((item) => ({ item: cleanLine(item.item), done: item.done === true }))
    .filter(({ item }) => item !== '')
}

export function readLine(value: unknown): string | undefined {
  return typeof value === 'string' ? cleanLine(value) : undefined
}

export function readPassage(value: unknown): string | undefined {
  return typeof value === 'string' ? cleanPassage(value) : undefined
}

export function isTaskOpen(task: Pick<Task, 'status'>): boolean {
  return task.status !== 'completed'
}

// Texts are normalised, so that rendering and parsing a text is not an edit.

/** Empty for anything but a string. */
export function cleanLine(value: unknown): string {
  return typeof value === 'string' ? oneLine(value) : ''
}

export function cleanPassage(value: unknown): string {
  return typeof value === 'string' ? cleanText(value) : ''
}

export function joinPassages(...passages: readonly string[]): string {
  return passages
    .map(cleanPassage)
    .filter((text) => text !== '')
    .join('\n\n')
}

export function shortnameFor(title: string): string {
  const name = nameFrom(title)
  // A title without Latin letters.
  return name === slug('') && !title.toLowerCase().includes(name) ? 'task' : name
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

// Shorter parts of an id match by accident: `a1` is in every eighth UUID.
const MIN_PARTIAL_ID = 4

type NamedTask = Pick<Task, 'id' | 'shortname'>

export function matchTasks<T extends NamedTask>(
  tasks: readonly T[],
  reference: string,
): readonly T[] {
  const wanted = cleanLine(reference).replace(/\.md$/, '')
  if (wanted === '') return []
  const exact = tasks.filter((task) => task.id === wanted)
  if (exact.length > 0) return exact
  const named = tasks.filter(
    (task) => task.shortname === wanted || `${task.shortname}-${task.id}` === wanted,
  )
  if (named.length > 0 || wanted.length < MIN_PARTIAL_ID) return named
  return tasks.filter((task) => task.id.includes(wanted))
}

export function resolveTaskId(
  tasks: readonly NamedTask[],
  ids: { has(id: string): boolean },
  reference: string,
): string {
  if (ids.has(reference)) return reference
  const found = matchTasks(tasks, reference)
  return found.length === 1 ? found[0]!.id : reference
}

export function findTask<T extends NamedTask & Pick<Task, 'title' | 'status'>>(
  tasks: readonly T[],
  reference: string,
): T {
  const found = matchTasks(tasks, reference)
  if (found.length === 1) return found[0]!
  const shown = JSON.stringify(reference)
  if (found.length === 0)
    throw new StintError(
      'TASK_NOT_FOUND',
      `there is no task ${shown}`,
      'stint task list shows them all',
    )
  const candidates = found.map(
    ({ id, shortname, status, title }) => `  ${id}  ${shortname}  (${status}) ${title}`,
  )
  throw new StintError(
    'TASK_AMBIGUOUS',
    `${shown} may mean any of ${found.length} tasks:\n${candidates.join('\n')}`,
    'name it by its id, or by a longer part of it',
  )
}

export function groupBy<K, T>(
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
