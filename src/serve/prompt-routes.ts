import type { Hono } from 'hono'
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

  app.post('/api/prompts', async (asked) => {
    const project = requestedProject(context, asked)
    const body = await readBody(asked)
    const text = bodyText(body, 'text') ?? ''
    if (text.trim() === '')
      throw new HttpError(400, 'EMPTY_TEXT', 'there is nothing to send', '{"text": "…"}')
    const wanted = bodyText(body, 'permissions')
    const permissions = PERMISSIONS.find((one) => one === wanted)
    if (wanted !== undefined && permissions === undefined) {
      throw new HttpError(
        400,
        'WRONG_FIELD',
        'there are no such permissions',
        `there are ${PERMISSIONS.join(', ')}`,
      )
    }
    const request = {
      text,
      ...defined({
        session: bodyText(body, 'session'),
        isNew: bodyFlag(body, 'isNew'),
        conversation: bodyText(body, 'conversation'),
        isFresh: bodyFlag(body, 'isFresh'),
        harness: bodyText(body, 'harness'),
        model: bodyText(body, 'model'),
        permissions,
        script: bodyText(body, 'script'),
      }),
    }
    const hold = () => context.projects.hold(project.key)
    return asked.json(await prompts.start(project, request, hold))
  })

  app.get('/api/prompts', (asked) =>
    asked.json(
      prompts.running(requestedProject(context, asked).key, queryText(asked, 'session') ?? ''),
    ),
  )

  app.post('/api/prompts/:id/permission', async (asked) => {
    const body = await readBody(asked)
    const [request, isAllowed] = [bodyText(body, 'request'), bodyFlag(body, 'isAllowed')]
    if (request === undefined || isAllowed === undefined) {
      throw new HttpError(
        400,
        'WRONG_FIELD',
        'it has to be said what is allowed or not',
        '{"request": "…", "isAllowed": true}',
      )
    }
    prompts.decide(asked.req.param('id'), request, isAllowed)
    return asked.json({})
  })

  app.post('/api/prompts/:id/interrupt', async (asked) => {
    await prompts.interrupt(asked.req.param('id'))
    return asked.json({})
  })

  app.get('/api/prompts/:id/events', (asked) =>
    asked.json(prompts.events(asked.req.param('id'), queryNumber(asked, 'after') ?? 0)),
  )
}

const TYPE = 'text/event-stream; charset=utf-8'

/** Written straight to the connection, which knows how much is unread. */
export function eventRoutes(app: Hono<Bindings>, context: ServerContext): void {
  app.get('/api/events', (asked) => {
    const project = queryText(asked, 'project')
    // Throws for an unknown project before the stream begins.
    requestedProject(context, asked)
    // A HEAD request must not wait for a stream without end.
    if (asked.req.method === 'HEAD') return asked.body(null, 200, { 'Content-Type': TYPE })
    const response = asked.env.outgoing
    const headers = new Headers({ 'Content-Type': TYPE })
    setSecurityHeaders(headers)
    response.writeHead(200, Object.fromEntries(headers))
    const leave = context.eventHub.subscribe(
      {
        ...defined({ project }),
        write: (text) => void response.write(text),
        get pendingBytes() {
          return response.writableLength
        },
        drop: () => response.destroy(),
      },
      asked.req.header('last-event-id') ?? queryText(asked, 'after'),
    )
    response.on('close', leave).on('error', leave)
    return RESPONSE_ALREADY_SENT
  })
}
