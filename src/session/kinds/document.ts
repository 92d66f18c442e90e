import { type Folds, type Kinds, noEffect, outdatesWrittenTldr } from './kind.ts'
import { type PrecedingItemId, item, str } from './read-fields.ts'
import {
  type Item,
  type ItemList,
  type ListRules,
  type MutableList,
  moveItem,
} from './item-list.ts'

export interface DocumentData {
  'remark.placed': { section: string; after: PrecedingItemId; text: string }
  'section.written': { title: string; body: string; after: PrecedingItemId }
  'field.set': { key: string; value: string }
  'item.moved': { entry: string; after: PrecedingItemId }
  'entry.retracted': { entry: string; reason?: string }
  'entry.amended': { entry: string; changes: Readonly<Record<string, unknown>> }
}

export interface DocumentState {
  readonly remarks: ItemList<Item & Readonly<{ section: string; after: string }>>
  readonly sections: ItemList<Item & Readonly<{ title: string; after: string }>>
  readonly fields: Readonly<Record<string, string>>
}

export const listRules: ListRules<DocumentState> = {
  remarks: { recent: 0, isOrdered: false },
  sections: { recent: 0, isOrdered: false },
}

export const fold: Folds<DocumentData, DocumentState> = {
  'remark.placed': outdatesWrittenTldr((state, { section, after, text }, entry) => {
    state.remarks.items.push({ ...item(entry, text), section: str(section), after: str(after) })
  }),
  'section.written': outdatesWrittenTldr((state, { title, after, body }, entry) => {
    state.sections.items.push({ ...item(entry, body), title: str(title), after: str(after) })
  }),
  'field.set': outdatesWrittenTldr((state, data) => {
    const { [str(data.key)]: _replaced, ...others } = state.fields
    const value = str(data.value)
    state.fields = value === '' ? others : { ...others, [str(data.key)]: value }
  }),
  'item.moved': {
    outdatesTldr: false,
    reachesBack: true,
    apply(state, data, _entry, rules) {
      const lists = state as unknown as Readonly<Record<string, MutableList<Item>>>
      for (const [name, { isOrdered }] of Object.entries(rules))
        if (isOrdered) moveItem(lists[name]!, data.entry, data.after)
    },
  },
  // Applied before anything is folded.
  'entry.retracted': { outdatesTldr: true, reachesBack: true, apply: noEffect },
  'entry.amended': { outdatesTldr: true, reachesBack: true, apply: noEffect },
}

export const kinds = (): Kinds<DocumentData, DocumentState> => {
  const usual = { group: 'session', writers: ['document'], amendable: [], about: 'work' } as const
  const ofAnother = { ...usual, writers: ['agent', 'document'], subject: 'entry' } as const
  return {
    'remark.placed': {
      ...usual,
      searchedAs: 'note',
      prose: ['section', 'text'],
      line: ['text'],
    },
    'section.written': { ...usual, searchedAs: 'note', prose: ['title', 'body'] },
    'field.set': { ...usual, prose: ['key', 'value'], line: ['key'] },
    'item.moved': { ...ofAnother, writers: ['document'], prose: [] },
    'entry.retracted': { ...ofAnother, prose: ['reason'] },
    'entry.amended': {
      ...ofAnother,
      // Search finds its text at the entry it changes.
      prose: [],
      line: ({ changes }) =>
        Object.values(changes ?? {})
          .filter((value) => typeof value === 'string' && value !== '')
          .join('; '),
    },
  }
}
