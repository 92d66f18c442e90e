import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import {
  ProjectPool,
  projectKey,
  readServerRecord,
  removeOpener,
  removeServerRecord,
  type ServerRecord,
  writeOpener,
  writeServerRecord,
} from '../core.ts'
import { StintError } from '../library.ts'
import { defined } from '../text/defined.ts'
import { makeApp } from './app.ts'
import { oneTimeToken, redirectPage } from './guard.ts'
import { findPageFolder, readPageFiles } from './page-files.ts'
import { ConversationIndexer } from './conversation-indexer.ts'
import type { FeedLimits } from './event-feed.ts'
import { EventHub } from './event-hub.ts'
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
  /** A one-time token was exchanged for the cookie. */
  readonly onExchange?: () => void
  readonly limits?: Partial<FeedLimits>
}

export interface RunningServer {
  readonly host: string
  readonly port: number
  readonly token: string
  /** Without the token. */
  readonly address: string
  /** With the chosen token, or one that can be used once. */
  readonly url: string
  readonly launch: string
  readonly eventHub: EventHub
  /** Resolves when no connection, prompt or open project is left. */
  close(): Promise<void>
}

const USUAL_PORT = 4747
const PORT_ATTEMPTS = 50
const MIN_TOKEN_LENGTH = 16

export async function startServer(options: ServeOptions): Promise<RunningServer> {
  const { host = '127.0.0.1', say = () => {}, env, cwd, version } = options
  const token = tokenFor(host, options.token)
  const projects = new ProjectPool({ cwd, env, say })
  const eventHub = new EventHub(projects, options.limits)
  const prompts = new PromptRegistry((project, event) => eventHub.publish(project, event))
  const closing = new AbortController()
  const context = { version, projects, eventHub, prompts, ending: closing.signal }
  const page = readPageFiles(options.pageFolder ?? findPageFolder())
  const launch = randomBytes(16).toString('base64url')
  let port = 0
  const guardOptions = {
    token,
    launch,
    ...defined({ onExchange: options.onExchange }),
    isOwnHost: (name: string) => allowedHosts(host, port).has(name.toLowerCase()),
    // Cookies ignore ports, and another project's page may be open.
    cookieName: () => `stint-${port}`,
  }
  const { fetch } = makeApp(guardOptions, page, context, say)
  const server = createAdaptorServer({ fetch: fetch as never }) as Server
  port = await listen(server, host, options)
  const indexer = new ConversationIndexer(projects, say)
  indexer.start()
  const address = addressOf(host, port)
  return {
    host,
    port,
    token,
    address,
    url: addressWithToken({ address, token, launch }, options.token),
    launch,
    eventHub,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      closing.abort()
      await indexer.stop()
      await prompts.close()
      await eventHub.close()
      server.closeAllConnections()
      await closed
      projects.close()
    },
  }
}

type Entrance = Pick<RunningServer, 'address' | 'token' | 'launch'>

/** The user knows a token of their own; a random one is in no address. */
function addressWithToken({ address, token, launch }: Entrance, chosen?: string): string {
  return `${address}?token=${chosen ?? oneTimeToken(token, launch)}`
}

function addressOf(host: string, port: number): string {
  return `http://${bracketed(host)}:${port}/`
}

/** URLs need brackets around an IPv6 address. */
function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

function tokenFor(host: string, token: string | undefined): string {
  if (token === undefined) {
    if (isLoopbackHost(host)) return randomBytes(24).toString('base64url')
    throw new StintError(
      'NEEDS_TOKEN',
      `on ${host} others can reach it`,
      'choose a token of at least 16 characters, in the environment variable STINT_SERVE_TOKEN',
    )
  }
  if (token.length >= MIN_TOKEN_LENGTH && /^[\w~.-]+$/.test(token)) return token
  throw new StintError(
    'TOKEN_UNFIT',
    `a token has at least ${MIN_TOKEN_LENGTH} characters, letters, digits and -_.~ only`,
    'for example: openssl rand -hex 16',
  )
}

