import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import {
  ProjectPool,
  projectKey,
  readServerRecord,
  removeServerRecord,
  writeServerRecord,
} from '../core.ts'
import { StintError } from '../library.ts'
import { makeApp, findPageFolder, readPageFiles } from './app.ts'
import { type FeedLimits, EventHub, ConversationIndexer } from './event-hub.ts'
import { PromptRegistry } from './prompt-registry.ts'
import { hostname, networkInterfaces } from 'node:os'
import { spawn } from 'node:child_process'

export interface ServeOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly version: string
  readonly host?: string
  /** Default: the usual port or the next free one. */
  readonly port?: number
  /** Tried first. */
  readonly preferredPort?: number
  readonly token?: string
  /** Receives lines for the terminal. */
  readonly say?: (line: string) => void
  readonly pageFolder?: string
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
  readonly eventHub: EventHub
  /** Resolves when no connection, prompt or open project is left. */
  close(): Promise<void>
}

const USUAL_PORT = 4747
const PORTS_TRIED = 50
const SHORTEST_TOKEN = 16

export async function startServer(options: ServeOptions): Promise<RunningServer> {
  const { host = '127.0.0.1', say = () => {}, env, cwd, version } = options
  const token = tokenFor(host, options.token)
  const projects = new ProjectPool({ cwd, env, say })
  const live = new EventHub(projects, options.limits)
  const prompts = new PromptRegistry((project, event) => live.publish(project, event))
  const ending = new AbortController()
  const context = { version, env, projects, eventHub: live, prompts, ending: ending.signal }
  const page = readPageFiles(options.pageFolder ?? findPageFolder())
  let port = 0
  const guarded = {
    token,
    isOwnHost: (name: string) => allowedHosts(host, port).has(name.toLowerCase()),
    // Cookies ignore ports, and another project's page may be open.
    cookieName: () => `stint-${port}`,
  }
  const { fetch } = makeApp(guarded, page, context, say)
  const server = createAdaptorServer({ fetch: fetch as never }) as Server
  port = await listen(server, host, options)
  const reader = new ConversationIndexer(projects, say)
  reader.start()
  const address = `http://${host.includes(':') ? `[${host}]` : host}:${port}/`
  return {
    host,
    port,
    token,
    address,
    url: `${address}?token=${token}`,
    eventHub: live,
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
    if (isLoopbackHost(host)) return randomBytes(24).toString('base64url')
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
  { port: wanted, preferredPort: preferred }: ServeOptions,
): Promise<number> {
  const usual = Array.from({ length: PORTS_TRIED }, (_, index) => USUAL_PORT + index)
  const candidates =
    wanted === undefined ? [...(preferred === undefined ? [] : [preferred]), ...usual, 0] : [wanted]
  for (const [index, port] of candidates.entries()) {
    try {
      return await listenOn(server, host, port)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EADDRINUSE' && index < candidates.length - 1) continue
      if (code === 'EADDRINUSE')
        throw new StintError(
          'PORT_TAKEN',
          `port ${port} is taken`,
          'name another one, or leave --port out',
        )
      if (code === 'EACCES')
        throw new StintError('PORT_DENIED', `port ${port} may not be used`, 'name one from 1024 on')
      if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
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

export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)
}

/** Only these Host headers are accepted, which prevents DNS rebinding. */
export function allowedHosts(host: string, port: number): ReadonlySet<string> {
  const isEverywhere = host === '0.0.0.0' || host === '::'
  const names = isLoopbackHost(host)
    ? ['localhost', '127.0.0.1', '::1', host]
    : isEverywhere
      ? ['localhost', hostname(), ...addresses()]
      : [host]
  const inUrls = names.map((name) => (name.includes(':') ? `[${name}]` : name).toLowerCase())
  // Browsers omit port 80.
  return new Set(
    inUrls.flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`])),
  )
}

function addresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).map(({ address }) => address),
  )
}

export type ServeResult =
  /** Another process serves the project already. */
  | { readonly isNew: false; readonly url: string; readonly pid: number }
  | { readonly isNew: true; readonly url: string; readonly server: RunningServer }

/** After a killed server it reuses port and token, so that an open page reconnects. */
export async function serveProject(options: ServeOptions): Promise<ServeResult> {
  const { cwd, env } = options
  const key = projectKey(cwd)
  const running = readServerRecord(key, env)
  if (running?.isAlive === true) return alreadyServed(running, options)
  const left =
    options.token === undefined && options.host === undefined && running?.host === '127.0.0.1'
      ? running
      : undefined
  const server = await startServer({
    ...options,
    ...(left === undefined ? {} : { token: left.token, preferredPort: left.port }),
  })
  const { host, port, token } = server
  if (!writeServerRecord(key, env, { host, port, token })) {
    await server.close()
    return alreadyServed(readServerRecord(key, env)!, options)
  }
  return {
    isNew: true,
    url: server.url,
    server: {
      ...server,
      async close() {
        await server.close()
        removeServerRecord(key, env)
      },
    },
  }
}

function alreadyServed(
  { host, port, token, pid }: { host: string; port: number; token: string; pid: number },
  options: ServeOptions,
): ServeResult {
  const isAsWanted =
    (options.port ?? port) === port &&
    (options.host ?? host) === host &&
    (options.token ?? token) === token
  if (!isAsWanted) {
    throw new StintError(
      'ALREADY_SERVED',
      `this project is served already, on port ${port} of ${host}, by process ${pid}`,
      `end that one first: kill ${pid}`,
    )
  }
  return {
    isNew: false,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/?token=${token}`,
    pid,
  }
}

/** Nothing waits for it, and failures are ignored. */
export function openBrowser(url: string, env: NodeJS.ProcessEnv): void {
  const [command, ...args] = commandFor(process.platform)
  const child = spawn(command!, [...args, url], {
    stdio: 'ignore',
    detached: true,
    env,
    windowsHide: true,
  })
  child.once('error', () => {})
  child.unref()
}

function commandFor(platform: NodeJS.Platform): readonly string[] {
  if (platform === 'darwin') return ['open']
  // `start` is a shell builtin that takes its first argument as a title.
  return platform === 'win32' ? ['cmd', '/c', 'start', ''] : ['xdg-open']
}
