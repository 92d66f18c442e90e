import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { type GuardOptions, guard, setSecurityHeaders } from './guard.ts'
import { HttpError, toProblem, statusOf } from './http-error.ts'
import { eventRoutes, promptRoutes } from './prompt-routes.ts'
import { sessionRoutes } from './session-routes.ts'
import { workRoutes } from './work-routes.ts'
import type { Bindings, ServerContext } from './request.ts'
import type { PageFile } from './page-files.ts'
import { notFoundError } from '../core.ts'

const MAX_BODY_BYTES = 1024 * 1024

export function makeApp(
  guardOptions: GuardOptions,
  page: ReadonlyMap<string, PageFile>,
  context: ServerContext,
  say: (line: string) => void,
): Hono<Bindings> {
  const app = new Hono<Bindings>()
  app.use(async (c, next) => {
    await next()
    if (!c.env.outgoing.headersSent) setSecurityHeaders(c.res.headers)
  })
  app.use(guard(guardOptions))
  app.use(
    bodyLimit({
      maxSize: MAX_BODY_BYTES,
      onError: () => {
        throw new HttpError(413, 'TOO_LARGE', `more than ${MAX_BODY_BYTES} bytes were sent`)
      },
    }),
  )
  sessionRoutes(app, context)
  workRoutes(app, context)
  promptRoutes(app, context)
  eventRoutes(app, context)
  app.all('/api/*', (c) => {
    throw new HttpError(404, 'NO_ROUTE', `nothing answers ${c.req.method} ${c.req.path}`)
  })
  app.get('*', (c) => {
    const { path } = c.req
    // The page routes other paths itself.
    const file =
      page.get(path) ?? (/\.[a-z0-9]+$/i.test(path) ? undefined : page.get('/index.html'))
    if (file === undefined) {
      if (page.size > 0) throw notFoundError('file of that name')
      throw new HttpError(404, 'NOT_BUILT', 'the page is not built', 'npm run build')
    }
    return c.body(file.bytes, 200, { 'Content-Type': file.type })
  })
  app.all('*', () => {
    throw new HttpError(405, 'ONLY_READ', 'this can only be read')
  })
  app.onError((error, c) => {
    const status = statusOf(error)
    if (status === 500) say(`${c.req.method} ${c.req.path}: ${error.stack ?? error.message}`)
    const { message, hint } = toProblem(error)
    const wantsText =
      !c.req.path.startsWith('/api/') && c.req.header('accept')?.includes('text/html') === true
    return wantsText
      ? c.text(`stint: ${message}${hint === undefined ? '' : `\n  ${hint}`}\n`, status)
      : c.json(toProblem(error), status)
  })
  return app
}
