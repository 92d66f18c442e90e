import type { Hono } from 'hono'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { withHeaders } from './guard.ts'
import { type Bindings, type Scene, projectIn, textIn } from './scene.ts'
import { defined } from '../text/defined.ts'

const TYPE = 'text/event-stream; charset=utf-8'

/** Written straight to the connection, which knows how much is unread. */
export function eventRoutes(app: Hono<Bindings>, scene: Scene): void {
  app.get('/api/events', (asked) => {
    const project = textIn(asked, 'project')
    // Throws for an unknown project before the stream begins.
    projectIn(scene, asked)
    // A HEAD request must not wait for a stream without end.
    if (asked.req.method === 'HEAD') return asked.body(null, 200, { 'Content-Type': TYPE })
    const response = asked.env.outgoing
    const headers = new Headers({ 'Content-Type': TYPE })
    withHeaders(headers)
    response.writeHead(200, Object.fromEntries(headers))
    const leave = scene.live.join(
      {
        ...defined({ project }),
        write: (text) => void response.write(text),
        get waiting() {
          return response.writableLength
        },
        drop: () => response.destroy(),
      },
      asked.req.header('last-event-id') ?? textIn(asked, 'after'),
    )
    response.on('close', leave).on('error', leave)
    return RESPONSE_ALREADY_SENT
  })
}
