import type { Folds, Kinds } from './kind.ts'
import { type After, type Whose, fields, item, when } from './read-fields.ts'
import { type Item, type Shelf, type ShelfRules, change, insert } from './shelf.ts'

export interface BlockerData {
  'blocker.raised': { text: string; after?: After; when?: string; whose?: Whose }
  'blocker.resolved': { blocker: string; resolution?: string; when?: string }
  'blocker.reopened': { blocker: string }
}

export interface Blocker extends Item {
  readonly whose?: Whose
  readonly resolvedAt?: string
  readonly resolution?: string
}

export interface BlockersState {
  readonly blockers: Shelf<Blocker>
}

export const shelves: ShelfRules<BlockersState> = {
  blockers: { recent: 5, keeps: ({ resolvedAt }) => resolvedAt === undefined, isOrdered: true },
}

export const fold: Folds<BlockerData, BlockersState> = {
  'blocker.raised': {
    outdatesTldr: true,
    apply(state, data, entry) {
      const blocker = { ...item(entry, data.text, data.when), ...fields(data, 'whose') }
      insert(state.blockers, blocker, data.after)
    },
  },
  'blocker.resolved': {
    outdatesTldr: true,
    apply(state, data, entry) {
      const resolution = { resolvedAt: when(data.when, entry.at), ...fields(data, 'resolution') }
      change(state.blockers, data.blocker, (blocker) => ({ ...blocker, ...resolution }))
    },
  },
  'blocker.reopened': {
    outdatesTldr: true,
    apply(state, data) {
      change(
        state.blockers,
        data.blocker,
        ({ resolvedAt: _at, resolution: _how, ...blocker }) => blocker,
      )
    },
  },
}

export const kinds = (): Kinds<BlockerData, BlockersState> => {
  const usual = {
    searchedAs: 'blocker',
    group: 'blockers',
    writers: ['agent', 'document'],
    about: 'work',
    document: undefined,
  } as const
  return {
    'blocker.raised': {
      ...usual,
      label: 'blocker raised',
      amendable: ['text'],
      prose: ['text', 'whose'],
      line: ['text'],
      subject: undefined,
      document: { block: 'blocker', regions: ['blockers'], ordered: ['blockers'], text: undefined },
    },
    'blocker.resolved': {
      ...usual,
      label: 'blocker resolved',
      amendable: ['resolution'],
      prose: ['resolution'],
      line: ['resolution'],
      subject: 'blocker',
    },
    'blocker.reopened': {
      ...usual,
      label: 'blocker reopened',
      searchedAs: undefined,
      writers: ['document'],
      amendable: [],
      prose: [],
      line: [],
      subject: 'blocker',
    },
  }
}
