import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { type Guarded, guard, withHeaders } from './guard.ts'
import type { PageFile } from './page-files.ts'
import { Refused, notThere, problemOf, statusOf } from './problem.ts'
import { backlogRoutes } from './backlog-routes.ts'
import { conversationRoutes } from './conversation-routes.ts'
import { eventRoutes } from './event-routes.ts'
import { overviewRoutes } from './overview-routes.ts'
import { promptRoutes } from './prompt-routes.ts'
import { sessionRoutes } from './session-routes.ts'
import { workRoutes } from './work-routes.ts'
import type { Bindings, Scene } from './scene.ts'

const MOST_BYTES = 1024 * 1024

export interface AppOptions {
  readonly guarded: Guarded
  readonly page: ReadonlyMap<string, PageFile>
  readonly scene: Scene
  readonly say: (line: string) => void
}

export function makeApp({ guarded, page, scene, say }: AppOptions): Hono<Bindings> {
  const app = new Hono<Bindings>()
  app.use(async (asked, next) => {
    await next()
    if (!asked.env.outgoing.headersSent) withHeaders(asked.res.headers)
  })
  app.use(guard(guarded))
  app.use(
    bodyLimit({
      maxSize: MOST_BYTES,
      onError: () => {
        throw new Refused(413, 'TOO_LARGE', `more than ${MOST_BYTES} bytes were sent`)
      },
    }),
  )
  overviewRoutes(app, scene)
  sessionRoutes(app, scene)
  conversationRoutes(app, scene)
  workRoutes(app, scene)
  backlogRoutes(app, scene)
  promptRoutes(app, scene)
  eventRoutes(app, scene)
  app.all('/api/*', (asked) => {
    throw new Refused(404, 'NO_ROUTE', `nothing answers ${asked.req.method} ${asked.req.path}`)
  })
  app.get('*', (asked) => {
    const { path } = asked.req
    // The page routes other paths itself.
    const file =
      page.get(path) ?? (/\.[a-z0-9]+$/i.test(path) ? undefined : page.get('/index.html'))
    if (file === undefined) {
      if (page.size > 0) throw notThere('file of that name')
      throw new Refused(404, 'NOT_BUILT', 'the page is not built', 'npm run build')
    }
    return asked.body(file.bytes, 200, { 'Content-Type': file.type })
  })
  app.all('*', () => {
    throw new Refused(405, 'ONLY_READ', 'this can only be read')
  })
  app.onError((error, asked) => {
    const status = statusOf(error)
    if (status === 500)
      say(`${asked.req.method} ${asked.req.path}: ${error.stack ?? error.message}`)
    const { message, hint } = problemOf(error)
    const isForPeople =
      !asked.req.path.startsWith('/api/') &&
      asked.req.header('accept')?.includes('text/html') === true
    return isForPeople
      ? asked.text(`stint: ${message}${hint === undefined ? '' : `\n  ${hint}`}\n`, status)
      : asked.json(problemOf(error), status)
  })
  return app
}
