// opencode's database may be written meanwhile.
import { basename, join } from 'node:path'
import { homedir } from 'node:os'
import { isConversationId } from '../../history/places.ts'
import type { HistoryItem, Message, Part } from '../../history/items.ts'
import { type Database, loadSqlite } from '../../index/sqlite.ts'
import { statOrUndefined } from '../../journal/look.ts'
import { type Json, countOf, nameOf, objectOf, parseJson, textOf } from '../../text/json-fields.ts'
import {
  type ConversationDatabase,
  type DatabaseHistory,
  type DatabasePlace,
  type DatabaseSession,
  type DatabaseStep,
  type HistoryFile,
  filesNamed,
  pictureAt,
} from '../contract/history.ts'
import { defined } from '../../text/defined.ts'
import type { Usage } from '../../session/entries.ts'

const LONGEST = 8 * 1024 * 1024
const BUSY_MS = 3_000

export const opencodeHistory: DatabaseHistory = {
  form: 'database',
  name: 'opencode',
  files: databaseIn,
  filesAt: databasesAt,
  open: (path) => new OpencodeDatabase(path),
  messageOf,
}

function* databaseIn({
  XDG_DATA_HOME: data,
  HOME: home,
}: NodeJS.ProcessEnv): Generator<HistoryFile> {
  const path = join(data || join(home || homedir(), '.local', 'share'), 'opencode', 'opencode.db')
  if (statOrUndefined(path)?.isFile() === true) yield { path, form: 'database' }
}

function* databasesAt(path: string): Generator<HistoryFile> {
  for (const file of filesNamed(path))
    if (/^opencode.*\.db$/.test(basename(file))) yield { path: file, form: 'database' }
}

class OpencodeDatabase implements ConversationDatabase {
  readonly #database: Database

  constructor(path: string) {
    const { DatabaseSync } = loadSqlite()
    this.#database = new DatabaseSync(path, { readOnly: true })
    this.#database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
  }

  close(): void {
    this.#database.close()
  }

  sessions(): readonly DatabaseSession[] {
    // Older versions had no revert. The column also holds all file changes, so only two fields are
    // read.
    const field = (name: string) =>
      this.#hasColumn('session', 'revert')
        ? `CASE WHEN json_valid(revert) THEN revert ->> '${name}' END`
        : 'NULL'
    const sql = `SELECT id, parent_id AS parent, directory, time_created AS created, time_updated AS updated,
      ${field('messageID')} AS reverted, ${field('partID')} AS revertedPart FROM session ORDER BY id`
    const rows = this.#database.prepare(sql).all() as readonly Json[]
    const parents = new Map(rows.map((row) => [row.id, row.parent]))
    return rows.flatMap((row) => {
      const [id, cwd] = [nameOf(row.id), nameOf(row.directory, 4096)]
      if (!isConversationId(id) || cwd === undefined) return []
      const conversation = rootOf(id, parents)
      const [startedAt, updatedAt] = [Number(row.created), Number(row.updated)]
      return [
        { id, conversation, cwd, startedAt, updatedAt, ...defined({ revert: revertIn(row) }) },
      ]
    })
  }

