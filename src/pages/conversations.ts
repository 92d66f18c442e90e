import { trackingFolderOf } from '../project/store/conversation-binding.ts'
import { readTracking } from '../project/conversation/tracking.ts'
import { catchUp } from '../project/history/copy-conversation.ts'
import { conversationPath, isConversationId } from '../history/places.ts'
import type { ConversationStore, StoredConversation } from '../history/store.ts'
import type { ConversationSummary } from '../history/summary.ts'
import { statOrUndefined } from '../journal/look.ts'
import type { Workspace } from '../project/store/workspace.ts'
import { NOTHING } from '../run/run-state.ts'
import { spendOf } from '../run/report.ts'
import type { Conversation } from '../session/state.ts'
import type { ConversationLine } from './contract.ts'
import { StintError } from '../journal/errors.ts'
import { ConversationIndex } from './conversation-index.ts'
import { defined } from '../text/defined.ts'

/** The last used; others are read again. */
const MOST_HELD = { conversations: 200, items: 200_000 }
const MOST_SUMMARIES = 5_000

export class Conversations {
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
    if (isConversationId(id)) await catchUp(this.#workspace, id)
    if (!this.has(id)) throw new StintError('NOT_THERE', 'there is no conversation of that id here')
    const { ino, size } = statOrUndefined(this.#pathOf(id)) ?? { ino: 0, size: 0 }
    const held = this.#held.get(id)
    // A rewritten file, as by a purge, is read anew.
    const isSame = held !== undefined && held.inode === ino && held.index.end <= size
    const index = isSame ? held.index : new ConversationIndex(this.#store, id)
    // Last used, last dropped.
    this.#held.delete(id)
    this.#held.set(id, { index, inode: ino })
    await index.readOn()
    this.#letGo()
    return index
  }

  /** The last one is held whatever its size. */
  #letGo(): void {
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

  async line(id: string, known?: Conversation, session?: string): Promise<ConversationLine> {
    return this.has(id)
      ? await this.#storedLine(id, known, session)
      : unstoredLine(id, known, session)
  }

  async #summary(id: string): Promise<ConversationSummary> {
    await catchUp(this.#workspace, id)
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

  async #storedLine(
    id: string,
    known: Conversation | undefined,
    joined: string | undefined,
  ): Promise<ConversationLine> {
    const { place, config } = this.#workspace
    const session = joined ?? (await this.#sessionOf(id))
    const tracking = readTracking(trackingFolderOf(place), id)
    const {
      messages,
      compactions,
      title,
      usage,
      harness,
      model,
      startedAt,
      updatedAt,
      endedBecause,
    } = await this.#summary(id)
    return {
      id,
      harness: harness ?? known?.harness ?? tracking?.harness ?? 'unknown',
      messages,
      compactions,
      bytes: statOrUndefined(this.#pathOf(id))?.size ?? 0,
      title,
      isStored: true,
      usage,
      spend: spendOf(usage, config.prices),
      ...defined({
        model,
        session: session ?? tracking?.session,
        startedAt: startedAt ?? known?.at,
        updatedAt,
        endedBecause: endedBecause ?? known?.reason,
      }),
    }
  }

  async #sessionOf(id: string): Promise<string | undefined> {
    return this.#workspace.hasSessions()
      ? (await this.#workspace.index()).sessionOfConversation(id)
      : undefined
  }

  #pathOf(id: string): string {
    return conversationPath(this.#workspace.place.sessions, id)
  }
}

function unstoredLine(
  id: string,
  known: Conversation | undefined,
  session: string | undefined,
): ConversationLine {
  return {
    id,
    harness: known?.harness ?? 'unknown',
    messages: 0,
    compactions: 0,
    bytes: 0,
    title: '',
    isStored: false,
    usage: {},
    spend: NOTHING,
    ...defined({
      session,
      startedAt: known?.at,
      updatedAt: known?.endedAt,
      endedBecause: known?.reason,
    }),
  }
}
