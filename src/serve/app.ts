import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { type GuardOptions, guard, setSecurityHeaders } from './guard.ts'
import { HttpError, toProblem, statusOf } from './http-error.ts'
import { eventRoutes, promptRoutes } from './prompt-routes.ts'
import { sessionRoutes } from './session-routes.ts'
import { workRoutes } from './work-routes.ts'
import type { Bindings, ServerContext } from './request.ts'
import { readFileSync, readdirSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { notFoundError, statOrUndefined } from '../core.ts'

const MOST_BYTES = 1024 * 1024

export function makeApp(
  guarded: GuardOptions,
  page: ReadonlyMap<string, PageFile>,
  context: ServerContext,
  say: (line: string) => void,
): Hono<Bindings> {
  const app = new Hono<Bindings>()
  app.use(async (asked, next) => {
    await next()
    if (!asked.env.outgoing.headersSent) setSecurityHeaders(asked.res.headers)
  })
  app.use(guard(guarded))
  app.use(
    bodyLimit({
      maxSize: MOST_BYTES,
      onError: () => {
        throw new HttpError(413, 'TOO_LARGE', `more than ${MOST_BYTES} bytes were sent`)
      },
    }),
  )
  sessionRoutes(app, context)
  workRoutes(app, context)
  promptRoutes(app, context)
  eventRoutes(app, context)
  app.all('/api/*', (asked) => {
    throw new HttpError(404, 'NO_ROUTE', `nothing answers ${asked.req.method} ${asked.req.path}`)
  })
  app.get('*', (asked) => {
    const { path } = asked.req
    // The page routes other paths itself.
    const file =
      page.get(path) ?? (/\.[a-z0-9]+$/i.test(path) ? undefined : page.get('/index.html'))
    if (file === undefined) {
      if (page.size > 0) throw notFoundError('file of that name')
      throw new HttpError(404, 'NOT_BUILT', 'the page is not built', 'npm run build')
    }
    return asked.body(file.bytes, 200, { 'Content-Type': file.type })
  })
  app.all('*', () => {
    throw new HttpError(405, 'ONLY_READ', 'this can only be read')
  })
  app.onError((error, asked) => {
    const status = statusOf(error)
    if (status === 500)
      say(`${asked.req.method} ${asked.req.path}: ${error.stack ?? error.message}`)
    const { message, hint } = toProblem(error)
    const isForPeople =
      !asked.req.path.startsWith('/api/') &&
      asked.req.header('accept')?.includes('text/html') === true
    return isForPeople
      ? asked.text(`stint: ${message}${hint === undefined ? '' : `\n  ${hint}`}\n`, status)
      : asked.json(toProblem(error), status)
  })
  return app
}

// Only files that existed when the server started are served.

export interface PageFile {
  readonly type: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
}

/** Beside the bundle's entries, its chunks, and the sources' build. */
const PLACES = ['./page', '../page', '../../dist/page']

export function findPageFolder(from: string = import.meta.url): string | undefined {
  return PLACES.map((place) => fileURLToPath(new URL(place, from))).find(
    (path) => statOrUndefined(path)?.isDirectory() === true,
  )
}

export function readPageFiles(folder: string | undefined): ReadonlyMap<string, PageFile> {
  if (folder === undefined) return new Map()
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return new Map(
    names.flatMap((name) => {
      const type = TYPES[extname(name)]
      if (type === undefined || statOrUndefined(join(folder, name))?.isFile() !== true) return []
      return [
        [
          `/${name.replaceAll('\\', '/')}`,
          { type, bytes: new Uint8Array(readFileSync(join(folder, name))) },
        ],
      ]
    }),
  )
}
