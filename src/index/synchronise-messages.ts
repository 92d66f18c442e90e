// Messages are indexed in bounded steps: there may be gigabytes of conversations.
import { closeSync, fstatSync } from 'node:fs'
import { join } from 'node:path'
import type { Message, MessagePart } from '../history/items.ts'
import { type ConversationStore, type StoredItem, conversationStore } from '../history/store.ts'
import { openRegularFile } from '../journal/write-files.ts'
import { statOrUndefined } from '../journal/read-files.ts'
import { edgeChecksum } from '../journal/read-log.ts'
import { separateWords } from './entry-text.ts'
import { type Database, Statements, inTransaction } from './sqlite.ts'
import { stableMtime } from './synchronise.ts'

/** Well below the five seconds that another process waits for a transaction. */
const TRANSACTION_MS = 1_000
const ITEMS_AT_ONCE = 50
const CONVERSATIONS_TIME = 'conversations time'

export function synchroniseMessages(
  database: Database,
  folder: string,
  budgetMs: number,
): { readonly bytesLeft: number } {
  const writer = new MessageWriter(database)
  const changedAt = stableMtime(join(folder, 'conversations'))
  if (changedAt !== undefined && writer.fact(CONVERSATIONS_TIME) === changedAt)
    return { bytesLeft: 0 }
  const store = conversationStore(folder, {})
  const stored = store.list().toSorted((a, b) => (a.writtenAt < b.writtenAt ? 1 : -1))
  dropMissing(writer, new Set(stored.map(({ id }) => id)))
  const indexed = new Map(writer.read().map((row) => [row.id, row]))
  // The budget starts here, so that some conversations are read however long listing takes.
  const until = performance.now() + budgetMs
  let bytesLeft = 0
  for (const { id, path, bytes } of stored) {
    const before = indexed.get(id)
    const inode = statOrUndefined(path)?.ino
    if (before !== undefined && before.inode === inode && before.offset === bytes) continue
    const offset =
      performance.now() >= until
        ? (before?.offset ?? 0)
        : indexConversation(writer, store, { id, path }, until)
    bytesLeft += Math.max(0, bytes - offset)
  }
  if (bytesLeft === 0 && changedAt !== undefined)
    inTransaction(database, () => writer.setFact(CONVERSATIONS_TIME, changedAt))
  return { bytesLeft }
}

function indexConversation(
  writer: MessageWriter,
  store: ConversationStore,
  { id, path }: { readonly id: string; readonly path: string },
  until: number,
) {
  for (;;) {
    const step = inTransaction(writer.database, () => {
      const fd = openRegularFile(path)
      // Removed or unreadable: nothing left to read.
      if (fd === undefined) return { offset: Infinity, isDone: true }
      try {
        const { ino, size } = fstatSync(fd)
        const from = resumePoint(writer, fd, id, ino, size)
        const deadline = Math.min(until, performance.now() + TRANSACTION_MS)
        const to = addItems(writer, from, store.read(id, { from: from.offset }), deadline)
        // At the end of the file, trailing bytes without a message count as read.
        const offset = to.isDone ? size : to.offset
        writer.saveProgress({ ...from, items: to.items, offset, edges: edgeChecksum(fd, offset) })
        return { offset, isDone: to.isDone }
      } finally {
        closeSync(fd)
      }
    })
    if (step.isDone || performance.now() >= until) return step.offset
  }
}

function resumePoint(writer: MessageWriter, fd: number, id: string, inode: number, size: number) {
  // Read again under the lock: another process may have continued.
  const last = writer.read(id)[0]
  if (last === undefined) return writer.addConversation(id, inode)
  const isSame =
    last.inode === inode && last.offset <= size && edgeChecksum(fd, last.offset) === last.edges
  if (isSame || last.offset === 0) return last
  writer.drop(last.key)
  return writer.addConversation(id, inode)
}

