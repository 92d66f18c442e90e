// Pages of a session's entries, read by byte offset: a long log is never read whole.
import { closeSync, fstatSync } from 'node:fs'
import { MARKER_PATTERN } from '../document/grammar.ts'
import { renderDocument } from '../document/render.ts'
import { openLog } from '../index/index-session.ts'
import type { MessageHit, SearchHit, SessionIndex } from '../index/open-index.ts'
import type { SessionFilter } from '../index/queries.ts'
import type { SessionRow } from '../index/queries.ts'
import { StintError } from '../journal/errors.ts'
import type { LogPaths } from '../journal/log.ts'
import { readOrUndefined } from '../journal/read-files.ts'
import { parseLog, readRange } from '../journal/read-log.ts'
import type { JournalRecord } from '../journal/record.ts'
import { searchEverywhere } from '../project/search.ts'
import { findSession } from '../project/store/choose-session.ts'
import type { LiveSession } from '../project/store/live-session.ts'
import { logPaths } from '../project/store/project-paths.ts'
import { overviewOf } from '../project/workflow/phases.ts'
import {
  type PublicEntry,
  type PublicHandoff,
  publicEntry,
  publicHandoff,
  publicSession,
  publicWorkflow,
} from '../public.ts'
import type { Spend } from '../run/entries.ts'
import { addSpend } from '../run/report.ts'
import { ZERO_USAGE } from '../run/run-state.ts'
import { kindLabel } from '../session/registry.ts'
import type { SessionState } from '../session/state.ts'
import { defined } from '../text/defined.ts'
import type {
  EntryList,
  HandoffPage,
  SearchResults,
  SearchResult,
  SessionList,
  SessionPage,
  WorkflowRow,
} from './contract.ts'
import { type OpenedProject, notFoundError } from './project-pool.ts'

const MOST_SESSIONS = 200

export async function listSessions(
  { workspace }: OpenedProject,
  filter: SessionFilter,
): Promise<SessionList> {
  if (!workspace.hasSessions()) return { rows: [], total: 0 }
  const index = await workspace.index()
  return { rows: [...index.sessions(filter)], total: index.countSessions(filter) }
}

/** By its id, as the page does; by whatever else means it, as people do. */
export async function findSessionRow(
  { workspace }: OpenedProject,
  name: string,
): Promise<SessionRow> {
  const row = workspace.hasSessions() ? (await workspace.index()).session(name) : undefined
  return row ?? findSession(workspace, name)
}

export async function sessionPage(project: OpenedProject, row: SessionRow): Promise<SessionPage> {
  const { workspace, conversations } = project
  return workspace.withSession(row.id, async (session) => {
    const { state, end } = session.openTo()
    const lines = await Promise.all(
      state.conversations.items.map((one) => conversations.row(one.text, one, row.id)),
    )
    const mine = state.delegates.items.map(({ delegate }) => delegate)
    const all = mine.length === 0 ? [] : await project.delegates.list()
    return {
      row,
      state: publicSession(state),
      document: documentOf(session, state, end),
      conversations: lines,
      delegates: all.filter(({ id }) => mine.includes(id)),
      spend: lines.reduce<Spend>((sum, { spend }) => addSpend(sum, spend), {
        ...ZERO_USAGE,
        usd: 0,
      }),
      cursor: end,
      ...defined({ workflow: state.workflow && publicWorkflow(overviewOf(workspace, state)) }),
    }
  })
}

/** The file with unabsorbed edits, unless the journal has grown since. */
function documentOf(session: LiveSession, state: SessionState, end: number) {
  const standing = readOrUndefined(session.documentPath(state))?.toString('utf8')
  const marker = MARKER_PATTERN.exec(standing?.trimEnd().split('\n').at(-1) ?? '')
  if (standing !== undefined && Number(marker?.[1]) === end) return standing
  const reading = session.read()
  return renderDocument(reading.state, reading.marker)
}

export async function entryPage(
  { workspace }: OpenedProject,
  session: string,
  { from, before, limit }: { from?: number; before?: number; limit: number },
): Promise<EntryList> {
  const log = logPaths(workspace.paths, session)
  const { records, start, end } =
    from === undefined ? recordsBefore(log, before, limit) : recordsFrom(log, from, limit)
  return {
    entries: toPublicEntries(records, session, await workspace.index()),
    cursor: end,
    ...(start > 0 ? { before: start } : {}),
  }
}