  #hasColumn(table: string, name: string): boolean {
    return (
      this.#database
        .prepare('SELECT 1 FROM pragma_table_info(?) WHERE name = ?')
        .get(table, name) !== undefined
    )
  }

  hasMessage({ id }: DatabaseSession, message: string): boolean {
    return (
      this.#database
        .prepare('SELECT 1 FROM message WHERE session_id = ? AND id = ?')
        .get(id, message) !== undefined
    )
  }

  /** Reverted messages are deleted at the next prompt. */
  standing({ id, revert }: DatabaseSession): ReadonlySet<string> {
    const rows = this.#database
      .prepare('SELECT id FROM message WHERE session_id = ? ORDER BY time_created, id')
      .all(id)
    const ids = (rows as readonly Json[]).map((row) => String(row.id))
    const at = revert === undefined ? -1 : ids.indexOf(revert.message)
    return new Set(at === -1 ? ids : ids.slice(0, at + (revert?.isBehind === true ? 1 : 0)))
  }

  bytesOf({ id }: DatabaseSession): number {
    const sql = 'SELECT coalesce(sum(length(data)), 0) AS bytes FROM part WHERE session_id = ?'
    return Number((this.#database.prepare(sql).get(id) as Json).bytes)
  }

  *messages(session: DatabaseSession, after: DatabasePlace | undefined): Generator<DatabaseStep> {
    const { id, conversation, cwd, startedAt } = session
    const rows = this.#database.prepare(
      `SELECT id, time_created AS at, data, EXISTS (SELECT 1 FROM message m WHERE m.session_id = message.session_id
         AND (m.time_created, m.id) > (message.time_created, message.id)) AS isFollowed
       FROM message WHERE session_id = ? AND (time_created, id) > (?, ?) ORDER BY time_created, id`,
    )
    const agent = id === conversation ? undefined : id
    let isFirst = after === undefined && agent === undefined
    let place = after ?? { at: -1, id: '' }
    for (const row of rows.iterate(id, place.at, place.id) as IterableIterator<Json>) {
      const message = objectOf(parseJson(String(row.data)))
      place = { at: Number(row.at), id: String(row.id) }
      if (message === undefined) {
        yield { items: [], place, bytes: 0, damaged: 1 }
        continue
      }
      if (isUnfinished(message) && row.isFollowed !== 1) return
      const { parts, bytes, damaged } = this.#parts(place.id)
      const items = itemsOf({ id: place.id, at: place.at, message, parts, ...defined({ agent }) })
      const began: readonly HistoryItem[] = isFirst
        ? [
            {
              type: 'began',
              conversation,
              harness: 'opencode',
              at: new Date(startedAt).toISOString(),
              cwd,
            },
          ]
        : []
      isFirst = false
      yield {
        items: [...began, ...items],
        place,
        bytes: bytes + String(row.data).length,
        damaged,
      }
    }
  }

  #parts(message: string): {
    readonly parts: readonly (Json & { readonly id: string })[]
    readonly bytes: number
    readonly damaged: number
  } {
    const sql = `SELECT id, length(data) AS length, CASE WHEN length(data) <= ${LONGEST} THEN data END AS data FROM part WHERE message_id = ? ORDER BY id`
    let [bytes, damaged] = [0, 0]
    const parts: (Json & { id: string })[] = []
    for (const row of this.#database.prepare(sql).all(message) as readonly Json[]) {
      bytes += Number(row.length)
      const fields = typeof row.data === 'string' ? objectOf(parseJson(row.data)) : undefined
      if (fields === undefined) damaged += 1
      else parts.push({ ...fields, id: String(row.id) })
    }
    return { parts, bytes, damaged }
  }
}

/** With a part, the message stays whole. */
function revertIn({ reverted, revertedPart }: Json): DatabaseSession['revert'] {
  const message = nameOf(reverted)
  return message === undefined
    ? undefined
    : { message, isBehind: nameOf(revertedPart) !== undefined }
}

function isUnfinished(message: Json): boolean {
  if (message.role !== 'assistant' || message.error !== undefined) return false
  return objectOf(message.time)?.completed === undefined
}

function rootOf(id: string, parents: ReadonlyMap<unknown, unknown>): string {
  let root = id
  // Bounded, so that a cycle ends.
  for (let depth = 0; depth < 50; depth += 1) {
    const parent = parents.get(root)
    if (!isConversationId(parent) || !parents.has(parent)) return root
    root = parent
  }
  return root
}

export interface StoredMessage {
  readonly id: string
  readonly at: number
  readonly message: Json
  readonly parts: readonly (Json & { readonly id: string })[]
  readonly agent?: string
}

/** A tool's result shares a part with its use and becomes a message of its own. */
export function itemsOf(stored: StoredMessage): readonly HistoryItem[] {
  const { id, message, parts } = stored
  const common = {
    type: 'message',
    at: new Date(stored.at).toISOString(),
    ...defined({ agent: stored.agent }),
  } as const
  const compaction = parts.find((part) => part.type === 'compaction')
  if (compaction !== undefined) {
    return [
      {
        type: 'compaction',
        id,
        at: common.at,
        trigger: compaction.auto === false ? 'manual' : 'auto',
      },
    ]
  }
  if (message.role === 'assistant') return saidByModel(stored, common)
  const said = parts.flatMap(partOf)
  if (said.length === 0) return []
  const isMeta = parts.every((part) => part.synthetic === true)
  return [{ ...common, id, role: 'user', parts: said, ...(isMeta ? { isMeta } : {}) }]
}

