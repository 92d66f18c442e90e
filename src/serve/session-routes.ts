// Sessions, conversations and search.
import type { Hono } from 'hono'
import {
  promptChoices,
  tokenCurve,
  entryPage,
  listSessions,
  findSessionRow,
  searchPage,
  sessionPage,
} from '../core.ts'
import type {
  PricedConversation,
  ConversationList,
  ConversationPage,
  ServerOverview,
  SessionStatus,
} from './contract.ts'
import { HttpError } from './http-error.ts'
import {
  type Bindings,
  type RequestContext,
  type ServerContext,
  queryNumber,
  requestedProject,
  queryText,
} from './request.ts'
import { defined } from '../text/defined.ts'

const STATUSES: readonly SessionStatus[] = ['active', 'paused', 'completed', 'abandoned']
const SORTS = ['updated', 'created', 'name'] as const
const MAX_ROWS = 500
const MAX_ENTRIES = 500
const MAX_HITS = 200
const MAX_ITEMS = 500
/** Each may have to be read in full. */
const MAX_CONVERSATIONS = 50

export function sessionRoutes(app: Hono<Bindings>, context: ServerContext): void {
  const { eventHub, projects, version } = context

  app.get('/api/overview', async (c) =>
    c.json({
      version,
      here: projects.here,
      projects: projects.rows(),
      ...(await promptChoices(projects.get(undefined).workspace)),
    } satisfies ServerOverview),
  )

  app.get('/api/search', async (c) => {
    const project = requestedProject(context, c)
    const text = queryText(c, 'text')
    if (text === undefined)
      throw new HttpError(400, 'EMPTY_TEXT', 'there is nothing to search for', '?text=WORDS')
    const limit = queryNumber(c, 'limit', { min: 1, max: MAX_HITS }) ?? 50
    return c.json(await searchPage(project, text, limit))
  })

  app.get('/api/sessions', async (c) => {
    const project = requestedProject(context, c)
    return c.json(await listSessions(project, sessionFilter(c)))
  })

  app.get('/api/sessions/:id', async (c) => {
    const project = requestedProject(context, c)
    const row = await findSessionRow(project, c.req.param('id'))
    eventHub.follow(project.key, row.id)
    return c.json(await sessionPage(project, row))
  })

  app.get('/api/sessions/:id/entries', async (c) => {
    const project = requestedProject(context, c)
    const { id } = await findSessionRow(project, c.req.param('id'))
    const limit = queryNumber(c, 'limit', { min: 1, max: MAX_ENTRIES }) ?? 100
    const [from, before] = [queryNumber(c, 'from'), queryNumber(c, 'before')]
    eventHub.follow(project.key, id)
    return c.json(await entryPage(project, id, { limit, ...defined({ from, before }) }))
  })

  app.get('/api/conversations', async (c) => {
    const { conversations } = requestedProject(context, c)
    const limit = queryNumber(c, 'limit', { max: MAX_CONVERSATIONS }) ?? MAX_CONVERSATIONS
    const offset = queryNumber(c, 'offset') ?? 0
    const stored = conversations
      .stored()
      .toSorted((a, b) => (a.writtenAt < b.writtenAt ? 1 : a.writtenAt > b.writtenAt ? -1 : 0))
    const rows: PricedConversation[] = []
    // One by one, so that other requests are served in between.
    for (const { id } of stored.slice(offset, offset + limit))
      rows.push(await conversations.row(id))
    return c.json({ rows, total: stored.length } satisfies ConversationList)
  })

  app.get('/api/conversations/:id', async (c) => {
    const { conversations } = requestedProject(context, c)
    const limit = queryNumber(c, 'limit', { min: 1, max: MAX_ITEMS }) ?? 100
    const index = await conversations.read(c.req.param('id'))
    const { total, requests, compactions } = index
    const from = Math.min(queryNumber(c, 'from') ?? 0, total)
    const known = queryNumber(c, 'known') ?? 0
    const requestsFrom = known > requests.length ? 0 : known
    return c.json({
      line: await conversations.row(index.id),
      items: index.items(from, limit),
      from,
      total,
      compactions: compactions.map(({ number }) => number),
      requests: requests.slice(requestsFrom),
      requestsFrom,
    } satisfies ConversationPage)
  })

  app.get('/api/conversations/:id/curve', async (c) => {
    const { conversations, workspace } = requestedProject(context, c)
    return c.json(tokenCurve(workspace, await conversations.read(c.req.param('id'))))
  })
}

function sessionFilter(c: RequestContext) {
  const status = queryText(c, 'status')?.split(',')
  const unknown = status?.find((one) => !STATUSES.includes(one as SessionStatus))
  if (unknown !== undefined)
    throw new HttpError(
      400,
      'NO_STATUS',
      `there is no status "${unknown}"`,
      `there are ${STATUSES.join(', ')}`,
    )
  const sort = SORTS.find((order) => order === queryText(c, 'sort'))
  if (sort === undefined && queryText(c, 'sort') !== undefined)
    throw new HttpError(400, 'NO_ORDER', 'there is no such order', `there are ${SORTS.join(', ')}`)
  return {
    limit: queryNumber(c, 'limit', { max: MAX_ROWS }) ?? 50,
    offset: queryNumber(c, 'offset') ?? 0,
    ...defined({
      status: status as readonly SessionStatus[] | undefined,
      sort,
      text: queryText(c, 'text'),
      name: queryText(c, 'name'),
      branch: queryText(c, 'branch'),
    }),
  }
}
