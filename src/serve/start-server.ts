import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { StintError, errnoOf } from '../journal/errors.ts'
import { makeApp } from './app.ts'
import { hostsOf, isLoopback } from './hosts.ts'
import type { FeedLimits } from './feed.ts'
import { Live } from './live.ts'
import { pageFolder, readPage } from './page-files.ts'
import { Projects } from './projects.ts'
import { Prompts } from './prompts.ts'
import { SaidReader } from './said-reader.ts'

export interface ServeOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly version: string
  readonly host?: string
  /** Default: the usual port or the next free one. */
  readonly port?: number
  /** Tried first. */
  readonly preferred?: number
  readonly token?: string
  /** Receives lines for the terminal. */
  readonly say?: (line: string) => void
  readonly page?: string
  readonly limits?: Partial<FeedLimits>
}

export interface RunningServer {
  readonly host: string
  readonly port: number
  readonly token: string
  /** Without the token. */
  readonly address: string
  /** With the token. */
  readonly url: string
  readonly live: Live
  /** Resolves when no connection, prompt or open project is left. */
  close(): Promise<void>
}

export const USUAL_PORT = 4747
const PORTS_TRIED = 50
const SHORTEST_TOKEN = 16

export async function startServer(options: ServeOptions): Promise<RunningServer> {
  const { host = '127.0.0.1', say = () => {}, env, cwd, version } = options
  const token = tokenFor(host, options.token)
  const projects = new Projects({ cwd, env, say })
  const live = new Live(projects, options.limits)
  const prompts = new Prompts((project, event) => live.tell(project, event))
  const ending = new AbortController()
  const scene = { version, env, projects, live, prompts, ending: ending.signal }
  const page = readPage(options.page ?? pageFolder())
  let port = 0
  const guarded = {
    token,
    isOurs: (name: string) => hostsOf(host, port).has(name.toLowerCase()),
    // Cookies ignore ports, and another project's page may be open.
    cookie: () => `stint-${port}`,
  }
  const { fetch } = makeApp({ guarded, page, scene, say })
  const server = createAdaptorServer({ fetch: fetch as never }) as Server
  port = await listen(server, host, options)
  const reader = new SaidReader(projects, say)
  reader.start()
  const address = `http://${host.includes(':') ? `[${host}]` : host}:${port}/`
  return {
    host,
    port,
    token,
    address,
    url: `${address}?token=${token}`,
    live,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      ending.abort()
      await reader.stop()
      await prompts.close()
      await live.close()
      server.closeAllConnections()
      await closed
      projects.close()
    },
  }
}

function tokenFor(host: string, given: string | undefined): string {
  if (given === undefined) {
    if (isLoopback(host)) return randomBytes(24).toString('base64url')
    throw new StintError(
      'NEEDS_TOKEN',
      `on ${host} others can reach it`,
      'choose a token yourself, of at least 16 characters: STINT_SERVE_TOKEN, or --token',
    )
  }
  if (given.length >= SHORTEST_TOKEN && /^[\w~.-]+$/.test(given)) return given
  throw new StintError(
    'TOKEN_UNFIT',
    `a token has at least ${SHORTEST_TOKEN} characters, letters, digits and -_.~ only`,
    'for example: openssl rand -hex 16',
  )
}

async function listen(
  server: Server,
  host: string,
  { port: wanted, preferred }: ServeOptions,
): Promise<number> {
  const usual = Array.from({ length: PORTS_TRIED }, (_, index) => USUAL_PORT + index)
  const candidates =
    wanted === undefined ? [...(preferred === undefined ? [] : [preferred]), ...usual, 0] : [wanted]
  for (const [index, port] of candidates.entries()) {
    try {
      return await listenOn(server, host, port)
    } catch (error) {
      const isTaken = errnoOf(error) === 'EADDRINUSE'
      if (isTaken && index < candidates.length - 1) continue
      if (isTaken)
        throw new StintError(
          'PORT_TAKEN',
          `port ${port} is taken`,
          'name another one, or leave --port out',
        )
      if (errnoOf(error) === 'EACCES')
        throw new StintError('PORT_DENIED', `port ${port} may not be used`, 'name one from 1024 on')
      if (errnoOf(error) === 'EADDRNOTAVAIL' || errnoOf(error) === 'ENOTFOUND')
        throw new StintError(
          'NO_HOST',
          `this machine is not ${host}`,
          'leave --host out to be reached from this machine only',
        )
      throw error
    }
  }
  throw new StintError('PORT_TAKEN', 'no port is free', 'name one: --port')
}

function listenOn(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
}
