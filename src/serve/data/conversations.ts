// The conversations of a project as the page lists and reads them.
import { trackingFolderOf } from '../../project/conversation-binding.ts'
import { readTracking } from '../../conversation/tracking.ts'
import { isConversationId } from '../../harness/conversation-id.ts'
import { conversationPath } from '../../history/places.ts'
import type { ConversationStore, StoredConversation } from '../../history/store.ts'
import { statOrUndefined } from '../../journal/look.ts'
import type { Workspace } from '../../project/workspace.ts'
import { NOTHING } from '../../run/run-state.ts'
import { spendOf } from '../../run/spend.ts'
import type { Conversation } from '../../session/state.ts'
import type { ConversationLine } from '../contract.ts'
import { given } from '../../text/json-fields.ts'
import { notThere } from '../problem.ts'
import { ConversationIndex } from './conversation-index.ts'

/** Those that were looked at last; what is known of the others is read again when it is asked for. */
const MOST_HELD = 200

export class Conversations {
  readonly #workspace: Workspace
  readonly #store: ConversationStore
  readonly #held = new Map<string, ConversationIndex>()

  constructor(workspace: Workspace, store: ConversationStore) {
    this.#workspace = workspace
    this.#store = store
  }

  /** Those of which something is stored. */
  stored(): readonly StoredConversation[] {
    return this.#store.list()
  }

  has(id: string): boolean {
    return isConversationId(id) && this.#store.has(id)
  }

  /** All that is known of one, up to date. */
  async read(id: string): Promise<ConversationIndex> {
    if (!this.has(id)) throw notThere('conversation of that id here')
    const index = this.#held.get(id) ?? new ConversationIndex(this.#store, id)
    // The one that was asked for last is let go of last.
    this.#held.delete(id)
    this.#held.set(id, index)
    for (const old of [...this.#held.keys()].slice(0, -MOST_HELD)) this.#held.delete(old)
    await index.readOn()
    return index
  }

  async line(id: string, known?: Conversation, session?: string): Promise<ConversationLine> {
    return this.has(id) ? this.#storedLine(await this.read(id), known, session) : unstoredLine(id, known, session)
  }

  #storedLine(index: ConversationIndex, known: Conversation | undefined, session: string | undefined): ConversationLine {
    const { place, config } = this.#workspace
    const tracking = readTracking(trackingFolderOf(place), index.id)
    const of = session ?? tracking?.session
    return {
      id: index.id,
      harness: index.began?.harness ?? known?.harness ?? tracking?.harness ?? 'unknown',
      messages: index.messages,
      compactions: index.compactions.length,
      bytes: this.#bytesOf(index.id),
      title: index.requests[0]?.text ?? '',
      isStored: true,
      spend: spendOf(index.spent, config.prices),
      ...given({
        model: index.model,
        session: of,
        startedAt: index.startedAt ?? known?.at,
        updatedAt: index.updatedAt,
        endedBecause: index.endedBecause ?? known?.reason,
      }),
    }
  }

  #bytesOf(id: string): number {
    return statOrUndefined(conversationPath(this.#workspace.place.sessions, id))?.size ?? 0
  }
}

function unstoredLine(id: string, known: Conversation | undefined, session: string | undefined): ConversationLine {
  return {
    id,
    harness: known?.harness ?? 'unknown',
    messages: 0,
    compactions: 0,
    bytes: 0,
    title: '',
    isStored: false,
    spend: NOTHING,
    ...given({ session, startedAt: known?.at, updatedAt: known?.endedAt, endedBecause: known?.reason }),
  }
}
