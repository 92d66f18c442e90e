// A project and its server, over real connections.
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findSession } from '../../src/project/store/choose-session.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import type { EntryDraft } from '../../src/session/entries.ts'
import type { LiveEvent } from '../../src/serve/contract.ts'
import { type RunningServer, type ServeOptions, startServer } from '../../src/serve/start-server.ts'
import { type World, gitProject } from '../support/project.ts'
import { temporaryFolder } from '../support/scratch.ts'

export interface ServedResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  json<T = never>(): T
}

export interface RequestOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: string | Buffer
}

export const TOKEN = 'a-token-for-these-tests'

/** A server queried the way its page does. */
export class Served {
  readonly messages: string[] = []
  server!: RunningServer

  constructor(
    readonly world: World,
    readonly folder: string,
  ) {}

  static async start(options: Partial<ServeOptions> = {}): Promise<Served> {
    const folder = temporaryFolder()
    const served = new Served(gitProject(join(folder, 'project')), folder)
    mkdirSync(join(folder, 'page', 'assets'), { recursive: true })
    writeFileSync(join(folder, 'page', 'index.html'), '<!doctype html><title>Stint</title>')
    writeFileSync(join(folder, 'page', 'assets', 'page.js'), 'export {}')
    writeFileSync(join(folder, 'page', 'notes.txt'), 'not for anybody')
    await served.restart(options)
    return served
  }

  async restart(options: Partial<ServeOptions> = {}): Promise<void> {
    this.server = await startServer({
      cwd: this.world.root,
      env: process.env,
      version: '1.2.3',
      token: TOKEN,
      pageFolder: join(this.folder, 'page'),
      say: (line) => this.messages.push(line),
      port: 0,
      ...options,
    })
  }

  async end(): Promise<void> {
    await this.server.close()
    rmSync(this.folder, { recursive: true, force: true })
  }

  get cookie(): string {
    return `stint-${this.server.port}=${TOKEN}`
  }

  get origin(): string {
    return `http://127.0.0.1:${this.server.port}`
  }

  request(
    path: string,
    { method = 'GET', headers = {}, body }: RequestOptions = {},
  ): Promise<ServedResponse> {
    const all = {
      cookie: this.cookie,
      ...(method === 'GET' ? {} : this.#writeHeaders()),
      ...headers,
    }
    const sentHeaders = Object.fromEntries(
      Object.entries(all).filter(([, value]) => value !== undefined),
    ) as Record<string, string>
    return new Promise((resolve, reject) => {
      const req = request(
        {
          host: '127.0.0.1',
          port: this.server.port,
          path,
          method,
          headers: sentHeaders,
          agent: false,
        },
        (response) => read(response).then(resolve, reject),
      )
      req.on('error', reject)
      req.end(body)
    })
  }

  async get<T>(path: string): Promise<T> {
    const response = await this.request(path)
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${response.text}`)
    return response.json<T>()
  }

  post(path: string, body: unknown = {}, options: RequestOptions = {}): Promise<ServedResponse> {
    return this.request(path, { method: 'POST', body: JSON.stringify(body), ...options })
  }

  /** Appends to the journal of a session like another process. */
  async append(
    name: string,
    drafts: readonly EntryDraft[],
    root = this.world.root,
  ): Promise<string> {
    const workspace = new Workspace(root)
    try {
      const { id } = await findSession(workspace, name)
      const session = workspace.session(id)
      session.append(drafts)
      session.close()
      return id
    } finally {
      workspace.close()
    }
  }

  /** Subscribes to the events. */
  subscribe(lastEventId?: string, path = '/api/events'): Promise<EventStream> {
    const headers = {
      cookie: this.cookie,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    }
    return new Promise((resolve, reject) => {
      const req = request(
        { host: '127.0.0.1', port: this.server.port, path, headers, agent: false },
        (response) => resolve(new EventStream(response)),
      )
      req.on('error', reject)
      req.end()
    })
  }

  #writeHeaders(): Record<string, string> {
    return {
      'content-type': 'application/json',
      origin: this.origin,
      'sec-fetch-site': 'same-origin',
    }
  }
}

async function read(response: IncomingMessage): Promise<ServedResponse> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text,
    json: <T>() => JSON.parse(text) as T,
  }
}

/** The events that a page receives, as they come. */
export class EventStream {
  readonly events: LiveEvent[] = []
  readonly ids: string[] = []
  lastId: string | undefined
  isClosed = false
  readonly #response: IncomingMessage
  #text = ''
  #wake = () => {}

  constructor(response: IncomingMessage) {
    this.#response = response
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => this.#parse(chunk))
    const markEnded = () => {
      this.isClosed = true
      this.#wake()
    }
    response.on('close', markEnded).on('error', markEnded)
  }

  /** Resolves with the events once one matches. */
  async until(isDone: (events: readonly LiveEvent[]) => boolean): Promise<readonly LiveEvent[]> {
    while (!isDone(this.events)) {
      if (this.isClosed) throw new Error(`it ended after ${JSON.stringify(this.events)}`)
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    return this.events
  }

  /** Resolves when the server has responded: from then on nothing is missed. */
  async connected(): Promise<this> {
    while (this.lastId === undefined && !this.isClosed)
      await new Promise<void>((resolve) => (this.#wake = resolve))
    return this
  }

  async ended(): Promise<void> {
    while (!this.isClosed) await new Promise<void>((resolve) => (this.#wake = resolve))
  }

  pause(): void {
    this.#response.pause()
  }

  leave(): void {
    this.#response.destroy()
  }

  #parse(chunk: string): void {
    this.#text += chunk
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end === -1) break
      const block = this.#text.slice(0, end).split('\n')
      this.#text = this.#text.slice(end + 2)
      const field = (name: string) =>
        block.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
      const [id, data] = [field('id'), field('data')]
      if (id !== undefined) this.lastId = id
      if (data !== undefined) {
        this.events.push(JSON.parse(data) as LiveEvent)
        this.ids.push(id ?? '')
      }
    }
    this.#wake()
  }
}
