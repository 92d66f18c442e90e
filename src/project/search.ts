import { StintError } from '../journal/errors.ts'
import { knownProjects } from '../index/projects.ts'
import type { MessageHit, SearchHit, SessionIndex } from '../index/open-index.ts'
import type { SearchQuery } from '../index/queries.ts'
import { conversationsFromElsewhere } from './history/conversation-origin.ts'
import { isRefusedJournal } from './store/project-paths.ts'
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

const INDEXING_MS = 3_000

export async function* searchEverywhere(
  workspace: Workspace,
  request: SearchRequest,
): AsyncIterable<SearchHit | MessageHit> {
  const { allProjects, ...query } = request
  yield* searchProject(workspace, query)
  if (allProjects !== true) return
  for (const root of knownProjects().filter((known) => known !== workspace.paths.root)) {
    const say = (line: string) => workspace.say(`${root}: ${line}`)
    try {
      const other = new Workspace(root, { say })
      yield* searchProject(other, query)
      other.close()
    } catch (error) {
      // The other projects are searched all the same.
      if (!(error instanceof StintError)) throw error
      say(error.message)
    }
  }
}

async function* searchProject(
  workspace: Workspace,
  request: SearchRequest,
): AsyncIterable<SearchHit | MessageHit> {
  const {
    in: where = 'all',
    readingMs = INDEXING_MS,
    tellUnread = (bytes) => reportUnread(workspace, bytes),
    ...query
  } = request
  if (!workspace.hasSessions() && !workspace.hasConversations()) return
  const index = await workspace.index()
  const searchesMessages =
    where !== 'journal' && query.kind === undefined && workspace.hasConversations()
  if (searchesMessages) {
    const { bytesLeft } = index.syncMessages(readingMs)
    if (bytesLeft > 0) tellUnread(bytesLeft)
  }
  const found = searchesMessages
    ? where === 'said'
      ? index.searchMessages(query)
      : alternate(index, query)
    : where === 'said'
      ? []
      : index.search(query)
  const { paths } = workspace
  const refused = new Map<string, boolean>()
  const isRefused = (id: string) => {
    if (!refused.has(id)) refused.set(id, isRefusedJournal(paths, id))
    return refused.get(id)!
  }
  let isForeignFile: ((conversation: string) => boolean) | undefined
  for (const hit of found) {
    const isFromElsewhere =
      (hit.session !== undefined && isRefused(hit.session)) ||
      (hit.where === 'said' &&
        (isForeignFile ??= conversationsFromElsewhere(paths))(hit.conversation))
    yield isFromElsewhere ? { ...hit, isFromElsewhere } : hit
  }
}

function reportUnread(workspace: Workspace, bytes: number) {
  const unread = `${Math.max(1, Math.round(bytes / 1_000_000))} MB`
  workspace.say(`${unread} of what was said have not been read yet; the next search reads on`)
}

/** The ranks of entries and messages cannot be compared. */
function* alternate(index: SessionIndex, query: SearchQuery): Generator<SearchHit | MessageHit> {
  const { limit = Infinity, offset = 0, ...rest } = query
  const wanted = { ...rest, ...(Number.isFinite(limit) ? { limit: limit + offset } : {}) }
  let sources: readonly Iterator<SearchHit | MessageHit>[] = [
    index.search(wanted),
    index.searchMessages(wanted),
  ]
  let count = 0
  try {
    while (sources.length > 0) {
      for (const source of sources) {
        const { done, value } = source.next()
        if (done === true) sources = sources.filter((other) => other !== source)
        else {
          count += 1
          if (count > offset + limit) return
          if (count > offset) yield value
        }
      }
    }
  } finally {
    for (const source of sources) source.return?.()
  }
}
