// External tasks become in-memory entries that are folded together with the journals' entries about them.
import { createHash } from 'node:crypto'
import { type Backlog, type TaskEntry, foldBacklog } from '../../backlog/backlog.ts'
import { groupBy, joinPassages, shortnameFor } from '../../backlog/task.ts'
import { dependencyCycles } from '../../backlog/task-graph.ts'
import { StintError } from '../../journal/errors.ts'
import { withoutSecrets } from '../../project/store/clean-draft.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import type { TaskFields, TaskStatus } from '../../session/entries.ts'
import { cleanText, oneLine, shorten, slug } from '../../text/clean.ts'
import { defined } from '../../text/defined.ts'

export interface ExternalTask extends Omit<TaskFields, 'shortname' | 'extra'> {
  readonly own: string
  readonly name: string
  readonly title: string
  /** External ids; an unknown one stays as written. */
  readonly dependsOn: readonly string[]
  readonly status?: TaskStatus
  readonly because?: string
  readonly createdAt?: string
}

export async function readExternalBacklog(
  workspace: Workspace,
  key: string,
  tasks: readonly ExternalTask[],
): Promise<Backlog> {
  const hide = (text: string) => withoutSecrets(text, workspace.config)
  // Reading must not create the folder.
  const journalEntries = workspace.hasSessions() ? [...(await workspace.index()).taskEntries()] : []
  return foldExternalTasks(key, tasks, journalEntries, hide)
}

function foldExternalTasks(
  key: string,
  tasks: readonly ExternalTask[],
  journalEntries: readonly TaskEntry[] = [],
  hide: (text: string) => string = (text) => text,
) {
  const names = uniqueShortnames(tasks)
  const idOf = (own: string) => (names.has(own) ? `${key}/${own}` : own)
  const added = tasks.map((task, index) => {
    const about = { task: idOf(task.own), ...defined({ when: task.createdAt }) }
    const fields = toTaskFields(task, idOf, hide)
    return memoryEntry('task.added', index, { ...about, ...fields, shortname: names.get(task.own) })
  })
  // `task.added` entries of journals belong to the `.tasks/` backlog.
  const entries = [...added, ...journalEntries.filter(({ kind }) => kind !== 'task.added')]
  const journalled = foldBacklog(entries)
  const moved = tasks.flatMap(({ own, status, because = '' }, index) => {
    const task = idOf(own)
    const known = journalled.byId.get(task)!.status
    // A started task stays in progress although its source calls it blocked: the agent may have marked it there.
    const isChange = known === 'ready' || (status === 'completed' && known !== 'completed')
    if (status === undefined || !isChange) return []
    return [memoryEntry('task.moved', index, { task, status, summary: hide(because) })]
  })
  if (moved.length === 0) return journalled
  return { ...foldBacklog([...entries, ...moved]), lastId: journalled.lastId }
}

export const LONGEST_TITLE = 200
export const LONGEST_PASSAGE = 20_000
const MOST_LABELS = 50
const MOST_ITEMS = 200

function toTaskFields(
  task: ExternalTask,
  idOf: (own: string) => string,
  hide: (text: string) => string,
) {
  const { priority, size, group, assignee, verify, labels = [], checklist = [] } = task
  // Strips heading and list markers.
  const plain = oneLine(hide(task.title)).replace(/^(?:(?:#{1,6}|[-*+>])\s+)+/, '')
  const title = shorten(plain, LONGEST_TITLE)
  const fullTitle = title.endsWith('…') ? hide(task.title) : ''
  const lines = labels.map((label) => shorten(oneLine(label), 80)).filter((label) => label !== '')
  const parent = task.parent === undefined ? undefined : idOf(task.parent)
  return {
    title: title || task.own,
    description: cleanPassage(joinPassages(fullTitle, hide(task.description ?? ''))),
    details: cleanPassage(hide(task.details ?? '')),
    labels: [...new Set(lines)].slice(0, MOST_LABELS),
    checklist: checklist
      .map(({ item, done }) => ({ item: shorten(oneLine(hide(item)), 300), done }))
      .filter(({ item }) => item !== '')
      .slice(0, MOST_ITEMS),
    dependsOn: task.dependsOn.map(idOf),
    ...defined({ priority, size, group, assignee, verify, parent }),
  }
}

// Every task prompt begins with such a line, so no task text may contain one.
const LIKE_A_PROMPT = /^([ \t]*)(#+[ \t]*Task\b)/gim

function cleanPassage(text: string) {
  return shorten(cleanText(text), LONGEST_PASSAGE).replaceAll(LIKE_A_PROMPT, '$1\\$2')
}

/** The ids sort added tasks before every minted id, in source order, and moves after every minted id. */
function memoryEntry(kind: 'task.added' | 'task.moved', index: number, data: TaskEntry['data']) {
  const time = kind === 'task.added' ? '00000000-0000' : 'ffffffff-ffff'
  const id = `${time}-7000-8000-${(index + 1).toString(16).padStart(12, '0')}`
  return { id, at: new Date(0).toISOString(), kind, by: 'backlog', data }
}

const LONGEST_ID = 80

// No slash, no blank, and no leading character that makes it look like an option.
const OWN_ID = /^[\p{L}\p{N}][\p{L}\p{N}._:-]*$/u

export function isExternalId(text: string): boolean {
  return text.length <= LONGEST_ID && OWN_ID.test(text)
}

export const ID_RULE = `letters, digits and . _ : - only, a letter or digit first, at most ${LONGEST_ID} characters`

/**
 * Short names by external id. A name depends on its task alone, so that lines added during a run do not change it; where two
 * would share a name, neither gets it.
 */
function uniqueShortnames(tasks: readonly ExternalTask[]) {
  const named = tasks.map(({ own, name }) => ({
    own,
    fromName: shortnameFor(name),
    fromId: shortnameFor(own),
  }))
  const byName = groupBy(named, ({ fromName }) => fromName)
  const byId = groupBy(named, ({ fromId }) => fromId)
  return new Map(
    named.map(({ own, fromName, fromId }) => {
      if (byName.get(fromName)?.length === 1) return [own, fromName]
      if (byId.get(fromId)?.length === 1 && !byName.has(fromId)) return [own, fromId]
      return [own, `${slug(fromName, 33)}-${shortHash(own)}`]
    }),
  )
}

export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 6)
}

const MOST_SHOWN = 100

/** Reports all problems at once, so that they can be fixed in one go. */
export function refuseInvalidBacklog(name: string, problems: readonly string[]): void {
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

export function findCycleProblems(
  tasks: readonly ExternalTask[],
  lineOf: ReadonlyMap<string, number>,
): readonly string[] {
  return dependencyCycles(foldExternalTasks('', tasks)).map((circle) => {
    const owns = circle.map((task) => task.id.slice(1))
    const lines = new Set(owns.flatMap((own) => lineOf.get(own) ?? []))
    const sorted = [...lines].toSorted((a, b) => a - b)
    return `${lineNumbers(sorted)}: each waits for the next: ${owns.join(' → ')}`
  })
}

export function lineNumbers(lines: readonly number[]): string {
  if (lines.length < 2) return `line ${lines[0]}`
  return `lines ${lines.slice(0, -1).join(', ')} and ${lines.at(-1)}`
}
