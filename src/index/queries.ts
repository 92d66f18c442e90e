import { BACKLOG_ID } from '../session/entries.ts'
import type { SessionState, SessionStatus } from '../session/state.ts'
import type { SqlValue } from './sqlite.ts'
import { joinWords, separateWords } from './entry-text.ts'
import { type SessionRow, publicSessionRow } from '../session/public-session.ts'

export type { SessionRow } from '../session/public-session.ts'

/** Times are ISO instants. */
export interface SessionFilter {
  readonly status?: readonly SessionStatus[]
  readonly branch?: string
  readonly task?: string
  readonly name?: string
  readonly text?: string
  readonly kind?: string
  readonly since?: string
  readonly until?: string
  readonly limit?: number
  readonly offset?: number
  readonly sort?: 'updated' | 'created' | 'name'
}

export interface SearchQuery {
  readonly text: string
  readonly kind?: readonly string[]
  readonly session?: string
  readonly status?: readonly SessionStatus[]
  readonly since?: string
  readonly until?: string
  readonly limit?: number
  readonly offset?: number
  readonly marks?: readonly [string, string]
}

export interface PagedSql {
  readonly sql: string
  readonly values: readonly SqlValue[]
  readonly limit: number
  readonly offset: number
}

const FIELDS = {
  id: 'id',
  name: 'name',
  title: 'title',
  status: 'status',
  goal: 'goal',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  compactions: 'compactions',
} as const
const COUNT_FIELDS = {
  entries: 'entry_count',
  steps: 'steps_total',
  stepsDone: 'steps_done',
  decisions: 'decisions',
  discoveries: 'discoveries',
  openBlockers: 'open_blockers',
} as const
const OPTIONAL_FIELDS = {
  branch: 'branch',
  worktree: 'worktree',
  tldr: 'tldr',
  closedAt: 'closed_at',
} as const

export const ROW_COLUMNS = [FIELDS, COUNT_FIELDS, OPTIONAL_FIELDS, { tasks: 'tasks' }].flatMap(
  (fields) => Object.values<string>(fields),
)

type StoredColumns = Readonly<Record<string, SqlValue>>

export function rowValues(state: SessionState): SqlValue[] {
  const row = publicSessionRow(state)
  const values = (fields: object, from: object) =>
    Object.keys(fields).map((field) => (from as StoredColumns)[field] ?? null)
  return [
    ...values(FIELDS, row),
    ...values(COUNT_FIELDS, row.counts),
    ...values(OPTIONAL_FIELDS, row),
    JSON.stringify(row.tasks),
  ]
}

/** Keeps absent values absent, so that a row compares equal to one built from a state. */
export function rowFrom(stored: unknown): SessionRow {
  const columns = stored as StoredColumns
  const pick = (fields: object) =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([field, column]: [string, string]) =>
        columns[column] === null ? [] : [[field, columns[column]]],
      ),
    )
  return {
    ...pick(FIELDS),
    counts: pick(COUNT_FIELDS),
    tasks: JSON.parse(String(columns.tasks)) as string[],
    ...pick(OPTIONAL_FIELDS),
  } as unknown as SessionRow
}

export const ROW_SELECT = `SELECT ${ROW_COLUMNS.map((column) => `s.${column}`).join(', ')} FROM sessions s`
/**
 * A log without a good record gets a row so that it is not read again; neither it nor the backlog
 * is a session.
 */
export const IS_SESSION = `s.entry_count > 0 AND s.id <> '${BACKLOG_ID}'`

// The id breaks ties, so that a page ends where the next begins.
const ORDER = {
  updated: 's.updated_at DESC, s.id DESC',
  created: 's.created_at DESC, s.id DESC',
  name: 's.name, s.id',
} as const

export function listSql(filter: SessionFilter): PagedSql {
  const where = conditionsOf(filter)
  const sql = `${ROW_SELECT} WHERE ${where.text()} ORDER BY ${ORDER[filter.sort ?? 'updated']} LIMIT ? OFFSET ?`
  return { sql, values: where.values, ...page(filter) }
}

export function countSql(filter: SessionFilter) {
  const where = conditionsOf(filter)
  const sql = `SELECT count(*) AS number FROM sessions s WHERE ${where.text()}`
  return { sql, values: where.values }
}

