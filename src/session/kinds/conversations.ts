// The conversations that work on a session, and what became of their context.
import { defined } from '../../text/defined.ts'
import { type Folds, type Kinds, keep } from './kind.ts'
import { amountOf, fields, item, optional, str } from './read-fields.ts'
import { type Item, type Shelf, type ShelfRules, pushRecent } from './shelf.ts'

export interface ConversationData {
  'conversation.joined': {
    conversation: string
    harness: string
    source: string
    transcript?: string
  }
  'conversation.ended': { conversation: string; reason: string }
  /** `boundary` is what the harness's transcript calls the place, and the evidence that it happened. */
  'context.compacted': {
    trigger?: string
    conversation?: string
    boundary?: string
    tokensBefore?: number
  }
  /** What the harness made of the conversation before it threw it away. */
  'summary.kept': { text: string; conversation: string; boundary?: string }
  /** A text of ours was put before the model. `mark` is how it is recognised in the transcript. */
  'context.given': {
    conversation: string
    event: string
    mark: string
    chars: number
    why?: string
    /** Bytes of the session's document then: what telling all of it would have taken. */
    whole?: number
    /** Characters of what was told as TOON, and what they would have been as JSON. */
    toon?: { chars: number; json: number }
  }
  /** A line on the way to the next compaction: a stage, or the end of what a model reads with its whole attention. */
  'budget.crossed': {
    conversation: string
    stage: number | 'smart-zone'
    tokens: number
    /** How many there are when the harness compacts. */
    point?: number
    window?: number
    /** Who told the tokens. */
    source: string
  }
  /** What the hooks of a turn cost. About no work, and shown to nobody who asks about it. */
  'hooks.ran': HookCosts
}

/** What the hooks of a conversation cost since this was last told. */
export interface HookCosts {
  readonly conversation: string
  /** By event: how many ran, how long inside their processes, and what they put before the model, some of them a text. */
  readonly events: Readonly<
    Record<
      string,
      { readonly times: number; readonly ms: number; readonly chars: number; readonly gave: number }
    >
  >
  /** Records they appended and files they wrote, with what was done beside the agent's work. */
  readonly writes: number
}

/** `text` is the conversation's id as its harness gives it. */
export interface Conversation extends Item {
  readonly harness: string
  readonly endedAt?: string
  readonly reason?: string
}

/** `text` is the conversation. */
export interface BudgetCrossing extends Item {
  readonly stage: number | 'smart-zone'
  readonly tokens: number
  readonly point?: number
  readonly window?: number
  /** Who told the tokens. */
  readonly source?: string
}

/** The last time that a conversation was compacted by its harness, unasked. */
export interface AutomaticCompaction {
  readonly conversation: string
  readonly tokens: number
  readonly at: string
}

export interface ConversationsState {
  readonly conversations: Shelf<Conversation>
  /** The latest line that each conversation crossed. */
  readonly crossings: Shelf<BudgetCrossing>
  readonly compactions: number
  readonly lastAutomatic?: AutomaticCompaction
}

export const shelves: ShelfRules<ConversationsState> = {
  conversations: { recent: 'all', isOrdered: false },
  crossings: { recent: 'all', isOrdered: false },
}

export const fold: Folds<ConversationData, ConversationsState> = {
  'conversation.joined': {
    outdatesTldr: false,
    apply(state, data, entry) {
      // Continued, it is no longer ended; the latest stands last.
      const joined = { ...item(entry, data.conversation), harness: str(data.harness) }
      pushRecent(state.conversations, joined, 20)
    },
  },
  'conversation.ended': {
    outdatesTldr: false,
    apply({ conversations: { items } }, data, entry) {
      const index = items.findLastIndex((known) => known.text === data.conversation)
      const known = items[index]
      if (known !== undefined)
        items[index] = { ...known, endedAt: entry.at, ...fields(data, 'reason') }
    },
  },
  'context.compacted': {
    outdatesTldr: false,
    apply(state, data, entry) {
      state.compactions += 1
      const tokens = amountOf(data.tokensBefore)
      const conversation = optional(data.conversation)
      if (data.trigger !== 'auto' || tokens === undefined || conversation === undefined) return
      state.lastAutomatic = { conversation, tokens, at: entry.at }
    },
  },
  'summary.kept': { outdatesTldr: false, apply: keep },
  'context.given': { outdatesTldr: false, apply: keep },
  'budget.crossed': {
    outdatesTldr: false,
    apply(state, data, entry) {
      const stage = data.stage === 'smart-zone' ? data.stage : amountOf(data.stage)
      const tokens = amountOf(data.tokens)
      if (stage === undefined || tokens === undefined) return
      const point = amountOf(data.point)
      const window = amountOf(data.window)
      const crossing = {
        ...item(entry, data.conversation),
        stage,
        tokens,
        ...defined({ point, window }),
        ...fields(data, 'source'),
      }
      pushRecent(state.crossings, crossing, 8)
    },
  },
  'hooks.ran': { outdatesTldr: false, apply: keep },
}

export const kinds = (): Kinds<ConversationData, ConversationsState> => {
  const usual = {
    searchedAs: undefined,
    group: 'context',
    writers: [],
    amendable: [],
    about: 'handover',
    subject: undefined,
    document: undefined,
  } as const
  return {
    'conversation.joined': { ...usual, label: 'conversation joined', prose: [], line: [] },
    'conversation.ended': {
      ...usual,
      label: 'conversation ended',
      prose: ['reason'],
      line: ['reason'],
    },
    'context.compacted': { ...usual, label: 'context compacted', prose: [], line: [] },
    'summary.kept': { ...usual, label: 'summary kept', prose: ['text'], line: ['text'] },
    'context.given': { ...usual, label: 'context given', prose: ['why'], line: [] },
    'budget.crossed': {
      ...usual,
      label: 'budget crossed',
      about: 'work',
      prose: ['stage'],
      line: [],
    },
    'hooks.ran': { ...usual, label: 'hooks ran', prose: [], line: [] },
  }
}
