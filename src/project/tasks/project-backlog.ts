import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { StintError, errnoOf, messageOf } from '../../journal/errors.ts'
import { mintId } from '../../journal/ids.ts'
import {
  BACKLOG_ID,
  type EntryDraft,
  type TaskFields,
  type TaskStatus,
  draftEntry,
} from '../../session/entries.ts'
import type { RawEntry } from '../../session/effective-entries.ts'
import { cleanText, slug } from '../../text/clean.ts'
import { nameFrom } from '../../text/redact.ts'
import { absorbTaskFiles } from '../../backlog/absorb-task-files.ts'
import { type Backlog, foldBacklog } from '../../backlog/backlog.ts'
import { type Task, findTask, cleanLine, matchTasks } from '../../backlog/task.ts'
import { type NextTasks, nextTasks, dependencyPath } from '../../backlog/task-graph.ts'
import { readQuickForm } from '../../backlog/specialist.ts'
import { type TaskFile, TaskFiles } from '../../backlog/task-files.ts'
import { AmbiguousSession, findActiveSession } from '../store/choose-session.ts'
import { withoutSecrets } from '../store/clean-draft.ts'
import { isRefusedJournal } from '../store/project-paths.ts'
import { refuseInRun } from '../store/run-environment.ts'
import type { Workspace } from '../store/workspace.ts'
import {
  type TrustReview,
  agreeToTask,
  agreeToVerify,
  grantTrust,
  reviewTrust,
} from '../trust/trust.ts'
import {
  asEntries,
  filesFromElsewhere,
  markFromElsewhere,
  tasksOfForeignJournals,
} from './task-origin.ts'
import { defined } from '../../text/defined.ts'

type LinkedTask = Pick<Task, 'id' | 'shortname' | 'title' | 'checklist'>

/** Absorbs edits of task files and writes every file. */
export async function openBacklog(workspace: Workspace): Promise<Backlog> {
  // Reading must not create a folder.
  if (!workspace.hasSessions() && !existsSync(workspace.paths.tasks)) return foldBacklog([])
  const recorded = [...(await workspace.index()).taskEntriesBySession()]
  const entries = recorded.map(({ entry }) => entry)
  const known = [...entries]
  const files = new TaskFiles(workspace.paths.tasks)
  const all = files.read()
  const held = await filesFromElsewhere(workspace, all, entries)
  // A backlog that came with the repository is shown and left as it is.
  const isRefused = isRefusedJournal(workspace.paths, BACKLOG_ID)
  const own = held.length === 0 ? all : all.filter((file) => !held.includes(file))
  const found = await absorbTaskFiles(own, entries, (drafts) => {
    const written = isRefused ? asEntries(drafts) : appendToBacklog(workspace, drafts)
    for (const entry of written) known.push(entry)
    return written
  })
  const foreign = tasksOfForeignJournals(workspace.paths, recorded)
  const shown = await withHeldFiles(workspace, found.backlog, { held, foreign, entries: known })
  if (isRefused) {
    workspace.say('this backlog came with the repository; stint trust asks whether to use it')
    return shown
  }
  for (const problem of found.problems) {
    const name = relative(workspace.paths.root, problem.file.path)
    const where = problem.needsQuarantine
      ? `; it was set aside as ${relative(workspace.paths.root, files.quarantine(problem.file))}`
      : ''
    workspace.say(`${name} ${problem.message}${where}`)
  }
  files.writeAll(found.backlog, found.absorbed)
  return shown
}

/** With the tasks of files that are not absorbed before the user agrees, and a mark on every task from elsewhere. */
async function withHeldFiles(
  workspace: Workspace,
  backlog: Backlog,
  {
    held,
    foreign,
    entries,
  }: {
    readonly held: readonly TaskFile[]
    readonly foreign: ReadonlySet<string>
    readonly entries: readonly RawEntry[]
  },
): Promise<Backlog> {
  if (held.length === 0) return markFromElsewhere(workspace.paths, backlog, foreign)
  const found = await absorbTaskFiles(held, entries, asEntries)
  const ids = new Set([...foreign, ...found.absorbed.map(({ task }) => task)])
  return markFromElsewhere(workspace.paths, found.backlog, ids)
}

export async function reviewTrustWithTasks(workspace: Workspace): Promise<TrustReview> {
  return reviewTrust(workspace, await openBacklog(workspace))
}

export async function grantTrustWithTasks(
  workspace: Workspace,
  shown?: TrustReview,
): Promise<TrustReview> {
  return grantTrust(workspace, await openBacklog(workspace), shown)
}

/** For entries about tasks outside any session. */
export function appendToBacklog(
  workspace: Workspace,
  drafts: readonly EntryDraft[],
): readonly RawEntry[] {
  workspace.prepare()
  const log = workspace.session(BACKLOG_ID)
  try {
    if (log.log.exists()) return log.append(drafts)
    try {
      return log.create(drafts)
    } catch (error) {
      // Another process created it meanwhile.
      if (error instanceof StintError && errnoOf(error.cause) === 'EEXIST')
        return log.append(drafts)
      throw error
    }
  } finally {
    log.close()
  }
}

