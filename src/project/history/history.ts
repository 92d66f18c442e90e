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
  conversations(session?: string): Promise<readonly ConversationRow[]>
  all(): Promise<readonly ConversationRow[]>
  find(name?: string): Promise<Meant>
  /** By id, its beginning, or the latest of a session. */
  conversation(name?: string): Promise<ConversationRow>
  items(conversation: string, span?: Span): Iterable<HistoryItem>
  /** As its harness would send them next, without the system prompt. */
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

/** An item without a time takes the time of the one before. */
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
