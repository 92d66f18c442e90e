// Runs, delegates, workflows, the backlog, handoffs, and what all of it used and cost.
import type { Hono } from 'hono'
import {
  KeptLedgers,
  UsageByDay,
  decideWorkflow,
  delegatePage,
  handoffPage,
  listHandoffs,
  listWorkflows,
  moveDelegate,
  readStatus,
  rowOfSession,
  runPage,
} from '../core.ts'
import { publicTask } from '../public.ts'
import type { Backlog, LedgerAnswer } from './contract.ts'
import { Refused } from './problem.ts'
import {
  type Bindings,
  type Request,
  type ServerContext,
  bodyOf,
  numberIn,
  projectIn,
  textIn,
  textOf,
  textsOf,
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
  const ledgers = new KeptLedgers((project) => context.live.stampOf(project))

  app.get('/api/runs', async (asked) => asked.json(await projectIn(context, asked).runs.list()))

  app.get('/api/runs/:id', async (asked) =>
    asked.json(await runPage(projectIn(context, asked), asked.req.param('id'))),
  )

  app.get('/api/delegates', async (asked) =>
    asked.json(await projectIn(context, asked).delegates.list()),
  )

  app.get('/api/delegates/:id', async (asked) =>
    asked.json(await delegatePage(projectIn(context, asked), asked.req.param('id'))),
  )

  app.post('/api/delegates/:id/:how', async (asked) => {
    const project = projectIn(context, asked)
    const note = textOf(await bodyOf(asked), 'note')
    const { id, how } = asked.req.param()
    return asked.json(await moveDelegate(project, id, how, note, context.ending))
  })

  app.get('/api/workflows', async (asked) =>
    asked.json(await listWorkflows(projectIn(context, asked))),
  )

  app.post('/api/workflows/:session/:how', async (asked) => {
    const project = projectIn(context, asked)
    const { session, how } = asked.req.param()
    const { id } = await rowOfSession(project, session)
    const note = textOf(await bodyOf(asked), 'note')
    return asked.json(await decideWorkflow(project, id, how, note))
  })

  app.get('/api/tasks', async (asked) => {
    const { tasks } = await projectIn(context, asked).project.tasks.list()
    return asked.json(tasks.map(publicTask) satisfies Backlog)
  })

  app.post('/api/tasks', async (asked) => {
    const { project } = projectIn(context, asked)
    const body = await bodyOf(asked)
    const fields = {
      ...Object.fromEntries(TEXTS.map((name) => [name, textOf(body, name)])),
      ...Object.fromEntries(LISTS.map((name) => [name, textsOf(body, name)])),
    }
    const title = textOf(body, 'title') ?? ''
    return asked.json(publicTask(await project.tasks.add({ title, by: BY, ...defined(fields) })))
  })

  app.post('/api/tasks/:id/status', async (asked) => {
    const { project } = projectIn(context, asked)
    const body = await bodyOf(asked)
    const status = readStatus(body['status'])
    if (status === undefined)
      throw new Refused(
        400,
        'NO_STATUS',
        'a task has no such status',
        'there are ready, in_progress, blocked, completed, failed',
      )
    const summary = textOf(body, 'note')
    const options = { by: BY, ...defined({ summary }) }
    return asked.json(publicTask(await project.tasks.move(asked.req.param('id'), status, options)))
  })

  app.get('/api/handoffs', async (asked) =>
    asked.json(await listHandoffs(projectIn(context, asked))),
  )

  app.get('/api/handoffs/:id', async (asked) =>
    asked.json(await handoffPage(projectIn(context, asked), asked.req.param('id'))),
  )

  app.get('/api/usage', async (asked) => {
    const project = projectIn(context, asked)
    const known = usage.get(project.key) ?? new UsageByDay()
    usage.set(project.key, known)
    return asked.json(await known.answer(project, daysIn(asked) ?? 30))
  })

  app.get('/api/ledger', async (asked) => {
    const project = projectIn(context, asked)
    const name = textIn(asked, 'session')
    const session = name === undefined ? undefined : (await rowOfSession(project, name)).id
    const scope = defined({ session, days: daysIn(asked) })
    return asked.json((await ledgers.answer(project, scope)) satisfies LedgerAnswer)
  })
}

function daysIn(asked: Request) {
  return numberIn(asked, 'days', { least: 1, most: MOST_DAYS })
}