function conditionsOf(filter: SessionFilter) {
  const where = new Conditions([IS_SESSION])
  where.oneOf('s.status', filter.status)
  where.when(filter.branch, 's.branch = ?')
  where.when(filter.task, 's.key IN (SELECT session FROM session_tasks WHERE task = ?)')
  if (filter.name)
    where.when(`%${filter.name.replaceAll(/[%_\\]/g, '\\$&')}%`, "s.name LIKE ? ESCAPE '\\'")
  where.when(filter.kind, 's.key IN (SELECT session FROM entries WHERE kind = ?)')
  where.when(filter.since, 's.updated_at >= ?')
  where.when(filter.until, 's.created_at <= ?')
  if (filter.text !== undefined && filter.text.trim() !== '') {
    const hits =
      'SELECT e.session FROM texts CROSS JOIN entries e ON e.key = texts.rowid WHERE texts MATCH ?'
    const match = matchExpression(filter.text)
    where.when(match, `s.key IN (${hits})`)
    if (match === undefined) where.add('0')
  }
  return where
}

export function searchSql(query: SearchQuery): PagedSql | undefined {
  return buildSearchSql(query, 'texts', 'e', (where) => {
    where.oneOf('e.kind', query.kind)
    // CROSS JOIN keeps the order: full-text search first, then one look-up per hit. With a limit
    // SQLite builds snippets only for the best hits.
    return `SELECT s.id AS session, s.name, s.title, s.status, e.id AS entry, e.kind, e.at, bm25(texts) AS score,
      snippet(texts, 0, ?, ?, '…', 16) AS snippet
    FROM texts CROSS JOIN entries e ON e.key = texts.rowid CROSS JOIN sessions s ON s.key = e.session
    WHERE ${where.text()} ORDER BY score, e.id LIMIT ? OFFSET ?`
  })
}

export function messageSearchSql(query: SearchQuery): PagedSql | undefined {
  if (query.kind !== undefined) return undefined
  return buildSearchSql(
    query,
    'said_texts',
    'm',
    (where) => `SELECT c.id AS conversation, m.number AS item, m.role, bm25(said_texts) AS score,
      snippet(said_texts, 0, ?, ?, '…', 16) AS snippet, c.harness, m.at, s.id AS session, s.name
    FROM said_texts CROSS JOIN said m ON m.key = said_texts.rowid CROSS JOIN conversations c ON c.key = m.conversation
      LEFT JOIN sessions s ON s.key =
        (SELECT e.session FROM entries e WHERE e.refers = c.id AND e.kind = 'conversation.joined' ORDER BY e.id DESC LIMIT 1)
    WHERE ${where.text()} ORDER BY score, m.key LIMIT ? OFFSET ?`,
  )
}

function buildSearchSql(
  query: SearchQuery,
  table: string,
  row: string,
  sqlOf: (where: Conditions) => string,
) {
  const match = matchExpression(query.text)
  if (match === undefined) return undefined
  const where = new Conditions([`${table} MATCH ?`], [...(query.marks ?? DEFAULT_MARKS), match])
  where.when(query.session, 's.id = ?')
  where.oneOf('s.status', query.status)
  where.when(query.since, `${row}.at >= ?`)
  where.when(query.until, `${row}.at <= ?`)
  return { sql: sqlOf(where), values: where.values, ...page(query) }
}

export const TASK_SQL = `
  WITH RECURSIVE concerned (id) AS (
    SELECT id FROM entries WHERE record IS NOT NULL AND substr(kind, 1, 5) = 'task.'
    UNION
    SELECT e.id FROM concerned JOIN entries e ON e.refers = concerned.id
  )
  SELECT e.record, s.id AS session FROM entries e JOIN sessions s ON s.key = e.session
  WHERE e.record IS NOT NULL AND e.id IN (SELECT id FROM concerned)
  ORDER BY e.id, e.key LIMIT ? OFFSET ?`

export const HANDOFF_SQL = `
  SELECT s.id AS session, s.name, e.record FROM entries e JOIN sessions s ON s.key = e.session
  WHERE e.record IS NOT NULL AND (substr(e.kind, 1, 8) = 'handoff.'
    OR e.refers IN (SELECT id FROM entries WHERE record IS NOT NULL AND substr(kind, 1, 8) = 'handoff.'))
  ORDER BY e.id, e.key LIMIT ? OFFSET ?`

export const SESSION_OF_CONVERSATION_SQL = `
  SELECT s.id FROM entries e JOIN sessions s ON s.key = e.session
  WHERE e.refers = ? AND e.kind = 'conversation.joined' ORDER BY e.id DESC LIMIT 1`

