// Tasks that are kept elsewhere. They become entries that are never written, and are folded with the project's own, so that
// what journals say of such a task counts as it does for any other.
import { withoutSecrets } from '../../project/store/clean-draft.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import type { ChecklistItem, TaskFields, TaskStatus } from '../../session/entries.ts'
import { type Backlog, type TaskEntry, foldBacklog } from '../../backlog/backlog.ts'
import { type Task, joined, shortnameFor } from '../../backlog/task.ts'
import { createHash } from 'node:crypto'
import { cleanText, oneLine, shorten, slug } from '../../text/clean.ts'
import { StintError } from '../../journal/errors.ts'
import { dependencyCycles } from '../../backlog/waits.ts'

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

// What tasks from outside are called. A name must not come to mean another task when lines are added or moved while a run
// goes on, so it depends on the task alone; where two would share one, neither has it.

export const LONGEST_ID = 80

// No slash, no blank, and nothing in front that a program would take for an option.
const OWN_ID = /^[\p{L}\p{N}][\p{L}\p{N}._:-]*$/u

/** Whether a text can be the id of a task in its source. */
export function isOwnId(text: string): boolean {
  return text.length <= LONGEST_ID && OWN_ID.test(text)
}

export const ID_RULE = `letters, digits and . _ : - only, a letter or digit first, at most ${LONGEST_ID} characters`

export interface Called {
  readonly own: string
  /** What people would say. */
  readonly name: string
}

/** A short name for each, by its own id. */
export function shortnames(tasks: readonly Called[]): ReadonlyMap<string, string> {
  const said = tasks.map((task) => shortnameFor(task.name))
  const whole = tasks.map((task) => shortnameFor(task.own))
  const saidBy = counted(said)
  const wholeBy = counted(whole)
  return new Map(
    tasks.map(({ own }, index) => {
      if (saidBy.get(said[index]!) === 1) return [own, said[index]!]
      if (wholeBy.get(whole[index]!) === 1 && !saidBy.has(whole[index]!))
        return [own, whole[index]!]
      return [own, `${slug(said[index]!, 33)}-${fingerprint(own)}`]
    }),
  )
}

export function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 6)
}

function counted(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

// What other programs and people wrote, before it is shown, put into a prompt or made a name of.

export const LONGEST_TITLE = 200
export const LONGEST_PASSAGE = 20_000
const LONGEST_LABEL = 80
const LONGEST_ITEM = 300
const MOST_LABELS = 50
const MOST_ITEMS = 200

/** A title on one line. It is not a heading or a list item, whatever it was written as. */
export function outsideTitle(text: string): string {
  return shorten(oneLine(text).replace(/^(?:(?:#{1,6}|[-*+>])\s+)+/, ''), LONGEST_TITLE)
}

// Every prompt about a task begins with such a line, and no text of a task may pass for another beginning.
const LIKE_A_PROMPT = /^([ \t]*)(#+[ \t]*Task\b)/gim

export function outsidePassage(text: string): string {
  return shorten(cleanText(text), LONGEST_PASSAGE).replaceAll(LIKE_A_PROMPT, '$1\\$2')
}

export function outsideLabels(labels: readonly string[]): readonly string[] {
  const lines = labels
    .map((label) => shorten(oneLine(label), LONGEST_LABEL))
    .filter((label) => label !== '')
  return [...new Set(lines)].slice(0, MOST_LABELS)
}

export function outsideChecklist(items: readonly ChecklistItem[]): readonly ChecklistItem[] {
  return items
    .map(({ item, done }) => ({ item: shorten(oneLine(item), LONGEST_ITEM), done }))
    .filter(({ item }) => item !== '')
    .slice(0, MOST_ITEMS)
}

// What is wrong with a backlog is said all at once: whoever has to correct it does so in one go.

const MOST_SHOWN = 100

/** Throws when there is any problem, so that nothing starts. */
export function refuse(name: string, problems: readonly string[]): void {
  if (problems.length === 0) return
  const shown = problems.slice(0, MOST_SHOWN).map((problem) => `  ${problem}`)
  const left = problems.length - shown.length
  const more = left === 0 ? [] : [`  … and ${left} more`]
  throw new StintError(
    'BACKLOG_INVALID',
    [`${name} cannot be worked on as it is:`, ...shown, ...more].join('\n'),
    'correct what is named above; nothing was started',
  )
}

/** Circles of tasks that wait for each other. A task waits for its parts as well. */
export function circles(
  tasks: readonly ForeignTask[],
  lineOf: ReadonlyMap<string, number>,
): readonly string[] {
  const backlog = foldForeign('', tasks)
  return dependencyCycles(backlog).map((circle) => {
    const owns = circle.map((task) => task.id.slice(1))
    const lines = [...new Set(owns.flatMap((own) => lineOf.get(own) ?? []))].toSorted(
      (a, b) => a - b,
    )
    return `${named(lines)}: each waits for the next: ${owns.join(' → ')}`
  })
}

/** `line 3`, `lines 3 and 7`. */
export function named(lines: readonly number[]): string {
  if (lines.length < 2) return `line ${lines[0]}`
  return `lines ${lines.slice(0, -1).join(', ')} and ${lines.at(-1)}`
}

/** What has the same key, in the order in which the keys first come. */
export function grouped<K, T>(
  all: readonly T[],
  keyOf: (one: T) => K,
): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>()
  for (const one of all) {
    const key = keyOf(one)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [one])
    else group.push(one)
  }
  return groups
}

/** Where a run's tasks come from. */
export interface BacklogSource {
  /** `.tasks`, `beads`, `github`, or the path of a file in the project. */
  readonly name: string
  /** The tasks as they stand, with what Stint's own journals say of them. */
  read(): Promise<Backlog>
  /**
   * Tells the source that a task is completed, where it can be told. `tree` is the working tree of the run. Answers the
   * paths that it changed there and that git tracks, relative to `tree`, for the runner to commit.
   */
  settle(task: Task, summary: string, tree: string): Promise<readonly string[]>
}
