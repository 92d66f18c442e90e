// Numbered events. The latest are buffered, so that a reconnecting page continues.
import { randomBytes } from 'node:crypto'
import type { LiveEvent } from './contract.ts'

export interface FeedSubscriber {
  /** All watched projects when absent. */
  readonly project?: string
  write(text: string): void
  /** Unread bytes. */
  readonly pendingBytes: number
  drop(): void
}

interface BufferedEvent {
  readonly number: number
  readonly project: string
  readonly text: string
}

export interface FeedLimits {
  readonly events: number
  readonly characters: number
  /** A subscriber with more unread bytes is dropped; it reconnects and catches up. */
  readonly pendingBytes: number
}

const DEFAULT_LIMITS: FeedLimits = {
  events: 2000,
  characters: 8 * 1024 * 1024,
  pendingBytes: 1024 * 1024,
}
/** Shorter than the timeouts of proxies. */
const HEARTBEAT_MS = 15_000
const RETRY_MS = 1000

export class EventFeed {
  /** A restarted server restarts its numbers. */
  readonly epoch = randomBytes(6).toString('hex')
  readonly #limits: FeedLimits
  readonly #buffer: BufferedEvent[] = []
  readonly #subscribers = new Set<FeedSubscriber>()
  /** The event number since which a project is watched without a gap. */
  readonly #watchedSince = new Map<string, number>()
  #characters = 0
  #number = 0
  #heartbeat: NodeJS.Timeout | undefined

  constructor(limits: Partial<FeedLimits> = {}) {
    this.#limits = { ...DEFAULT_LIMITS, ...limits }
  }

  get subscribers(): number {
    return this.#subscribers.size
  }

  publish(project: string, event: LiveEvent): void {
    this.#number += 1
    const text = `id: ${this.epoch}.${this.#number}\ndata: ${JSON.stringify(event)}\n\n`
    this.#buffer.push({ number: this.#number, project, text })
    this.#characters += text.length
    while (
      this.#buffer.length > this.#limits.events ||
      this.#characters > this.#limits.characters
    ) {
      this.#characters -= this.#buffer.shift()!.text.length
    }
    for (const subscriber of this.#subscribers)
      if (isFor(subscriber, project)) this.#write(subscriber, text)
  }

  /** Subscribers missed what happened before. */
  begin(project: string): void {
    this.#watchedSince.set(project, this.#number)
  }

  connect(subscriber: FeedSubscriber, lastEventId: string | undefined): void {
    const number =
      lastEventId === undefined ? undefined : this.#resumeNumber(lastEventId, subscriber)
    const missed =
      number === undefined
        ? []
        : this.#buffer.filter((event) => event.number > number && isFor(subscriber, event.project))
    const hasMissed = lastEventId !== undefined && number === undefined
    subscriber.write(`retry: ${RETRY_MS}\n\n`)
    const resetEvent: LiveEvent = { type: 'reset' }
    // An id without data, so that a new page knows its position.
    const data = hasMissed ? `data: ${JSON.stringify(resetEvent)}\n` : ''
    if (hasMissed || missed.length === 0)
      subscriber.write(`id: ${this.epoch}.${this.#number}\n${data}\n`)
    for (const { text } of missed) subscriber.write(text)
    this.#subscribers.add(subscriber)
    this.#heartbeat ??= setInterval(() => this.#sendHeartbeat(), HEARTBEAT_MS).unref()
  }

  disconnect(subscriber: FeedSubscriber): void {
    this.#subscribers.delete(subscriber)
    if (this.#subscribers.size > 0) return
    clearInterval(this.#heartbeat)
    this.#heartbeat = undefined
  }

  close(): void {
    for (const subscriber of this.#subscribers) subscriber.drop()
    this.#subscribers.clear()
    clearInterval(this.#heartbeat)
  }

  /** Undefined when events were missed. */
  #resumeNumber(lastEventId: string, subscriber: FeedSubscriber) {
    const [epoch, digits = ''] = lastEventId.split('.')
    if (epoch !== this.epoch || !/^\d{1,15}$/.test(digits)) return undefined
    const number = Number(digits)
    const oldest = this.#buffer[0]?.number ?? this.#number + 1
    const isGap = [...this.#watchedSince].some(
      ([project, since]) => isFor(subscriber, project) && number < since,
    )
    if (number > this.#number || number < oldest - 1 || isGap) return undefined
    return number
  }

  #sendHeartbeat() {
    for (const subscriber of this.#subscribers) this.#write(subscriber, ': still here\n\n')
  }

  #write(subscriber: FeedSubscriber, text: string) {
    subscriber.write(text)
    if (subscriber.pendingBytes <= this.#limits.pendingBytes) return
    this.disconnect(subscriber)
    subscriber.drop()
  }
}

function isFor({ project }: FeedSubscriber, eventProject: string) {
  return project === undefined || project === eventProject
}
