// Indexes conversations while the server runs, in small steps, because requests wait meanwhile.
import { type ProjectPool, messageOf } from '../core.ts'

const STEP_MS = 40
/** The pause is at least this, and several times the step. */
const PAUSE_MS = 100
const PAUSES_PER_STEP = 4
const IDLE_MS = 10_000

export class ConversationIndexer {
  readonly #projects: ProjectPool
  readonly #log: (line: string) => void
  #timer: NodeJS.Timeout | undefined
  #work: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(projects: ProjectPool, log: (line: string) => void) {
    this.#projects = projects
    this.#log = log
  }

  start(): void {
    this.#projects.get(undefined)
    this.#schedule(PAUSE_MS)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#work
  }

  #schedule(pause: number) {
    if (this.#isStopped) return
    this.#timer = setTimeout(() => (this.#work = this.#step()), pause).unref()
  }

  async #step() {
    const startedAt = performance.now()
    let hasMore = false
    try {
      for (const project of this.#projects.opened())
        if (!this.#isStopped) hasMore = (await project.indexConversations(STEP_MS)) || hasMore
    } catch (error) {
      // Tried again; a search reports what is wrong.
      this.#log(messageOf(error))
      hasMore = false
    }
    this.#schedule(
      hasMore ? Math.max(PAUSE_MS, PAUSES_PER_STEP * (performance.now() - startedAt)) : IDLE_MS,
    )
  }
}
