// Documents that a client may show or attach without a tool call.
import {
  type ListResourcesResult,
  type ReadResourceResult,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server'
import type { SessionRow } from '../library.ts'
import type { Project } from '../core.ts'
import { StintError } from '../public/projection.ts'
import { clipText } from './tools/clip-output.ts'

const MARKDOWN = 'text/markdown'

export const RESOURCE_TEMPLATES = [
  {
    name: 'session',
    uriTemplate: 'stint://session/{id}',
    description: 'The document of a session',
    mimeType: MARKDOWN,
  },
  {
    name: 'handoff',
    uriTemplate: 'stint://handoff/{session}/{number}',
    description: 'A handoff as it was recorded',
    mimeType: MARKDOWN,
  },
]

const PAGE_SIZE = 50
const MAX_DOCUMENT_LENGTH = 100_000
/** The list of sessions, then each session, newest first, with its latest handoff. */
export async function listResources(
  project: Project,
  cursor: string | undefined,
): Promise<ListResourcesResult> {
  const offset = /^\d{1,9}$/.test(cursor ?? '') ? Number(cursor) : 0
  const rows = [...(await project.list({ limit: PAGE_SIZE + 1, offset }))]
  const page = rows.slice(0, PAGE_SIZE).filter(({ id }) => !project.trust.refuses(id))
  const sessionList = {
    uri: 'stint://sessions',
    name: 'sessions',
    description: 'All sessions of this project',
    mimeType: 'application/json',
  }
  const documents = await Promise.all(page.map((row) => resourcesOfSession(project, row)))
  return {
    resources: [...(offset === 0 ? [sessionList] : []), ...documents.flat()],
    ...(rows.length > PAGE_SIZE ? { nextCursor: String(offset + PAGE_SIZE) } : {}),
  }
}

async function resourcesOfSession(
  project: Project,
  { id, name, status, goal }: SessionRow,
): Promise<ListResourcesResult['resources']> {
  const session = {
    uri: `stint://session/${id}`,
    name,
    description: clipText(`${status}: ${goal}`, 300),
    mimeType: MARKDOWN,
  }
  const latest = (await project.open(id)).handoffs.items.at(-1)
  if (latest === undefined) return [session]
  const handoff = {
    uri: `stint://handoff/${id}/${latest.number}`,
    name: `${name}/${latest.number}`,
    description: clipText(`handoff: ${latest.text}`, 300),
    mimeType: MARKDOWN,
  }
  return [session, handoff]
}

export async function readResource(project: Project, uri: string): Promise<ReadResourceResult> {
  const [, kind, first, second] =
    /^stint:\/\/(session|handoff|sessions)(?:\/([^/?#]+))?(?:\/(\d+))?$/.exec(uri) ?? []
  try {
    if (kind === 'sessions' && first === undefined)
      return sessionsResource(
        uri,
        [...(await project.list({ limit: PAGE_SIZE * 4 }))].filter(
          ({ id }) => !project.trust.refuses(id),
        ),
      )
    // What a stranger recorded does not reach a model before the user agreed.
    if (
      first !== undefined &&
      project.trust.refuses((await project.find(decodeURIComponent(first))).id)
    )
      throw new ResourceNotFoundError(
        uri,
        `${uri} came with the repository; stint trust asks the user whether to use it`,
      )
    if (kind === 'session' && first !== undefined && second === undefined) {
      return markdownResource(uri, await project.document(decodeURIComponent(first)))
    }
    if (kind === 'handoff' && first !== undefined && second !== undefined) {
      const { handoff } = await project.handoffs.show({
        handoff: `${decodeURIComponent(first)}/${second}`,
      })
      return markdownResource(uri, handoff.document)
    }
  } catch (error) {
    if (!(error instanceof StintError) || !NOT_FOUND_CODES.has(error.code)) throw error
    throw new ResourceNotFoundError(uri, error.message)
  }
  throw new ResourceNotFoundError(
    uri,
    `there is no ${uri}; there are stint://sessions, stint://session/ID and stint://handoff/SESSION/NUMBER`,
  )
}

const NOT_FOUND_CODES: ReadonlySet<string> = new Set([
  'NO_SESSION',
  'NO_HANDOFF',
  'SESSION_AMBIGUOUS',
])

function markdownResource(uri: string, text: string): ReadResourceResult {
  return { contents: [{ uri, mimeType: MARKDOWN, text: clipText(text, MAX_DOCUMENT_LENGTH) }] }
}

function sessionsResource(uri: string, rows: Iterable<SessionRow>): ReadResourceResult {
  const sessions = [...rows].map(({ id, name, status, branch, goal, updatedAt }) => ({
    uri: `stint://session/${id}`,
    id,
    name,
    status,
    branch,
    goal: clipText(goal, 300),
    updatedAt,
  }))
  return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(sessions) }] }
}
