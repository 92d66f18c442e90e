import { knownProjects } from '../index/projects.ts'
import type { MessageHit, SearchHit, SessionIndex } from '../index/open-index.ts'
import type { SearchQuery } from '../index/queries.ts'
import { Workspace } from './store/workspace.ts'

export interface SearchRequest extends SearchQuery {
  /** Both by default. */
  readonly in?: 'journal' | 'said' | 'all'
  readonly allProjects?: boolean
  /** Milliseconds for indexing new conversations. */
  readonly readingMs?: number
  /** Receives the bytes not indexed yet; default: a notice. */
  readonly tellUnread?: (bytes: number) => void
}

const READING_MS = 3_000

export async function* searchEverywhere(
  workspace: Workspace,
  request: SearchRequest,
): AsyncIterable<SearchHit | MessageHit> {
  const { allProjects, ...query } = request
  yield* searchProject(workspace, query)
  if (allProjects !== true) return
  for (const root of knownProjects().filter((known) => known !== workspace.paths.root)) {
    const other = new Workspace(root, { say: (line) => workspace.say(`${root}: ${line}`) })
    yield* searchProject(other, query)
    other.close()
  }
}

async function* searchProject(
  workspace: Workspace,
  request: SearchRequest,
): AsyncIterable<SearchHit | MessageHit> {
  const {
    in: where = 'all',
    readingMs = READING_MS,
    tellUnread = (bytes) => sayUnread(workspace, bytes),
    ...query
  } = request
  if (!workspace.hasSessions() && !workspace.hasConversations()) return
  const index = await workspace.index()
  const isSaid = where !== 'journal' && query.kind === undefined && workspace.hasConversations()
  if (isSaid) {
    const { bytesLeft } = index.syncMessages(readingMs)
    if (bytesLeft > 0) tellUnread(bytesLeft)
  }
  if (!isSaid) yield* where === 'said' ? [] : index.search(query)
  else if (where === 'said') yield* index.searchMessages(query)
  else yield* inTurn(index, query)
}

function sayUnread(workspace: Workspace, bytes: number) {
  const left = `${Math.max(1, Math.round(bytes / 1_000_000))} MB`
  workspace.say(`${left} of what was said have not been read yet; the next search reads on`)
}

/** Alternates: ranks of the two kinds cannot be compared. */
function* inTurn(index: SessionIndex, query: SearchQuery): Generator<SearchHit | MessageHit> {
  const { limit = Infinity, offset = 0, ...rest } = query
  const most = { ...rest, ...(Number.isFinite(limit) ? { limit: limit + offset } : {}) }
  let kinds: readonly Iterator<SearchHit | MessageHit>[] = [
    index.search(most),
    index.searchMessages(most),
  ]
  let number = 0
  try {
    while (kinds.length > 0) {
      for (const kind of kinds) {
        const { done, value } = kind.next()
        if (done === true) kinds = kinds.filter((other) => other !== kind)
        else {
          number += 1
          if (number > offset + limit) return
          if (number > offset) yield value
        }
      }
    }
  } finally {
    for (const kind of kinds) kind.return?.()
  }
}