/** A task that is not in the backlog is linked by its name. */
export async function resolveTasks(
  workspace: Workspace,
  names: readonly string[],
): Promise<readonly LinkedTask[]> {
  if (names.length === 0) return []
  const { tasks } = await openBacklog(workspace)
  return names.map((name) => {
    if (matchTasks(tasks, name).length > 0) return findTask(tasks, name)
    workspace.say(`there is no task ${name} in .tasks/; it is linked by its name alone`)
    return { id: name, shortname: nameFrom(name), title: name, checklist: [] }
  })
}

export function linkDrafts(tasks: readonly LinkedTask[], by: string): readonly EntryDraft[] {
  return tasks.flatMap(({ id }) => [
    draftEntry('task.linked', { task: id }, { by }),
    ...moveDrafts([id], 'in_progress', by),
  ])
}

export function moveDrafts(
  tasks: readonly string[],
  status: TaskStatus,
  by: string,
): readonly EntryDraft[] {
  return tasks.map((task) => draftEntry('task.moved', { task, status }, { by }))
}

/** The entries are safe; a file that cannot be written is only reported. */
export async function refreshTasks(workspace: Workspace, tasks: readonly string[]): Promise<void> {
  if (tasks.length === 0) return
  try {
    await openBacklog(workspace)
  } catch (error) {
    workspace.say(`the task files could not be written: ${messageOf(error)}`)
  }
}

export interface NewTask extends TaskFields {
  readonly title: string
  readonly by?: string
}

/** Explicit fields win over short forms at the end of the title. */
export async function addTask(workspace: Workspace, options: NewTask): Promise<Task> {
  const { by = 'library', title: typedTitle, ...given } = options
  const { title, ...shortForms } = readQuickForm(typedTitle)
  if (title === '')
    throw new StintError(
      'EMPTY_TEXT',
      'a task needs a title',
      'stint task add "What is to be done"',
    )
  const backlog = await openBacklog(workspace)
  const dependsOn = [...shortForms.dependsOn, ...(given.dependsOn ?? [])]
  const labels = [...new Set([...shortForms.labels, ...(given.labels ?? [])])]
  const id = mintId(undefined)
  const wanted = withoutSecrets(given.shortname ?? title, workspace.config)
  const shortname = unusedName(
    wanted === given.shortname ? wanted : slug(wanted),
    backlog.tasks.map((task) => task.shortname),
  )
  const fields = resolveNames(
    { ...shortForms, ...given, title, shortname, labels, dependsOn },
    backlog,
  )
  refuseCircle(backlog, { id, ...fields })
  agreeIfTyped(workspace, fields.verify, by)
  appendToBacklog(workspace, [draftEntry('task.added', { task: id, ...fields }, { by })])
  return asWrittenHere(workspace, findTask((await openBacklog(workspace)).tasks, id))
}

/** In a journal that the user agreed to, this machine's own tasks are known by their text. */
function asWrittenHere(workspace: Workspace, task: Task): Task {
  if (task.isFromElsewhere !== true) return task
  agreeToTask(workspace, task)
  const { isFromElsewhere: _mark, ...own } = task
  return own
}

/** What the page or a tool of an agent sets is asked about before it is run. */
function agreeIfTyped(workspace: Workspace, verify: string | undefined, by: string): void {
  const isTyped = by === 'cli' || by === 'library'
  if (isTyped && verify !== undefined && verify !== '') agreeToVerify(workspace, verify)
}

export function unusedName(name: string, used: readonly string[]): string {
  const taken = new Set(used)
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? name : `${name}-${number}`
    if (!taken.has(candidate)) return candidate
  }
}

type TaskChange = TaskFields | ((task: Task) => TaskFields)

/** An empty text or list removes a field. */
export async function changeTask(
  workspace: Workspace,
  name: string,
  change: TaskChange,
  by = 'library',
): Promise<Task> {
  // An agent must not change what its work is verified against.
  refuseInRun(workspace, 'changing a task')
  const backlog = await openBacklog(workspace)
  const task = findTask(backlog.tasks, name)
  const fields = changedTaskFields(
    resolveNames(typeof change === 'function' ? change(task) : change, backlog, task),
    task,
  )
  if (Object.keys(fields).length === 0) return task
  if (fields.title !== undefined && cleanText(fields.title).trim() === '') {
    throw new StintError(
      'EMPTY_TEXT',
      'a task needs a title',
      'leave --title out to keep the one it has',
    )
  }
  refuseCircle(backlog, { ...task, ...fields }, task)
  agreeIfTyped(workspace, fields.verify, by)
  const changed = await appendTaskEntry(
    workspace,
    task,
    draftEntry('task.changed', { task: task.id, ...fields }, { by }),
  )
  return task.isFromElsewhere === true ? changed : asWrittenHere(workspace, changed)
}

