// What was said in a conversation, whichever harness it was said in. The store keeps it, the importers and drivers make it, and
// everything that shows, searches or sends it again reads it.
import type { Usage } from '../session/entries.ts'
import type { Json } from '../text/json-fields.ts'

export type HistoryItem = Began | Message | Compaction | TakenBack | Ended

/** An item on its way into the store. */
export type NewItem = HistoryItem & {
  /** The JSON of a message as its harness wrote it, of the form that lines have: kept as it is, it need not be made again. */
  readonly source?: string
}

export interface Began {
  readonly type: 'began'
  readonly conversation: string
  readonly harness: string
  readonly at: string
  readonly cwd?: string
  readonly model?: string
  /** The conversation that it was forked off. */
  readonly forkOf?: string
}

export interface Message {
  readonly type: 'message'
  /** The same id for the same message, however often it is stored. */
  readonly id: string
  /**
   * The message it answers or follows. Where people went back and said something else, there are two with the same. Where no
   * message of a conversation has one, each follows the one before it.
   */
  readonly parent?: string
  readonly at?: string
  readonly role: 'user' | 'assistant' | 'system'
  readonly parts: readonly Part[]
  /** As the model was told it, where that was in other words: what somebody typed while it worked. */
  readonly asTold?: Told
  readonly model?: string
  /** One request to the model may be told in several messages; those share this, and its usage stands for all of them. */
  readonly request?: string
  readonly usage?: Usage
  /** How full the context was then, from harnesses that tell it apart from what was used. */
  readonly context?: ContextSize
  /** The delegated agent that said it or was told it. It is no part of what the conversation's own model sees. */
  readonly agent?: string
  /** The harness put it there: nobody typed it. */
  readonly isMeta?: boolean
  /** What a compaction made of everything before it. */
  readonly isSummary?: boolean
  /** Shown to the person in place of an answer, when the model could not be reached. The model never sees it. */
  readonly isFailure?: boolean
}

export interface Told {
  readonly role: 'user' | 'system'
  readonly parts: readonly Part[]
}

export interface ContextSize {
  readonly tokens: number
  readonly window?: number
  /** Where it is compacted. */
  readonly point?: number
}

export type Part =
  | { readonly type: 'text'; readonly text: string }
  /** `data` in place of a text that its provider has encrypted. */
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
      readonly parts: readonly Part[]
      readonly isError: boolean
    }
  /** A block that Stint does not know, as it came. */
  | { readonly type: 'other'; readonly block: Json }

/** Everything before it is gone from the model's context, but for what follows. */
export interface Compaction {
  readonly type: 'compaction'
  readonly id: string
  readonly at?: string
  readonly trigger?: string
  readonly tokensBefore?: number
  readonly tokensAfter?: number
  /** The messages before it that stayed, where the harness says so. */
  readonly kept?: readonly string[]
}

/**
 * Somebody took back what was said: from a message on nothing before this is part of the conversation any more. Until something
 * else is said it may be given back.
 */
export interface TakenBack {
  readonly type: 'taken back'
  readonly id: string
  readonly at?: string
  /** The first message of it. Absent: what was taken back last is there again. */
  readonly from?: string
}

export interface Ended {
  readonly type: 'ended'
  readonly at: string
  readonly reason: string
}
