import type { Hono } from 'hono'
import { type OpenedProject, notThere } from '../core.ts'
import { Refused } from './problem.ts'
import {
  type Bindings,
  type ServerContext,
  bodyOf,
  flagOf,
  numberIn,
  projectIn,
  textIn,
  textOf,
} from './request.ts'
import { defined } from '../text/defined.ts'
import type {
  LiveEvent,
  Permissions,
  PromptEvent,
  PromptHandle,
  PromptRequest,
  PromptStarted,
  RunningPrompt,
} from './contract.ts'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { withHeaders } from './guard.ts'

const PERMISSIONS: readonly Permissions[] = ['ask', 'edits', 'all']

export function promptRoutes(app: Hono<Bindings>, context: ServerContext): void {
  const { prompts } = context

  app.post('/api/prompts', async (asked) => {
    const project = projectIn(context, asked)
    const body = await bodyOf(asked)
    const text = textOf(body, 'text') ?? ''
    if (text.trim() === '')
      throw new Refused(400, 'EMPTY_TEXT', 'there is nothing to send', '{"text": "…"}')
    const wanted = textOf(body, 'permissions')
    const permissions = PERMISSIONS.find((one) => one === wanted)
    if (wanted !== undefined && permissions === undefined) {
      throw new Refused(
        400,
        'WRONG_FIELD',
        'there are no such permissions',
        `there are ${PERMISSIONS.join(', ')}`,
      )
    }
    const request = {
      text,
      ...defined({
        session: textOf(body, 'session'),
        isNew: flagOf(body, 'isNew'),
        conversation: textOf(body, 'conversation'),
        isFresh: flagOf(body, 'isFresh'),
        harness: textOf(body, 'harness'),
        model: textOf(body, 'model'),
        permissions,
        script: textOf(body, 'script'),
      }),
    }
    const hold = () => context.projects.hold(project.key)
    return asked.json(await prompts.start(project, request, hold))
  })

  app.get('/api/prompts', (asked) =>
    asked.json(prompts.running(projectIn(context, asked).key, textIn(asked, 'session') ?? '')),
  )

  app.post('/api/prompts/:id/permission', async (asked) => {
    const body = await bodyOf(asked)
    const [request, isAllowed] = [textOf(body, 'request'), flagOf(body, 'isAllowed')]
    if (request === undefined || isAllowed === undefined) {
      throw new Refused(
        400,
        'WRONG_FIELD',
        'it has to be said what is allowed or not',
        '{"request": "…", "isAllowed": true}',
      )
    }
    prompts.decide(asked.req.param('id'), request, isAllowed)
    return asked.json({})
  })

  app.post('/api/prompts/:id/interrupt', async (asked) => {
    await prompts.interrupt(asked.req.param('id'))
    return asked.json({})
  })

  app.get('/api/prompts/:id/events', (asked) =>
    asked.json(prompts.events(asked.req.param('id'), numberIn(asked, 'after') ?? 0)),
  )
}

// Prompts from the page, kept while the server runs.

interface Kept {
  readonly project: string
  readonly handle: PromptHandle
  readonly text: string
  readonly events: PromptEvent[]
  isOver: boolean
}

const MOST_KEPT = 100

export class Prompts {
  readonly #tell: (project: string, event: LiveEvent) => void
  readonly #kept = new Map<string, Kept>()

  constructor(tell: (project: string, event: LiveEvent) => void) {
    this.#tell = tell
  }

  async start(
    project: OpenedProject,
    request: PromptRequest,
    hold: () => () => void,
  ): Promise<PromptStarted> {
    const letGo = hold()
    const events: PromptEvent[] = []
    let id: string | undefined
    try {
      const handle = await project.prompt(request, (event) => {
        events.push(event)
        if (id !== undefined) this.#tell(project.key, { type: 'prompt', prompt: id, event })
      })
      id = handle.id
      const kept: Kept = { project: project.key, handle, text: request.text, events, isOver: false }
      this.#keep(id, kept)
      // Events from before there was an id.
      for (const event of events) this.#tell(project.key, { type: 'prompt', prompt: id, event })
      const over = () => {
        kept.isOver = true
        letGo()
      }
      void handle.ended.then(over, over)
      return { prompt: id, session: handle.session }
    } catch (error) {
      letGo()
      throw error
    }
  }

  running(project: string, session: string): readonly RunningPrompt[] {
    return [...this.#kept.values()]
      .filter(
        ({ isOver, project: of, handle }) =>
          !isOver && of === project && handle.session === session,
      )
      .map(({ handle, text }) => ({ prompt: handle.id, session, text }))
  }

  decide(id: string, request: string, isAllowed: boolean): void {
    if (!this.#of(id).handle.decide(request, isAllowed))
      throw notThere('question of that name that waits')
  }

  async interrupt(id: string): Promise<void> {
    await this.#of(id).handle.interrupt()
  }

  events(id: string, after: number): readonly PromptEvent[] {
    return this.#of(id).events.filter(({ number }) => number > after)
  }

  async close(): Promise<void> {
    const left = [...this.#kept.values()].filter(({ isOver }) => !isOver)
    // Each is ended whatever happens to the others.
    await Promise.allSettled(
      left.map(async ({ handle }) => {
        await handle.interrupt()
        await handle.ended
      }),
    )
  }

  #of(id: string) {
    const kept = this.#kept.get(id)
    if (kept === undefined) throw notThere('prompt of that id')
    return kept
  }

  #keep(id: string, kept: Kept) {
    this.#kept.set(id, kept)
    const over = [...this.#kept].filter(([, { isOver }]) => isOver)
    for (const [old] of over.slice(0, -MOST_KEPT)) this.#kept.delete(old)
  }
}

const TYPE = 'text/event-stream; charset=utf-8'

/** Written straight to the connection, which knows how much is unread. */
export function eventRoutes(app: Hono<Bindings>, context: ServerContext): void {
  app.get('/api/events', (asked) => {
    const project = textIn(asked, 'project')
    // Throws for an unknown project before the stream begins.
    projectIn(context, asked)
    // A HEAD request must not wait for a stream without end.
    if (asked.req.method === 'HEAD') return asked.body(null, 200, { 'Content-Type': TYPE })
    const response = asked.env.outgoing
    const headers = new Headers({ 'Content-Type': TYPE })
    withHeaders(headers)
    response.writeHead(200, Object.fromEntries(headers))
    const leave = context.live.join(
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
