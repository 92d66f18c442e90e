import type { HistoryItem } from '../history/items.ts'
import type { ConversationStore } from '../history/store.ts'

/** How much of a file is translated before it is stored: few writes, in little memory. */
const BATCH_BYTES = 4 * 1024 * 1024

export interface Stored {
  readonly messages: number
  readonly compactions: number
}

/** Collects what is to be stored in one conversation, without what is there already. */
export class Sink {
  readonly #store: ConversationStore | undefined
  readonly #conversation: string
  readonly #known: Set<string> | undefined
  readonly #since: string | undefined
  #items: HistoryItem[] = []
  #bytes = 0
  #messages = 0
  #compactions = 0

  /** Without a store it only counts. `known`: the names of what is there; `since`: what is older is there under another name. */
  constructor(
    store: ConversationStore | undefined,
    conversation: string,
    { known, since }: { readonly known?: Set<string>; readonly since?: string },
  ) {
    this.#store = store
    this.#conversation = conversation
    this.#known = known
    this.#since = since
  }

  get stored(): Stored {
    return { messages: this.#messages, compactions: this.#compactions }
  }

  /** Answers whether so much has come together that it is time to store it. */
  add(items: readonly HistoryItem[], bytes: number): boolean {
    this.#bytes += bytes
    for (const item of items) if (this.#isNew(item)) this.#take(item)
    return this.#bytes >= BATCH_BYTES
  }

  /** Stores what has come together. It is in the file when this returns, though a power cut may still take it. */
  flush(): void {
    if (this.#items.length > 0) this.#store?.append(this.#conversation, this.#items, { isUnsynced: true })
    this.#items = []
    this.#bytes = 0
  }

  #isNew(item: HistoryItem): boolean {
    if (this.#since !== undefined && item.at !== undefined && item.at <= this.#since) return false
    // What has no name is known by its content to whoever reads it.
    if (item.type === 'began' || item.type === 'ended') return true
    if (this.#known?.has(item.id) === true) return false
    this.#known?.add(item.id)
    return true
  }

  #take(item: HistoryItem): void {
    this.#items.push(item)
    if (item.type === 'message') this.#messages += 1
    if (item.type === 'compaction') this.#compactions += 1
  }
}