/** The latest first. */
export async function listAllHandoffs({
  workspace,
}: OpenedProject): Promise<readonly PublicHandoff[]> {
  if (!workspace.hasSessions()) return []
  const filter = { kind: 'handoff.made', limit: MOST_SESSIONS }
  const lines = [...(await workspace.index()).sessions(filter)].flatMap(({ id }) => {
    const state = workspace.stateOf(id)
    return state.handoffs.items.map((handoff) => publicHandoff(handoff, state))
  })
  return lines.toSorted((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
}

export async function handoffPage(project: OpenedProject, id: string): Promise<HandoffPage> {
  const line = (await listAllHandoffs(project)).find((handoff) => handoff.id === id)
  if (line === undefined) throw notFoundError('handoff of that id')
  const { handoff } = await project.project.handoffs.show({ handoff: `${line.session}/${id}` })
  return { ...line, markdown: handoff.document }
}

export async function listWorkflowRows({
  project,
  workspace,
}: OpenedProject): Promise<readonly WorkflowRow[]> {
  const overviews = await (await project.workflows()).list()
  if (overviews.length === 0) return []
  const index = await workspace.index()
  return overviews.flatMap((overview) => {
    const session = index.session(overview.state.id)
    return session === undefined ? [] : [{ session, workflow: publicWorkflow(overview) }]
  })
}

/** Other requests wait this long. */
const READING_MS = 200

export async function searchPage(
  { workspace }: OpenedProject,
  text: string,
  limit: number,
): Promise<SearchResults> {
  const hits: SearchResult[] = []
  let unreadBytes: number | undefined
  const query = {
    text,
    limit,
    marks: ['\u0001', '\u0002'],
    readingMs: READING_MS,
    tellUnread: (bytes: number) => (unreadBytes = bytes),
  } as const
  for await (const hit of searchEverywhere(workspace, query)) hits.push(searchLine(hit))
  return { hits, ...defined({ unreadBytes }) }
}

function searchLine(hit: SearchHit | MessageHit) {
  const { where, snippet } = hit
  if (where === 'journal') {
    const { session, name, entry, kind, at } = hit
    return { where, session, sessionName: name, entry, kind, label: kindLabel(kind), at, snippet }
  }
  const { conversation, item, role, at, session, name } = hit
  return {
    where,
    conversation,
    item,
    kind: role,
    label: role,
    snippet,
    ...defined({ at, session, sessionName: name }),
  }
}

interface Slice {
  readonly records: readonly JournalRecord[]
  readonly start: number
  readonly end: number
  readonly size: number
}

interface Line {
  readonly start: number
  readonly records: readonly JournalRecord[]
}

const CHUNK = 256 * 1024
const NEWLINE = 0x0a

/** An incomplete last line is left for the next call. */
export function recordsFrom(place: LogPaths, from: number, limit: number): Slice {
  return withLog(place, (fd, size) => {
    if (from > size || !isLineStart(fd, from)) throw cursorGone()
    const records = new Map<string, JournalRecord>()
    let end = from
    for (let length = CHUNK; end < size && records.size < limit;) {
      const bytes = readRange(fd, end, Math.min(size, end + length))
      let start = 0
      for (let newline = bytes.indexOf(NEWLINE); newline !== -1 && records.size < limit;) {
        for (const record of parseLog(bytes.subarray(start, newline + 1), '').records)
          if (!records.has(record.id)) records.set(record.id, record)
        start = newline + 1
        newline = bytes.indexOf(NEWLINE, start)
      }
      if (start === 0 && end + bytes.length >= size) break
      // The line is longer than the chunk: read more.
      length = start === 0 ? length * 4 : CHUNK
      end += start
    }
    return { records: [...records.values()], start: from, end, size }
  })
}

function recordsBefore(place: LogPaths, before: number | undefined, limit: number) {
  return withLog(place, (fd, size) => {
    const end = before === undefined ? lastLineEnd(fd, size) : before
    if (end > size || !isLineStart(fd, end)) throw cursorGone()
    let start = end
    const pieces: Line[][] = []
    let found = 0
    for (let length = CHUNK; start > 0 && found < limit;) {
      const from = Math.max(0, start - length)
      const bytes = readRange(fd, from, start)
      // The first line may begin before the chunk.
      const first = from === 0 ? 0 : bytes.indexOf(NEWLINE) + 1
      // The chunk is within one line: read more.
      if (from > 0 && (first === 0 || first === bytes.length)) {
        length *= 4
        continue
      }
      const piece = linesIn(bytes.subarray(first), from + first)
      pieces.push(piece)
      found += countIn(piece)
      start = from + first
      length = CHUNK
    }
    const lines = pieces.toReversed().flat()
    let surplus = found - limit
    let skip = 0
    while (skip < lines.length && surplus >= lines[skip]!.records.length)
      surplus -= lines[skip++]!.records.length
    const kept = lines.slice(skip)
    const records = kept.flatMap((line) => line.records)
    return { records, start: skip === 0 ? start : kept[0]!.start, end, size }
  })
}

export function endOfLog(place: LogPaths): { readonly end: number; readonly inode: number } {
  return withLog(place, (fd, size) => ({ end: lastLineEnd(fd, size), inode: fstatSync(fd).ino }))
}

export function toPublicEntries(
  records: readonly JournalRecord[],
  session: string,
  index: SessionIndex,
): readonly PublicEntry[] {
  const retracted = index.retractedEntries(session)
  return records.map((record) =>
    publicEntry(record, retracted.has(record.id), (id) => index.entryText(session, id)),
  )
}

function withLog<T>(place: LogPaths, work: (fd: number, size: number) => T) {
  const fd = openLog(place)
  if (fd === undefined) throw notFoundError('journal of that session')
  try {
    return work(fd, fstatSync(fd).size)
  } finally {
    closeSync(fd)
  }
}

function cursorGone() {
  return new StintError('CURSOR_GONE', 'the journal was rewritten since', 'ask for it anew')
}

function isLineStart(fd: number, offset: number) {
  return offset === 0 || readRange(fd, offset - 1, offset)[0] === NEWLINE
}

function lastLineEnd(fd: number, size: number) {
  for (let end = size; end > 0;) {
    const from = Math.max(0, end - 4096)
    const newline = readRange(fd, from, end).lastIndexOf(NEWLINE)
    if (newline !== -1) return from + newline + 1
    end = from
  }
  return 0
}

function linesIn(bytes: Buffer, from: number) {
  const lines: Line[] = []
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(NEWLINE, start)
    const stop = newline === -1 ? bytes.length : newline + 1
    const { records } = parseLog(bytes.subarray(start, stop), '')
    if (records.length > 0) lines.push({ start: from + start, records })
    start = stop
  }
  return lines
}

function countIn(lines: readonly Line[]) {
  return lines.reduce((sum, { records }) => sum + records.length, 0)
}
