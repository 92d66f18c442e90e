import { closeSync, fstatSync } from 'node:fs'
import { openRegularFile } from '../../journal/files.ts'
import type {
  ConversationDatabase,
  DatabaseHistory,
  DatabaseCursor,
  DatabaseSession,
  FileHistory,
  HistoryFile,
  HistoryHead,
  HistoryTranslator,
} from '../../harness/contract/history.ts'
import { type Json, asObject, parseJson } from '../../text/json-fields.ts'
import { edgeChecksum } from '../../journal/read-log.ts'
import {
  type FileIdentity,
  type ImportTarget,
  storedItemIds,
  storedUntil,
  validCursor,
} from './import-target.ts'
import { elementsOf, linesFrom } from './line-reader.ts'
import { defined } from '../../text/defined.ts'
import type { NewItem, TakenBackItem } from '../../history/items.ts'
import type { ConversationStore, ConversationWriter } from '../../history/store.ts'
import { RetractionTracker } from '../../history/live-messages.ts'

export interface FileJob {
  readonly harness: FileHistory
  readonly file: HistoryFile
  readonly head: HistoryHead
  readonly target: ImportTarget
  /** From the beginning. */
  readonly isAnew: boolean
}

export interface FileOutcome extends StoredCounts {
  readonly bytes: number
  readonly damaged: number
}

export interface FileOptions {
  readonly isDryRun: boolean
  /** Receives the bytes read since the last call. */
  readonly read: (bytes: number) => void
}

/** Undefined when the file is gone. */
export function importFile(job: FileJob, options: FileOptions): FileOutcome | undefined {
  const fd = openRegularFile(job.file.path)
  if (fd === undefined) return undefined
  try {
    const stat = fstatSync(fd)
    return job.file.form === 'document'
      ? importDocument(job, fd, stat, options)
      : importLines(job, fd, stat, options)
  } finally {
    closeSync(fd)
  }
}

/** The most that is read again after a kill. */
const CURSOR_EVERY = 8 * 1024 * 1024

export function cursorName(harness: FileHistory, file: HistoryFile): string {
  return `${harness.name} ${file.path}`
}

function importLines(
  job: FileJob,
  fd: number,
  stat: FileIdentity,
  { isDryRun, read }: FileOptions,
): FileOutcome {
  const { harness, file, target } = job
  const name = cursorName(harness, file)
  const cursor = job.isAnew ? undefined : validCursor(target.cursors.read(name), fd, stat)
  const { sink, translator } = begin(job, cursor?.memory, isDryRun)
  let at = cursor?.offset ?? 0
  let [bytes, damaged, keptAt] = [0, 0, at]
  const keep = (isWhole: boolean) => {
    sink.flush()
    if (isDryRun || (!isWhole && at - keptAt < CURSOR_EVERY)) return
    keptAt = at
    const offset = translator.heldFrom?.() ?? at
    // Until the whole file is read it must not count as unchanged.
    const size = isWhole ? stat.size : -1
    target.cursors.write(name, {
      conversation: job.head.conversation,
      inode: stat.ino,
      size,
      mtime: stat.mtimeMs,
      offset,
      edges: edgeChecksum(fd, offset),
      memory: translator.state(),
    })
  }
  for (const line of linesFrom(fd, at)) {
    if (
      line.isOpen &&
      (line.isTooLong || asObject(parseJson(line.bytes.toString('utf8'))) === undefined)
    )
      break
    const items = line.isTooLong
      ? 'damaged'
      : line.bytes.length === 0
        ? []
        : translator.translate(line.bytes, line.offset)
    const length = line.end - at
    at = line.end
    bytes += length
    if (items === 'damaged') damaged += 1
    const isFull = sink.add(items === 'damaged' ? [] : items, length)
    if (!isFull) continue
    keep(false)
    read(bytes)
    bytes = 0
  }
  sink.add(translator.flush?.() ?? [], 0)
  keep(true)
  read(bytes)
  return { ...sink.stored, bytes: at - (cursor?.offset ?? 0), damaged }
}

