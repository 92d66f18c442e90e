// Numbered events. The latest are kept, so that a page that lost its connection continues.
import { randomBytes } from 'node:crypto'
import type { LiveEvent } from './contract.ts'

export interface Listener {
  /** All watched projects when absent. */
  readonly project?: string
  write(text: string): void
  /** Unread bytes. */
  readonly waiting: number
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
  readonly waiting: number
}

const LIMITS: FeedLimits = { events: 2000, characters: 8 * 1024 * 1024, waiting: 1024 * 1024 }
/** Shorter than the timeouts of proxies. */
const HEARTBEAT_MS = 15_000
const RETRY_MS = 1000

export class Feed {
  /** A restarted server numbers anew. */
  readonly epoch = randomBytes(6).toString('hex')
  readonly #limits: FeedLimits
  readonly #kept: Kept[] = []
  readonly #listeners = new Set<Listener>()
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

  connect(listener: Listener, last: string | undefined): void {
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

  disconnect(listener: Listener): void {
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
  #numberOf(last: string, listener: Listener): number | undefined {
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

  #beat(): void {
    for (const listener of this.#listeners) this.#write(listener, ': still here\n\n')
  }

  #write(listener: Listener, text: string): void {
    listener.write(text)
    if (listener.waiting <= this.#limits.waiting) return
    this.disconnect(listener)
    listener.drop()
  }
}

function isFor({ project }: Listener, of: string): boolean {
  return project === undefined || project === of
}
