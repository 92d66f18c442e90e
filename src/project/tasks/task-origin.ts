// Which tasks this machine's user wrote. The others are text for an agent from a stranger.
import { absorbTaskFiles } from '../../backlog/absorb-task-files.ts'
import { type Backlog, foldBacklog } from '../../backlog/backlog.ts'
import { type Task, cleanLine } from '../../backlog/task.ts'
import { isUntouched } from '../../backlog/task-file-format.ts'
import type { TaskFile } from '../../backlog/task-files.ts'
import { trackedFiles } from '../../git/tracked-files.ts'
import { mintId } from '../../journal/ids.ts'
import { isOwnLog } from '../../journal/log.ts'
import { statOrUndefined } from '../../journal/read-files.ts'
import type { EntryDraft } from '../../session/entries.ts'
import type { RawEntry } from '../../session/effective-entries.ts'
import { type ProjectPaths, logPaths } from '../store/project-paths.ts'
import type { Workspace } from '../store/workspace.ts'
import { isAgreedTask, taskContent } from '../trust/trust.ts'
import { hashOf } from '../config/effects.ts'

/** Files that would add a text which neither this machine's user wrote nor agreed to. */
export async function filesFromElsewhere(
  { paths }: Workspace,
  files: readonly TaskFile[],
  entries: readonly RawEntry[],
): Promise<readonly TaskFile[]> {
  const known = new Set(
    entries.filter(({ kind }) => kind === 'task.added').map(({ data }) => cleanLine(data.task)),
  )
  const added = files.filter(
    ({ damage, id, text }) => damage === undefined && !(isUntouched(text) && known.has(id ?? '')),
  )
  if (added.length === 0) return []
  const { root, repository } = paths
  const isTracked = repository === undefined ? () => false : trackedFiles(root, '.tasks')
  const suspects = new Set(
    added.filter((file) => isTracked(file.path) || !wasWrittenHere(paths, file)),
  )
  if (suspects.size === 0) return []
  const before = foldBacklog(entries).byId
  const { backlog, absorbed } = await absorbTaskFiles(files, entries, asEntries)
  const isUnknown = (id: string) => {
    const task = backlog.byId.get(id)
    if (task === undefined || isAgreedTask(paths, task)) return false
    const earlier = before.get(id)
    return earlier === undefined || !hasSameContent(earlier, task)
  }
  return absorbed.flatMap(({ file, task }) => (suspects.has(file) && isUnknown(task) ? [file] : []))
}

interface EntryOfJournal {
  readonly session: string
  readonly entry: RawEntry
}

/** Tasks with a text from a journal that was not written here. */
export function tasksOfForeignJournals(
  paths: ProjectPaths,
  entries: readonly EntryOfJournal[],
): ReadonlySet<string> {
  const content = entries.filter(({ entry: { kind } }) => CONTENT_KINDS.has(kind))
  const sessions = [...new Set(content.map(({ session }) => session))]
  const foreign = new Set(sessions.filter((id) => !isOwnLog(logPaths(paths, id))))
  if (foreign.size === 0) return foreign
  const taskOf = new Map(entries.map(({ entry }) => [entry.id, cleanLine(entry.data.task)]))
  const ids = content
    .filter(({ session }) => foreign.has(session))
    .map(({ entry: { data } }) => cleanLine(data.task) || taskOf.get(cleanLine(data.entry)))
  return new Set(ids.filter((id) => id !== undefined))
}

const CONTENT_KINDS: ReadonlySet<string> = new Set([
  'task.added',
  'task.changed',
  'entry.amended',
  'entry.retracted',
])

/** Marks the tasks among `ids` whose text the user has not agreed to. */
export function markFromElsewhere(
  paths: Pick<ProjectPaths, 'root'>,
  backlog: Backlog,
  ids: ReadonlySet<string>,
): Backlog {
  if (ids.size === 0) return backlog
  const tasks = backlog.tasks.map((task): Task =>
    ids.has(task.id) && !isAgreedTask(paths, task) ? { ...task, isFromElsewhere: true } : task,
  )
  return { ...backlog, tasks, byId: new Map(tasks.map((task) => [task.id, task])) }
}

/** Entries that are written nowhere. */
export function asEntries(drafts: readonly EntryDraft[]): readonly RawEntry[] {
  const at = new Date().toISOString()
  return drafts.map((draft) => ({ id: mintId(undefined), at, ...draft }) as RawEntry)
}

function hasSameContent(a: Task, b: Task) {
  return hashOf(taskContent(a)) === hashOf(taskContent(b))
}

/** An editor leaves both times alike. Unpacking an archive restores the time of the last change, but cannot set the other one. */
const MAX_APART_MS = 5000

function wasWrittenHere({ tasks }: ProjectPaths, { path }: TaskFile) {
  const stat = statOrUndefined(path)
  if (stat === undefined) return true
  const isOwned = [process.geteuid?.(), statOrUndefined(tasks)?.uid].includes(stat.uid)
  return (
    (isOwned || process.platform === 'win32') &&
    Math.abs(stat.ctimeMs - stat.mtimeMs) < MAX_APART_MS
  )
}
