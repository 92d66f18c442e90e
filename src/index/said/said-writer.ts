import type { Message } from '../../history/items.ts'
import type { Database, Statement } from '../sqlite.ts'

/** How far a conversation was read. */
export interface ReadConversation {
  readonly key: number
  readonly id: string
  readonly items: number
  readonly inode: number
  readonly offset: number
  readonly edges: number
}

/** The writing statements for what was said, prepared once for a connection. */
export class SaidWriter {
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

  /** The conversation as it was read last, when somebody else may have read on meanwhile. */
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

  /** Answers false for what is there already: it was stored twice. */
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
