import { type Folds, type Kinds, orderedItem, outdatesWrittenTldr } from './kind.ts'
import { type PrecedingItemId, type SourceDelegate, fields, item, when } from './read-fields.ts'
import { type Item, type ItemList, type ListRules, updateItem, insertItem } from './item-list.ts'

export interface FindingData {
  'discovery.made': { text: string; after?: PrecedingItemId; when?: string; whose?: SourceDelegate }
  'gotcha.found': FindingData['discovery.made']
  'key.added': { text: string; after?: PrecedingItemId; from?: string }
  'note.added': { text: string; after?: PrecedingItemId; when?: string }
  'blocker.raised': { text: string; after?: PrecedingItemId; when?: string; whose?: SourceDelegate }
  'blocker.resolved': { blocker: string; resolution?: string; when?: string }
  'blocker.reopened': { blocker: string }
  'decision.made': {
    title: string
    context?: string
    options?: string
    choice?: string
    rationale?: string
    after?: PrecedingItemId
    when?: string
    whose?: SourceDelegate
  }
}

export interface Discovery extends Item {
  readonly gotcha: boolean
  readonly whose?: SourceDelegate
}

export interface Blocker extends Item {
  readonly whose?: SourceDelegate
  readonly resolvedAt?: string
  readonly resolution?: string
}

type DecisionFields = Omit<FindingData['decision.made'], 'title' | 'after' | 'when'>

export interface Decision extends Item, Readonly<DecisionFields> {}

export interface FindingsState {
  readonly discoveries: ItemList<Discovery>
  /** `from` is the entry that a checkpoint derived this line from; absent when it was logged. */
  readonly key: ItemList<Item & { readonly from?: string }>
  readonly notes: ItemList<Item>
  readonly blockers: ItemList<Blocker>
  readonly decisions: ItemList<Decision>
}

export const listRules: ListRules<FindingsState> = {
  discoveries: { recent: 60, isOrdered: true },
  key: { recent: 60, keeps: ({ from }) => from === undefined, isOrdered: true },
  notes: { recent: 30, isOrdered: true },
  blockers: { recent: 5, keeps: ({ resolvedAt }) => resolvedAt === undefined, isOrdered: true },
  decisions: { recent: 100, isOrdered: true },
}

const foldDiscovery = (gotcha: boolean) =>
  outdatesWrittenTldr<FindingData['discovery.made'], FindingsState>((state, data, entry) => {
    const found = { ...item(entry, data.text, data.when), gotcha, ...fields(data, 'whose') }
    insertItem(state.discoveries, found, data.after)
  })

export const fold: Folds<FindingData, FindingsState> = {
  'discovery.made': foldDiscovery(false),
  'gotcha.found': foldDiscovery(true),
  'key.added': outdatesWrittenTldr((state, data, entry) =>
    insertItem(state.key, { ...item(entry, data.text), ...fields(data, 'from') }, data.after),
  ),
  'note.added': outdatesWrittenTldr((state, data, entry) =>
    insertItem(state.notes, item(entry, data.text, data.when), data.after),
  ),
  'blocker.raised': outdatesWrittenTldr((state, data, entry) => {
    const blocker = { ...item(entry, data.text, data.when), ...fields(data, 'whose') }
    insertItem(state.blockers, blocker, data.after)
  }),
  'blocker.resolved': outdatesWrittenTldr((state, data, entry) => {
    const resolution = { resolvedAt: when(data.when, entry.at), ...fields(data, 'resolution') }
    updateItem(state.blockers, data.blocker, (blocker) => ({ ...blocker, ...resolution }))
  }),
  'blocker.reopened': outdatesWrittenTldr((state, data) =>
    updateItem(
      state.blockers,
      data.blocker,
      ({ resolvedAt: _at, resolution: _how, ...blocker }) => blocker,
    ),
  ),
  'decision.made': outdatesWrittenTldr((state, data, entry) => {
    const decision = {
      ...item(entry, data.title, data.when),
      ...fields(data, 'context', 'options', 'choice', 'rationale', 'whose'),
    }
    insertItem(state.decisions, decision, data.after)
  }),
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
      list: 'discoveries',
      matches: (item) => (item as Discovery).gotcha === gotcha,
      isTimed: true,
      prefix: gotcha ? 'Gotcha: ' : '',
    })
  const blocker = { group: 'blockers', writers: ['agent', 'document'], about: 'work' } as const
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
      // A line that a checkpoint derived from an entry is counted and found there.
      about: ({ from }) => (typeof from === 'string' ? 'handover' : 'work'),
      prose: ({ from }) => (typeof from === 'string' ? [] : ['text']),
      document: orderedItem('key', 'key', { list: 'key', isTimed: false }),
    },
    'note.added': {
      ...usual,
      label: 'note',
      searchedAs: 'note',
      group: 'session',
      prose: ['text'],
      document: orderedItem('note', 'notes', { list: 'notes', isTimed: true }),
    },
    'blocker.raised': {
      ...blocker,
      searchedAs: 'blocker',
      amendable: ['text'],
      prose: ['text', 'whose'],
      line: ['text'],
      document: orderedItem('blocker', 'blockers'),
    },
    'blocker.resolved': {
      ...blocker,
      searchedAs: 'blocker',
      amendable: ['resolution'],
      prose: ['resolution'],
      subject: 'blocker',
    },
    'blocker.reopened': {
      ...blocker,
      writers: ['document'],
      amendable: [],
      prose: [],
      subject: 'blocker',
    },
    'decision.made': {
      label: 'decision',
      searchedAs: 'decision',
      group: 'decisions',
      writers: ['agent', 'document'],
      amendable: ['title', 'context', 'options', 'choice', 'rationale'],
      about: 'work',
      prose: ['title', 'context', 'options', 'choice', 'rationale', 'whose'],
      line: ['title'],
      document: orderedItem('decision', 'decisions'),
    },
  }
}
