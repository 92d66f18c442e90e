import { conversationStateFolder } from '../project/store/conversation-binding.ts'
import {
  readConversationState,
  readContextWindow,
} from '../project/conversation/conversation-state.ts'
import { catchUpTranscripts } from '../project/history/copy-conversation.ts'
import { conversationPath, isConversationId } from '../history/paths.ts'
import type { ConversationStore, StoredConversation } from '../history/store.ts'
import { type ConversationSummary, SummaryBuilder, splitTypedText } from '../history/summary.ts'
import { statOrUndefined } from '../journal/read-files.ts'
import type { Workspace } from '../project/store/workspace.ts'
import { ZERO_USAGE } from '../run/run-state.ts'
import { priceUsage } from '../run/report.ts'
import type { SessionConversation } from '../session/state.ts'
import type { PricedConversation, TokenCurveData } from './contract.ts'
import { StintError } from '../journal/errors.ts'
import { defined } from '../text/defined.ts'
import type { ContextSize, HistoryItem, Message } from '../history/items.ts'
import type { Usage } from '../session/entries.ts'
import { oneLine, shorten } from '../text/clean.ts'
import { workingFolder } from '../project/store/project-paths.ts'
import { tokensAt } from '../context/budget/stages.ts'
import { DEFAULT_HARNESS } from '../harness/registry.ts'
import { computeBudget } from '../project/conversation/compute-budget.ts'

/** The last used; others are read again. */
const MOST_HELD = { conversations: 200, items: 200_000 }
const MOST_SUMMARIES = 5_000

export class ConversationCache {
  readonly #workspace: Workspace
  readonly #store: ConversationStore
  readonly #held = new Map<string, { readonly index: ConversationIndex; readonly inode: number }>()
  /** Valid while the file is unchanged. */
  readonly #summaries = new Map<
    string,
    { readonly summary: ConversationSummary; readonly inode: number; readonly size: number }
  >()

  readonly #most: typeof MOST_HELD

  constructor(workspace: Workspace, store: ConversationStore, most = MOST_HELD) {
    this.#workspace = workspace
    this.#store = store
    this.#most = most
  }

  stored(): readonly StoredConversation[] {
    return this.#store.list()
  }

  has(id: string): boolean {
    return isConversationId(id) && this.#store.has(id)
  }

