import { type OpenedProject, notFoundError } from '../core.ts'
import type {
  LiveEvent,
  PromptEvent,
  PromptHandle,
  PromptRequest,
  StartedPrompt,
  RunningPrompt,
} from './contract.ts'

interface Kept {
  readonly project: string
  readonly handle: PromptHandle
  readonly text: string
  readonly events: PromptEvent[]
  isOver: boolean
}

const MOST_KEPT = 100

/** Prompts from the page, kept while the server runs. */
export class PromptRegistry {
  readonly #tell: (project: string, event: LiveEvent) => void
  readonly #kept = new Map<string, Kept>()

  constructor(tell: (project: string, event: LiveEvent) => void) {
    this.#tell = tell
  }

  async start(
    project: OpenedProject,
    request: PromptRequest,
    hold: () => () => void,
  ): Promise<StartedPrompt> {
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
      throw notFoundError('question of that name that waits')
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
    if (kept === undefined) throw notFoundError('prompt of that id')
    return kept
  }

  #keep(id: string, kept: Kept) {
    this.#kept.set(id, kept)
    const over = [...this.#kept].filter(([, { isOver }]) => isOver)
    for (const [old] of over.slice(0, -MOST_KEPT)) this.#kept.delete(old)
  }
}
