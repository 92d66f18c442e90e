// Where each item of a stored conversation lies, what to jump to, and what it used. Read once,
// then only what was added.
import type { ContextSize, HistoryItem, Message } from '../history/items.ts'
import { type ConversationSummary, Summing, wordsIn } from '../history/summary.ts'
import type { ConversationStore } from '../history/store.ts'
import type { Usage } from '../session/entries.ts'
import { oneLine, shorten } from '../text/clean.ts'
import { defined } from '../text/defined.ts'

export interface Requested {
  readonly at?: string
  readonly model: string
  readonly usage: Usage
  /** Not part of the conversation's own context. */
  readonly isDelegated: boolean
}

export interface Compacted {
  readonly number: number
  /** Own requests before it. */
  readonly after: number
  /** Reported context sizes before it. */
  readonly afterTold: number
  readonly at?: string
  readonly tokensBefore?: number
}

const LONGEST_TITLE = 160
/** Other requests wait at most this long. */
const SLICE_MS = 25

export class ConversationIndex {
  readonly #store: ConversationStore
  readonly #ends: number[] = []
  readonly #seen = new Set<string>()
  /** A request reported in several messages counts once. */
  readonly #byRequest = new Map<string, number>()
  #reading: Promise<void> | undefined
  #isAgain = false
  /** Repeated items may follow the last one counted. */
  #end = 0
  #own = 0
  #model: string | undefined
  readonly #summing = new Summing()
  readonly compactions: Compacted[] = []
  readonly requests: { readonly number: number; readonly text: string }[] = []
  readonly used: Requested[] = []
  readonly told: (ContextSize & { readonly at?: string })[] = []

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
    return this.#summing.value
  }

  /** A caller that comes meanwhile waits until what it saw is read. */
  async readOn(): Promise<void> {
    if (this.#reading !== undefined) {
      this.#isAgain = true
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
      // Repeated items lie in between.
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
    // The last report of a request is complete.
    if (known !== undefined) {
      this.used[known] = { ...this.used[known]!, usage }
      return
    }
    this.#byRequest.set(request, this.used.push(requested) - 1)
    if (agent === undefined) this.#own += 1
  }
}

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

/** What the next request reads. */
export function contextAfter({
  usage: { input, cacheRead, cacheWritten, output },
}: Requested): number {
  return input + cacheRead + cacheWritten + output
}
