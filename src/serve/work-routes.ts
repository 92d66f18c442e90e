// Runs, delegates, workflows, the backlog, handoffs, usage and the ledger.
import type { Hono } from 'hono'
import {
  LedgerCache,
  UsageByDay,
  approveOrReject,
  delegatePage,
  handoffPage,
  listAllHandoffs,
  listWorkflowRows,
  pageTask,
  runDelegateAction,
  readStatus,
  findSessionRow,
  runPage,
} from '../core.ts'
import type { BacklogTasks, LedgerReport } from './contract.ts'
import { HttpError } from './http-error.ts'
import {
  type Bindings,
  type RequestContext,
  type ServerContext,
  readBody,
  queryNumber,
  requestedProject,
  queryText,
  bodyText,
  bodyTexts,
} from './request.ts'
import { defined } from '../text/defined.ts'

const BY = 'page'
const TEXT_FIELDS = [
  'shortname',
  'description',
  'details',
  'priority',
  'size',
  'parent',
  'group',
  'assignee',
  'verify',
] as const
const LIST_FIELDS = ['labels', 'dependsOn'] as const
const MAX_DAYS = 366

export function workRoutes(app: Hono<Bindings>, context: ServerContext): void {
  const usageByProject = new Map<string, UsageByDay>()
  const ledgers = new LedgerCache((project) => context.eventHub.versionOf(project))

  app.get('/api/runs', async (c) => c.json(await requestedProject(context, c).runs.list()))

  app.get('/api/runs/:id', async (c) =>
    c.json(await runPage(requestedProject(context, c), c.req.param('id'))),
  )

  app.get('/api/delegates', async (c) =>
    c.json(await requestedProject(context, c).delegates.list()),
  )

  app.get('/api/delegates/:id', async (c) =>
    c.json(await delegatePage(requestedProject(context, c), c.req.param('id'))),
  )

  app.post('/api/delegates/:id/:how', async (c) => {
    const project = requestedProject(context, c)
    const note = bodyText(await readBody(c), 'note')
    const { id, how } = c.req.param()
    return c.json(await runDelegateAction(project, id, how, note, context.ending))
  })

  app.get('/api/workflows', async (c) =>
    c.json(await listWorkflowRows(requestedProject(context, c))),
  )

  app.post('/api/workflows/:session/:how', async (c) => {
    const project = requestedProject(context, c)
    const { session, how } = c.req.param()
    const { id } = await findSessionRow(project, session)
    const note = bodyText(await readBody(c), 'note')
    return c.json(await approveOrReject(project, id, how, note))
  })

  app.get('/api/tasks', async (c) => {
    const { project, workspace } = requestedProject(context, c)
    const { tasks } = await project.tasks.list()
    return c.json(tasks.map((task) => pageTask(workspace, task)) satisfies BacklogTasks)
  })

  app.post('/api/tasks', async (c) => {
    const { project, workspace } = requestedProject(context, c)
    const body = await readBody(c)
    const fields = {
      ...Object.fromEntries(TEXT_FIELDS.map((name) => [name, bodyText(body, name)])),
      ...Object.fromEntries(LIST_FIELDS.map((name) => [name, bodyTexts(body, name)])),
    }
    const title = bodyText(body, 'title') ?? ''
    const task = await project.tasks.add({ title, by: BY, ...defined(fields) })
    return c.json(pageTask(workspace, task))
  })

  app.post('/api/tasks/:id/status', async (c) => {
    const { project, workspace } = requestedProject(context, c)
    const body = await readBody(c)
    const status = readStatus(body['status'])
    if (status === undefined)
      throw new HttpError(
        400,
        'NO_STATUS',
        'a task has no such status',
        'there are ready, in_progress, blocked, completed, failed',
      )
    const summary = bodyText(body, 'note')
    const options = { by: BY, ...defined({ summary }) }
    return c.json(pageTask(workspace, await project.tasks.move(c.req.param('id'), status, options)))
  })

  app.get('/api/handoffs', async (c) => c.json(await listAllHandoffs(requestedProject(context, c))))

  app.get('/api/handoffs/:id', async (c) =>
    c.json(await handoffPage(requestedProject(context, c), c.req.param('id'))),
  )

  app.get('/api/usage', async (c) => {
    const project = requestedProject(context, c)
    const usageByDay = usageByProject.get(project.key) ?? new UsageByDay()
    usageByProject.set(project.key, usageByDay)
    return c.json(await usageByDay.report(project, queryDays(c) ?? 30))
  })

  app.get('/api/ledger', async (c) => {
    const project = requestedProject(context, c)
    const name = queryText(c, 'session')
    const session = name === undefined ? undefined : (await findSessionRow(project, name)).id
    const scope = defined({ session, days: queryDays(c) })
    return c.json((await ledgers.get(project, scope)) satisfies LedgerReport)
  })
}

function queryDays(c: RequestContext) {
  return queryNumber(c, 'days', { min: 1, max: MAX_DAYS })
}