async function listen(
  server: Server,
  host: string,
  { port: requestedPort, preferredPort }: ServeOptions,
): Promise<number> {
  const usualPorts = Array.from({ length: PORT_ATTEMPTS }, (_, index) => USUAL_PORT + index)
  const candidates =
    requestedPort === undefined
      ? [...(preferredPort === undefined ? [] : [preferredPort]), ...usualPorts, 0]
      : [requestedPort]
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
  const isAllInterfaces = host === '0.0.0.0' || host === '::'
  const names = isLoopbackHost(host)
    ? ['localhost', '127.0.0.1', '::1', host]
    : isAllInterfaces
      ? ['localhost', hostname(), ...localAddresses()]
      : [host]
  const urlHosts = names.map((name) => bracketed(name).toLowerCase())
  // Browsers omit port 80.
  return new Set(
    urlHosts.flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`])),
  )
}

function localAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).map(({ address }) => address),
  )
}

export type ServeResult =
  /** Another process serves the project already. */
  | (ServedAddress & { readonly isNew: false; readonly pid: number })
  | (ServedAddress & { readonly isNew: true; readonly server: RunningServer })

interface ServedAddress {
  readonly url: string
  /** Opens the page in the browser. */
  open(): void
}

/** After a killed server it reuses port and token, so that an open page reconnects. */
export async function serveProject(options: ServeOptions): Promise<ServeResult> {
  const { cwd, env } = options
  const key = projectKey(cwd)
  const record = readServerRecord(key, env)
  if (record?.isAlive === true) return alreadyServed(record, options)
  const previous =
    options.token === undefined && options.host === undefined && record?.host === '127.0.0.1'
      ? record
      : undefined
  removeOpener(key, env)
  const server = await startServer({
    ...options,
    onExchange: () => removeOpener(key, env),
    ...(previous === undefined ? {} : { token: previous.token, preferredPort: previous.port }),
  })
  const { host, port, token, launch } = server
  if (!writeServerRecord(key, env, { host, port, token, launch })) {
    await server.close()
    return alreadyServed(readServerRecord(key, env)!, options)
  }
  return {
    isNew: true,
    // Reused after a killed server, the token is not one that the user chose now.
    url: addressWithToken(server, options.token),
    open: () => openPage(key, env, server),
    server: {
      ...server,
      async close() {
        await server.close()
        removeOpener(key, env)
        removeServerRecord(key, env)
      },
    },
  }
}

function alreadyServed(
  { host, port, token, launch, pid }: ServerRecord,
  options: ServeOptions,
): ServeResult {
  const isMatch =
    (options.port ?? port) === port &&
    (options.host ?? host) === host &&
    (options.token ?? token) === token
  if (!isMatch) {
    throw new StintError(
      'ALREADY_SERVED',
      `this project is served already, on port ${port} of ${host}, by process ${pid}`,
      `end that one first: kill ${pid}`,
    )
  }
  const entrance = { address: addressOf(host, port), token, launch }
  return {
    isNew: false,
    url: addressWithToken(entrance, options.token),
    open: () => openPage(projectKey(options.cwd), options.env, entrance),
    pid,
  }
}

/**
 * Other users of this machine can read command lines, so the browser is given a file that only this user can read. The server removes
 * it when it is used, or ends. Not awaited; failures are ignored.
 */
function openPage(key: string, env: NodeJS.ProcessEnv, entrance: Entrance): void {
  const page = redirectPage(addressWithToken(entrance))
  const [command, ...args] = browserCommand(process.platform)
  const child = spawn(command!, [...args, writeOpener(key, env, page)], {
    stdio: 'ignore',
    detached: true,
    env,
    windowsHide: true,
  })
  child.once('error', () => {})
  child.unref()
}

function browserCommand(platform: NodeJS.Platform): readonly string[] {
  if (platform === 'darwin') return ['open']
  // `start` is a shell builtin that takes its first argument as a title.
  return platform === 'win32' ? ['cmd', '/c', 'start', ''] : ['xdg-open']
}
