// Runs, delegates, workflows, the backlog, handoffs, and what all of it used and cost.
import type { Hono } from 'hono'
import {
  LedgerCache,
  UsageByDay,
  approveOrReject,
  delegatePage,
  handoffPage,
  listAllHandoffs,
  listWorkflowRows,
  runDelegateAction,
  readStatus,
  findSessionRow,
  runPage,
} from '../core.ts'
import { publicTask } from '../public.ts'
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
const TEXTS = [
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
const LISTS = ['labels', 'dependsOn'] as const
const MOST_DAYS = 366

export function workRoutes(app: Hono<Bindings>, context: ServerContext): void {
  const usage = new Map<string, UsageByDay>()
  const ledgers = new LedgerCache((project) => context.eventHub.versionOf(project))

  app.get('/api/runs', async (asked) =>
    asked.json(await requestedProject(context, asked).runs.list()),
  )

  app.get('/api/runs/:id', async (asked) =>
    asked.json(await runPage(requestedProject(context, asked), asked.req.param('id'))),
  )

  app.get('/api/delegates', async (asked) =>
    asked.json(await requestedProject(context, asked).delegates.list()),
  )

  app.get('/api/delegates/:id', async (asked) =>
    asked.json(await delegatePage(requestedProject(context, asked), asked.req.param('id'))),
  )

  app.post('/api/delegates/:id/:how', async (asked) => {
    const project = requestedProject(context, asked)
    const note = bodyText(await readBody(asked), 'note')
    const { id, how } = asked.req.param()
    return asked.json(await runDelegateAction(project, id, how, note, context.ending))
  })

  app.get('/api/workflows', async (asked) =>
    asked.json(await listWorkflowRows(requestedProject(context, asked))),
  )

  app.post('/api/workflows/:session/:how', async (asked) => {
    const project = requestedProject(context, asked)
    const { session, how } = asked.req.param()
    const { id } = await findSessionRow(project, session)
    const note = bodyText(await readBody(asked), 'note')
    return asked.json(await approveOrReject(project, id, how, note))
  })

  app.get('/api/tasks', async (asked) => {
    const { tasks } = await requestedProject(context, asked).project.tasks.list()
    return asked.json(tasks.map(publicTask) satisfies BacklogTasks)
  })

  app.post('/api/tasks', async (asked) => {
    const { project } = requestedProject(context, asked)
    const body = await readBody(asked)
    const fields = {
      ...Object.fromEntries(TEXTS.map((name) => [name, bodyText(body, name)])),
      ...Object.fromEntries(LISTS.map((name) => [name, bodyTexts(body, name)])),
    }
    const title = bodyText(body, 'title') ?? ''
    return asked.json(publicTask(await project.tasks.add({ title, by: BY, ...defined(fields) })))
  })

  app.post('/api/tasks/:id/status', async (asked) => {
    const { project } = requestedProject(context, asked)
    const body = await readBody(asked)
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
    return asked.json(publicTask(await project.tasks.move(asked.req.param('id'), status, options)))
  })

  app.get('/api/handoffs', async (asked) =>
    asked.json(await listAllHandoffs(requestedProject(context, asked))),
  )

  app.get('/api/handoffs/:id', async (asked) =>
    asked.json(await handoffPage(requestedProject(context, asked), asked.req.param('id'))),
  )

  app.get('/api/usage', async (asked) => {
    const project = requestedProject(context, asked)
    const known = usage.get(project.key) ?? new UsageByDay()
    usage.set(project.key, known)
    return asked.json(await known.report(project, daysIn(asked) ?? 30))
  })

  app.get('/api/ledger', async (asked) => {
    const project = requestedProject(context, asked)
    const name = queryText(asked, 'session')
    const session = name === undefined ? undefined : (await findSessionRow(project, name)).id
    const scope = defined({ session, days: daysIn(asked) })
    return asked.json((await ledgers.get(project, scope)) satisfies LedgerReport)
  })
}

function daysIn(asked: RequestContext) {
  return queryNumber(asked, 'days', { least: 1, most: MOST_DAYS })
}
