// The entries of one session: the newest are loaded, later ones come by events, and gaps are requested.
import type { EntryList, LiveEvent, PublicEntry } from '../../src/serve/contract.ts'
import { ApiFailure, asFailure } from './failure.ts'

type Entries = Extract<LiveEvent, { type: 'entries' }>
type Load = (at: { from?: number; before?: number; limit: number }) => Promise<EntryList>

export const PAGE_SIZE = 200

export class JournalFeed {
  entries: readonly PublicEntry[] = []
  /** How many were loaded before the first page. */
  earlier = 0
  failure: ApiFailure | undefined
  isLoaded = false
  readonly #load: Load
  readonly #changed: () => void
  readonly #ids = new Set<string>()
  #cursor = 0
  #before: number | undefined
  #isLoading = false
  #isLoadingEarlier = false
  /** The latest known end of the journal. */
  #end = 0
  #mayHaveMissed = false
  /** Responses to an earlier generation of the list are ignored. */
  #generation = 0

  constructor(load: Load, changed: () => void) {
    this.#load = load
    this.#changed = changed
  }

  get hasEarlier(): boolean {
    return this.#before !== undefined
  }

  async begin(): Promise<void> {
    this.#generation += 1
    const generation = this.#generation
    this.#isLoading = true
    try {
      const { entries, cursor, before } = await this.#load({ limit: PAGE_SIZE })
      if (generation !== this.#generation) return
      this.#ids.clear()
      this.entries = []
      this.earlier = 0
      this.#cursor = cursor
      this.#before = before
      this.isLoaded = true
      this.failure = undefined
      this.#append(entries)
    } catch (error) {
      if (generation !== this.#generation) return
      this.failure = asFailure(error)
    }
    this.#isLoading = false
    this.#changed()
    if (this.isLoaded && (this.#mayHaveMissed || this.#end > this.#cursor)) await this.catchUp()
  }

  receive(event: Entries): void {
    this.#end = Math.max(this.#end, event.cursor)
    if (this.#isLoading || !this.isLoaded || event.cursor <= this.#cursor) return
    if (event.from !== this.#cursor) return void this.catchUp()
    this.#cursor = event.cursor
    this.#append(event.entries)
    this.#changed()
  }

  /** Events may have been missed: requests everything after the last entry. */
  async catchUp(): Promise<void> {
    this.#mayHaveMissed = true
    if (this.#isLoading) return
    if (!this.isLoaded) return this.begin()
    const generation = this.#generation
    this.#isLoading = true
    try {
      while (this.#mayHaveMissed || this.#end > this.#cursor) {
        this.#mayHaveMissed = false
        const { entries, cursor } = await this.#load({ from: this.#cursor, limit: PAGE_SIZE })
        if (generation !== this.#generation) return
        this.failure = undefined
        this.#append(entries)
        this.#changed()
        if (cursor <= this.#cursor) {
          // There is no more, whatever the events said; a journal that got shorter fails with 410 and is loaded again.
          this.#end = this.#cursor
          continue
        }
        this.#cursor = cursor
        this.#mayHaveMissed = entries.length > 0
      }
    } catch (error) {
      if (generation !== this.#generation) return
      this.#isLoading = false
      if (error instanceof ApiFailure && error.status === 410) return this.begin()
      this.failure = asFailure(error)
      this.#changed()
    }
    this.#isLoading = false
  }

  async loadEarlier(): Promise<void> {
    const before = this.#before
    if (before === undefined || this.#isLoadingEarlier) return
    const generation = this.#generation
    this.#isLoadingEarlier = true
    try {
      const list = await this.#load({ before, limit: PAGE_SIZE })
      if (generation !== this.#generation) return
      const fresh = list.entries.filter(({ id }) => !this.#ids.has(id))
      for (const { id } of fresh) this.#ids.add(id)
      this.entries = [...fresh, ...this.entries]
      this.earlier += fresh.length
      this.#before = list.before
    } catch (error) {
      if (generation === this.#generation) this.failure = asFailure(error)
    } finally {
      this.#isLoadingEarlier = false
    }
    this.#changed()
  }

  /** Each entry once: a log that another copy was merged into may hold one twice. */
  #append(entries: readonly PublicEntry[]): void {
    const fresh = entries.filter(({ id }) => !this.#ids.has(id))
    if (fresh.length === 0) return
    for (const { id } of fresh) this.#ids.add(id)
    const retracted = new Set(
      fresh.filter(({ kind }) => kind === 'entry.retracted').map(({ data }) => data.entry),
    )
    const all = [...this.entries, ...fresh]
    this.entries =
      retracted.size === 0
        ? all
        : all.map((entry) => (retracted.has(entry.id) ? { ...entry, isRetracted: true } : entry))
  }
}
