import { realpathSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { conversationStatePath } from '../conversation/conversation-state.ts'
import { sha256 } from '../../history/blobs.ts'
import type { ConversationStore } from '../../history/store.ts'
import { openConversationStore } from '../history/history.ts'
import type { HistoryHead } from '../../harness/contract/history.ts'
import { NotWritten, StintError, errnoOf, ignoreIoErrors } from '../../journal/errors.ts'
import { readOrUndefined, statOrUndefined } from '../../journal/read-files.ts'
import { conversationStateFolder } from '../store/conversation-binding.ts'
import { findProjectPaths, isWithin } from '../store/project-paths.ts'
import type { Workspace } from '../store/workspace.ts'
import { worktreesFolder } from '../store/worktrees.ts'
import { type Json, asName, asObject, parseJson } from '../../text/json-fields.ts'
import {
  createFolderUnsynced,
  retryIfRemoved,
  removeFile,
  replaceUnsynced,
  takeLock,
  touchFile,
} from '../../journal/write-files.ts'
import { edgeChecksum } from '../../journal/read-log.ts'
import { hostname } from 'node:os'
import { isAlive, processStartTime } from '../../harness/process/spawn-guarded.ts'

export class ImportTarget {
  readonly workspace: Workspace
  readonly store: ConversationStore
  readonly cursors: ImportCursors
  readonly #stateFolder: string
  readonly #folders = new Map<string, boolean>()
  readonly #hashes: ReadonlySet<string>

  constructor(workspace: Workspace) {
    const { paths } = workspace
    this.workspace = workspace
    this.store = openConversationStore(workspace)
    this.#stateFolder = conversationStateFolder(paths)
    this.cursors = new ImportCursors(join(this.#stateFolder, 'imports'))
    this.#hashes = new Set(
      [paths.root, paths.repository?.worktree ?? paths.root, workspace.cwd].map((folder) =>
        sha256(folder),
      ),
    )
  }

  lock(): ImportLock {
    return ImportLock.take(join(this.cursors.folder, 'lock'), this.project)
  }

  get project(): string {
    return this.workspace.paths.root
  }

  /** Took place in the project or a worktree of it, or was captured by its hooks. */
  owns({ conversation, cwd, cwdHash }: HistoryHead): boolean {
    if (cwd !== undefined && this.#isInside(cwd)) return true
    if (cwd === undefined && cwdHash !== undefined && this.#hashes.has(cwdHash)) return true
    return statOrUndefined(conversationStatePath(this.#stateFolder, conversation)) !== undefined
  }

  #isInside(cwd: string) {
    let isInside = this.#folders.get(cwd)
    if (isInside === undefined) {
      isInside = this.#resolvesInside(cwd)
      this.#folders.set(cwd, isInside)
    }
    return isInside
  }

  #resolvesInside(cwd: string) {
    const { paths } = this.workspace
    if (!isAbsolute(cwd)) return false
    if (paths.repository !== undefined && isWithin(worktreesFolder(paths), cwd)) return true
    const folder = ignoreIoErrors(() => realpathSync(cwd))
    // The folder is gone, so a nested project cannot be found either.
    if (folder === undefined) return isWithin(paths.root, cwd)
    // Not ours where another user owns it.
    const found = ignoreIoErrors(() => findProjectPaths(folder))
    if (found === undefined) return false
    if (found.repository === undefined && paths.repository === undefined)
      return isWithin(paths.root, folder)
    return found.root === paths.root
  }
}

export function storedItemIds(store: ConversationStore, conversation: string): Set<string> {
  const known = new Set<string>()
  if (!store.has(conversation)) return known
  for (const item of store.read(conversation, { isBrief: true }))
    if ('id' in item) known.add(item.id)
  return known
}

/**
 * For a conversation that Stint stored while it ran, under its own ids: the time until which all
 * of it is stored. Determined once, before anything is imported.
 */
export function storedUntil(
  { store, cursors }: ImportTarget,
  conversation: string,
  isDryRun: boolean,
): string | undefined {
  const name = `conversation ${conversation}`
  const found = cursors.read(name)
  const isStored = store.has(conversation)
  // Invalid if the conversation was pruned since.
  if (found !== undefined && isStored) return asName(found['until'])
  let until: string | undefined
  if (isStored) {
    for (const { at } of store.read(conversation, { isBrief: true }))
      if (at !== undefined && (until === undefined || at > until)) until = at
  }
  if (!isDryRun) cursors.write(name, { until })
  return until
}

// How far each file was imported. Without a cursor everything is read again, and nothing is stored
// twice.

interface ImportCursor {
  readonly conversation: string
  readonly inode: number
  readonly size: number
  readonly mtime: number
  readonly offset: number
  /** A checksum over both ends of what precedes the offset. */
  readonly edges: number
  readonly memory: Json
}

export interface FileIdentity {
  readonly ino: number
  readonly size: number
  readonly mtimeMs: number
}

class ImportCursors {
  constructor(readonly folder: string) {}

  read(name: string): Json | undefined {
    const bytes = readOrUndefined(this.#path(name))
    // Truncated, or of another version: as if absent.
    return bytes === undefined ? undefined : asObject(parseJson(bytes.toString('utf8')))
  }

  write(name: string, value: object): void {
    const text = JSON.stringify(value)
    const path = this.#path(name)
    try {
      retryIfRemoved(() => {
        createFolderUnsynced(this.folder)
        replaceUnsynced(path, text)
      })
    } catch (error) {
      if (errnoOf(error) === undefined) throw error
      throw new NotWritten(path, error)
    }
  }

  forget(name: string): void {
    removeFile(this.#path(name))
  }

  #path(name: string) {
    return join(this.folder, `${sha256(name).slice(0, 32)}.json`)
  }
}

export function isFileUnchanged(cursor: Json | undefined, file: FileIdentity): boolean {
  return (
    cursor?.['inode'] === file.ino &&
    cursor['size'] === file.size &&
    cursor['mtime'] === file.mtimeMs
  )
}

/** Undefined unless the file still begins with what was read. */
export function validCursor(
  value: Json | undefined,
  fd: number,
  file: FileIdentity,
): ImportCursor | undefined {
  const cursor = value as Partial<ImportCursor> | undefined
  if (
    cursor?.inode !== file.ino ||
    typeof cursor.offset !== 'number' ||
    typeof cursor.conversation !== 'string'
  )
    return undefined
  if (!Number.isInteger(cursor.offset) || cursor.offset < 0 || cursor.offset > file.size)
    return undefined
  if (cursor.edges !== edgeChecksum(fd, cursor.offset)) return undefined
  return { ...(cursor as ImportCursor), memory: asObject(cursor.memory) ?? {} }
}

// One import into a project at a time: two would both store what is new.

/** A lock of another machine is stale after this long without a touch. */
const STALE_MS = 10 * 60_000
const TOUCH_EVERY_MS = 30_000

export class ImportLock {
  readonly #owner = `${process.pid} ${processStartTime(process.pid)} ${hostname()}`
  #touchedAt = Date.now()

  private constructor(readonly path: string) {}

  static take(path: string, project: string): ImportLock {
    const lock = new ImportLock(path)
    createFolderUnsynced(dirname(path))
    if (takeLock(path, STALE_MS, lock.#owner, isOwnerDead)) return lock
    throw new StintError(
      'IMPORT_RUNNING',
      `another import into ${project} is going on`,
      'wait until it is through; if there is something new then, run stint import again',
    )
  }

  touch(): void {
    if (Date.now() - this.#touchedAt < TOUCH_EVERY_MS) return
    this.#touchedAt = Date.now()
    if (this.#isOurs()) touchFile(this.path)
  }

  release(): void {
    if (this.#isOurs()) removeFile(this.path)
  }

  #isOurs() {
    return readOrUndefined(this.path)?.toString('utf8') === this.#owner
  }
}

function isOwnerDead(owner: string) {
  const [, pid, startedAt, host] = /^(\d{1,10}) (\d*) (.+)$/.exec(owner) ?? []
  return (
    pid !== undefined &&
    host === hostname() &&
    !isAlive({ pid: Number(pid), startedAt: startedAt!, mark: '' })
  )
}
