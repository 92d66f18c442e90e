// A bounded piece at a time: there may be gigabytes of conversations.
import { closeSync, fstatSync } from 'node:fs'
import { join } from 'node:path'
import type { Message, Part } from '../history/items.ts'
import { type ConversationStore, type StoredItem, conversationStore } from '../history/store.ts'
import { edgesBefore } from '../journal/read.ts'
import { openRegularFile } from '../journal/files.ts'
import { statOrUndefined } from '../journal/look.ts'
import { separateWords } from './entry-text.ts'
import { type Database, type Statement, inTransaction } from './sqlite.ts'

export interface SaidProgress {
  readonly bytesLeft: number
}

/** Well below the five seconds that another process waits for a transaction. */
const TRANSACTION_MS = 1_000
const ITEMS_AT_ONCE = 50
const CONVERSATIONS_TIME = 'conversations time'

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
  // The latest conversations are searched most.
  const stored = store.list().toSorted((a, b) => (a.writtenAt < b.writtenAt ? 1 : -1))
  dropMissing(database, writer, new Set(stored.map(({ id }) => id)))
  const known = writer.read()
  // Measured from here, so that some are read however long listing takes.
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
      // Removed or unreadable: nothing is left to read.
      if (fd === undefined) return { offset: Infinity, isDone: true }
      try {
        const { ino, size } = fstatSync(fd)
        const from = placeIn(writer, fd, id, ino, size)
        const soon = Math.min(until, performance.now() + TRANSACTION_MS)
        const to = addItems(writer, from, store.read(id, { from: from.offset }), soon)
        // The rest of a file without further messages, or cut off, counts as read.
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

/** Storing takes a lock in the folder, which changes its time. Undefined while so recent that another change could carry the same time. */
function timeOfConversations(folder: string): string | undefined {
  const mtimeMs = statOrUndefined(join(folder, 'conversations'))?.mtimeMs
  if (mtimeMs === undefined) return 'none'
  return Date.now() - mtimeMs < 1_000 ? undefined : String(mtimeMs)
}

interface ReadConversation {
  readonly key: number
  readonly id: string
  readonly items: number
  readonly inode: number
  readonly offset: number
  readonly edges: number
}

class SaidWriter {
  readonly #statements = new Map<string, Statement>()
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  read(): ReadonlyMap<string, ReadConversation> {
    const rows = this.#sql(
      'SELECT key, id, items, inode, offset, edges FROM conversations',
    ).all() as ReadConversation[]
    return new Map(rows.map((row) => [row.id, row]))
  }

  /** Read again under the lock: another process may have continued. */
  readOne(id: string): ReadConversation | undefined {
    return this.#sql(
      'SELECT key, id, items, inode, offset, edges FROM conversations WHERE id = ?',
    ).get(id) as ReadConversation | undefined
  }

  begin(id: string, inode: number): ReadConversation {
    const sql = 'INSERT INTO conversations (id, items, inode, offset, edges) VALUES (?, 0, ?, 0, 0)'
    const key = Number(this.#sql(sql).run(id, inode).lastInsertRowid)
    return { key, id, items: 0, inode, offset: 0, edges: 0 }
  }

  goOn({ key, items, offset, edges }: ReadConversation): void {
    this.#sql('UPDATE conversations SET items = ?, offset = ?, edges = ? WHERE key = ?').run(
      items,
      offset,
      edges,
      key,
    )
  }

  setHarness(key: number, harness: string): void {
    this.#sql('UPDATE conversations SET harness = ? WHERE key = ?').run(harness, key)
  }

  /** Returns false for a repeat. */
  add(conversation: number, { id, role, at }: Message, number: number, text: string): boolean {
    const sql =
      'INSERT OR IGNORE INTO said (conversation, id, number, role, at) VALUES (?, ?, ?, ?, ?)'
    const { changes, lastInsertRowid } = this.#sql(sql).run(
      conversation,
      id,
      number,
      role,
      at ?? null,
    )
    if (Number(changes) === 0) return false
    if (text !== '')
      this.#sql('INSERT INTO said_texts (rowid, text) VALUES (?, ?)').run(
        Number(lastInsertRowid),
        text,
      )
    return true
  }

  drop(conversation: number): void {
    this.#sql(
      'DELETE FROM said_texts WHERE rowid IN (SELECT key FROM said WHERE conversation = ?)',
    ).run(conversation)
    this.#sql('DELETE FROM said WHERE conversation = ?').run(conversation)
    this.#sql('DELETE FROM conversations WHERE key = ?').run(conversation)
  }

  fact(name: string): string | undefined {
    return (
      this.#sql('SELECT value FROM facts WHERE name = ?').get(name) as { value: string } | undefined
    )?.value
  }

  setFact(name: string, value: string): void {
    this.#sql('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)').run(name, value)
  }

  #sql(sql: string): Statement {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#database.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }
}

/** How much of the beginning and of the end can be found. */
const BOUNDS = {
  text: [16_000, 4_000],
  command: [2_000, 500],
  answer: [1_500, 500],
} as const

/** Empty for what the harness inserted. */
function saidText(message: Message): string {
  if (message.isMeta === true) return ''
  return separateWords(
    message.parts
      .map(partText)
      .filter((text) => text !== '')
      .join('\n')
      .toWellFormed(),
  )
}

function partText(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'thinking':
      return ends(part.text, 'text')
    case 'tool use':
      return ends([part.name, ...stringsIn(part.input, 4)].join('\n'), 'command')
    case 'tool result':
      return ends(
        part.parts.flatMap((inner) => (inner.type === 'text' ? [inner.text] : [])).join('\n'),
        'answer',
      )
    default:
      return ''
  }
}

function ends(text: string, what: keyof typeof BOUNDS): string {
  const [head, tail] = BOUNDS[what]
  return text.length <= head + tail ? text : `${text.slice(0, head)}\n…\n${text.slice(-tail)}`
}

function* stringsIn(value: unknown, depth: number): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null && depth > 0) {
    for (const inner of Object.values(value)) yield* stringsIn(inner, depth - 1)
  }
}