function addItems(
  writer: MessageWriter,
  from: IndexedConversation,
  stored: Iterable<StoredItem>,
  until: number,
) {
  let { items, offset } = from
  let count = 0
  for (const item of stored) {
    if (item.type === 'began') writer.setHarness(from.key, item.harness)
    if (item.type !== 'message' || writer.add(from.key, item, items, searchText(item))) items += 1
    offset = item.offset
    count += 1
    if (count % ITEMS_AT_ONCE === 0 && performance.now() >= until)
      return { items, offset, isDone: false }
  }
  return { items, offset, isDone: true }
}

function dropMissing(writer: MessageWriter, ids: ReadonlySet<string>) {
  const gone = writer.read().filter(({ id }) => !ids.has(id))
  if (gone.length > 0)
    inTransaction(writer.database, () => {
      for (const { key } of gone) writer.drop(key)
    })
}

type IndexedConversation = Readonly<
  Record<'key' | 'items' | 'inode' | 'offset' | 'edges', number> & { id: string }
>

class MessageWriter extends Statements {
  read(id?: string) {
    const sql = 'SELECT key, id, items, inode, offset, edges FROM conversations'
    return id === undefined
      ? this.all<IndexedConversation>(sql)
      : this.all<IndexedConversation>(`${sql} WHERE id = ?`, id)
  }

  addConversation(id: string, inode: number) {
    const sql = 'INSERT INTO conversations (id, items, inode, offset, edges) VALUES (?, 0, ?, 0, 0)'
    return { key: this.run(sql, id, inode).key, id, items: 0, inode, offset: 0, edges: 0 }
  }

  saveProgress({ key, items, offset, edges }: IndexedConversation) {
    const sql = 'UPDATE conversations SET items = ?, offset = ?, edges = ? WHERE key = ?'
    this.run(sql, items, offset, edges, key)
  }

  setHarness(key: number, harness: string) {
    this.run('UPDATE conversations SET harness = ? WHERE key = ?', harness, key)
  }

  add(conversation: number, { id, role, at }: Message, number: number, text: string) {
    const sql =
      'INSERT OR IGNORE INTO said (conversation, id, number, role, at) VALUES (?, ?, ?, ?, ?)'
    const { changes, key } = this.run(sql, conversation, id, number, role, at ?? null)
    if (changes === 0) return false
    if (text !== '') this.run('INSERT INTO said_texts (rowid, text) VALUES (?, ?)', key, text)
    return true
  }

  drop(conversation: number) {
    const messages = 'SELECT key FROM said WHERE conversation = ?'
    this.run(`DELETE FROM said_texts WHERE rowid IN (${messages})`, conversation)
    this.run('DELETE FROM said WHERE conversation = ?', conversation)
    this.run('DELETE FROM conversations WHERE key = ?', conversation)
  }
}

function searchText(message: Message) {
  if (message.isMeta === true) return ''
  const texts = message.parts.map(partText).filter((text) => text !== '')
  return separateWords(texts.join('\n').toWellFormed())
}

function partText(part: MessagePart) {
  switch (part.type) {
    case 'text':
    case 'thinking':
      return truncateMiddle(part.text, 16_000, 4_000)
    case 'tool use':
      return truncateMiddle([part.name, ...stringsIn(part.input, 4)].join('\n'), 2_000, 500)
    case 'tool result': {
      const texts = part.parts.flatMap((inner) => (inner.type === 'text' ? [inner.text] : []))
      return truncateMiddle(texts.join('\n'), 1_500, 500)
    }
    default:
      return ''
  }
}

function truncateMiddle(text: string, head: number, tail: number) {
  return text.length <= head + tail ? text : `${text.slice(0, head)}\n…\n${text.slice(-tail)}`
}

function* stringsIn(value: unknown, depth: number): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null && depth > 0)
    for (const inner of Object.values(value)) yield* stringsIn(inner, depth - 1)
}
