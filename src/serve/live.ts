// Who follows what happens. A project is watched as long as a page follows it, and a while longer, so that one which reconnects has
// missed nothing. While nobody does, nothing is watched.
import type { LiveEvent } from './contract.ts'
import type { Projects } from './projects.ts'
import { Feed, type FeedLimits, type Listener } from './feed.ts'
import { ProjectWatch } from '../pages/watch-project.ts'

interface Watched {
  readonly watch: ProjectWatch
  readonly letGo: () => void
}

const LINGER_MS = 60_000

export class Live {
  readonly feed: Feed
  readonly #projects: Projects
  readonly #watched = new Map<string, Watched>()
  #ending: NodeJS.Timeout | undefined
  #isClosed = false
  /** Of each project that is watched, another number whenever something happens in it. */
  readonly #stamps = new Map<string, number>()
  #lastStamp = 0

  constructor(projects: Projects, limits: Partial<FeedLimits> = {}) {
    this.#projects = projects
    this.feed = new Feed(limits)
  }

  /** Tells a page what happens until it is called. */
  join(listener: Listener, last: string | undefined): () => void {
    clearTimeout(this.#ending)
    this.#ending = undefined
    this.#begin(listener.project ?? this.#projects.here)
    this.feed.connect(listener, last)
    return () => {
      this.feed.disconnect(listener)
      if (this.feed.listeners > 0 || this.#isClosed) return
      this.#ending ??= setTimeout(() => void this.#endAll(), LINGER_MS).unref()
    }
  }

  /** Somebody asks about this project: whoever follows hears of it from now on. */
  watch(project: string): void {
    if (this.feed.listeners > 0) this.#begin(project)
  }

  /** Somebody looks at this session now. */
  follow(project: string, session: string): void {
    this.#watched.get(project)?.watch.follow(session)
  }

  /** A number that is another one when something has happened in a project. Absent while it is not watched: then nobody knows. */
  stampOf(project: string): number | undefined {
    return this.#stamps.get(project)
  }

  tell(project: string, event: LiveEvent): void {
    // Of what is said in a prompt nothing is on the disk yet.
    if (event.type !== 'prompt' && this.#stamps.has(project)) this.#stamp(project)
    this.feed.publish(project, event)
  }

  /** Told when everything that was noticed until now has been told. */
  async settled(): Promise<void> {
    await Promise.all([...this.#watched.values()].map(({ watch }) => watch.settled()))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#ending)
    this.feed.close()
    await this.#endAll()
  }

  #begin(key: string): void {
    if (this.#watched.has(key) || this.#isClosed) return
    const watch = new ProjectWatch(this.#projects.of(key), (event) => this.tell(key, event))
    this.#watched.set(key, { watch, letGo: this.#projects.hold(key) })
    this.feed.begin(key)
    watch.start()
    this.#stamp(key)
  }

  #stamp(key: string): void {
    this.#lastStamp += 1
    this.#stamps.set(key, this.#lastStamp)
  }

  async #endAll(): Promise<void> {
    const all = [...this.#watched.values()]
    this.#watched.clear()
    this.#stamps.clear()
    for (const { watch, letGo } of all) {
      await watch.stop()
      letGo()
    }
  }
}