export function messageOf(item: string): string | undefined {
  return /^(msg_[^-]+)(?:-|$)/.exec(item)?.[1]
}

type Common = Pick<Message, 'type' | 'at' | 'agent'>

function saidByModel(
  { id, message, parts }: StoredMessage,
  common: Common,
): readonly HistoryItem[] {
  const isSummary = message.summary === true || undefined
  const shared = {
    ...common,
    role: 'assistant',
    ...defined({ model: nameOf(message.modelID), isSummary }),
  } as const
  const items: HistoryItem[] = []
  // One step is one request; older versions have several in a message.
  for (const [number, step] of stepsOf(parts).entries()) {
    const name = number === 0 ? id : `${id}-${number}`
    const finish = step.find((part) => part.type === 'step-finish')
    const usage = usageOf(
      objectOf(finish?.tokens) ?? (number === 0 ? objectOf(message.tokens) : undefined),
    )
    const said = step.flatMap(partOf)
    if (said.length > 0)
      items.push({ ...shared, id: name, request: name, parts: said, ...defined({ usage }) })
    const results = step.flatMap(resultOf)
    if (results.length > 0)
      items.push({ ...common, id: `${name}-results`, role: 'user', parts: results })
  }
  const failure = objectOf(message.error)
  if (failure === undefined) return items
  const text = textOf(objectOf(failure.data)?.message) ?? nameOf(failure.name) ?? 'failed'
  if (failure.name === 'MessageAbortedError')
    return [...items, { type: 'ended', at: common.at!, reason: 'interrupted' }]
  return [
    ...items,
    {
      ...common,
      id: `${id}-failure`,
      role: 'assistant',
      parts: [{ type: 'text', text }],
      isFailure: true,
    },
  ]
}

function stepsOf<T extends Json>(parts: readonly T[]): readonly (readonly T[])[] {
  const steps: T[][] = [[]]
  for (const part of parts) {
    if (part.type === 'step-start' && steps.at(-1)!.some(({ type }) => type === 'step-finish'))
      steps.push([])
    steps.at(-1)!.push(part)
  }
  return steps
}

const SILENT = new Set(['step-start', 'step-finish', 'snapshot', 'patch', 'retry', 'agent'])

function partOf(part: Json): readonly Part[] {
  const { type, text, url, mime } = part
  if (type === 'text' || type === 'reasoning') {
    if (typeof text !== 'string' || text === '' || part.ignored === true) return []
    return [{ type: type === 'text' ? 'text' : 'thinking', text }]
  }
  if (
    type === 'file' &&
    typeof url === 'string' &&
    typeof mime === 'string' &&
    mime.startsWith('image/')
  )
    return [pictureAt(url)]
  if (type === 'tool') {
    const [id, name] = [nameOf(part.callID), nameOf(part.tool, 1000)]
    const state = objectOf(part.state)
    if (id !== undefined && name !== undefined)
      return [{ type: 'tool use', id, name, input: objectOf(state?.input) ?? {} }]
  }
  return typeof type === 'string' && SILENT.has(type) ? [] : [{ type: 'other', block: part }]
}

function resultOf(part: Json): readonly Part[] {
  const state = objectOf(part.state)
  const use = nameOf(part.callID)
  if (part.type !== 'tool' || use === undefined || state === undefined) return []
  const { status, output, error } = state
  if (status !== 'completed' && status !== 'error') return []
  const isError = status === 'error'
  const text = isError ? error : output
  return [
    {
      type: 'tool result',
      use,
      parts: typeof text === 'string' && text !== '' ? [{ type: 'text', text }] : [],
      isError,
    },
  ]
}

function usageOf(tokens: Json | undefined): Usage | undefined {
  const input = countOf(tokens?.input)
  if (tokens === undefined || input === undefined) return undefined
  const cache = objectOf(tokens.cache)
  const output = (countOf(tokens.output) ?? 0) + (countOf(tokens.reasoning) ?? 0)
  return {
    input,
    cacheWritten: countOf(cache?.write) ?? 0,
    cacheRead: countOf(cache?.read) ?? 0,
    output,
  }
}