export async function moveTask(
  workspace: Workspace,
  name: string,
  status: TaskStatus,
  options: { summary?: string; by?: string } = {},
): Promise<Task> {
  refuseInRun(workspace, 'moving a task')
  const { by = 'library' } = options
  const task = findTask((await openBacklog(workspace)).tasks, name)
  const summary = cleanText(options.summary ?? '').trim()
  const git = workspace.git()
  const data = {
    task: task.id,
    status,
    ...(summary === '' ? {} : { summary }),
    ...defined({ git }),
  }
  return appendTaskEntry(workspace, task, draftEntry('task.moved', data, { by }))
}

/** By text, part of it, or number. */
export async function checkTask(
  workspace: Workspace,
  name: string,
  item: string,
  done = true,
  by = 'library',
): Promise<Task> {
  const task = findTask((await openBacklog(workspace)).tasks, name)
  const found = findChecklistItem(
    task.checklist.map((one) => one.item),
    item,
    task.shortname,
  )
  return appendTaskEntry(
    workspace,
    task,
    draftEntry('task.checked', { task: task.id, item: found, done }, { by }),
  )
}

/** Into the journal of the session working on it, else the backlog's log. */
async function appendTaskEntry(workspace: Workspace, task: Task, entry: EntryDraft) {
  const id = await workingSession(workspace, task)
  if (id === undefined) appendToBacklog(workspace, [entry])
  else await workspace.append(id, [entry])
  return findTask((await openBacklog(workspace)).tasks, task.id)
}

async function workingSession(workspace: Workspace, task: Task) {
  try {
    const active = await findActiveSession(workspace)
    return active?.tasks.includes(task.id) === true ? active.id : undefined
  } catch (error) {
    if (error instanceof AmbiguousSession)
      return error.candidates.find((row) => row.tasks.includes(task.id))?.id
    throw error
  }
}

export async function nextTask(workspace: Workspace): Promise<NextTasks & { backlog: Backlog }> {
  const backlog = await openBacklog(workspace)
  return { ...nextTasks(backlog), backlog }
}

type DependentTask = Pick<Task, 'id' | 'shortname' | 'dependsOn' | 'parent'>

/** Resolves task names to ids; ids that were stored before stay. */
function resolveNames<T extends TaskFields>(fields: T, { tasks }: Backlog, before?: Task) {
  const { dependsOn, parent } = fields
  const known = new Set([...(before?.dependsOn ?? []), before?.parent])
  const idOf = (name: string) => (known.has(name) ? name : findTask(tasks, name).id)
  return {
    ...fields,
    ...(dependsOn === undefined ? {} : { dependsOn: [...new Set(dependsOn.map(idOf))] }),
    ...(parent === undefined ? {} : { parent: cleanLine(parent) === '' ? '' : idOf(parent) }),
  }
}

function changedTaskFields(fields: TaskFields, task: Task): TaskFields {
  const before: Readonly<Record<string, unknown>> = { ...task }
  const isOther = ([key, value]: [string, unknown]) =>
    JSON.stringify(value) !== JSON.stringify(before[key] ?? '')
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .filter(isOther),
  )
}

/** A task waits for its dependencies and sub-tasks. An existing cycle must not block its own removal. */
function refuseCircle({ byId }: Backlog, task: DependentTask, before?: Task) {
  const dependenciesOf = (id: string) => {
    const other = byId.get(id)
    const parts = (other?.children ?? []).filter((part) => part !== task.id)
    return [
      ...(id === task.id ? task.dependsOn : (other?.dependsOn ?? [])),
      ...parts,
      ...(id === task.parent ? [task.id] : []),
    ]
  }
  const nameOf = (id: string) => (id === task.id ? task.shortname : (byId.get(id)?.shortname ?? id))
  const refuse = (path: readonly string[]) => {
    throw new StintError(
      'TASK_CIRCLE',
      `${nameOf(path[0]!)} would wait for itself: ${path.map(nameOf).join(' → ')}`,
      'a task waits for its dependencies and for its parts; leave one of them out',
    )
  }
  for (const dependency of task.dependsOn.filter((id) => before?.dependsOn.includes(id) !== true)) {
    const back = dependencyPath(dependency, task.id, dependenciesOf)
    if (back !== undefined) refuse([task.id, ...back])
  }
  if (task.parent === undefined || task.parent === '' || task.parent === before?.parent) return
  const back = dependencyPath(task.id, task.parent, dependenciesOf)
  if (back !== undefined) refuse([task.parent, ...back])
}

export function findChecklistItem(
  items: readonly string[],
  reference: string,
  task: string,
): string {
  const byNumber = /^\d+$/.test(reference) ? items[Number(reference) - 1] : undefined
  const exact = items.find((item) => item === reference)
  const matches = items.filter((item) => item.toLowerCase().includes(reference.toLowerCase()))
  const found = byNumber ?? exact ?? (matches.length === 1 ? matches[0] : undefined)
  if (found !== undefined) return found
  const list = items.map((item, index) => `  ${index + 1}. ${item}`)
  const problem =
    matches.length > 1 ? `"${reference}" fits several items` : `${task} has no item "${reference}"`
  throw new StintError(
    'NO_ITEM',
    [`${problem}:`, ...list].join('\n'),
    'name one of those above, or its number',
  )
}