  async read(id: string): Promise<ConversationIndex> {
    if (isConversationId(id)) await catchUpTranscripts(this.#workspace, id)
    if (!this.has(id)) throw new StintError('NOT_THERE', 'there is no conversation of that id here')
    const { ino, size } = statOrUndefined(this.#pathOf(id)) ?? { ino: 0, size: 0 }
    const held = this.#held.get(id)
    // A rewritten file, as by a purge, is read anew.
    const isSame = held !== undefined && held.inode === ino && held.index.end <= size
    const index = isSame ? held.index : new ConversationIndex(this.#store, id)
    // Last used, last dropped.
    this.#held.delete(id)
    this.#held.set(id, { index, inode: ino })
    await index.readNew()
    this.#letGo()
    return index
  }

  /** The last one is held whatever its size. */
  #letGo() {
    let [conversations, items] = [0, 0]
    for (const [id, { index }] of [...this.#held].toReversed()) {
      conversations += 1
      items += index.total
      if (
        conversations > 1 &&
        (conversations > this.#most.conversations || items > this.#most.items)
      )
        this.#held.delete(id)
    }
  }

  async row(id: string, known?: SessionConversation, joined?: string): Promise<PricedConversation> {
    const { paths: place, config } = this.#workspace
    const isStored = this.has(id)
    const summary = isStored ? await this.#summary(id) : undefined
    const tracking = isStored
      ? readConversationState(conversationStateFolder(place), id)
      : undefined
    const session = joined ?? (isStored ? await this.#sessionOf(id) : undefined)
    const { messages = 0, compactions = 0, title = '', usage = {} } = summary ?? {}
    return {
      id,
      harness: summary?.harness ?? known?.harness ?? tracking?.harness ?? 'unknown',
      messages,
      compactions,
      bytes: isStored ? (statOrUndefined(this.#pathOf(id))?.size ?? 0) : 0,
      title,
      isStored,
      usage,
      spend: isStored ? priceUsage(usage, config.prices) : ZERO_USAGE,
      ...defined({
        model: summary?.model,
        session: session ?? tracking?.session,
        startedAt: summary?.startedAt ?? known?.at,
        updatedAt: isStored ? summary?.updatedAt : known?.endedAt,
        endedBecause: summary?.endedBecause ?? known?.reason,
      }),
    }
  }

  async #summary(id: string) {
    await catchUpTranscripts(this.#workspace, id)
    const { ino: inode, size } = statOrUndefined(this.#pathOf(id)) ?? { ino: 0, size: 0 }
    const held = this.#summaries.get(id)
    if (held !== undefined && held.inode === inode && held.size === size) return held.summary
    const { summary } = await this.read(id)
    this.#summaries.delete(id)
    this.#summaries.set(id, { summary, inode, size })
    for (const old of [...this.#summaries.keys()].slice(0, -MOST_SUMMARIES))
      this.#summaries.delete(old)
    return summary
  }

  async #sessionOf(id: string) {
    return this.#workspace.hasSessions()
      ? (await this.#workspace.index()).sessionOfConversation(id)
      : undefined
  }

  #pathOf(id: string) {
    return conversationPath(this.#workspace.paths.sessions, id)
  }
}

// Where each item of a stored conversation lies, what to jump to, and what it used. Read once,
// then only what was added.

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
  readonly #summing = new SummaryBuilder()
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
    return this.#summing.value
  }

  /** A caller that comes meanwhile waits until what it saw is read. */
  async readNew(): Promise<void> {
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

  async #readAll() {
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

  #take({ offset, ...item }: HistoryItem & { offset: number }) {
    const identity = 'id' in item ? item.id : `${item.type} ${JSON.stringify(item)}`
    if (this.#seen.has(identity)) return
    this.#seen.add(identity)
    const number = this.#ends.push(offset) - 1
    this.#summing.add(item)
    if (item.type === 'compaction') this.#takeCompaction(item, number)
    else if (item.type === 'message') this.#takeMessage(item, number)
  }

  #takeCompaction({ at, tokensBefore }: { at?: string; tokensBefore?: number }, number: number) {
    this.compactions.push({
      number,
      requestsBefore: this.#own,
      contextSizesBefore: this.contextSizes.length,
      ...defined({ at, tokensBefore }),
    })
  }

  #takeMessage(message: Message, number: number) {
    if (message.agent === undefined && message.model !== undefined && message.isFailure !== true)
      this.#model = message.model
    const asked = askedIn(message)
    if (asked !== undefined) this.requests.push({ number, text: asked })
    if (message.usage !== undefined) this.#takeUsage(message, message.usage)
    const { agent, context, at } = message
    if (context !== undefined && agent === undefined)
      this.contextSizes.push({ ...context, ...defined({ at }) })
  }

  #takeUsage(
    { agent, at, id, model = this.#model ?? 'unknown', request = id }: Message,
    usage: Usage,
  ) {
    const requested = {
      model,
      usage,
      isDelegated: agent !== undefined,
      ...defined({ at }),
    }
    const known = this.#byRequest.get(request)
    // The last report of a request is complete.
    if (known !== undefined) {
      this.requestUsage[known] = { ...this.requestUsage[known]!, usage }
      return
    }
    this.#byRequest.set(request, this.requestUsage.push(requested) - 1)
    if (agent === undefined) this.#own += 1
  }
}

function askedIn({ role, isMeta, isSummary, agent, parts }: Message) {
  if (role !== 'user' || isMeta === true || isSummary === true || agent !== undefined)
    return undefined
  const text = parts
    .flatMap((part) => (part.type === 'text' ? [splitTypedText(part.text).typed || part.text] : []))
    .join(' ')
  return text.trim() === ''
    ? undefined
    : shorten(oneLine(text.slice(0, 4 * LONGEST_TITLE)), LONGEST_TITLE)
}

/** What the next request reads. */
export function contextTokensAfter({
  usage: { input, cacheRead, cacheWritten, output },
}: RequestUsage): number {
  return input + cacheRead + cacheWritten + output
}

export function tokenCurve(
  { paths: place, config, env }: Workspace,
  conversation: ConversationIndex,
): TokenCurveData {
  const { contextSizes: told } = conversation
  const own = conversation.requestUsage.filter(({ isDelegated }) => !isDelegated)
  // Usage may be reported per turn; reported context sizes are more precise.
  const isTold = told.length > 0
  const sizes = isTold
    ? told
    : own.map((request) => ({
        tokens: contextTokensAfter(request),
        ...defined({ at: request.at }),
      }))
  const points = sizes.map(({ tokens, at }, index) => ({
    turn: index + 1,
    tokens,
    ...defined({ at }),
  }))
  const { stages, smartZone, window: configured } = config.budget
  const now = new Date().toISOString()
  const last = own.at(-1)
  const { harness = DEFAULT_HARNESS, model } = conversation.summary
  const known = computeBudget({
    harness,
    window: readContextWindow(conversationStateFolder(place), conversation.id),
    tail: defined({
      model,
      call: last === undefined ? undefined : defined({ usage: last.usage, at: last.at }),
    }) as never,
    configured,
    root: workingFolder(place),
    env,
    now,
  })
  // A harness that reports no point compacts when the window is full.
  const window = told.at(-1)?.window ?? known.window?.value
  const point = told.at(-1)?.point ?? told.at(-1)?.window ?? known.point?.value
  return {
    points,
    compactions: conversation.compactions.map(
      ({ requestsBefore: after, contextSizesBefore: afterTold, at, tokensBefore }) => ({
        turn: isTold ? afterTold : after,
        ...defined({ at, tokensBefore }),
      }),
    ),
    smartZone,
    stages: stages.map((stage) => stageOf(stage, point)),
    isPointMeasured: told.at(-1)?.point !== undefined || known.point?.known === 'measured',
    ...defined({ point, window }),
  }
}

function stageOf(stage: number, point: number | undefined) {
  const tokens = tokensAt(stage, point)
  const percent = stage <= 100 ? stage : point === undefined ? 0 : Math.round((stage / point) * 100)
  return { percent, ...defined({ tokens }) }
}
