// Who follows which project. A project is watched as long as a page follows it, and a while longer, so that one which reconnects has missed nothing.
import type { LiveEvent } from '../contract.ts'
import type { Projects } from '../projects.ts'
import { Feed, type FeedLimits, type Listener } from './feed.ts'
import { ProjectWatch } from './watch-project.ts'

interface Watched {
  readonly watch: ProjectWatch
  readonly letGo: () => void
  followers: number
  ending?: NodeJS.Timeout
}

const LINGER_MS = 60_000

export class Live {
  readonly feed: Feed
  readonly #projects: Projects
  readonly #watched = new Map<string, Watched>()

  constructor(projects: Projects, limits: Partial<FeedLimits> = {}) {
    this.#projects = projects
    this.feed = new Feed(limits)
  }

  /** Tells a page what happens in its project until it is called. */
  join(listener: Listener, last: string | undefined): () => void {
    const watched = this.#watch(listener.project)
    clearTimeout(watched.ending)
    watched.followers += 1
    this.feed.connect(listener, last)
    let hasLeft = false
    return () => {
      if (hasLeft) return
      hasLeft = true
      this.feed.disconnect(listener)
      watched.followers -= 1
      if (watched.followers > 0) return
      watched.ending = setTimeout(() => void this.#end(listener.project), LINGER_MS).unref()
    }
  }

  /** Somebody looks at this session now. */
  follow(project: string, session: string): void {
    this.#watched.get(project)?.watch.follow(session)
  }

  tell(project: string, event: LiveEvent): void {
    this.feed.publish(project, event)
  }

  /** Told when everything that was noticed until now has been told. */
  async settled(): Promise<void> {
    await Promise.all([...this.#watched.values()].map(({ watch }) => watch.settled()))
  }

  async close(): Promise<void> {
    this.feed.close()
    await Promise.all([...this.#watched.keys()].map((project) => this.#end(project)))
  }

  #watch(key: string): Watched {
    const known = this.#watched.get(key)
    if (known !== undefined) return known
    const project = this.#projects.of(key)
    const watch = new ProjectWatch(project, (event) => this.tell(key, event))
    const watched: Watched = { watch, letGo: this.#projects.hold(key), followers: 0 }
    this.#watched.set(key, watched)
    this.feed.begin(key)
    watch.start()
    return watched
  }

  async #end(key: string): Promise<void> {
    const watched = this.#watched.get(key)
    this.#watched.delete(key)
    clearTimeout(watched?.ending)
    await watched?.watch.stop()
    watched?.letGo()
  }
}
