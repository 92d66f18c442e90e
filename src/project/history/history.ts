// What was said in the conversations of a project: listed, read, told again in other forms, and let go of when asked.
import { promptlessHarnesses } from '../../harness/registry.ts'
import { type AnthropicMessage, anthropicMessages } from '../../history/formats/anthropic.ts'
import { type OpenAiMessage, openAiMessages } from '../../history/formats/openai.ts'
import type { HistoryItem } from '../../history/items.ts'
import type { Workspace } from '../store/workspace.ts'
import { catchUp } from './catch-up.ts'
import {
  type ConversationRow,
  type Meant,
  conversationsOfSession,
  findConversation,
  findMeant,
  rowOf,
  storedConversations,
} from './rows.ts'
import { type PruneOptions, type Pruned, pruneHistory } from './prune.ts'
import { storeOf } from './store.ts'

export interface History {
  /** The conversations of a session, oldest first; of the one here without a name. */
  conversations(session?: string): Promise<readonly ConversationRow[]>
  /** Every conversation that is stored here. */
  all(): Promise<readonly ConversationRow[]>
  /** Whether a name is that of a conversation or of a session. */
  find(name?: string): Promise<Meant>
  /** One conversation, by its id or the beginning of it, or the latest of a session. */
  conversation(name?: string): Promise<ConversationRow>
  /** What was said in it. */
  items(conversation: string, span?: Span): Iterable<HistoryItem>
  /** The messages that its harness would send next, without those of the system prompt. */
  anthropic(conversation: string, span?: Span): readonly AnthropicMessage[]
  openai(conversation: string, span?: Span): readonly OpenAiMessage[]
  prune(options?: PruneOptions): Promise<Pruned>
}

export function historyOf(workspace: Workspace): History {
  const items = (conversation: string, span: Span = {}) =>
    between(storeOf(workspace).read(conversation), span)
  return {
    conversations: async (name) => {
      await catchUp(workspace)
      const meant = await findMeant(workspace, name)
      return 'session' in meant
        ? conversationsOfSession(workspace, meant.session)
        : [rowOf(workspace, meant.conversation)]
    },
    all: async () => {
      await catchUp(workspace)
      return storedConversations(workspace)
    },
    find: async (name) => {
      await catchUp(workspace)
      return findMeant(workspace, name)
    },
    conversation: async (name) => {
      await catchUp(workspace)
      return rowOf(workspace, await findConversation(workspace, name))
    },
    items,
    anthropic: (conversation, span) =>
      anthropicMessages(items(conversation, span), { promptless: promptlessHarnesses() }),
    openai: (conversation, span) =>
      openAiMessages(items(conversation, span), promptlessHarnesses()),
    prune: (options = {}) => pruneHistory(workspace, options),
  }
}

export interface Span {
  /** ISO times; open where absent. */
  readonly from?: string
  readonly to?: string
}

/** The items of a time. One that has none of its own belongs to the time of the one before it. */
function* between<T extends HistoryItem>(
  items: Iterable<T>,
  { from = '', to = '\uFFFF' }: Span,
): Generator<T> {
  let at = ''
  for (const item of items) {
    at = item.at ?? at
    if (at >= from && at <= to) yield item
  }
}
