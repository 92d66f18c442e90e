import type { ChecklistItem, TaskStatus } from '../session/entries.ts'
import { isRecord, line, passage } from './canonical.ts'

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
