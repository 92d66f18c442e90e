import { createHash, randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { NotWritten, StintError, isMissing, messageOf } from '../journal/errors.ts'
import {
  OPEN_TO_OTHERS,
  createFile,
  createFolder,
  lacksHardLinks,
  linkFile,
  moveFile,
  removeFile,
} from '../journal/write-files.ts'
import { listFolder, modeOf, readOrUndefined, statOrUndefined } from '../journal/read-files.ts'
import { defined } from '../text/defined.ts'
import { timeForFileName } from '../text/times.ts'
import type { Backlog } from './backlog.ts'
import { taskIdIn, isUntouched, renderTaskFile, hasSameContent } from './task-file-format.ts'
import { type Task, groupBy } from './task.ts'

type TaskFolder = 'active' | 'archive'

export interface TaskFile {
  readonly path: string
  readonly name: string
  readonly folder: TaskFolder
  readonly text: string
  readonly modifiedMs: number
  readonly id?: string
  /** Another file owns this id: this one is a copy made to write a new task. */
  readonly isCopy: boolean
  readonly damage?: string
}

export interface AbsorbedFile {
  readonly file: TaskFile
  readonly task: string
}

const TASK_FOLDERS: readonly TaskFolder[] = ['active', 'archive']
// Files about the folder, not about a task.
const NOT_TASKS = /^(?:readme|index|template)\.md$/i
// A file that was moved away to be replaced. If a killed process left one, it is read like any other.
const MOVED_AWAY = /^\.taken-[0-9a-f]{8}-/

export class TaskFiles {
  constructor(readonly folder: string) {}

  read(): readonly TaskFile[] {
    const files = TASK_FOLDERS.flatMap((folder) => this.#readAll(folder))
    const ownedIds = new Set(files.filter(isNamedById).map((file) => file.id))
    return files.map((file) => ({
      ...file,
      isCopy: file.id !== undefined && ownedIds.has(file.id) && !isNamedById(file),
    }))
  }

  pathOf(task: Pick<Task, 'id' | 'shortname' | 'status'>): string {
    return join(this.folder, task.status === 'completed' ? 'archive' : 'active', taskFileName(task))
  }

  /** Writes, moves and removes files to match the backlog. A file with an edit that is not absorbed is never touched. */
  writeAll(backlog: Backlog, absorbed: readonly AbsorbedFile[] = []) {
    const files = this.read()
    for (const file of files) {
      const isOrphaned = file.id !== undefined && !file.isCopy && backlog.withdrawn.has(file.id)
      if (isOrphaned && isUntouched(file.text)) remove(file)
    }
    // Only the files that may belong to the task: comparing thousands with thousands takes seconds.
    const byPath = new Map(files.map((file) => [file.path, file]))
    const byId = groupBy(files, (file) => file.id)
    const absorbedBy = groupBy(absorbed, (one) => one.task)
    return backlog.tasks.map((task) => {
      const absorbedFiles = absorbedBy.get(task.id) ?? []
      const paths = [this.pathOf(task), ...absorbedFiles.map(({ file }) => file.path)]
      const own = [...(byId.get(task.id) ?? []), ...paths.flatMap((path) => byPath.get(path) ?? [])]
      return this.write(task, backlog, absorbedFiles, [...new Set(own)])
    })
  }

  write(
    task: Task,
    backlog: Backlog,
    absorbed: readonly AbsorbedFile[] = [],
    files: readonly TaskFile[] = this.read(),
  ) {
    const path = this.pathOf(task)
    const absorbedTexts = new Map(
      absorbed.filter((one) => one.task === task.id).map(({ file }) => [file.path, file.text]),
    )
    const own = files.filter(
      (file) => (file.id === task.id && !file.isCopy) || absorbedTexts.has(file.path),
    )
    const isForeign = files.some((file) => file.path === path && !own.includes(file))
    const isAbsorbed = (file: TaskFile) =>
      isUntouched(file.text) || absorbedTexts.get(file.path) === file.text
    // `edited`: the file was saved after it was absorbed and is left alone; absorb it and write again.
    const result = (outcome: 'written' | 'unchanged' | 'edited') => ({
      task: task.id,
      path,
      outcome,
    })
    if (isForeign || !own.every((file) => isAbsorbed(file) && isUnchanged(file.path, file)))
      return result('edited')
    const text = renderTaskFile(task, backlog)
    const before = own.find((file) => file.path === path)
    const isSame = before !== undefined && hasSameContent(before.text, text)
    if (!isSame && !orNotWritten(path, () => replace(path, before, text))) return result('edited')
    for (const file of own) if (file.path !== path) remove(file)
    return result(isSame ? 'unchanged' : 'written')
  }

  /** Quarantines a file that cannot be used, bytes and all, and returns its new path. */
  quarantine(file: TaskFile, now: Date = new Date()): string {
    const folder = join(this.folder, 'set-aside')
    const stem = `${file.name.replace(/\.md$/, '')}.${timeForFileName(now.toISOString())}`
    return orNotWritten(folder, () => {
      createFolder(folder, OPEN_TO_OTHERS)
      for (let attempt = 1; ; attempt += 1) {
        const path = join(folder, attempt === 1 ? `${stem}.md` : `${stem}.${attempt}.md`)
        if (statOrUndefined(path) === undefined && moveTo(file.path, path)) return path
      }
    })
  }

  #readAll(folder: TaskFolder) {
    const folderPath = join(this.folder, folder)
    let names: readonly string[]
    try {
      names = listFolder(folderPath)
    } catch (error) {
      throw unreadableError(folderPath, error)
    }
    const isVisible = (name: string) => !name.startsWith('.') || MOVED_AWAY.test(name)
    const isTask = (name: string) =>
      name.endsWith('.md') && isVisible(name) && !NOT_TASKS.test(name)
    return names
      .filter(isTask)
      .toSorted()
      .flatMap((name) => {
        const path = join(folderPath, name)
        const stat = statOrUndefined(path)
        const bytes = stat?.isFile() === true ? bytesOf(path) : undefined
        if (stat === undefined || bytes === undefined) return []
        const text = bytes.toString('utf8')
        const damage = Buffer.from(text).equals(bytes) ? undefined : 'it is not UTF-8 text'
        const file = { path, name: name.replace(MOVED_AWAY, ''), folder, text, isCopy: false }
        const modifiedMs = Math.floor(stat.mtimeMs)
        return [{ ...file, modifiedMs, ...defined({ id: taskIdIn(text), damage }) }]
      })
  }
}

/** Ids made elsewhere may contain anything, also a path out of the folder. */
export function taskFileName(task: Pick<Task, 'id' | 'shortname'>): string {
  return `${task.shortname}-${safeId(task.id)}.md`
}

/** An id in the shape and order of minted ones, made from the file, so that a crash before the file is rewritten adds no second task. */
export function idFromFile(file: Pick<TaskFile, 'name' | 'text' | 'modifiedMs'>): string {
  const time = Math.max(0, file.modifiedMs).toString(16).padStart(12, '0').slice(-12)
  const hash = createHash('sha256').update(`${file.name}\0${file.text}`).digest('hex')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`
}

function safeId(id: string) {
  const safe = id.replaceAll(/[^A-Za-z0-9_-]+/g, '-').slice(0, 80)
  return safe === id ? id : `${safe}-${createHash('sha256').update(id).digest('hex').slice(0, 8)}`
}

function isNamedById(file: TaskFile) {
  return file.id !== undefined && file.name.endsWith(`-${safeId(file.id)}.md`)
}

/**
 * Replaces a file unless it was saved since it was read: it is moved away and compared, and the new one is created only where none is.
 * Not synced: the journal has the task, and a file that a power cut left torn is quarantined and rendered again.
 */
function replace(path: string, before: TaskFile | undefined, text: string) {
  createFolder(dirname(path), OPEN_TO_OTHERS)
  if (before === undefined) return createFile(path, text, { isDurable: false })
  const moved = moveAway(before)
  if (moved === undefined) return false
  let isPlaced: boolean
  try {
    isPlaced = createFile(path, text, { mode: modeOf(moved), isDurable: false })
  } catch (error) {
    putBack(moved, path)
    throw error
  }
  removeMoved(moved, before)
  return isPlaced
}

function remove(file: TaskFile) {
  orNotWritten(file.path, () => {
    const moved = moveAway(file)
    if (moved !== undefined) removeMoved(moved, file)
  })
}

/** Moves a file to a name where no editor saves. Puts it back, and returns undefined, when it holds something new. */
function moveAway(file: TaskFile) {
  // A name has at most 255 bytes, and that of a hand-written file may have them all.
  const name = Buffer.from(file.name).subarray(-200).toString('utf8')
  const moved = join(dirname(file.path), `.taken-${randomBytes(4).toString('hex')}-${name}`)
  if (!moveFile(file.path, moved, { isDurable: false })) return undefined
  if (isUnchanged(moved, file)) return moved
  putBack(moved, file.path)
  return undefined
}

/** If its name is taken, or without hard links, the next read finds it under the temporary name. */
function putBack(moved: string, path: string) {
  try {
    if (linkFile(moved, path)) removeFile(moved)
  } catch (error) {
    if (!lacksHardLinks(error) && !isMissing(error)) throw error
  }
}

/** An editor that had it open may have written into it; then it stays for the next read. */
function removeMoved(moved: string, file: TaskFile) {
  if (isUnchanged(moved, file)) removeFile(moved)
}

function isUnchanged(path: string, { text }: TaskFile) {
  return bytesOf(path)?.equals(Buffer.from(text)) === true
}

function moveTo(from: string, to: string) {
  try {
    if (!linkFile(from, to)) return false
    removeFile(from)
  } catch (error) {
    // Without hard links. No other process creates names with exactly this time.
    if (!lacksHardLinks(error)) throw error
    moveFile(from, to)
  }
  return true
}

function orNotWritten<T>(path: string, write: () => T) {
  try {
    return write()
  } catch (cause) {
    throw new NotWritten(path, cause)
  }
}

function bytesOf(path: string) {
  try {
    return readOrUndefined(path)
  } catch (error) {
    throw unreadableError(path, error)
  }
}

function unreadableError(path: string, cause: unknown) {
  if (cause instanceof StintError) return cause
  const message = `cannot read ${path}: ${messageOf(cause)}`
  return new StintError('TASKS_UNREADABLE', message, 'check its permissions', { cause })
}
