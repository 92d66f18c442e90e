// An index of a stored conversation: the offset of each item, compactions, requests and usage. Read once,
// then only what was appended.
import type { ContextSize, HistoryItem, Message } from '../history/items.ts'
import type { ConversationStore } from '../history/store.ts'
import { type ConversationSummary, SummaryBuilder, splitTypedText } from '../history/summary.ts'
import type { Usage } from '../session/entries.ts'
import { oneLine, shorten } from '../text/clean.ts'
import { defined } from '../text/defined.ts'

export interface RequestUsage {
  readonly at?: string
  readonly model: string
  readonly usage: Usage
  /** Not part of the conversation's own context. */
  readonly isDelegated: boolean
}

export interface IndexedCompaction {
  readonly number: number
  /** Own requests before it. */
  readonly requestsBefore: number
  /** Reported context sizes before it. */
  readonly contextSizesBefore: number
  readonly at?: string
  readonly tokensBefore?: number
}

const MAX_REQUEST_LENGTH = 160
/** Other requests wait at most this long. */
const SLICE_MS = 25

export class ConversationIndex {
  readonly #store: ConversationStore
  readonly #ends: number[] = []
  readonly #seenItems = new Set<string>()
  /** A request reported in several messages counts once. */
  readonly #usageIndexOfRequest = new Map<string, number>()
  #reading: Promise<void> | undefined
  #hasNewReader = false
  /** Includes duplicates after the last counted item. */
  #end = 0
  #ownRequests = 0
  #model: string | undefined
  readonly #summaryBuilder = new SummaryBuilder()
  readonly compactions: IndexedCompaction[] = []
  readonly requests: { readonly number: number; readonly text: string }[] = []
  readonly requestUsage: RequestUsage[] = []
  readonly contextSizes: (ContextSize & { readonly at?: string })[] = []

  constructor(
    store: ConversationStore,
    readonly id: string,
  ) {
    this.#store = store
  }

  get end(): number {
    return this.#end
  }

  get total(): number {
    return this.#ends.length
  }

  get summary(): ConversationSummary {
    return this.#summaryBuilder.value
  }

  /** A caller that arrives during a read waits until the bytes it saw are read. */
  async readNew(): Promise<void> {
    if (this.#reading !== undefined) {
      this.#hasNewReader = true
      return this.#reading
    }
    this.#reading = this.#readAll().finally(() => (this.#reading = undefined))
    return this.#reading
  }

  items(from: number, limit: number): readonly HistoryItem[] {
    const items: HistoryItem[] = []
    const last = Math.min(this.total, from + limit)
    if (from >= last) return items
    const start = from === 0 ? 0 : this.#ends[from - 1]!
    for (const { offset, ...item } of this.#store.read(this.id, { from: start })) {
      // Duplicates lie in between.
      if (offset !== this.#ends[from + items.length]) continue
      items.push(item)
      if (from + items.length === last) break
    }
    return items
  }

  async #readAll() {
    do {
      this.#hasNewReader = false
      let since = performance.now()
      for (const item of this.#store.read(this.id, { from: this.#end, isBrief: true })) {
        this.#end = item.offset
        this.#add(item)
        if (performance.now() - since < SLICE_MS) continue
        await new Promise((resolve) => setImmediate(resolve))
        since = performance.now()
      }
    } while (this.#hasNewReader)
  }

  #add({ offset, ...item }: HistoryItem & { offset: number }) {
    const identity = 'id' in item ? item.id : `${item.type} ${JSON.stringify(item)}`
    if (this.#seenItems.has(identity)) return
    this.#seenItems.add(identity)
    const number = this.#ends.push(offset) - 1
    this.#summaryBuilder.add(item)
    if (item.type === 'compaction') this.#addCompaction(item, number)
    else if (item.type === 'message') this.#addMessage(item, number)
  }

  #addCompaction({ at, tokensBefore }: { at?: string; tokensBefore?: number }, number: number) {
    this.compactions.push({
      number,
      requestsBefore: this.#ownRequests,
      contextSizesBefore: this.contextSizes.length,
      ...defined({ at, tokensBefore }),
    })
  }

  #addMessage(message: Message, number: number) {
    if (message.agent === undefined && message.model !== undefined && message.isFailure !== true)
      this.#model = message.model
    const request = requestText(message)
    if (request !== undefined) this.requests.push({ number, text: request })
    if (message.usage !== undefined) this.#addUsage(message, message.usage)
    const { agent, context, at } = message
    if (context !== undefined && agent === undefined)
      this.contextSizes.push({ ...context, ...defined({ at }) })
  }

  #addUsage(
    { agent, at, id, model = this.#model ?? 'unknown', request = id }: Message,
    usage: Usage,
  ) {
    const entry = {
      model,
      usage,
      isDelegated: agent !== undefined,
      ...defined({ at }),
    }
    const usageIndex = this.#usageIndexOfRequest.get(request)
    // The last report of a request is complete.
    if (usageIndex !== undefined) {
      this.requestUsage[usageIndex] = { ...this.requestUsage[usageIndex]!, usage }
      return
    }
    this.#usageIndexOfRequest.set(request, this.requestUsage.push(entry) - 1)
    if (agent === undefined) this.#ownRequests += 1
  }
}

function requestText({ role, isMeta, isSummary, agent, parts }: Message) {
  if (role !== 'user' || isMeta === true || isSummary === true || agent !== undefined)
    return undefined
  const text = parts
    .flatMap((part) => (part.type === 'text' ? [splitTypedText(part.text).typed || part.text] : []))
    .join(' ')
  return text.trim() === ''
    ? undefined
    : shorten(oneLine(text.slice(0, 4 * MAX_REQUEST_LENGTH)), MAX_REQUEST_LENGTH)
}
