// opencode may write to its database meanwhile.
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { isConversationId } from '../../history/paths.ts'
import type { HistoryItem, Message, MessagePart } from '../../history/items.ts'
import { type Database, loadSqlite } from '../../index/sqlite.ts'
import { statOrUndefined } from '../../journal/read-files.ts'
import type { Usage } from '../../session/entries.ts'
import { defined } from '../../text/defined.ts'
import { type Json, asCount, asName, asObject, parseJson, asText } from '../../text/json-fields.ts'
import {
  type ConversationDatabase,
  type DatabaseHistory,
  type DatabaseCursor,
  type DatabaseSession,
  type DatabaseMessage,
  filesAtPath,
  partsFromContent,
  imageFromUrl,
} from '../contract/history.ts'

const MAX_PART_BYTES = 8 * 1024 * 1024
const BUSY_TIMEOUT_MS = 3_000

export const opencodeHistory: DatabaseHistory = {
  form: 'database',
  name: 'opencode',
  *files({ XDG_DATA_HOME: data, HOME: home }) {
    const path = join(data || join(home || homedir(), '.local/share'), 'opencode/opencode.db')
    if (statOrUndefined(path)?.isFile() === true) yield { path, form: 'database' }
  },
  *filesAt(path) {
    for (const file of filesAtPath(path))
      if (/^opencode.*\.db$/.test(basename(file))) yield { path: file, form: 'database' }
  },
  open: (path) => new OpencodeDatabase(path),
  messageOf: (item) => /^(msg_[^-]+)(?:-|$)/.exec(item)?.[1],
}

class OpencodeDatabase implements ConversationDatabase {
  readonly #database: Database

  constructor(path: string) {
    const { DatabaseSync } = loadSqlite()
    this.#database = new DatabaseSync(path, { readOnly: true })
    this.#database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  }

  close(): void {
    this.#database.close()
  }

  #rows(sql: string, ...values: string[]): readonly Json[] {
    return this.#database.prepare(sql).all(...values) as readonly Json[]
  }

