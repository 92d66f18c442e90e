import { conversationPath, isConversationId } from '../history/paths.ts'
import type { ConversationStore, StoredConversation } from '../history/store.ts'
import type { ConversationSummary } from '../history/summary.ts'
import { StintError } from '../journal/errors.ts'
import { statOrUndefined } from '../journal/read-files.ts'
import { readConversationState } from '../project/conversation/conversation-state.ts'
import { catchUpTranscripts } from '../project/history/copy-conversation.ts'
import { conversationStateFolder } from '../project/store/conversation-binding.ts'
import type { Workspace } from '../project/store/workspace.ts'
import { priceUsage } from '../run/report.ts'
import { ZERO_USAGE } from '../run/run-state.ts'
import type { SessionConversation } from '../session/state.ts'
import { defined } from '../text/defined.ts'
import type { PricedConversation } from './page-types.ts'
import { ConversationIndex } from './conversation-index.ts'

/** The last used; others are read again. */
const CACHE_LIMITS = { conversations: 200, items: 200_000 }
const MAX_SUMMARIES = 5_000

export class ConversationCache {
  readonly #workspace: Workspace
  readonly #store: ConversationStore
  readonly #indexes = new Map<
    string,
    { readonly index: ConversationIndex; readonly inode: number }
  >()
  /** Valid while the file is unchanged. */
  readonly #summaries = new Map<
    string,
    { readonly summary: ConversationSummary; readonly inode: number; readonly size: number }
  >()

  readonly #limits: typeof CACHE_LIMITS

  constructor(workspace: Workspace, store: ConversationStore, limits = CACHE_LIMITS) {
    this.#workspace = workspace
    this.#store = store
    this.#limits = limits
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
    const cached = this.#indexes.get(id)
    // A rewritten file, as by a purge, is read anew.
    const isSame = cached !== undefined && cached.inode === ino && cached.index.end <= size
    const index = isSame ? cached.index : new ConversationIndex(this.#store, id)
    // Last used, last dropped.
    this.#indexes.delete(id)
    this.#indexes.set(id, { index, inode: ino })
    await index.readNew()
    this.#evict()
    return index
  }

  /** The last used one stays whatever its size. */
  #evict() {
    let [conversations, items] = [0, 0]
    for (const [id, { index }] of [...this.#indexes].toReversed()) {
      conversations += 1
      items += index.total
      if (
        conversations > 1 &&
        (conversations > this.#limits.conversations || items > this.#limits.items)
      )
        this.#indexes.delete(id)
    }
  }

  async row(
    id: string,
    journalled?: SessionConversation,
    sessionId?: string,
  ): Promise<PricedConversation> {
    const { paths, config } = this.#workspace
    const isStored = this.has(id)
    const summary = isStored ? await this.#summary(id) : undefined
    const state = isStored ? readConversationState(conversationStateFolder(paths), id) : undefined
    const session = sessionId ?? (isStored ? await this.#findSession(id) : undefined)
    const { messages = 0, compactions = 0, title = '', usage = {} } = summary ?? {}
    return {
      id,
      harness: summary?.harness ?? journalled?.harness ?? state?.harness ?? 'unknown',
      messages,
      compactions,
      bytes: isStored ? (statOrUndefined(this.#pathOf(id))?.size ?? 0) : 0,
      title,
      isStored,
      usage,
      spend: isStored ? priceUsage(usage, config.prices) : ZERO_USAGE,
      ...defined({
        model: summary?.model,
        session: session ?? state?.session,
        startedAt: summary?.startedAt ?? journalled?.at,
        updatedAt: isStored ? summary?.updatedAt : journalled?.endedAt,
        endedBecause: summary?.endedBecause ?? journalled?.reason,
      }),
    }
  }

  async #summary(id: string) {
    await catchUpTranscripts(this.#workspace, id)
    const { ino: inode, size } = statOrUndefined(this.#pathOf(id)) ?? { ino: 0, size: 0 }
    const cached = this.#summaries.get(id)
    if (cached !== undefined && cached.inode === inode && cached.size === size)
      return cached.summary
    const { summary } = await this.read(id)
    this.#summaries.delete(id)
    this.#summaries.set(id, { summary, inode, size })
    for (const old of [...this.#summaries.keys()].slice(0, -MAX_SUMMARIES))
      this.#summaries.delete(old)
    return summary
  }

  async #findSession(id: string) {
    return this.#workspace.hasSessions()
      ? (await this.#workspace.index()).sessionOfConversation(id)
      : undefined
  }

  #pathOf(id: string) {
    return conversationPath(this.#workspace.paths.sessions, id)
  }
}
