// A project is watched while a page follows it and a minute longer, so that a reconnecting page
// misses nothing.
import type { LiveEvent } from './contract.ts'
import { type ProjectPool, ProjectWatcher } from '../core.ts'
import { EventFeed, type FeedLimits, type FeedSubscriber } from './event-feed.ts'

interface WatchedProject {
  readonly watcher: ProjectWatcher
  readonly release: () => void
}

const LINGER_MS = 60_000

export class EventHub {
  readonly feed: EventFeed
  readonly #projects: ProjectPool
  readonly #watched = new Map<string, WatchedProject>()
  #closeTimer: NodeJS.Timeout | undefined
  #isClosed = false
  readonly #versions = new Map<string, number>()
  #lastVersion = 0

  constructor(projects: ProjectPool, limits: Partial<FeedLimits> = {}) {
    this.#projects = projects
    this.feed = new EventFeed(limits)
  }

  subscribe(subscriber: FeedSubscriber, lastEventId: string | undefined): () => void {
    clearTimeout(this.#closeTimer)
    this.#closeTimer = undefined
    this.#startWatching(subscriber.project ?? this.#projects.here)
    this.feed.connect(subscriber, lastEventId)
    return () => {
      this.feed.disconnect(subscriber)
      if (this.feed.subscribers > 0 || this.#isClosed) return
      this.#closeTimer ??= setTimeout(() => void this.#stopWatching(), LINGER_MS).unref()
    }
  }

  watch(project: string): void {
    if (this.feed.subscribers > 0) this.#startWatching(project)
  }

  follow(project: string, session: string): void {
    this.#watched.get(project)?.watcher.follow(session)
  }

  /** Changes when something happens in a project; undefined while it is not watched. */
  versionOf(project: string): number | undefined {
    return this.#versions.get(project)
  }

  publish(project: string, event: LiveEvent): void {
    // The events of a prompt are not on disk yet.
    if (event.type !== 'prompt' && this.#versions.has(project)) this.#bumpVersion(project)
    this.feed.publish(project, event)
  }

  /** For tests: resolves when all changes so far were published. */
  async whenIdle(): Promise<void> {
    await Promise.all([...this.#watched.values()].map(({ watcher }) => watcher.whenIdle()))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#closeTimer)
    this.feed.close()
    await this.#stopWatching()
  }

  #startWatching(key: string) {
    if (this.#watched.has(key) || this.#isClosed) return
    const watcher = new ProjectWatcher(this.#projects.get(key), (event) => this.publish(key, event))
    this.#watched.set(key, { watcher, release: this.#projects.hold(key) })
    this.feed.begin(key)
    watcher.start()
    this.#bumpVersion(key)
  }

  #bumpVersion(key: string) {
    this.#lastVersion += 1
    this.#versions.set(key, this.#lastVersion)
  }

  async #stopWatching() {
    const all = [...this.#watched.values()]
    this.#watched.clear()
    this.#versions.clear()
    for (const { watcher, release } of all) {
      await watcher.stop()
      release()
    }
  }
}
