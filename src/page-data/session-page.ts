import { MARKER_PATTERN } from '../document/grammar.ts'
import { renderDocument } from '../document/render.ts'
import type { MessageHit, SearchHit, SessionIndex } from '../index/open-index.ts'
import type { SessionFilter, SessionRow } from '../index/queries.ts'
import { readOrUndefined } from '../journal/read-files.ts'
import type { JournalRecord } from '../journal/record.ts'
import { searchEverywhere } from '../project/search.ts'
import { findSession } from '../project/store/choose-session.ts'
import type { LiveSession } from '../project/store/live-session.ts'
import { logPaths } from '../project/store/project-paths.ts'
import { overviewOf } from '../project/workflow/phases.ts'
import {
  type PublicEntry,
  publicEntry,
  publicSession,
  publicWorkflow,
} from '../public/projection.ts'
import type { Spend } from '../run/entries.ts'
import { addSpend } from '../run/report.ts'
import { ZERO_USAGE } from '../run/run-state.ts'
import { kindLabel } from '../session/registry.ts'
import type { SessionState } from '../session/state.ts'
import { defined } from '../text/defined.ts'
import type {
  EntryList,
  SearchResults,
  SearchResult,
  SessionList,
  SessionPage,
} from './page-types.ts'
import { recordsBefore, recordsFrom } from './log-slices.ts'
import type { OpenedProject } from './project-pool.ts'

export async function listSessions(
  { workspace }: OpenedProject,
  filter: SessionFilter,
): Promise<SessionList> {
  if (!workspace.hasSessions()) return { rows: [], total: 0 }
  const index = await workspace.index()
  return { rows: [...index.sessions(filter)], total: index.countSessions(filter) }
}

/** By id, as the page does, or by name or part of the id, as people do. */
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
    const delegateIds = state.delegates.items.map(({ delegate }) => delegate)
    const delegates = delegateIds.length === 0 ? [] : await project.delegates.list()
    return {
      row,
      state: publicSession(state),
      document: readDocument(session, state, end),
      conversations: lines,
      delegates: delegates.filter(({ id }) => delegateIds.includes(id)),
      spend: lines.reduce<Spend>((sum, { spend }) => addSpend(sum, spend), {
        ...ZERO_USAGE,
        usd: 0,
      }),
      cursor: end,
      ...defined({ workflow: state.workflow && publicWorkflow(overviewOf(workspace, state)) }),
    }
  })
}

/** The file on disk, which may hold unabsorbed edits, unless the journal has grown since. */
function readDocument(session: LiveSession, state: SessionState, end: number) {
  const onDisk = readOrUndefined(session.documentPath(state))?.toString('utf8')
  const marker = MARKER_PATTERN.exec(onDisk?.trimEnd().split('\n').at(-1) ?? '')
  if (onDisk !== undefined && Number(marker?.[1]) === end) return onDisk
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

/** Other requests wait at most this long. */
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
