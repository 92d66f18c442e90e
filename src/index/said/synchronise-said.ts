// Brings what was said up to date with the stored conversations, a bounded piece at a time: there may be gigabytes.
import { closeSync, fstatSync } from 'node:fs'
import { join } from 'node:path'
import { type ConversationStore, conversationStore } from '../../history/store.ts'
import type { StoredItem } from '../../history/store.ts'
import { edgesBefore } from '../../journal/read.ts'
import { openRegularFile } from '../../journal/files.ts'
import { statOrUndefined } from '../../journal/look.ts'
import { type Database, inTransaction } from '../sqlite.ts'
import { saidText } from './said-text.ts'
import { type ReadConversation, SaidWriter } from './said-writer.ts'

export interface SaidProgress {
  /** How much of the stored conversations has not been read yet. */
  readonly bytesLeft: number
}

/** Well below the five seconds that another process waits for a transaction. */
const TRANSACTION_MS = 1_000
/** How often the clock is looked at. */
const ITEMS_AT_ONCE = 50
const CONVERSATIONS_TIME = 'conversations time'

/** Reads on until everything is read or the time is over. Any number of processes may do so at once. */
export function synchroniseSaid(
  database: Database,
  folder: string,
  budgetMs: number,
): SaidProgress {
  const writer = new SaidWriter(database)
  const changedAt = timeOfConversations(folder)
  if (changedAt !== undefined && writer.fact(CONVERSATIONS_TIME) === changedAt)
    return { bytesLeft: 0 }
  const store = conversationStore(folder, {})
  // What was said last is looked for most.
  const stored = store.list().toSorted((a, b) => (a.writtenAt < b.writtenAt ? 1 : -1))
  dropMissing(database, writer, new Set(stored.map(({ id }) => id)))
  const known = writer.read()
  // From here on: however long it takes to look at them all, some are read.
  const until = performance.now() + budgetMs
  let bytesLeft = 0
  for (const { id, path, bytes } of stored) {
    const before = known.get(id)
    const inode = statOrUndefined(path)?.ino
    if (before !== undefined && before.inode === inode && before.offset === bytes) continue
    const offset =
      performance.now() >= until
        ? (before?.offset ?? 0)
        : readOn(database, writer, store, { id, path }, until)
    bytesLeft += Math.max(0, bytes - offset)
  }
  if (bytesLeft === 0 && changedAt !== undefined) {
    inTransaction(database, () => writer.setFact(CONVERSATIONS_TIME, changedAt))
  }
  return { bytesLeft }
}

/** Reads on in one conversation, and answers how far. */
function readOn(
  database: Database,
  writer: SaidWriter,
  store: ConversationStore,
  { id, path }: { readonly id: string; readonly path: string },
  until: number,
): number {
  for (;;) {
    const step = inTransaction(database, () => {
      const fd = openRegularFile(path)
      // Gone since, or nothing that can be read: nothing is left of it.
      if (fd === undefined) return { offset: Infinity, isDone: true }
      try {
        const { ino, size } = fstatSync(fd)
        const from = placeIn(writer, fd, id, ino, size)
        const soon = Math.min(until, performance.now() + TRANSACTION_MS)
        const to = addItems(writer, from, store.read(id, { from: from.offset }), soon)
        // The rest of a file that says nothing more, or is cut off, has been read as well.
        const offset = to.isDone ? size : to.offset
        writer.goOn({ ...from, items: to.items, offset, edges: edgesBefore(fd, offset) })
        return { offset, isDone: to.isDone }
      } finally {
        closeSync(fd)
      }
    })
    if (step.isDone || performance.now() >= until) return step.offset
  }
}

/** Where to go on in it; from its start when it is new, or another than it was. */
function placeIn(
  writer: SaidWriter,
  fd: number,
  id: string,
  inode: number,
  size: number,
): ReadConversation {
  const last = writer.readOne(id)
  if (last === undefined) return writer.begin(id, inode)
  const isSame =
    last.inode === inode && last.offset <= size && edgesBefore(fd, last.offset) === last.edges
  if (isSame || last.offset === 0) return last
  writer.drop(last.key)
  return writer.begin(id, inode)
}

function addItems(
  writer: SaidWriter,
  from: ReadConversation,
  items: Iterable<StoredItem>,
  until: number,
): { readonly items: number; readonly offset: number; readonly isDone: boolean } {
  let { items: number, offset } = from
  let count = 0
  for (const item of items) {
    if (item.type === 'began') writer.setHarness(from.key, item.harness)
    const isNew = item.type !== 'message' || writer.add(from.key, item, number, saidText(item))
    if (isNew) number += 1
    offset = item.offset
    count += 1
    if (count % ITEMS_AT_ONCE === 0 && performance.now() >= until)
      return { items: number, offset, isDone: false }
  }
  return { items: number, offset, isDone: true }
}

function dropMissing(database: Database, writer: SaidWriter, ids: ReadonlySet<string>): void {
  const gone = [...writer.read().values()].filter(({ id }) => !ids.has(id))
  if (gone.length === 0) return
  inTransaction(database, () => {
    for (const { key } of gone) writer.drop(key)
  })
}

/**
 * When something was last stored: whoever does so takes a lock in the folder, which changes it. Undefined while that is so recent
 * that another change could carry the same time.
 */
function timeOfConversations(folder: string): string | undefined {
  const mtimeMs = statOrUndefined(join(folder, 'conversations'))?.mtimeMs
  if (mtimeMs === undefined) return 'none'
  return Date.now() - mtimeMs < 1_000 ? undefined : String(mtimeMs)
}
