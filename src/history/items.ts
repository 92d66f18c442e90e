import type { Usage } from '../session/entries.ts'
import type { Json } from '../text/json-fields.ts'

export type HistoryItem = BeganItem | Message | Compaction | TakenBackItem | EndedItem

export type NewItem = HistoryItem & {
  /** The message's JSON exactly as the harness wrote it. */
  readonly source?: string
}

export interface BeganItem {
  readonly type: 'began'
  readonly conversation: string
  readonly harness: string
  readonly at: string
  readonly cwd?: string
  readonly model?: string
  readonly forkOf?: string
}

export interface Message {
  readonly type: 'message'
  /** The same id for the same message, however often it is stored. */
  readonly id: string
  /**
   * The message it follows; two share one where the user went back. Without any parents, each
   * message follows the one before it.
   */
  readonly parent?: string
  readonly at?: string
  readonly role: 'user' | 'assistant' | 'system'
  readonly parts: readonly MessagePart[]
  /** What the model got, where it differs: a message typed while it worked. */
  readonly asTold?: MessageAsSent
  readonly model?: string
  /** Messages of one request share this id, and one usage counts for all of them. */
  readonly request?: string
  readonly usage?: Usage
  /** From harnesses that report it separately from usage. */
  readonly context?: ContextSize
  /** Set for messages of a sub-agent, which the main model does not see. */
  readonly agent?: string
  /** Inserted by the harness. */
  readonly isMeta?: boolean
  readonly isSummary?: boolean
  /** Shown in place of a reply; the model never sees it. */
  readonly isFailure?: boolean
}

export interface MessageAsSent {
  readonly role: 'user' | 'system'
  readonly parts: readonly MessagePart[]
}

export interface ContextSize {
  readonly tokens: number
  readonly window?: number
  /** The compaction point. */
  readonly point?: number
}

export type MessagePart =
  | { readonly type: 'text'; readonly text: string }
  /** `data` where the provider encrypted the text. */
  | {
      readonly type: 'thinking'
      readonly text: string
      readonly signature?: string
      readonly data?: string
    }
  | { readonly type: 'image'; readonly mediaType: string; readonly data: string }
  | { readonly type: 'image link'; readonly url: string }
  | { readonly type: 'tool use'; readonly id: string; readonly name: string; readonly input: Json }
  | {
      readonly type: 'tool result'
      readonly use: string
      readonly parts: readonly MessagePart[]
      readonly isError: boolean
    }
  | { readonly type: 'other'; readonly block: Json }

export type ToolUsePart = Extract<MessagePart, { readonly type: 'tool use' }>
export type ToolResultPart = Extract<MessagePart, { readonly type: 'tool result' }>

/** Everything before it is gone from the context, except the kept messages. */
export interface Compaction {
  readonly type: 'compaction'
  readonly id: string
  readonly at?: string
  readonly trigger?: string
  readonly tokensBefore?: number
  readonly tokensAfter?: number
  /** The earlier messages that stayed, if the harness reports them. */
  readonly kept?: readonly string[]
}

/** The user retracted everything from a message on; it may be restored until the next message. */
export interface TakenBackItem {
  readonly type: 'taken back'
  readonly id: string
  readonly at?: string
  /** Absent: the last retraction is undone. */
  readonly from?: string
}

export interface EndedItem {
  readonly type: 'ended'
  readonly at: string
  readonly reason: string
}
