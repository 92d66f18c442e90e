import { type OpencodePlace, OpencodeHistory, type OpencodeSession } from '../harness/opencode/history.ts'
import type { Json } from '../text/json-fields.ts'
import { knownIn, storedUntil } from './known.ts'
import type { FileOptions, FileOutcome } from './import-file.ts'
import { Sink } from './sink.ts'
import type { ImportTarget } from './target.ts'

/** The name of a session's cursor. The file it is in may be moved; a session's id is its own. */
export function sessionCursorName(session: OpencodeSession): string {
  return `opencode ${session.id}`
}

export function hasNews(target: ImportTarget, session: OpencodeSession): boolean {
  return target.cursors.read(sessionCursorName(session))?.['updatedAt'] !== session.updatedAt
}

/** Imports the messages of one session that are new. */
export function importSession(
  history: OpencodeHistory,
  session: OpencodeSession,
  target: ImportTarget,
  { isDryRun, isAnew, read }: FileOptions & { readonly isAnew: boolean },
): FileOutcome {
  const { store, cursors } = target
  const { conversation } = session
  const name = sessionCursorName(session)
  let place = isAnew ? undefined : placeIn(cursors.read(name))
  const since = storedUntil(target, conversation, isDryRun)
  const known = place === undefined ? knownIn(store, conversation) : undefined
  const sink = new Sink(isDryRun ? undefined : store.writer(conversation, { isUnsynced: true }), {
    ...(known === undefined ? {} : { known }),
    ...(since === undefined ? {} : { since }),
  })
  let [bytes, damaged] = [0, 0]
  const keep = (updatedAt?: number) => {
    sink.flush()
    if (!isDryRun) cursors.write(name, { conversation, ...(place === undefined ? {} : { place }), updatedAt })
  }
  for (const step of history.messages(session, place)) {
    bytes += step.bytes
    damaged += step.damaged
    place = step.place
    if (sink.add(step.items, step.bytes)) keep()
    read(step.bytes)
  }
  keep(session.updatedAt)
  return { ...sink.stored, bytes, damaged }
}

function placeIn(cursor: Json | undefined): OpencodePlace | undefined {
  const place = cursor?.['place'] as Partial<OpencodePlace> | undefined
  return typeof place?.at === 'number' && typeof place.id === 'string' ? { at: place.at, id: place.id } : undefined
}
