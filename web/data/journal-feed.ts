// The entries of one session as they come: the newest first asked for, then by events, with questions for whatever the events lack.
import type { EntryList, LiveEvent, PublicEntry } from '../../src/serve/contract.ts'
import { ApiFailure, asFailure } from './failure.ts'

type Entries = Extract<LiveEvent, { type: 'entries' }>
type Load = (at: { from?: number; before?: number; limit: number }) => Promise<EntryList>

export const PAGE_SIZE = 200

export class JournalFeed {
  entries: readonly PublicEntry[] = []
  /** How many of them were put in front of the first ones. */
  earlier = 0
  failure: ApiFailure | undefined
  isLoaded = false
  readonly #load: Load
  readonly #changed: () => void
  readonly #ids = new Set<string>()
  #cursor = 0
  #before: number | undefined
  #isAsking = false
  #isAskingEarlier = false
  /** How far the journal goes, as far as is known. */
  #end = 0
  #isUnsure = false
  /** What was asked for a list that is no longer this one is not taken. */
  #turn = 0

  constructor(load: Load, changed: () => void) {
    this.#load = load
    this.#changed = changed
  }

  get hasEarlier(): boolean {
    return this.#before !== undefined
  }

  async begin(): Promise<void> {
    this.#turn += 1
    const turn = this.#turn
    this.#isAsking = true
    try {
      const { entries, cursor, before } = await this.#load({ limit: PAGE_SIZE })
      if (turn !== this.#turn) return
      this.#ids.clear()
      this.entries = []
      this.earlier = 0
      this.#cursor = cursor
      this.#before = before
      this.isLoaded = true
      this.failure = undefined
      this.#append(entries)
    } catch (error) {
      if (turn !== this.#turn) return
      this.failure = asFailure(error)
    }
    this.#isAsking = false
    this.#changed()
    if (this.isLoaded && (this.#isUnsure || this.#end > this.#cursor)) await this.catchUp()
  }

  receive(event: Entries): void {
    this.#end = Math.max(this.#end, event.cursor)
    if (this.#isAsking || !this.isLoaded || event.cursor <= this.#cursor) return
    if (event.from !== this.#cursor) return void this.catchUp()
    this.#cursor = event.cursor
    this.#append(event.entries)
    this.#changed()
  }

  /** Events may have been missed: asks for what is behind the last entry that is here. */
  async catchUp(): Promise<void> {
    this.#isUnsure = true
    if (this.#isAsking) return
    if (!this.isLoaded) return this.begin()
    const turn = this.#turn
    this.#isAsking = true
    try {
      while (this.#isUnsure || this.#end > this.#cursor) {
        this.#isUnsure = false
        const { entries, cursor } = await this.#load({ from: this.#cursor, limit: PAGE_SIZE })
        if (turn !== this.#turn) return
        this.failure = undefined
        this.#append(entries)
        this.#changed()
        if (cursor <= this.#cursor) {
          // There is no more, whatever was said: a journal that is shorter than it was begins anew when it is asked about.
          this.#end = this.#cursor
          continue
        }
        this.#cursor = cursor
        this.#isUnsure = entries.length > 0
      }
    } catch (error) {
      if (turn !== this.#turn) return
      this.#isAsking = false
      if (error instanceof ApiFailure && error.status === 410) return this.begin()
      this.failure = asFailure(error)
      this.#changed()
    }
    this.#isAsking = false
  }

  async loadEarlier(): Promise<void> {
    const before = this.#before
    if (before === undefined || this.#isAskingEarlier) return
    const turn = this.#turn
    this.#isAskingEarlier = true
    try {
      const list = await this.#load({ before, limit: PAGE_SIZE })
      if (turn !== this.#turn) return
      const fresh = list.entries.filter(({ id }) => !this.#ids.has(id))
      for (const { id } of fresh) this.#ids.add(id)
      this.entries = [...fresh, ...this.entries]
      this.earlier += fresh.length
      this.#before = list.before
    } catch (error) {
      if (turn === this.#turn) this.failure = asFailure(error)
    } finally {
      this.#isAskingEarlier = false
    }
    this.#changed()
  }

  /** Each entry once: a log into which another copy was merged may hold one twice. */
  #append(entries: readonly PublicEntry[]): void {
    const fresh = entries.filter(({ id }) => !this.#ids.has(id))
    if (fresh.length === 0) return
    for (const { id } of fresh) this.#ids.add(id)
    const taken = new Set(
      fresh.filter(({ kind }) => kind === 'entry.retracted').map(({ data }) => data.entry),
    )
    const all = [...this.entries, ...fresh]
    this.entries =
      taken.size === 0
        ? all
        : all.map((entry) => (taken.has(entry.id) ? { ...entry, isRetracted: true } : entry))
  }
}
