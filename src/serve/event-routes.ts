import type { Hono } from 'hono'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { withHeaders } from './guard.ts'
import { type Bindings, type Scene, projectIn, textIn } from './scene.ts'
import { defined } from '../text/defined.ts'

const TYPE = 'text/event-stream; charset=utf-8'

/** What happens, as it happens. Written straight to the connection: only there is known how much of it nobody has read yet. */
export function eventRoutes(app: Hono<Bindings>, scene: Scene): void {
  app.get('/api/events', (asked) => {
    const project = textIn(asked, 'project')
    // Refused before anything is begun when there is none.
    projectIn(scene, asked)
    // Whoever asks for the headers alone would wait for what has no end.
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
