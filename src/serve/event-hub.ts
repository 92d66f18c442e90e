// A project is watched while a page follows it and a minute longer, so that a reconnecting page
// misses nothing.
import type { LiveEvent } from './contract.ts'
import { ProjectWatcher, type ProjectPool } from '../core.ts'
import { randomBytes } from 'node:crypto'

interface Watched {
  readonly watch: ProjectWatcher
  readonly letGo: () => void
}

const LINGER_MS = 60_000

export class EventHub {
  readonly feed: EventFeed
  readonly #projects: ProjectPool
  readonly #watched = new Map<string, Watched>()
  #ending: NodeJS.Timeout | undefined
  #isClosed = false
  readonly #stamps = new Map<string, number>()
  #lastStamp = 0

  constructor(projects: ProjectPool, limits: Partial<FeedLimits> = {}) {
    this.#projects = projects
    this.feed = new EventFeed(limits)
  }

  subscribe(listener: FeedSubscriber, last: string | undefined): () => void {
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
  versionOf(project: string): number | undefined {
    return this.#stamps.get(project)
  }

  publish(project: string, event: LiveEvent): void {
    // A prompt's events are not on disk yet.
    if (event.type !== 'prompt' && this.#stamps.has(project)) this.#stamp(project)
    this.feed.publish(project, event)
  }

  /** For tests: everything noticed so far was reported. */
  async whenIdle(): Promise<void> {
    await Promise.all([...this.#watched.values()].map(({ watch }) => watch.whenIdle()))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#ending)
    this.feed.close()
    await this.#endAll()
  }

  #begin(key: string) {
    if (this.#watched.has(key) || this.#isClosed) return
    const watch = new ProjectWatcher(this.#projects.get(key), (event) => this.publish(key, event))
    this.#watched.set(key, { watch, letGo: this.#projects.hold(key) })
    this.feed.begin(key)
    watch.start()
    this.#stamp(key)
  }

  #stamp(key: string) {
    this.#lastStamp += 1
    this.#stamps.set(key, this.#lastStamp)
  }

  async #endAll() {
    const all = [...this.#watched.values()]
    this.#watched.clear()
    this.#stamps.clear()
    for (const { watch, letGo } of all) {
      await watch.stop()
      letGo()
    }
  }
}

// Numbered events. The latest are kept, so that a page that lost its connection continues.

export interface FeedSubscriber {
  /** All watched projects when absent. */
  readonly project?: string
  write(text: string): void
  /** Unread bytes. */
  readonly pendingBytes: number
  drop(): void
}

interface Kept {
  readonly number: number
  readonly project: string
  readonly text: string
}

export interface FeedLimits {
  readonly events: number
  readonly characters: number
  /** A listener with more unread bytes is dropped; it reconnects and catches up. */
  readonly pendingBytes: number
}

const LIMITS: FeedLimits = { events: 2000, characters: 8 * 1024 * 1024, pendingBytes: 1024 * 1024 }
/** Shorter than the timeouts of proxies. */
const HEARTBEAT_MS = 15_000
const RETRY_MS = 1000

export class EventFeed {
  /** A restarted server numbers anew. */
  readonly epoch = randomBytes(6).toString('hex')
  readonly #limits: FeedLimits
  readonly #kept: Kept[] = []
  readonly #listeners = new Set<FeedSubscriber>()
  /** Since when a project is watched without a gap. */
  readonly #since = new Map<string, number>()
  #characters = 0
  #number = 0
  #heart: NodeJS.Timeout | undefined

  constructor(limits: Partial<FeedLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits }
  }

  get listeners(): number {
    return this.#listeners.size
  }

  publish(project: string, event: LiveEvent): void {
    this.#number += 1
    const text = `id: ${this.epoch}.${this.#number}\ndata: ${JSON.stringify(event)}\n\n`
    this.#kept.push({ number: this.#number, project, text })
    this.#characters += text.length
    while (this.#kept.length > this.#limits.events || this.#characters > this.#limits.characters) {
      this.#characters -= this.#kept.shift()!.text.length
    }
    for (const listener of this.#listeners)
      if (isFor(listener, project)) this.#write(listener, text)
  }

  /** Listeners missed what happened before. */
  begin(project: string): void {
    this.#since.set(project, this.#number)
  }

  connect(listener: FeedSubscriber, last: string | undefined): void {
    const number = last === undefined ? undefined : this.#numberOf(last, listener)
    const missed =
      number === undefined
        ? []
        : this.#kept.filter((kept) => kept.number > number && isFor(listener, kept.project))
    const isLost = last !== undefined && number === undefined
    listener.write(`retry: ${RETRY_MS}\n\n`)
    const reset: LiveEvent = { type: 'reset' }
    // An id without data, so that a new page knows its position.
    const opening = isLost ? `data: ${JSON.stringify(reset)}\n` : ''
    if (isLost || missed.length === 0)
      listener.write(`id: ${this.epoch}.${this.#number}\n${opening}\n`)
    for (const { text } of missed) listener.write(text)
    this.#listeners.add(listener)
    this.#heart ??= setInterval(() => this.#beat(), HEARTBEAT_MS).unref()
  }

  disconnect(listener: FeedSubscriber): void {
    this.#listeners.delete(listener)
    if (this.#listeners.size > 0) return
    clearInterval(this.#heart)
    this.#heart = undefined
  }

  close(): void {
    for (const listener of this.#listeners) listener.drop()
    this.#listeners.clear()
    clearInterval(this.#heart)
  }

  /** Undefined when events were missed. */
  #numberOf(last: string, listener: FeedSubscriber) {
    const [epoch, digits = ''] = last.split('.')
    if (epoch !== this.epoch || !/^\d{1,15}$/.test(digits)) return undefined
    const number = Number(digits)
    const oldest = this.#kept[0]?.number ?? this.#number + 1
    const isGap = [...this.#since].some(
      ([project, since]) => isFor(listener, project) && number < since,
    )
    if (number > this.#number || number < oldest - 1 || isGap) return undefined
    return number
  }

  #beat() {
    for (const listener of this.#listeners) this.#write(listener, ': still here\n\n')
  }

  #write(listener: FeedSubscriber, text: string) {
    listener.write(text)
    if (listener.pendingBytes <= this.#limits.pendingBytes) return
    this.disconnect(listener)
    listener.drop()
  }
}

function isFor({ project }: FeedSubscriber, of: string) {
  return project === undefined || project === of
}

// Indexes conversations while the server runs, in small steps: requests wait meanwhile.

const STEP_MS = 40
/** The pause is at least this, and several times the step. */
const PAUSE_MS = 100
const PAUSES_PER_STEP = 4
const LOOK_MS = 10_000

export class ConversationIndexer {
  readonly #projects: ProjectPool
  readonly #say: (line: string) => void
  #timer: NodeJS.Timeout | undefined
  #work: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(projects: ProjectPool, say: (line: string) => void) {
    this.#projects = projects
    this.#say = say
  }

  start(): void {
    this.#projects.get(undefined)
    this.#next(PAUSE_MS)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#work
  }

  #next(pause: number) {
    if (this.#isStopped) return
    this.#timer = setTimeout(() => (this.#work = this.#step()), pause).unref()
  }

  async #step() {
    const since = performance.now()
    let isMore = false
    try {
      for (const project of this.#projects.opened())
        if (!this.#isStopped) isMore = (await project.indexConversations(STEP_MS)) || isMore
    } catch (error) {
      // Tried again; a search reports what is wrong.
      this.#say(error instanceof Error ? error.message : String(error))
      isMore = false
    }
    this.#next(isMore ? Math.max(PAUSE_MS, PAUSES_PER_STEP * (performance.now() - since)) : LOOK_MS)
  }
}
