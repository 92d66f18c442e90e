// Entries that hooks leave beside a session's log instead of opening it; the next process that
// opens the session drains them.
import { join } from 'node:path'
import { JournalMissing, errnoOf, ignoreIoErrors, isMissing } from '../../journal/errors.ts'
import {
  createFolderUnsynced,
  retryIfRemoved,
  moveFile,
  removeEmptyFolder,
  removeFile,
  replaceUnsynced,
} from '../../journal/write-files.ts'
import { listFolder, readJson } from '../../journal/read-files.ts'
import { isId } from '../../journal/ids.ts'
import { randomHex } from '../../journal/ids.ts'
import type { EntryDraft } from '../../session/entries.ts'
import { isoTime } from '../../text/times.ts'
import type { LiveSession } from './live-session.ts'
import type { ProjectPaths } from './project-paths.ts'

const NAME = /^(\d+-\d+-[0-9a-f]{8})((?:\.[a-z-]+){2})\.json$/

/** The draft must be free of secrets. Not synced: a power cut loses it. */
export function addToOutbox(paths: ProjectPaths, session: string, draft: EntryDraft): void {
  addToOutboxFolder(outboxFolder(paths, session), draft)
}

export function addToOutboxFolder(folder: string, draft: EntryDraft): void {
  // The second number orders what several hooks leave in one millisecond.
  const now = Date.now()
  const [seconds, nanoseconds] = process.hrtime()
  const monotonic = `${String(seconds).padStart(9, '0')}${String(nanoseconds).padStart(9, '0')}`
  const name = `${String(now).padStart(13, '0')}-${monotonic}-${randomHex(4)}`
  const path = join(folder, `${name}.${draft.kind}.json`)
  const text = JSON.stringify({ at: isoTime(now), once: onceKey(name), ...draft })
  // Hooks keep the empty folder for the next one; commands remove it.
  try {
    replaceUnsynced(path, text)
  } catch (error) {
    if (!isMissing(error)) throw error
    retryIfRemoved(() => {
      createFolderUnsynced(folder)
      replaceUnsynced(path, text)
    })
  }
}

export function kindsInOutbox(paths: ProjectPaths, session: string): readonly string[] {
  return listFolder(outboxFolder(paths, session))
    .toSorted()
    .flatMap((name) => NAME.exec(name)?.[2]?.slice(1) ?? [])
}

/** Interrupted or run twice, entries are appended twice and count once, by their `once` key. */
export function drainOutbox(
  session: LiveSession,
  amend: (draft: EntryDraft) => EntryDraft = (draft) => draft,
): number {
  return drainFolder(outboxFolder(session.paths, session.id), session, amend)
}

export function drainFolder(
  folder: string,
  session: LiveSession,
  accept: (draft: EntryDraft, once: string) => EntryDraft | undefined,
): number {
  const drafts = readDrafts(folder, accept)
  if (drafts.length === 0) return 0
  session.append(drafts.map(({ draft }) => draft))
  for (const { name } of drafts) removeFile(join(folder, name))
  return drafts.length
}

/** Oldest first. What is no entry, or what `accept` rejects, is quarantined. */
export function readDrafts(
  folder: string,
  accept: (draft: EntryDraft, once: string) => EntryDraft | undefined,
): readonly { readonly name: string; readonly draft: EntryDraft }[] {
  return listFolder(folder)
    .toSorted()
    .flatMap((name) => {
      const [, stem] = NAME.exec(name) ?? []
      if (stem === undefined) return []
      const found = readDraft(folder, name)
      const draft = found === undefined ? undefined : accept(found, onceKey(stem))
      if (draft !== undefined) return [{ name, draft }]
      // A missing file was drained by another process.
      moveFile(join(folder, name), join(folder, `${name}.damaged`))
      return []
    })
}

/** On a full or read-only disk the entries stay in the outbox. */
export function drainIfPossible(session: LiveSession): void {
  try {
    drainOutbox(session)
    removeEmptyFolder(outboxFolder(session.paths, session.id))
  } catch (error) {
    if (!(error instanceof JournalMissing) && errnoOf(causeOf(error)) === undefined) throw error
  }
}

/** Removes folders that hooks left empty. */
export function sessionsWithOutbox(paths: ProjectPaths): readonly string[] {
  return listFolder(outboxesFolder(paths)).filter((id) => {
    if (!isId(id)) return false
    const names = listFolder(outboxFolder(paths, id))
    if (names.length === 0) ignoreIoErrors(() => removeEmptyFolder(outboxFolder(paths, id)))
    return names.some((name) => NAME.test(name))
  })
}

/** Undefined for a file that a power cut emptied, or that is no entry. */
function readDraft(folder: string, name: string) {
  const draft = readJson(join(folder, name)) as EntryDraft | null | undefined
  const isDraft =
    typeof draft?.kind === 'string' &&
    typeof draft.by === 'string' &&
    typeof draft.data === 'object'
  return isDraft ? draft : undefined
}

function onceKey(stem: string) {
  return `outbox:${stem}`
}

function causeOf(error: unknown) {
  return error instanceof Error && error.cause !== undefined ? error.cause : error
}

function outboxesFolder({ sessions, repository }: ProjectPaths) {
  return repository === undefined
    ? join(sessions, 'outbox')
    : join(repository.commonDir, 'stint', 'outbox')
}

function outboxFolder(paths: ProjectPaths, session: string) {
  return join(outboxesFolder(paths), session)
}

// What a conversation captures before it has a session waits under the conversation's id.

const MAX_PENDING = 400

export function addPending(paths: ProjectPaths, conversation: string, draft: EntryDraft): void {
  const folder = pendingFolder(paths, conversation)
  if (listFolder(folder).length < MAX_PENDING) addToOutboxFolder(folder, draft)
}

export function readPending(paths: ProjectPaths, conversation: string): readonly EntryDraft[] {
  return readDrafts(pendingFolder(paths, conversation), (draft) => draft).map(({ draft }) => draft)
}

export function drainPending(session: LiveSession, conversation: string): number {
  const folder = pendingFolder(session.paths, conversation)
  const drained = drainFolder(folder, session, (draft) => draft)
  if (drained > 0) ignoreIoErrors(() => removeEmptyFolder(folder))
  return drained
}

function pendingFolder(paths: ProjectPaths, conversation: string) {
  return join(outboxesFolder(paths), `conversation-${conversation}`)
}
