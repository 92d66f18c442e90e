// Documents that a client may show or attach without a tool being called.
import {
  type ListResourcesResult,
  type ReadResourceResult,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server'
import type { Project, SessionRow } from '../library.ts'
import { StintError } from '../public.ts'
import { clipText } from './tools/clip-output.ts'

const MARKDOWN = 'text/markdown'

/** How the addresses of documents are made. */
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

const PAGE = 50
const LONGEST_DOCUMENT = 100_000
/** The list of sessions, then the sessions, the latest first, each with its latest handoff. */
export async function listResources(
  project: Project,
  cursor: string | undefined,
): Promise<ListResourcesResult> {
  const offset = /^\d{1,9}$/.test(cursor ?? '') ? Number(cursor) : 0
  const rows = [...(await project.list({ limit: PAGE + 1, offset }))]
  const page = rows.slice(0, PAGE)
  const all = {
    uri: 'stint://sessions',
    name: 'sessions',
    description: 'All sessions of this project',
    mimeType: 'application/json',
  }
  const documents = await Promise.all(page.map((row) => documentsOf(project, row)))
  return {
    resources: [...(offset === 0 ? [all] : []), ...documents.flat()],
    ...(rows.length > PAGE ? { nextCursor: String(offset + PAGE) } : {}),
  }
}

async function documentsOf(
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
      return sessionsAsJson(uri, await project.list({ limit: PAGE * 4 }))
    if (kind === 'session' && first !== undefined && second === undefined) {
      return asMarkdown(uri, await project.document(decodeURIComponent(first)))
    }
    if (kind === 'handoff' && first !== undefined && second !== undefined) {
      const { handoff } = await project.handoffs.show({
        handoff: `${decodeURIComponent(first)}/${second}`,
      })
      return asMarkdown(uri, handoff.document)
    }
  } catch (error) {
    if (!(error instanceof StintError) || !MISSING.has(error.code)) throw error
    throw new ResourceNotFoundError(uri, error.message)
  }
  throw new ResourceNotFoundError(
    uri,
    `there is no ${uri}; there are stint://sessions, stint://session/ID and stint://handoff/SESSION/NUMBER`,
  )
}

const MISSING: ReadonlySet<string> = new Set(['NO_SESSION', 'NO_HANDOFF', 'SESSION_AMBIGUOUS'])

function asMarkdown(uri: string, text: string): ReadResourceResult {
  return { contents: [{ uri, mimeType: MARKDOWN, text: clipText(text, LONGEST_DOCUMENT) }] }
}

function sessionsAsJson(uri: string, rows: Iterable<SessionRow>): ReadResourceResult {
  const told = [...rows].map(({ id, name, status, branch, goal, updatedAt }) => ({
    uri: `stint://session/${id}`,
    id,
    name,
    status,
    branch,
    goal: clipText(goal, 300),
    updatedAt,
  }))
  return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(told) }] }
}
