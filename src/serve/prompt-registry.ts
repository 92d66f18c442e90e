import { type OpenedProject, notFoundError } from '../core.ts'
import type {
  LiveEvent,
  PromptEvent,
  PromptHandle,
  PromptRequest,
  StartedPrompt,
  RunningPrompt,
} from './contract.ts'

interface PromptRecord {
  readonly project: string
  readonly handle: PromptHandle
  readonly text: string
  readonly events: PromptEvent[]
  isEnded: boolean
}

const MAX_ENDED = 100

export class PromptRegistry {
  readonly #publish: (project: string, event: LiveEvent) => void
  readonly #prompts = new Map<string, PromptRecord>()

  constructor(publish: (project: string, event: LiveEvent) => void) {
    this.#publish = publish
  }

  async start(
    project: OpenedProject,
    request: PromptRequest,
    hold: () => () => void,
  ): Promise<StartedPrompt> {
    const release = hold()
    const events: PromptEvent[] = []
    let id: string | undefined
    try {
      const handle = await project.prompt(request, (event) => {
        events.push(event)
        if (id !== undefined) this.#publish(project.key, { type: 'prompt', prompt: id, event })
      })
      id = handle.id
      const record: PromptRecord = {
        project: project.key,
        handle,
        text: request.text,
        events,
        isEnded: false,
      }
      this.#add(id, record)
      // Events that came before the id was known.
      for (const event of events) this.#publish(project.key, { type: 'prompt', prompt: id, event })
      const markEnded = () => {
        record.isEnded = true
        release()
      }
      void handle.ended.then(markEnded, markEnded)
      return { prompt: id, session: handle.session }
    } catch (error) {
      release()
      throw error
    }
  }

  running(project: string, session: string): readonly RunningPrompt[] {
    return [...this.#prompts.values()]
      .filter(
        ({ isEnded, project: owner, handle }) =>
          !isEnded && owner === project && handle.session === session,
      )
      .map(({ handle, text }) => ({ prompt: handle.id, session, text }))
  }

  decide(id: string, request: string, isAllowed: boolean): void {
    if (!this.#find(id).handle.decide(request, isAllowed))
      throw notFoundError('question of that name that waits')
  }

  async interrupt(id: string): Promise<void> {
    await this.#find(id).handle.interrupt()
  }

  events(id: string, after: number): readonly PromptEvent[] {
    return this.#find(id).events.filter(({ number }) => number > after)
  }

  async close(): Promise<void> {
    const running = [...this.#prompts.values()].filter(({ isEnded }) => !isEnded)
    // One that fails to end must not keep the others running.
    await Promise.allSettled(
      running.map(async ({ handle }) => {
        await handle.interrupt()
        await handle.ended
      }),
    )
  }

  #find(id: string) {
    const record = this.#prompts.get(id)
    if (record === undefined) throw notFoundError('prompt of that id')
    return record
  }

  #add(id: string, record: PromptRecord) {
    this.#prompts.set(id, record)
    const ended = [...this.#prompts].filter(([, { isEnded }]) => isEnded)
    for (const [old] of ended.slice(0, -MAX_ENDED)) this.#prompts.delete(old)
  }
}
