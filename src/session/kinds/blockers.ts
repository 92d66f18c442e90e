import { type Folds, type Kinds, orderedItem, outdating } from './kind.ts'
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
  'blocker.raised': outdating((state, data, entry) => {
    const blocker = { ...item(entry, data.text, data.when), ...fields(data, 'whose') }
    insert(state.blockers, blocker, data.after)
  }),
  'blocker.resolved': outdating((state, data, entry) => {
    const resolution = { resolvedAt: when(data.when, entry.at), ...fields(data, 'resolution') }
    change(state.blockers, data.blocker, (blocker) => ({ ...blocker, ...resolution }))
  }),
  'blocker.reopened': outdating((state, data) =>
    change(
      state.blockers,
      data.blocker,
      ({ resolvedAt: _at, resolution: _how, ...blocker }) => blocker,
    ),
  ),
}

export const kinds = (): Kinds<BlockerData, BlockersState> => {
  const usual = { group: 'blockers', writers: ['agent', 'document'], about: 'work' } as const
  return {
    'blocker.raised': {
      ...usual,
      searchedAs: 'blocker',
      amendable: ['text'],
      prose: ['text', 'whose'],
      line: ['text'],
      document: orderedItem('blocker', 'blockers'),
    },
    'blocker.resolved': {
      ...usual,
      searchedAs: 'blocker',
      amendable: ['resolution'],
      prose: ['resolution'],
      subject: 'blocker',
    },
    'blocker.reopened': {
      ...usual,
      writers: ['document'],
      amendable: [],
      prose: [],
      subject: 'blocker',
    },
  }
}
