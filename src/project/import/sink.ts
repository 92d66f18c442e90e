import type { NewItem } from '../../history/items.ts'
import type { ConversationWriter } from '../../history/store.ts'

/** How much of a file is translated before it is stored: few writes, in little memory. */
const BATCH_BYTES = 4 * 1024 * 1024

export interface Stored {
  readonly messages: number
  readonly compactions: number
}

/** Collects what is to be stored in one conversation, without what is there already. */
export class Sink {
  readonly #writer: ConversationWriter | undefined
  readonly #known: Set<string> | undefined
  readonly #since: string | undefined
  #bytes = 0
  #messages = 0
  #compactions = 0

  /** Without a writer it only counts. `known`: the names of what is there; `since`: what is older is there under another name. */
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

  /** Answers whether so much has come together that it is time to store it. */
  add(items: readonly NewItem[], bytes: number): boolean {
    this.#bytes += bytes
    for (const item of items) if (this.#isNew(item)) this.#take(item)
    return this.#bytes >= BATCH_BYTES
  }

  /** Stores what has come together. It is in the file when this returns, though a power cut may still take it. */
  flush(): void {
    this.#writer?.flush()
    this.#bytes = 0
  }

  #isNew(item: NewItem): boolean {
    if (this.#since !== undefined && item.at !== undefined && item.at <= this.#since) return false
    // What has no name is known by its content to whoever reads it.
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
