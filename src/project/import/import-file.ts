import { closeSync, fstatSync } from 'node:fs'
import { openRegularFile } from '../../journal/write-files.ts'
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

interface FileJob {
  readonly harness: FileHistory
  readonly file: HistoryFile
  readonly head: HistoryHead
  readonly target: ImportTarget
  readonly isFromStart: boolean
}

export interface FileOutcome extends StoredCounts {
  readonly bytes: number
  readonly damaged: number
}

interface FileOptions {
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

/** At most this much is read again after a kill. */
const CURSOR_EVERY_BYTES = 8 * 1024 * 1024

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
  const cursor = job.isFromStart ? undefined : validCursor(target.cursors.read(name), fd, stat)
  const { sink, translator } = beginImport(job, cursor?.memory, isDryRun)
  let at = cursor?.offset ?? 0
  let [bytes, damaged, savedAt] = [0, 0, at]
  const saveProgress = (isComplete: boolean) => {
    sink.flush()
    if (isDryRun || (!isComplete && at - savedAt < CURSOR_EVERY_BYTES)) return
    savedAt = at
    const offset = translator.heldFrom?.() ?? at
    // Until the whole file is read it must not count as unchanged.
    const size = isComplete ? stat.size : -1
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
    saveProgress(false)
    read(bytes)
    bytes = 0
  }
  sink.add(translator.flush?.() ?? [], 0)
  saveProgress(true)
  read(bytes)
  return { ...sink.stored, bytes: at - (cursor?.offset ?? 0), damaged }
}

/** A harness rewrites the whole document, so all of it is read. */
function importDocument(
  job: FileJob,
  fd: number,
  stat: FileIdentity,
  { isDryRun, read }: FileOptions,
): FileOutcome {
  const { harness, file, target, head } = job
  const { sink, translator } = beginImport(job, undefined, isDryRun)
  let [offset, damaged] = [0, 0]
  for (const element of elementsOf(fd, 'messages')) {
    const items = element.isTooLong ? 'damaged' : translator.translate(element.bytes, element.end)
    if (items === 'damaged') damaged += 1
    else if (sink.add(items, element.end - offset)) sink.flush()
    read(element.end - offset)
    offset = element.end
  }
  sink.add(translator.flush?.() ?? [], 0)
  sink.flush()
  read(stat.size - offset)
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

function beginImport(
  { harness, head, target }: FileJob,
  memory: Json | undefined,
  isDryRun: boolean,
): { sink: Sink; translator: HistoryTranslator } {
  const { conversation } = head
  const { store } = target
  const isResumed = memory !== undefined
  const since =
    harness.hasStableIds === true ? undefined : storedUntil(target, conversation, isDryRun)
  const isStored = !isResumed && store.has(conversation)
  const known = harness.repeatsItems || isStored ? storedItemIds(store, conversation) : undefined
  const sink = new Sink(isDryRun ? undefined : store.writer(conversation, { isUnsynced: true }), {
    ...defined({ known, since }),
  })
  return { sink, translator: harness.createTranslator(head, memory ?? {}) }
}

const BATCH_BYTES = 4 * 1024 * 1024

interface StoredCounts {
  readonly messages: number
  readonly compactions: number
}

class Sink {
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
    for (const item of items) if (this.#isNew(item)) this.#store(item)
    return this.#bytes >= BATCH_BYTES
  }

  flush(): void {
    this.#writer?.flush()
    this.#bytes = 0
  }

  #isNew(item: NewItem): boolean {
    if (this.#since !== undefined && item.at !== undefined && item.at <= this.#since) return false
    // Items without an id are deduplicated by content when read.
    if (item.type === 'began' || item.type === 'ended') return true
    if (this.#known?.has(item.id) === true) return false
    this.#known?.add(item.id)
    return true
  }

  #store(item: NewItem): void {
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
  { isDryRun, isFromStart, read }: FileOptions & { readonly isFromStart: boolean },
): FileOutcome {
  const { store, cursors } = target
  const { conversation } = session
  const name = sessionCursorName(harness, session)
  const cursor = isFromStart ? undefined : cursors.read(name)
  let position = positionIn(cursor)
  const since = storedUntil(target, conversation, isDryRun)
  const known = position === undefined ? storedItemIds(store, conversation) : undefined
  const sink = new Sink(isDryRun ? undefined : store.writer(conversation, { isUnsynced: true }), {
    ...defined({ known, since }),
  })
  let [bytes, damaged] = [0, 0]
  const saveProgress = (updatedAt?: number) => {
    sink.flush()
    const isReverted = session.revert !== undefined
    if (!isDryRun)
      cursors.write(name, {
        conversation,
        ...defined({ place: position }),
        isReverted,
        updatedAt,
      })
  }
  // Subagents' messages are no part of the conversation's own context.
  const mayHaveReverted =
    session.id === conversation &&
    (session.revert !== undefined ||
      cursor?.['isReverted'] === true ||
      (position === undefined
        ? store.has(conversation)
        : !database.hasMessage(session, position.id)))
  const retract = () => {
    if (!mayHaveReverted || isDryRun) return
    sink.flush()
    const retraction = findRetraction(
      harness,
      store,
      conversation,
      database.unrevertedMessages(session),
      new Date(session.updatedAt).toISOString(),
    )
    if (retraction !== undefined) sink.add([retraction], 0)
  }
  // Before new messages, which may replace reverted ones, and after them, as they may be reverted too.
  retract()
  for (const step of database.messages(session, position)) {
    bytes += step.bytes
    damaged += step.damaged
    position = step.place
    if (sink.add(step.items, step.bytes)) saveProgress()
    read(step.bytes)
  }
  retract()
  saveProgress(session.updatedAt)
  return { ...sink.stored, bytes, damaged }
}

function positionIn(cursor: Json | undefined): DatabaseCursor | undefined {
  const position = cursor?.['place'] as Partial<DatabaseCursor> | undefined
  return typeof position?.at === 'number' && typeof position.id === 'string'
    ? { at: position.at, id: position.id }
    : undefined
}

/**
 * The item after which the store holds what the harness holds; undefined if it does. Items of
 * other writers have ids of their own and stay.
 */
function findRetraction(
  harness: DatabaseHistory,
  store: ConversationStore,
  conversation: string,
  remaining: ReadonlySet<string>,
  at: string,
): TakenBackItem | undefined {
  const tracker = new RetractionTracker()
  for (const item of store.read(conversation, { isBrief: true })) tracker.add(item)
  const firstGone = tracker.nodes.findIndex(({ id }) => {
    const message = harness.messageOf(id)
    return message !== undefined && !remaining.has(message)
  })
  const end = firstGone === -1 ? undefined : firstGone
  if (end === tracker.end) return undefined
  const from = end === undefined ? undefined : tracker.nodes[end]!.id
  return {
    type: 'taken back',
    id: `taken-back-${from ?? 'nothing'}-${at}`,
    at,
    ...defined({ from }),
  }
}
