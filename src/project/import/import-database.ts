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

/** By session id, since the database file may be moved. */
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
  // Subagents' messages are no part of the conversation's own context.
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
  // Before new messages, which may take its place, and after them, since they may be taken back
  // too.
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
 * The item after which the store holds what the harness holds; undefined if it does. Items of
 * other writers have ids of their own and stay.
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
