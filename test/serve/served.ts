// A project and its server, asked over real connections.
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

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  json<T = never>(): T
}

export interface Asking {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: string | Buffer
}

export const TOKEN = 'a-token-for-these-tests'

/** A server that is asked as its own page asks it. */
export class Served {
  readonly said: string[] = []
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
      say: (line) => this.said.push(line),
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

  ask(path: string, { method = 'GET', headers = {}, body }: Asking = {}): Promise<Answer> {
    const all = { cookie: this.cookie, ...(method === 'GET' ? {} : this.#written()), ...headers }
    const given = Object.fromEntries(
      Object.entries(all).filter(([, value]) => value !== undefined),
    ) as Record<string, string>
    return new Promise((resolve, reject) => {
      const asked = request(
        { host: '127.0.0.1', port: this.server.port, path, method, headers: given, agent: false },
        (answer) => read(answer).then(resolve, reject),
      )
      asked.on('error', reject)
      asked.end(body)
    })
  }

  async get<T>(path: string): Promise<T> {
    const answer = await this.ask(path)
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`)
    return answer.json<T>()
  }

  post(path: string, body: unknown = {}, asking: Asking = {}): Promise<Answer> {
    return this.ask(path, { method: 'POST', body: JSON.stringify(body), ...asking })
  }

  /** Appends to the journal of a session, as another process does. */
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

  /** Follows what happens. */
  follow(last?: string, path = '/api/events'): Promise<Following> {
    const headers = {
      cookie: this.cookie,
      ...(last === undefined ? {} : { 'last-event-id': last }),
    }
    return new Promise((resolve, reject) => {
      const asked = request(
        { host: '127.0.0.1', port: this.server.port, path, headers, agent: false },
        (answer) => resolve(new Following(answer)),
      )
      asked.on('error', reject)
      asked.end()
    })
  }

  #written(): Record<string, string> {
    return {
      'content-type': 'application/json',
      origin: this.origin,
      'sec-fetch-site': 'same-origin',
    }
  }
}

async function read(answer: IncomingMessage): Promise<Answer> {
  const pieces: Buffer[] = []
  for await (const piece of answer) pieces.push(piece as Buffer)
  const text = Buffer.concat(pieces).toString('utf8')
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    text,
    json: <T>() => JSON.parse(text) as T,
  }
}

/** What a page is told, as it comes. */
export class Following {
  readonly events: LiveEvent[] = []
  /** The id of each event, and of what came without one. */
  readonly ids: string[] = []
  last: string | undefined
  isOver = false
  readonly #answer: IncomingMessage
  #text = ''
  #woken = () => {}

  constructor(answer: IncomingMessage) {
    this.#answer = answer
    answer.setEncoding('utf8')
    answer.on('data', (piece: string) => this.#take(piece))
    const over = () => {
      this.isOver = true
      this.#woken()
    }
    answer.on('close', over).on('error', over)
  }

  /** The events, when there are ones that fit. */
  async until(fits: (events: readonly LiveEvent[]) => boolean): Promise<readonly LiveEvent[]> {
    while (!fits(this.events)) {
      if (this.isOver) throw new Error(`it ended after ${JSON.stringify(this.events)}`)
      await new Promise<void>((resolve) => (this.#woken = resolve))
    }
    return this.events
  }

  /** When the server has answered at all: from here on nothing is missed. */
  async begun(): Promise<this> {
    while (this.last === undefined && !this.isOver)
      await new Promise<void>((resolve) => (this.#woken = resolve))
    return this
  }

  async over(): Promise<void> {
    while (!this.isOver) await new Promise<void>((resolve) => (this.#woken = resolve))
  }

  pause(): void {
    this.#answer.pause()
  }

  leave(): void {
    this.#answer.destroy()
  }

  #take(piece: string): void {
    this.#text += piece
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end === -1) break
      const block = this.#text.slice(0, end).split('\n')
      this.#text = this.#text.slice(end + 2)
      const field = (name: string) =>
        block.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
      const [id, data] = [field('id'), field('data')]
      if (id !== undefined) this.last = id
      if (data !== undefined) {
        this.events.push(JSON.parse(data) as LiveEvent)
        this.ids.push(id ?? '')
      }
    }
    this.#woken()
  }
}
