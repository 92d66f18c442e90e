// The conversations of a project, one file of lines each under `.sessions/conversations/`. What is too long to repeat (a tool's
// output, a picture) is kept once, under the hash of its content.
import type { RedactOptions } from '../text/redact.ts'
import type { HistoryItem } from './items.ts'

export interface StoredConversation {
  readonly id: string
  readonly path: string
  readonly bytes: number
}

export interface ReadOptions {
  /** A byte offset that an earlier reading answered; everything when absent. */
  readonly from?: number
}

export interface ConversationStore {
  list(): readonly StoredConversation[]
  has(conversation: string): boolean
  /** Each item once and in the order of the file; large parts are given back whole. What cannot be read is passed over. */
  read(conversation: string, options?: ReadOptions): Iterable<HistoryItem & { readonly offset: number }>
  /** Adds items, without the secrets in them. They are on the disk when it returns. An item that is there already may be added again. */
  append(conversation: string, items: readonly HistoryItem[]): void
}

export declare function conversationStore(sessions: string, redaction: RedactOptions): ConversationStore