export const RETRACTION_SQL = `
  SELECT e.id, e.refers FROM entries e JOIN sessions s ON s.key = e.session
  WHERE s.id = ? AND e.kind = 'entry.retracted' AND e.refers IS NOT NULL ORDER BY e.id`

export const ENTRY_TEXT_SQL = `
  SELECT texts.text FROM sessions s JOIN entries e ON e.session = s.key JOIN texts ON texts.rowid = e.key
  WHERE s.id = ? AND e.id = ?`

/** Best first: the exact id or name, then ids that start with, end with or contain the text. */
export const SESSIONS_BY_NAME_OR_ID_SQL = `
  ${ROW_SELECT} WHERE ${IS_SESSION} AND (s.name = ?1 OR instr(s.id, ?2) > 0)
  ORDER BY CASE WHEN s.id = ?2 OR s.name = ?1 THEN 0 WHEN instr(s.id, ?2) = 1 THEN 1
    WHEN substr(s.id, -length(?2)) = ?2 THEN 2 ELSE 3 END, s.updated_at DESC, s.id DESC`

function page({ limit, offset }: { readonly limit?: number; readonly offset?: number }) {
  return {
    limit: limit === undefined ? Infinity : Math.max(0, Math.trunc(limit)),
    offset: Math.max(0, Math.trunc(offset ?? 0)),
  }
}

class Conditions {
  readonly #conditions: string[]
  readonly values: SqlValue[]

  constructor(parts: string[], values: SqlValue[] = []) {
    this.#conditions = parts
    this.values = values
  }

  when(value: string | undefined, condition: string) {
    if (value !== undefined) this.add(condition, value)
  }

  oneOf(column: string, values: readonly string[] | undefined) {
    if (values === undefined) return
    const list = values.length === 1 ? '= ?' : `IN (${values.map(() => '?').join(', ')})`
    this.add(`${column} ${list}`, ...values)
  }

  add(condition: string, ...values: readonly string[]) {
    this.#conditions.push(condition)
    this.values.push(...values)
  }

  text() {
    return this.#conditions.join(' AND ')
  }
}

const TERM_LIMIT = 64
const HAS_WORD = /[\p{L}\p{N}\p{Co}]/u
const TERMS = /"([^"]*)"?(\*?)|([^\s"]+)/gu

/**
 * Every word must occur; `"a phrase"`; `pre*`. Everything is quoted, so input is never FTS syntax.
 * Undefined without a word.
 */
export function matchExpression(text: string): string | undefined {
  const terms: string[] = []
  for (const [, phrase, phraseStar, word] of text.replaceAll('\0', ' ').matchAll(TERMS)) {
    const isPrefix = phraseStar === '*' || word?.endsWith('*') === true
    const words = phrase ?? word!.replace(/\*+$/, '')
    if (!HAS_WORD.test(words)) continue
    terms.push(`"${separateWords(words)}"${isPrefix ? ' *' : ''}`)
    if (terms.length === TERM_LIMIT) break
  }
  return terms.length === 0 ? undefined : terms.join(' ')
}

const DEFAULT_MARKS = ['«', '»'] as const

const HIGHLIGHT_LENGTHS = [80, 30] as const
const TEXT_LENGTHS = [150, 150] as const

/** Bounded, since a word may be as long as a text. */
export function snippetLine(
  snippet: string,
  marks: readonly [string, string] = DEFAULT_MARKS,
): string {
  const [before, after] = marks
  const line = joinWords(snippet).replaceAll(/\s+/g, ' ').trim()
  if (before === '' || after === '') return truncateMiddle(line, TEXT_LENGTHS)
  const chunks = line.split(before).map((chunk, number) => {
    const end = number === 0 ? -1 : chunk.indexOf(after)
    const found = end === -1 ? '' : truncateMiddle(chunk.slice(0, end), HIGHLIGHT_LENGTHS) + after
    return (
      found + truncateMiddle(end === -1 ? chunk : chunk.slice(end + after.length), TEXT_LENGTHS)
    )
  })
  return chunks.join(before)
}

function truncateMiddle(text: string, [head, tail]: readonly [number, number]) {
  return text.length <= head + tail + 1
    ? text
    : `${text.slice(0, head)}…${text.slice(-tail)}`.toWellFormed()
}
