// Indexes conversations while the server runs, in small steps: requests wait meanwhile.
import type { OpenedProject } from '../pages/opened-project.ts'
import type { Projects } from './projects.ts'

const STEP_MS = 40
/** The pause is at least this, and several times the step. */
const PAUSE_MS = 100
const PAUSES_PER_STEP = 4
const LOOK_MS = 10_000

export class SaidReader {
  readonly #projects: Projects
  readonly #say: (line: string) => void
  #timer: NodeJS.Timeout | undefined
  #work: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(projects: Projects, say: (line: string) => void) {
    this.#projects = projects
    this.#say = say
  }

  start(): void {
    this.#projects.of(undefined)
    this.#next(PAUSE_MS)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#work
  }

  #next(pause: number): void {
    if (this.#isStopped) return
    this.#timer = setTimeout(() => (this.#work = this.#step()), pause).unref()
  }

  async #step(): Promise<void> {
    const since = performance.now()
    let isMore = false
    try {
      for (const { workspace } of this.#projects.opened())
        if (!this.#isStopped) isMore = (await readOn(workspace)) || isMore
    } catch (error) {
      // Tried again; a search reports what is wrong.
      this.#say(error instanceof Error ? error.message : String(error))
      isMore = false
    }
    this.#next(isMore ? Math.max(PAUSE_MS, PAUSES_PER_STEP * (performance.now() - since)) : LOOK_MS)
  }
}

async function readOn(workspace: OpenedProject['workspace']): Promise<boolean> {
  if (!workspace.hasConversations()) return false
  return (await workspace.index()).syncSaid(STEP_MS).bytesLeft > 0
}
