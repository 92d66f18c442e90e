import type { Hono } from 'hono'
import { refuseOtherChoices } from '../core.ts'
import { HttpError } from './http-error.ts'
import {
  type Bindings,
  type ServerContext,
  readBody,
  bodyFlag,
  queryNumber,
  requestedProject,
  queryText,
  bodyText,
} from './request.ts'
import { defined } from '../text/defined.ts'
import type { Permissions } from './contract.ts'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { setSecurityHeaders } from './guard.ts'

const PERMISSIONS: readonly Permissions[] = ['ask', 'edits', 'all']

export function promptRoutes(app: Hono<Bindings>, context: ServerContext): void {
  const { prompts } = context

  app.post('/api/prompts', async (c) => {
    const project = requestedProject(context, c)
    const body = await readBody(c)
    const text = bodyText(body, 'text') ?? ''
    if (text.trim() === '')
      throw new HttpError(400, 'EMPTY_TEXT', 'there is nothing to send', '{"text": "…"}')
    const permissionsText = bodyText(body, 'permissions')
    const permissions = PERMISSIONS.find((one) => one === permissionsText)
    if (permissionsText !== undefined && permissions === undefined) {
      throw new HttpError(
        400,
        'WRONG_FIELD',
        'there are no such permissions',
        `there are ${PERMISSIONS.join(', ')}`,
      )
    }
    const promptRequest = {
      text,
      ...defined({
        session: bodyText(body, 'session'),
        isNew: bodyFlag(body, 'isNew'),
        conversation: bodyText(body, 'conversation'),
        isFresh: bodyFlag(body, 'isFresh'),
        harness: bodyText(body, 'harness'),
        model: bodyText(body, 'model'),
        permissions,
      }),
    }
    refuseOtherChoices(project.workspace, promptRequest)
    const hold = () => context.projects.hold(project.key)
    return c.json(await prompts.start(project, promptRequest, hold))
  })

  app.get('/api/prompts', (c) =>
    c.json(prompts.running(requestedProject(context, c).key, queryText(c, 'session') ?? '')),
  )

  app.post('/api/prompts/:id/permission', async (c) => {
    const body = await readBody(c)
    const [question, isAllowed] = [bodyText(body, 'request'), bodyFlag(body, 'isAllowed')]
    if (question === undefined || isAllowed === undefined) {
      throw new HttpError(
        400,
        'WRONG_FIELD',
        'it has to be said what is allowed or not',
        '{"request": "…", "isAllowed": true}',
      )
    }
    prompts.decide(c.req.param('id'), question, isAllowed)
    return c.json({})
  })

  app.post('/api/prompts/:id/interrupt', async (c) => {
    await prompts.interrupt(c.req.param('id'))
    return c.json({})
  })

  app.get('/api/prompts/:id/events', (c) =>
    c.json(prompts.events(c.req.param('id'), queryNumber(c, 'after') ?? 0)),
  )
}

const EVENT_STREAM = 'text/event-stream; charset=utf-8'

/** Written straight to the connection, which knows how much is unread. */
export function eventRoutes(app: Hono<Bindings>, context: ServerContext): void {
  app.get('/api/events', (c) => {
    const project = queryText(c, 'project')
    // Throws for an unknown project before the stream begins.
    requestedProject(context, c)
    // A HEAD request must not wait for a stream without end.
    if (c.req.method === 'HEAD') return c.body(null, 200, { 'Content-Type': EVENT_STREAM })
    const response = c.env.outgoing
    const headers = new Headers({ 'Content-Type': EVENT_STREAM })
    setSecurityHeaders(headers)
    response.writeHead(200, Object.fromEntries(headers))
    const unsubscribe = context.eventHub.subscribe(
      {
        ...defined({ project }),
        write: (text) => void response.write(text),
        get pendingBytes() {
          return response.writableLength
        },
        drop: () => response.destroy(),
      },
      c.req.header('last-event-id') ?? queryText(c, 'after'),
    )
    response.on('close', unsubscribe).on('error', unsubscribe)
    return RESPONSE_ALREADY_SENT
  })
}
