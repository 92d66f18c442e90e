// Sessions, conversations and the search.
import type { Hono } from 'hono'
import {
  HarnessAvailability,
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
const MOST_ROWS = 500
const MOST_ENTRIES = 500
const MOST_HITS = 200
const MOST_ITEMS = 500
/** Each may have to be read whole. */
const MOST_LINES = 50

export function sessionRoutes(app: Hono<Bindings>, context: ServerContext): void {
  const { env, eventHub: live, projects, version } = context
  const harnesses = new HarnessAvailability(() => projects.get(undefined).workspace, env)

  app.get('/api/overview', async (asked) =>
    asked.json({
      version,
      here: projects.here,
      projects: projects.rows(),
      harnesses: await harnesses.rows(),
    } satisfies ServerOverview),
  )

  app.get('/api/search', async (asked) => {
    const project = requestedProject(context, asked)
    const text = queryText(asked, 'text')
    if (text === undefined)
      throw new HttpError(400, 'EMPTY_TEXT', 'there is nothing to search for', '?text=WORDS')
    const limit = queryNumber(asked, 'limit', { least: 1, most: MOST_HITS }) ?? 50
    return asked.json(await searchPage(project, text, limit))
  })

  app.get('/api/sessions', async (asked) => {
    const project = requestedProject(context, asked)
    return asked.json(await listSessions(project, filterIn(asked)))
  })

  app.get('/api/sessions/:id', async (asked) => {
    const project = requestedProject(context, asked)
    const row = await findSessionRow(project, asked.req.param('id'))
    live.follow(project.key, row.id)
    return asked.json(await sessionPage(project, row))
  })

  app.get('/api/sessions/:id/entries', async (asked) => {
    const project = requestedProject(context, asked)
    const { id } = await findSessionRow(project, asked.req.param('id'))
    const limit = queryNumber(asked, 'limit', { least: 1, most: MOST_ENTRIES }) ?? 100
    const [from, before] = [queryNumber(asked, 'from'), queryNumber(asked, 'before')]
    live.follow(project.key, id)
    return asked.json(await entryPage(project, id, { limit, ...defined({ from, before }) }))
  })

  app.get('/api/conversations', async (asked) => {
    const { conversations } = requestedProject(context, asked)
    const limit = queryNumber(asked, 'limit', { most: MOST_LINES }) ?? MOST_LINES
    const offset = queryNumber(asked, 'offset') ?? 0
    const all = conversations
      .stored()
      .toSorted((a, b) => (a.writtenAt < b.writtenAt ? 1 : a.writtenAt > b.writtenAt ? -1 : 0))
    const rows: PricedConversation[] = []
    // In sequence, so that other requests are answered in between.
    for (const { id } of all.slice(offset, offset + limit)) rows.push(await conversations.row(id))
    return asked.json({ rows, total: all.length } satisfies ConversationList)
  })

  app.get('/api/conversations/:id', async (asked) => {
    const { conversations } = requestedProject(context, asked)
    const limit = queryNumber(asked, 'limit', { least: 1, most: MOST_ITEMS }) ?? 100
    const index = await conversations.read(asked.req.param('id'))
    const { total, requests, compactions } = index
    const from = Math.min(queryNumber(asked, 'from') ?? 0, total)
    const known = queryNumber(asked, 'known') ?? 0
    const requestsFrom = known > requests.length ? 0 : known
    return asked.json({
      line: await conversations.row(index.id),
      items: index.items(from, limit),
      from,
      total,
      compactions: compactions.map(({ number }) => number),
      requests: requests.slice(requestsFrom),
      requestsFrom,
    } satisfies ConversationPage)
  })

  app.get('/api/conversations/:id/curve', async (asked) => {
    const { conversations, workspace } = requestedProject(context, asked)
    return asked.json(tokenCurve(workspace, await conversations.read(asked.req.param('id'))))
  })
}

function filterIn(asked: RequestContext) {
  const status = queryText(asked, 'status')?.split(',')
  const unknown = status?.find((one) => !STATUSES.includes(one as SessionStatus))
  if (unknown !== undefined)
    throw new HttpError(
      400,
      'NO_STATUS',
      `there is no status "${unknown}"`,
      `there are ${STATUSES.join(', ')}`,
    )
  const sort = SORTS.find((order) => order === queryText(asked, 'sort'))
  if (sort === undefined && queryText(asked, 'sort') !== undefined)
    throw new HttpError(400, 'NO_ORDER', 'there is no such order', `there are ${SORTS.join(', ')}`)
  return {
    limit: queryNumber(asked, 'limit', { most: MOST_ROWS }) ?? 50,
    offset: queryNumber(asked, 'offset') ?? 0,
    ...defined({
      status: status as readonly SessionStatus[] | undefined,
      sort,
      text: queryText(asked, 'text'),
      name: queryText(asked, 'name'),
      branch: queryText(asked, 'branch'),
    }),
  }
}
