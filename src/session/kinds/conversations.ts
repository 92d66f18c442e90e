import { defined } from '../../text/defined.ts'
import { type Folds, type Kinds, noEffect } from './kind.ts'
import { amountOf, fields, item, nonEmptyString, str } from './read-fields.ts'
import { type Item, KEEP_ALL, type ItemList, type ListRules, pushRecent } from './item-list.ts'

export interface ConversationData {
  'conversation.joined': {
    conversation: string
    harness: string
    source: string
    transcript?: string
  }
  'conversation.ended': { conversation: string; reason: string }
  /** `boundary` identifies the position in the harness's transcript. */
  'context.compacted': {
    trigger?: string
    conversation?: string
    boundary?: string
    tokensBefore?: number
  }
  'summary.kept': { text: string; conversation: string; boundary?: string }
  /** `mark` is the delivery marker found in the transcript. */
  'context.given': {
    conversation: string
    event: string
    mark: string
    chars: number
    why?: string
    /** Bytes of the whole document: what injecting all of it would have cost. */
    whole?: number
    /** Characters of the injected TOON, and the same as JSON. */
    toon?: { chars: number; json: number }
  }
  'budget.crossed': {
    conversation: string
    stage: number | 'smart-zone'
    tokens: number
    point?: number
    window?: number
    source: string
  }
  'hooks.ran': HookCosts
}

export interface HookCosts {
  readonly conversation: string
  /** By event: how many ran, how long, and what they injected. */
  readonly events: Readonly<
    Record<string, Readonly<Record<'times' | 'ms' | 'chars' | 'gave', number>>>
  >
  readonly writes: number
}

/** `text` is the conversation's id as its harness gives it. */
export interface SessionConversation extends Item {
  readonly harness: string
  readonly endedAt?: string
  readonly reason?: string
}

/** `text` is the conversation. */
export interface BudgetCrossing
  extends Item, Readonly<Omit<ConversationData['budget.crossed'], 'conversation' | 'source'>> {
  readonly source?: string
}

export interface ConversationsState {
  readonly conversations: ItemList<SessionConversation>
  readonly crossings: ItemList<BudgetCrossing>
  readonly compactions: number
  readonly lastAutomatic?: Readonly<{ conversation: string; tokens: number; at: string }>
}

export const listRules: ListRules<ConversationsState> = {
  conversations: KEEP_ALL,
  crossings: KEEP_ALL,
}

export const fold: Folds<ConversationData, ConversationsState> = {
  'conversation.joined': {
    outdatesTldr: false,
    apply(state, data, entry) {
      // A resumed conversation is no longer ended, and moves to the end.
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
      const conversation = nonEmptyString(data.conversation)
      if (data.trigger !== 'auto' || tokens === undefined || conversation === undefined) return
      state.lastAutomatic = { conversation, tokens, at: entry.at }
    },
  },
  'summary.kept': { outdatesTldr: false, apply: noEffect },
  'context.given': { outdatesTldr: false, apply: noEffect },
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
  'hooks.ran': { outdatesTldr: false, apply: noEffect },
}

export const kinds = (): Kinds<ConversationData, ConversationsState> => {
  const usual = {
    group: 'context',
    writers: [],
    amendable: [],
    about: 'handover',
    prose: [],
  } as const
  return {
    'conversation.joined': usual,
    'conversation.ended': { ...usual, prose: ['reason'] },
    'context.compacted': usual,
    'summary.kept': { ...usual, prose: ['text'] },
    'context.given': { ...usual, prose: ['why'], line: [] },
    'budget.crossed': { ...usual, about: 'work', prose: ['stage'], line: [] },
    'hooks.ran': usual,
  }
}
