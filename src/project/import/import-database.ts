import type {
  ConversationDatabase,
  DatabaseHistory,
  DatabasePlace,
  DatabaseSession,
} from '../../harness/contract/history.ts'
import type { Json } from '../../text/json-fields.ts'
import { type ImportTarget, knownIn, storedUntil } from './target.ts'
import type { FileOptions, FileOutcome } from './import-file.ts'
import { Sink } from './sink.ts'
import { defined } from '../../text/defined.ts'
import type { TakenBack } from '../../history/items.ts'
import { TakingBack } from '../../history/taken-back.ts'
import type { ConversationStore } from '../../history/store.ts'

/** The name of a session's cursor. The file it is in may be moved; a session's id is its own. */
export function sessionCursorName(harness: DatabaseHistory, session: DatabaseSession): string {
  return `${harness.name} ${session.id}`
}

export function hasNews(
  harness: DatabaseHistory,
  target: ImportTarget,
  session: DatabaseSession,
): boolean {
  const cursor = target.cursors.read(sessionCursorName(harness, session))
  return (
    cursor?.['updatedAt'] !== session.updatedAt ||
    (cursor['isReverted'] === true) !== (session.revert !== undefined)
  )
}

/** Imports the messages of one session that are new. */
export function importSession(
  harness: DatabaseHistory,
  database: ConversationDatabase,
  session: DatabaseSession,
  target: ImportTarget,
  { isDryRun, isAnew, read }: FileOptions & { readonly isAnew: boolean },
): FileOutcome {
  const { store, cursors } = target
  const { conversation } = session
  const name = sessionCursorName(harness, session)
  const cursor = isAnew ? undefined : cursors.read(name)
  let place = placeIn(cursor)
  const since = storedUntil(target, conversation, isDryRun)
  const known = place === undefined ? knownIn(store, conversation) : undefined
  const sink = new Sink(isDryRun ? undefined : store.writer(conversation, { isUnsynced: true }), {
    ...defined({ known, since }),
  })
  let [bytes, damaged] = [0, 0]
  const keep = (updatedAt?: number) => {
    sink.flush()
    const isReverted = session.revert !== undefined
    if (!isDryRun)
      cursors.write(name, {
        conversation,
        ...defined({ place }),
        isReverted,
        updatedAt,
      })
  }
  // What delegated agents said is no part of what the conversation's own model sees.
  const mayDiffer =
    session.id === conversation &&
    (session.revert !== undefined ||
      cursor?.['isReverted'] === true ||
      (place === undefined ? store.has(conversation) : !database.hasMessage(session, place.id)))
  const takeBack = () => {
    if (!mayDiffer || isDryRun) return
    sink.flush()
    const taken = takenBackSince(
      harness,
      store,
      conversation,
      database.standing(session),
      new Date(session.updatedAt).toISOString(),
    )
    if (taken !== undefined) sink.add([taken], 0)
  }
  // Before what was said since, which may be in its place, and behind it, since some of that may be taken back as well.
  takeBack()
  for (const step of database.messages(session, place)) {
    bytes += step.bytes
    damaged += step.damaged
    place = step.place
    if (sink.add(step.items, step.bytes)) keep()
    read(step.bytes)
  }
  takeBack()
  keep(session.updatedAt)
  return { ...sink.stored, bytes, damaged }
}

function placeIn(cursor: Json | undefined): DatabasePlace | undefined {
  const place = cursor?.['place'] as Partial<DatabasePlace> | undefined
  return typeof place?.at === 'number' && typeof place.id === 'string'
    ? { at: place.at, id: place.id }
    : undefined
}

/**
 * What has to be stored so that a stored conversation holds what stands of it and nothing else; undefined when it does already.
 * What others than the importer stored is left alone: it has names of its own.
 */
function takenBackSince(
  harness: DatabaseHistory,
  store: ConversationStore,
  conversation: string,
  standing: ReadonlySet<string>,
  at: string,
): TakenBack | undefined {
  const taking = new TakingBack()
  for (const item of store.read(conversation, { isBrief: true })) taking.add(item)
  const gone = taking.nodes.findIndex(({ id }) => {
    const message = harness.messageOf(id)
    return message !== undefined && !standing.has(message)
  })
  const end = gone === -1 ? undefined : gone
  if (end === taking.end) return undefined
  const from = end === undefined ? undefined : taking.nodes[end]!.id
  return {
    type: 'taken back',
    id: `taken-back-${from ?? 'nothing'}-${at}`,
    at,
    ...defined({ from }),
  }
}
