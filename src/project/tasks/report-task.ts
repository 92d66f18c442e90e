// An agent's claim about a task in a run; the run verifies it before it closes anything.
import { StintError } from '../../journal/errors.ts'
import { type EntryDraft, draftEntry } from '../../session/entries.ts'
import { cleanText } from '../../text/clean.ts'
import { findTask, isRecord, cleanLine, matchTasks, readChecklist } from '../../backlog/task.ts'
import { findChecklistItem, openBacklog } from './project-backlog.ts'
import { chooseOpenSession, refuseClosed } from '../store/choose-session.ts'
import { runFromEnv } from '../store/run-environment.ts'
import { addToWorktreeOutbox, unwritableSession } from '../store/worktree-outbox.ts'
import type { Workspace } from '../store/workspace.ts'
import { defined } from '../../text/defined.ts'
import { join } from 'node:path'
import { readJson } from '../../journal/read-files.ts'
import { asObject } from '../../text/json-fields.ts'
import { isId } from '../../journal/ids.ts'
import type { ProjectPaths } from '../store/project-paths.ts'
import { runFolder } from '../store/run-files.ts'

export type ReportedStatus = 'completed' | 'blocked' | 'failed'

export interface ReportedTask {
  readonly run: string
  readonly session: string
  readonly task: string
  readonly name: string
  readonly status: ReportedStatus
  readonly summary?: string
  /** The run's current task, if another. */
  readonly current?: string
  /** The journal is not writable from here: the entries wait in the working tree for the run. */
  readonly isLeft?: true
}

export async function reportTask(
  workspace: Workspace,
  name: string,
  status: ReportedStatus,
  options: { summary?: string; by?: string } = {},
): Promise<ReportedTask> {
  const run = requireRun(workspace)
  const list = readRunTasks(workspace.paths, run)
  const task = findRunTask(list, name)
  const summary = cleanText(options.summary ?? '').trim()
  const reported = summary === '' ? {} : { summary }
  const { session, ...left } = await appendToRun(
    workspace,
    draftEntry(
      'task.reported',
      { task: task.id, status, run, ...reported },
      { by: options.by ?? 'library' },
    ),
  )
  const current =
    list.current === task.id ? undefined : list.tasks.find(({ id }) => id === list.current)?.name
  return {
    run,
    session,
    task: task.id,
    name: task.name,
    status,
    ...reported,
    ...defined({ current }),
    ...left,
  }
}

export interface CheckedTaskItem {
  readonly task: string
  readonly name: string
  readonly item: string
  readonly done: boolean
  readonly isLeft?: true
}

export async function checkRunTask(
  workspace: Workspace,
  name: string,
  item: string,
  done = true,
  by = 'library',
): Promise<CheckedTaskItem> {
  const task = findRunTask(readRunTasks(workspace.paths, requireRun(workspace)), name)
  const items = await checklistOf(workspace, task)
  // The items of a task from another backlog may be unknown.
  const found = items === undefined ? cleanLine(item) : findChecklistItem(items, item, task.name)
  if (found === '')
    throw new StintError(
      'EMPTY_TEXT',
      'say which item',
      'stint task check NAME 2, or a part of its text',
    )
  const { isLeft } = await appendToRun(
    workspace,
    draftEntry('task.checked', { task: task.id, item: found, done }, { by }),
  )
  return {
    task: task.id,
    name: task.name,
    item: found,
    done,
    ...defined({ isLeft }),
  }
}

/** The backlog is newer than the list the run began with. */
async function checklistOf(
  workspace: Workspace,
  task: RunTask,
): Promise<readonly string[] | undefined> {
  // Opening the backlog writes.
  if (unwritableSession(workspace) !== undefined) return task.checklist
  const { tasks } = await openBacklog(workspace)
  if (matchTasks(tasks, task.id).length === 0) return task.checklist
  return findTask(tasks, task.id).checklist.map(({ item }) => item)
}

