// A project is watched while a page follows it and a minute longer, so that a reconnecting page
// misses nothing.
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
  readonly #stamps = new Map<string, number>()
  #lastStamp = 0

  constructor(projects: Projects, limits: Partial<FeedLimits> = {}) {
    this.#projects = projects
    this.feed = new Feed(limits)
  }

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

  watch(project: string): void {
    if (this.feed.listeners > 0) this.#begin(project)
  }

  follow(project: string, session: string): void {
    this.#watched.get(project)?.watch.follow(session)
  }

  /** Changes when something happens in a project; undefined while it is not watched. */
  stampOf(project: string): number | undefined {
    return this.#stamps.get(project)
  }

  tell(project: string, event: LiveEvent): void {
    // A prompt's events are not on disk yet.
    if (event.type !== 'prompt' && this.#stamps.has(project)) this.#stamp(project)
    this.feed.publish(project, event)
  }

  /** For tests: everything noticed so far was reported. */
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
