// Entries that hooks leave beside a session's log instead of opening it; the next process that
// opens the session drains them.
import { join } from 'node:path'
import { JournalMissing, errnoOf, ifPossible, isMissing } from '../../journal/errors.ts'
import {
  createFolderUnsynced,
  inSpiteOfRemoval,
  moveFile,
  removeEmptyFolder,
  removeFile,
  replaceUnsynced,
} from '../../journal/files.ts'
import { namesIn, readJson } from '../../journal/look.ts'
import { isId } from '../../journal/ids.ts'
import { randomHex } from '../../journal/ids.ts'
import type { Draft } from '../../session/entries.ts'
import { isoTime } from '../../text/times.ts'
import type { LiveSession } from './live-session.ts'
import type { Place } from './place.ts'

const NAME = /^(\d+-\d+-[0-9a-f]{8})((?:\.[a-z-]+){2})\.json$/

/** The draft must be free of secrets. Not synced: a power cut loses it. */
export function leaveInOutbox(place: Place, session: string, draft: Draft): void {
  leaveIn(outboxOf(place, session), draft)
}

export function leaveIn(folder: string, draft: Draft): void {
  // The second number orders what several hooks leave in one millisecond.
  const now = Date.now()
  const [seconds, nanoseconds] = process.hrtime()
  const monotonic = `${String(seconds).padStart(9, '0')}${String(nanoseconds).padStart(9, '0')}`
  const name = `${String(now).padStart(13, '0')}-${monotonic}-${randomHex(4)}`
  const path = join(folder, `${name}.${draft.kind}.json`)
  const text = JSON.stringify({ at: isoTime(now), once: onceOf(name), ...draft })
  // Hooks keep the empty folder for the next one; commands remove it.
  try {
    replaceUnsynced(path, text)
  } catch (error) {
    if (!isMissing(error)) throw error
    inSpiteOfRemoval(() => {
      createFolderUnsynced(folder)
      replaceUnsynced(path, text)
    })
  }
}

export function kindsInOutbox(place: Place, session: string): readonly string[] {
  return namesIn(outboxOf(place, session))
    .toSorted()
    .flatMap((name) => NAME.exec(name)?.[2]?.slice(1) ?? [])
}

/** Interrupted or run twice, entries are appended twice and count once, by their `once` key. */
export function drainOutbox(
  session: LiveSession,
  amend: (draft: Draft) => Draft = (draft) => draft,
): number {
  return drainFolder(outboxOf(session.place, session.id), session, amend)
}

export function drainFolder(
  folder: string,
  session: LiveSession,
  take: (draft: Draft, once: string) => Draft | undefined,
): number {
  const left = draftsIn(folder, take)
  if (left.length === 0) return 0
  session.append(left.map(({ draft }) => draft))
  for (const { name } of left) removeFile(join(folder, name))
  return left.length
}

/** Oldest first. What is no entry, or what `take` rejects, is quarantined. */
export function draftsIn(
  folder: string,
  take: (draft: Draft, once: string) => Draft | undefined,
): readonly { readonly name: string; readonly draft: Draft }[] {
  return namesIn(folder)
    .toSorted()
    .flatMap((name) => {
      const [, stem] = NAME.exec(name) ?? []
      if (stem === undefined) return []
      const found = draftIn(folder, name)
      const draft = found === undefined ? undefined : take(found, onceOf(stem))
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
    removeEmptyFolder(outboxOf(session.place, session.id))
  } catch (error) {
    if (!(error instanceof JournalMissing) && errnoOf(causeOf(error)) === undefined) throw error
  }
}

/** Removes folders that hooks left empty. */
export function sessionsWithOutbox(place: Place): readonly string[] {
  return namesIn(outboxes(place)).filter((id) => {
    if (!isId(id)) return false
    const names = namesIn(outboxOf(place, id))
    if (names.length === 0) ifPossible(() => removeEmptyFolder(outboxOf(place, id)))
    return names.some((name) => NAME.test(name))
  })
}

/** Undefined for a file that a power cut emptied, or that is no entry. */
function draftIn(folder: string, name: string) {
  const draft = readJson(join(folder, name)) as Draft | null | undefined
  const isDraft =
    typeof draft?.kind === 'string' &&
    typeof draft.by === 'string' &&
    typeof draft.data === 'object'
  return isDraft ? draft : undefined
}

function onceOf(stem: string) {
  return `outbox:${stem}`
}

function causeOf(error: unknown) {
  return error instanceof Error && error.cause !== undefined ? error.cause : error
}

function outboxes({ sessions, repository }: Place) {
  return repository === undefined
    ? join(sessions, 'outbox')
    : join(repository.commonDir, 'stint', 'outbox')
}

function outboxOf(place: Place, session: string) {
  return join(outboxes(place), session)
}