  sessions(): readonly DatabaseSession[] {
    const columns = this.#rows("SELECT 1 FROM pragma_table_info('session') WHERE name = 'revert'")
    // Older versions had no revert. The column also holds all file changes, so only two fields are
    // read.
    const field = (name: string) =>
      columns.length > 0 ? `CASE WHEN json_valid(revert) THEN revert ->> '${name}' END` : 'NULL'
    const rows =
      this.#rows(`SELECT id, parent_id AS parent, directory, time_created AS created, time_updated AS updated,
      ${field('messageID')} AS reverted, ${field('partID')} AS revertedPart FROM session ORDER BY id`)
    const parents = new Map(rows.map((row) => [row.id, row.parent]))
    return rows.flatMap((row) => {
      const [id, cwd] = [asName(row.id), asName(row.directory, 4096)]
      if (!isConversationId(id) || cwd === undefined) return []
      const conversation = rootSession(id, parents)
      const [startedAt, updatedAt] = [Number(row.created), Number(row.updated)]
      const message = asName(row.reverted)
      // With a part, the message itself stays.
      const isBehind = asName(row.revertedPart) !== undefined
      const revert = message === undefined ? undefined : { message, isBehind }
      return [{ id, conversation, cwd, startedAt, updatedAt, ...defined({ revert }) }]
    })
  }

  hasMessage({ id }: DatabaseSession, message: string): boolean {
    const sql = 'SELECT 1 FROM message WHERE session_id = ? AND id = ?'
    return this.#rows(sql, id, message).length > 0
  }

  /** Reverted messages are deleted at the next prompt. */
  unrevertedMessages({ id, revert }: DatabaseSession): ReadonlySet<string> {
    const sql = 'SELECT id FROM message WHERE session_id = ? ORDER BY time_created, id'
    const ids = this.#rows(sql, id).map((row) => String(row.id))
    const at = revert === undefined ? -1 : ids.indexOf(revert.message)
    return new Set(at === -1 ? ids : ids.slice(0, at + (revert?.isBehind === true ? 1 : 0)))
  }

  bytesOf({ id }: DatabaseSession): number {
    const sql = 'SELECT coalesce(sum(length(data)), 0) AS bytes FROM part WHERE session_id = ?'
    return Number(this.#rows(sql, id)[0]!.bytes)
  }

  *messages(
    session: DatabaseSession,
    after: DatabaseCursor | undefined,
  ): Generator<DatabaseMessage> {
    const { id, conversation, cwd, startedAt } = session
    const rows = this.#database.prepare(
      `SELECT id, time_created AS at, data, EXISTS (SELECT 1 FROM message m WHERE m.session_id = message.session_id
         AND (m.time_created, m.id) > (message.time_created, message.id)) AS isFollowed
       FROM message WHERE session_id = ? AND (time_created, id) > (?, ?) ORDER BY time_created, id`,
    )
    const agent = id === conversation ? undefined : id
    const at = new Date(startedAt).toISOString()
    let began: readonly HistoryItem[] =
      after === undefined && agent === undefined
        ? [{ type: 'began', conversation, harness: 'opencode', at, cwd }]
        : []
    let place = after ?? { at: -1, id: '' }
    for (const row of rows.iterate(id, place.at, place.id) as IterableIterator<Json>) {
      const message = asObject(parseJson(String(row.data)))
      place = { at: Number(row.at), id: String(row.id) }
      if (message === undefined) {
        yield { items: [], place, bytes: 0, damaged: 1 }
        continue
      }
      if (isUnfinished(message) && row.isFollowed !== 1) return
      const { parts, bytes, damaged } = this.#parts(place.id)
      const items = [...began, ...messageItems(place, message, parts, agent)]
      began = []
      yield { items, place, bytes: bytes + String(row.data).length, damaged }
    }
  }

  #parts(message: string) {
    const sql = `SELECT id, length(data) AS length, CASE WHEN length(data) <= ${MAX_PART_BYTES} THEN data END AS data FROM part WHERE message_id = ? ORDER BY id`
    let [bytes, damaged] = [0, 0]
    const parts: Json[] = []
    for (const { id, length, data } of this.#rows(sql, message)) {
      bytes += Number(length)
      const fields = typeof data === 'string' ? asObject(parseJson(data)) : undefined
      if (fields === undefined) damaged += 1
      else parts.push({ ...fields, id: String(id) })
    }
    return { parts, bytes, damaged }
  }
}

function isUnfinished(message: Json) {
  if (message.role !== 'assistant' || message.error !== undefined) return false
  return asObject(message.time)?.completed === undefined
}

function rootSession(id: string, parents: ReadonlyMap<unknown, unknown>) {
  let root = id
  // Bounded, so that a cycle ends.
  for (let depth = 0; depth < 50; depth += 1) {
    const parent = parents.get(root)
    if (!isConversationId(parent) || !parents.has(parent)) return root
    root = parent
  }
  return root
}

/** A tool's result shares a part with its use and becomes a separate message. */
function messageItems(
  { id, at: time }: DatabaseCursor,
  message: Json,
  parts: readonly Json[],
  agent: string | undefined,
): readonly HistoryItem[] {
  const at = new Date(time).toISOString()
  const common = { type: 'message', at, ...defined({ agent }) } as const
  const compaction = parts.find((part) => part.type === 'compaction')
  if (compaction !== undefined)
    return [{ type: 'compaction', id, at, trigger: compaction.auto === false ? 'manual' : 'auto' }]
  if (message.role === 'assistant') return replyItems(id, message, parts, common)
  const content = parts.flatMap(messageParts)
  if (content.length === 0) return []
  const isMeta = parts.every((part) => part.synthetic === true)
  return [{ ...common, id, role: 'user', parts: content, ...(isMeta ? { isMeta } : {}) }]
}

function replyItems(
  id: string,
  message: Json,
  parts: readonly Json[],
  common: Pick<Message, 'type' | 'agent'> & { readonly at: string },
): readonly HistoryItem[] {
  const isSummary = message.summary === true || undefined
  const about = defined({ model: asName(message.modelID), isSummary })
  const shared = { ...common, role: 'assistant', ...about } as const
  const items: HistoryItem[] = []
  // One step is one request; older versions have several in a message.
  for (const [number, step] of splitSteps(parts).entries()) {
    const name = number === 0 ? id : `${id}-${number}`
    const finish = step.find((part) => part.type === 'step-finish')
    const tokens = asObject(finish?.tokens) ?? (number === 0 ? asObject(message.tokens) : undefined)
    const usage = parseUsage(tokens)
    const content = step.flatMap(messageParts)
    if (content.length > 0)
      items.push({ ...shared, id: name, request: name, parts: content, ...defined({ usage }) })
    const results = step.flatMap(toolResults)
    if (results.length > 0)
      items.push({ ...common, id: `${name}-results`, role: 'user', parts: results })
  }
  const failure = asObject(message.error)
  if (failure === undefined) return items
  if (failure.name === 'MessageAbortedError')
    return [...items, { type: 'ended', at: common.at, reason: 'interrupted' }]
  const text = asText(asObject(failure.data)?.message) ?? asName(failure.name) ?? 'failed'
  const content = { role: 'assistant', parts: [{ type: 'text', text }], isFailure: true } as const
  return [...items, { ...common, id: `${id}-failure`, ...content }]
}

function splitSteps(parts: readonly Json[]) {
  const steps: Json[][] = [[]]
  for (const part of parts) {
    if (part.type === 'step-start' && steps.at(-1)!.some(({ type }) => type === 'step-finish'))
      steps.push([])
    steps.at(-1)!.push(part)
  }
  return steps
}

const IGNORED_PARTS = new Set<unknown>([
  'step-start',
  'step-finish',
  'snapshot',
  'patch',
  'retry',
  'agent',
])

function messageParts(part: Json): readonly MessagePart[] {
  const { type, text, url } = part
  if (type === 'text' || type === 'reasoning') {
    if (typeof text !== 'string' || text === '' || part.ignored === true) return []
    return [{ type: type === 'text' ? 'text' : 'thinking', text }]
  }
  if (
    type === 'file' &&
    typeof url === 'string' &&
    asText(part.mime)?.startsWith('image/') === true
  )
    return [imageFromUrl(url)]
  const [id, name] = [asName(part.callID), asName(part.tool, 1000)]
  if (type === 'tool' && id !== undefined && name !== undefined) {
    const input = asObject(asObject(part.state)?.input) ?? {}
    return [{ type: 'tool use', id, name, input }]
  }
  return IGNORED_PARTS.has(type) ? [] : [{ type: 'other', block: part }]
}

function toolResults(part: Json): readonly MessagePart[] {
  const { status, output, error } = asObject(part.state) ?? {}
  const use = asName(part.callID)
  const isError = status === 'error'
  if (part.type !== 'tool' || use === undefined || (status !== 'completed' && !isError)) return []
  const parts = partsFromContent(isError ? error : output, () => [])
  return [{ type: 'tool result', use, parts, isError }]
}

function parseUsage(tokens: Json | undefined): Usage | undefined {
  const input = asCount(tokens?.input)
  if (tokens === undefined || input === undefined) return undefined
  const cache = asObject(tokens.cache)
  const output = (asCount(tokens.output) ?? 0) + (asCount(tokens.reasoning) ?? 0)
  const [cacheWritten, cacheRead] = [asCount(cache?.write) ?? 0, asCount(cache?.read) ?? 0]
  return { input, cacheWritten, cacheRead, output }
}
