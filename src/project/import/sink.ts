import type { NewItem } from '../../history/items.ts'
import type { ConversationWriter } from '../../history/store.ts'

const BATCH_BYTES = 4 * 1024 * 1024

export interface Stored {
  readonly messages: number
  readonly compactions: number
}

export class Sink {
  readonly #writer: ConversationWriter | undefined
  readonly #known: Set<string> | undefined
  readonly #since: string | undefined
  #bytes = 0
  #messages = 0
  #compactions = 0

  /**
   * Without a writer it only counts. `known`: stored ids; `since`: older items are stored under
   * other ids.
   */
  constructor(
    writer: ConversationWriter | undefined,
    { known, since }: { readonly known?: Set<string>; readonly since?: string },
  ) {
    this.#writer = writer
    this.#known = known
    this.#since = since
  }

  get stored(): Stored {
    return { messages: this.#messages, compactions: this.#compactions }
  }

  /** Returns true when it is time to flush. */
  add(items: readonly NewItem[], bytes: number): boolean {
    this.#bytes += bytes
    for (const item of items) if (this.#isNew(item)) this.#take(item)
    return this.#bytes >= BATCH_BYTES
  }

  flush(): void {
    this.#writer?.flush()
    this.#bytes = 0
  }

  #isNew(item: NewItem): boolean {
    if (this.#since !== undefined && item.at !== undefined && item.at <= this.#since) return false
    // Items without an id are told apart by content when read.
    if (item.type === 'began' || item.type === 'ended') return true
    if (this.#known?.has(item.id) === true) return false
    this.#known?.add(item.id)
    return true
  }

  #take(item: NewItem): void {
    this.#writer?.add(item)
    if (item.type === 'message') this.#messages += 1
    if (item.type === 'compaction') this.#compactions += 1
  }
}
