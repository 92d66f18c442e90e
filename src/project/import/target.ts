import { realpathSync } from 'node:fs'
import { isAbsolute, join, relative, sep } from 'node:path'
import { trackingPath } from '../conversation/tracking.ts'
import { sha256 } from '../../history/blobs.ts'
import { type ConversationStore, conversationStore } from '../../history/store.ts'
import type { HistoryHead } from '../../harness/contract/history.ts'
import { errnoOf } from '../../journal/errors.ts'
import { statOrUndefined } from '../../journal/look.ts'
import { trackingFolderOf } from '../store/conversation-binding.ts'
import { findPlace } from '../store/place.ts'
import type { Workspace } from '../store/workspace.ts'
import { worktreesFolder } from '../store/worktrees.ts'
import { Cursors } from './cursor.ts'
import { ImportLock } from './lock.ts'
import { nameOf } from '../../text/json-fields.ts'

export class ImportTarget {
  readonly workspace: Workspace
  readonly store: ConversationStore
  readonly cursors: Cursors
  readonly #notes: string
  readonly #folders = new Map<string, boolean>()
  readonly #hashes: ReadonlySet<string>

  constructor(workspace: Workspace) {
    const { place, config } = workspace
    this.workspace = workspace
    this.store = conversationStore(place.sessions, {
      extra: [...config.redact.patterns],
      allow: [...config.redact.allow],
    })
    this.#notes = trackingFolderOf(place)
    this.cursors = new Cursors(join(this.#notes, 'imports'))
    this.#hashes = new Set(
      [place.root, place.repository?.worktree ?? place.root, workspace.cwd].map((folder) =>
        sha256(folder),
      ),
    )
  }

  lock(): ImportLock {
    return ImportLock.take(join(this.cursors.folder, 'lock'), this.project)
  }

  get project(): string {
    return this.workspace.place.root
  }

  /** Held in the project or a worktree of it, or captured by its hooks. */
  owns({ conversation, cwd, cwdHash }: HistoryHead): boolean {
    if (cwd !== undefined && this.#isInside(cwd)) return true
    if (cwd === undefined && cwdHash !== undefined && this.#hashes.has(cwdHash)) return true
    return statOrUndefined(trackingPath(this.#notes, conversation)) !== undefined
  }

  #isInside(cwd: string): boolean {
    let isInside = this.#folders.get(cwd)
    if (isInside === undefined) {
      isInside = this.#look(cwd)
      this.#folders.set(cwd, isInside)
    }
    return isInside
  }

  #look(cwd: string): boolean {
    const { place } = this.workspace
    if (!isAbsolute(cwd)) return false
    if (place.repository !== undefined && isWithin(worktreesFolder(place), cwd)) return true
    const folder = realPath(cwd)
    // The folder is gone, and so would a nested project be.
    if (folder === undefined) return isWithin(place.root, cwd)
    const found = findPlace(folder)
    if (found.repository === undefined && place.repository === undefined)
      return isWithin(place.root, folder)
    return found.root === place.root
  }
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    return undefined
  }
}

export function knownIn(store: ConversationStore, conversation: string): Set<string> {
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
  // The note is void if the conversation was pruned since.
  if (found !== undefined && isStored) return nameOf(found['until'])
  let until: string | undefined
  if (isStored) {
    for (const { at } of store.read(conversation, { isBrief: true }))
      if (at !== undefined && (until === undefined || at > until)) until = at
  }
  if (!isDryRun) cursors.write(name, { until })
  return until
}
