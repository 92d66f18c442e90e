// What has to be known of a stored conversation to show any part of it: where each item lies, what there is to jump to, and what
// it used. Read through once, and from then on only what was added.
import type { ContextSize, HistoryItem, Message } from '../history/items.ts'
import { type ConversationSummary, Summing, wordsIn } from '../history/summary.ts'
import type { ConversationStore } from '../history/store.ts'
import type { Usage } from '../session/entries.ts'
import { oneLine, shorten } from '../text/clean.ts'
import { defined } from '../text/defined.ts'

/** What one request to the model used, and when. */
export interface Requested {
  readonly at?: string
  readonly model: string
  readonly usage: Usage
  /** Of a delegated agent: no part of what the conversation's own model reads. */
  readonly isDelegated: boolean
}

export interface Compacted {
  /** The number of its item. */
  readonly number: number
  /** How many requests of the conversation itself came before it. */
  readonly after: number
  /** How often it had been told before how full the context is. */
  readonly afterTold: number
  readonly at?: string
  readonly tokensBefore?: number
}

const LONGEST_TITLE = 160
/** So long nobody else is kept waiting for. */
const SLICE_MS = 25

export class ConversationIndex {
  readonly #store: ConversationStore
  /** The offset behind each item. */
  readonly #ends: number[] = []
  readonly #seen = new Set<string>()
  /** By the request, so that one that was told in several messages counts once. */
  readonly #byRequest = new Map<string, number>()
  #reading: Promise<void> | undefined
  #isAgain = false
  /** How far was read: behind the last item there may be some that were stored again. */
  #end = 0
  /** Requests of the conversation itself. */
  #own = 0
  #model: string | undefined
  readonly #summing = new Summing()
  readonly compactions: Compacted[] = []
  readonly requests: { readonly number: number; readonly text: string }[] = []
  readonly used: Requested[] = []
  /** How full the context was, where the harness says so. */
  readonly told: (ContextSize & { readonly at?: string })[] = []

  constructor(
    store: ConversationStore,
    readonly id: string,
  ) {
    this.#store = store
  }

  /** How far it has been read, in bytes. */
  get end(): number {
    return this.#end
  }

  get total(): number {
    return this.#ends.length
  }

  get summary(): ConversationSummary {
    return this.#summing.value
  }

  /** Reads what was added. Whoever asks meanwhile is answered when that was read which was there when they asked. */
  async readOn(): Promise<void> {
    if (this.#reading !== undefined) {
      this.#isAgain = true
      return this.#reading
    }
    this.#reading = this.#readAll().finally(() => (this.#reading = undefined))
    return this.#reading
  }

  /** Items by their number. */
  items(from: number, limit: number): readonly HistoryItem[] {
    const items: HistoryItem[] = []
    const last = Math.min(this.total, from + limit)
    if (from >= last) return items
    const start = from === 0 ? 0 : this.#ends[from - 1]!
    for (const { offset, ...item } of this.#store.read(this.id, { from: start })) {
      // What was stored again lies in between, and has its number already.
      if (offset !== this.#ends[from + items.length]) continue
      items.push(item)
      if (from + items.length === last) break
    }
    return items
  }

  async #readAll(): Promise<void> {
    do {
      this.#isAgain = false
      let since = performance.now()
      for (const item of this.#store.read(this.id, { from: this.#end, isBrief: true })) {
        this.#end = item.offset
        this.#take(item)
        if (performance.now() - since < SLICE_MS) continue
        await new Promise((resolve) => setImmediate(resolve))
        since = performance.now()
      }
    } while (this.#isAgain)
  }

  #take({ offset, ...item }: HistoryItem & { readonly offset: number }): void {
    const identity = 'id' in item ? item.id : `${item.type} ${JSON.stringify(item)}`
    if (this.#seen.has(identity)) return
    this.#seen.add(identity)
    const number = this.#ends.push(offset) - 1
    this.#summing.add(item)
    if (item.type === 'compaction') this.#takeCompaction(item, number)
    else if (item.type === 'message') this.#takeMessage(item, number)
  }

  #takeCompaction(
    { at, tokensBefore }: { at?: string; tokensBefore?: number },
    number: number,
  ): void {
    this.compactions.push({
      number,
      after: this.#own,
      afterTold: this.told.length,
      ...defined({ at, tokensBefore }),
    })
  }

  #takeMessage(message: Message, number: number): void {
    if (message.agent === undefined && message.model !== undefined && message.isFailure !== true)
      this.#model = message.model
    const asked = askedIn(message)
    if (asked !== undefined) this.requests.push({ number, text: asked })
    if (message.usage !== undefined) this.#takeUsage(message, message.usage)
    const { agent, context, at } = message
    if (context !== undefined && agent === undefined)
      this.told.push({ ...context, ...defined({ at }) })
  }

  #takeUsage(
    { agent, at, id, model = this.#model ?? 'unknown', request = id }: Message,
    usage: Usage,
  ): void {
    const requested = {
      model,
      usage,
      isDelegated: agent !== undefined,
      ...defined({ at }),
    }
    const known = this.#byRequest.get(request)
    // The last that was told of a request is the whole of it.
    if (known !== undefined) {
      this.used[known] = { ...this.used[known]!, usage }
      return
    }
    this.#byRequest.set(request, this.used.push(requested) - 1)
    if (agent === undefined) this.#own += 1
  }
}

/** What a person asked for, in a line. */
function askedIn({ role, isMeta, isSummary, agent, parts }: Message): string | undefined {
  if (role !== 'user' || isMeta === true || isSummary === true || agent !== undefined)
    return undefined
  const text = parts
    .flatMap((part) => (part.type === 'text' ? [wordsIn(part.text).typed || part.text] : []))
    .join(' ')
  return text.trim() === ''
    ? undefined
    : shorten(oneLine(text.slice(0, 4 * LONGEST_TITLE)), LONGEST_TITLE)
}

/** Tokens that a request carried, and what was answered: what the next one reads. */
export function contextAfter({
  usage: { input, cacheRead, cacheWritten, output },
}: Requested): number {
  return input + cacheRead + cacheWritten + output
}
