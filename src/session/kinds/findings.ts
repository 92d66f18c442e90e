import { type Folds, type Kinds, orderedItem, outdating } from './kind.ts'
import { type After, type Whose, fields, item } from './read-fields.ts'
import { type Item, type Shelf, type ShelfRules, insert } from './shelf.ts'

export interface FindingData {
  'discovery.made': { text: string; after?: After; when?: string; whose?: Whose }
  'gotcha.found': FindingData['discovery.made']
  'key.added': { text: string; after?: After; from?: string }
  'note.added': { text: string; after?: After; when?: string }
}

export interface Discovery extends Item {
  readonly gotcha: boolean
  readonly whose?: Whose
}

export interface KeyLine extends Item {
  /** The entry a checkpoint drew this line from; absent when somebody wrote it. */
  readonly from?: string
}

export interface FindingsState {
  readonly discoveries: Shelf<Discovery>
  readonly key: Shelf<KeyLine>
  readonly notes: Shelf<Item>
}

export const shelves: ShelfRules<FindingsState> = {
  discoveries: { recent: 12, isOrdered: true },
  key: { recent: 12, keeps: ({ from }) => from === undefined, isOrdered: true },
  notes: { recent: 5, isOrdered: true },
}

const discovered = (gotcha: boolean) =>
  outdating<FindingData['discovery.made'], FindingsState>((state, data, entry) => {
    const found = { ...item(entry, data.text, data.when), gotcha, ...fields(data, 'whose') }
    insert(state.discoveries, found, data.after)
  })

export const fold: Folds<FindingData, FindingsState> = {
  'discovery.made': discovered(false),
  'gotcha.found': discovered(true),
  'key.added': outdating((state, data, entry) =>
    insert(state.key, { ...item(entry, data.text), ...fields(data, 'from') }, data.after),
  ),
  'note.added': outdating((state, data, entry) =>
    insert(state.notes, item(entry, data.text, data.when), data.after),
  ),
}

export const kinds = (): Kinds<FindingData, FindingsState> => {
  const usual = {
    group: 'findings',
    writers: ['agent', 'document'],
    amendable: ['text'],
    about: 'work',
    prose: ['text', 'whose'],
    line: ['text'],
  } as const
  const discoveries = (gotcha: boolean) =>
    orderedItem<FindingsState>(gotcha ? 'gotcha' : 'discovery', 'discoveries', {
      shelf: 'discoveries',
      holds: (item) => (item as Discovery).gotcha === gotcha,
      isTimed: true,
      prefix: gotcha ? 'Gotcha: ' : '',
    })
  return {
    'discovery.made': {
      ...usual,
      label: 'discovery',
      searchedAs: 'discovery',
      document: discoveries(false),
    },
    'gotcha.found': {
      ...usual,
      label: 'gotcha',
      searchedAs: 'gotcha',
      document: discoveries(true),
    },
    'key.added': {
      ...usual,
      searchedAs: 'key',
      group: 'session',
      // A line that a checkpoint drew from an entry is counted and found there.
      about: ({ from }) => (typeof from === 'string' ? 'handover' : 'work'),
      prose: ({ from }) => (typeof from === 'string' ? [] : ['text']),
      document: orderedItem('key', 'key', { shelf: 'key', isTimed: false }),
    },
    'note.added': {
      ...usual,
      label: 'note',
      searchedAs: 'note',
      group: 'session',
      prose: ['text'],
      document: orderedItem('note', 'notes', { shelf: 'notes', isTimed: true }),
    },
  }
}