/** A harness rewrites a document as a whole, so it is read as a whole. */
function importDocument(
  job: FileJob,
  fd: number,
  stat: FileIdentity,
  { isDryRun, read }: FileOptions,
): FileOutcome {
  const { harness, file, target, head } = job
  const { sink, translator } = begin(job, undefined, isDryRun)
  let [at, damaged] = [0, 0]
  for (const element of elementsOf(fd, 'messages')) {
    const items = element.isTooLong ? 'damaged' : translator.translate(element.bytes, element.end)
    if (items === 'damaged') damaged += 1
    else if (sink.add(items, element.end - at)) sink.flush()
    read(element.end - at)
    at = element.end
  }
  sink.add(translator.flush?.() ?? [], 0)
  sink.flush()
  read(stat.size - at)
  const identity = { inode: stat.ino, size: stat.size, mtime: stat.mtimeMs }
  if (!isDryRun)
    target.cursors.write(cursorName(harness, file), {
      conversation: head.conversation,
      ...identity,
      offset: 0,
      edges: 0,
    })
  return { ...sink.stored, bytes: stat.size, damaged }
}

function begin(
  { harness, head, target }: FileJob,
  memory: Json | undefined,
  isDryRun: boolean,
): { sink: Sink; translator: HistoryTranslator } {
  const { conversation } = head
  const { store } = target
  const isBegun = memory !== undefined
  const since =
    harness.hasStableIds === true ? undefined : storedUntil(target, conversation, isDryRun)
  const isThere = !isBegun && store.has(conversation)
  const known = harness.repeatsItems || isThere ? storedItemIds(store, conversation) : undefined
  const sink = new Sink(isDryRun ? undefined : store.writer(conversation, { isUnsynced: true }), {
    ...defined({ known, since }),
  })
  return { sink, translator: harness.createTranslator(head, memory ?? {}) }
}

const BATCH_BYTES = 4 * 1024 * 1024

export interface StoredCounts {
  readonly messages: number
  readonly compactions: number
}

export class Sink {
  readonly #writer: ConversationWriter | undefined
  readonly #known: Set<string> | undefined
  readonly #since: string | undefined
  #bytes = 0
  #messages = 0
  #compactions = 0

  /**
   * Without a writer it only counts. `known`: stored ids; `since`: older items are stored under
   * other ids.
   */
  constructor(
    writer: ConversationWriter | undefined,
    { known, since }: { readonly known?: Set<string>; readonly since?: string },
  ) {
    this.#writer = writer
    this.#known = known
    this.#since = since
  }

  get stored(): StoredCounts {
    return { messages: this.#messages, compactions: this.#compactions }
  }

  /** Returns true when it is time to flush. */
  add(items: readonly NewItem[], bytes: number): boolean {
    this.#bytes += bytes
    for (const item of items) if (this.#isNew(item)) this.#take(item)
    return this.#bytes >= BATCH_BYTES
  }

  flush(): void {
    this.#writer?.flush()
    this.#bytes = 0
  }

  #isNew(item: NewItem): boolean {
    if (this.#since !== undefined && item.at !== undefined && item.at <= this.#since) return false
    // Items without an id are told apart by content when read.
    if (item.type === 'began' || item.type === 'ended') return true
    if (this.#known?.has(item.id) === true) return false
    this.#known?.add(item.id)
    return true
  }

  #take(item: NewItem): void {
    this.#writer?.add(item)
    if (item.type === 'message') this.#messages += 1
    if (item.type === 'compaction') this.#compactions += 1
  }
}

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
  const known = place === undefined ? storedItemIds(store, conversation) : undefined
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
      database.unrevertedMessages(session),
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

function placeIn(cursor: Json | undefined): DatabaseCursor | undefined {
  const place = cursor?.['place'] as Partial<DatabaseCursor> | undefined
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
): TakenBackItem | undefined {
  const taking = new RetractionTracker()
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