function requireRun({ env }: Workspace): string {
  const run = runFromEnv(env)
  if (run === undefined) {
    throw new StintError(
      'NOT_IN_RUN',
      'this is no run that a task could be reported to',
      'stint task done NAME closes a task',
    )
  }
  return run
}

/** Only to the run's own session. */
async function appendToRun(
  workspace: Workspace,
  entry: EntryDraft,
): Promise<{ readonly session: string; readonly isLeft?: true }> {
  const { STINT_SESSION: sessionName = '' } = workspace.env
  if (sessionName === '') {
    throw new StintError(
      'NO_SESSION',
      'the run has no session to report to',
      'STINT_SESSION names it; stint run sets it',
    )
  }
  const unwritable = unwritableSession(workspace)
  if (unwritable !== undefined) {
    refuseClosed(unwritable.read().state)
    addToWorktreeOutbox(workspace, unwritable, [entry])
    unwritable.close()
    return { session: unwritable.id, isLeft: true }
  }
  const { id } = await chooseOpenSession(workspace, sessionName)
  await workspace.append(id, [entry])
  return { session: id }
}

// A run's tasks as its runner wrote them for its agents; they may come from a foreign backlog.

interface RunTask {
  readonly id: string
  readonly name: string
  readonly title: string
  readonly checklist?: readonly string[]
}

interface RunTasks {
  readonly current?: string
  readonly tasks: readonly RunTask[]
}

export function runTasksPath(paths: Pick<ProjectPaths, 'sessions'>, run: string): string {
  return join(runFolder(paths, run), 'tasks.json')
}

/** Invalid tasks are left out. */
function readRunTasks(paths: Pick<ProjectPaths, 'sessions'>, run: string): RunTasks {
  // An id cannot lead to another folder.
  const value = isId(run) ? asObject(readJson(runTasksPath(paths, run))) : undefined
  if (value === undefined) {
    throw new StintError(
      'NO_RUN',
      `there is no list of tasks for the run ${JSON.stringify(cleanLine(run).slice(0, 60))}`,
      'STINT_RUN names the run; stint run sets it',
    )
  }
  const current = cleanLine(value.current)
  const tasks = Array.isArray(value.tasks) ? value.tasks.filter(isRecord).flatMap(readTask) : []
  return { tasks, ...(current === '' ? {} : { current }) }
}

function findRunTask({ tasks }: RunTasks, reference: string): RunTask {
  const named = tasks.map((task) => ({ ...task, shortname: task.name }))
  const lowercase = cleanLine(reference).toLowerCase()
  const found = [
    matchTasks(named, reference),
    named.filter(({ name }) => lowercase !== '' && withoutHash(name) === withoutHash(lowercase)),
  ].find((some) => some.length > 0)
  const [only, ...others] = found ?? []
  const candidates = (found ?? tasks).map(({ name, title }) => `  ${name}: ${title}`)
  if (only === undefined) {
    const list =
      candidates.length === 0 ? 'it has no tasks' : `its tasks are\n${candidates.join('\n')}`
    throw new StintError(
      'TASK_NOT_FOUND',
      `this run has no task ${JSON.stringify(reference)}; ${list}`,
      'name it as its # Task line does',
    )
  }
  if (others.length > 0) {
    throw new StintError(
      'TASK_AMBIGUOUS',
      `${JSON.stringify(reference)} may mean any of ${candidates.length} tasks:\n${candidates.join('\n')}`,
      'name it by its id',
    )
  }
  const { shortname: _name, ...task } = only
  return task
}

/** `#12` and `12` are the same name. */
function withoutHash(name: string): string {
  return name.toLowerCase().replace(/^#/, '')
}

function readTask(task: Readonly<Record<string, unknown>>): readonly RunTask[] {
  const id = cleanLine(task.id)
  if (id === '') return []
  const name = cleanLine(task.name) || id
  const checklist = readChecklist(task.checklist)?.map(({ item }) => item)
  return [{ id, name, title: cleanLine(task.title), ...defined({ checklist }) }]
}
