import { type Folds, type Kinds, keep } from './kind.ts'
import { type After, item, str } from './read-fields.ts'
import { type Item, type Shelf, type ShelfRules, type WorkingShelf, move } from './shelf.ts'

export interface DocumentData {
  'remark.placed': { section: string; after: After; text: string }
  'section.written': { title: string; body: string; after: After }
  'field.set': { key: string; value: string }
  'item.moved': { entry: string; after: After }
  'entry.retracted': { entry: string; reason?: string }
  'entry.amended': { entry: string; changes: Readonly<Record<string, unknown>> }
}

export interface Remark extends Item {
  readonly section: string
  readonly after: string
}

export interface CustomSection extends Item {
  readonly title: string
  readonly after: string
}

export interface DocumentState {
  readonly remarks: Shelf<Remark>
  readonly sections: Shelf<CustomSection>
  readonly fields: Readonly<Record<string, string>>
}

export const shelves: ShelfRules<DocumentState> = {
  remarks: { recent: 0, isOrdered: false },
  sections: { recent: 0, isOrdered: false },
}

export const fold: Folds<DocumentData, DocumentState> = {
  'remark.placed': {
    outdatesTldr: true,
    apply(state, data, entry) {
      const { section, after } = data
      const remark = { ...item(entry, data.text), section: str(section), after: str(after) }
      state.remarks.items.push(remark)
    },
  },
  'section.written': {
    outdatesTldr: true,
    apply(state, data, entry) {
      const { title, after } = data
      const section = { ...item(entry, data.body), title: str(title), after: str(after) }
      state.sections.items.push(section)
    },
  },
  'field.set': {
    outdatesTldr: true,
    apply(state, data) {
      const { [str(data.key)]: _replaced, ...others } = state.fields
      const value = str(data.value)
      state.fields = value === '' ? others : { ...others, [str(data.key)]: value }
    },
  },
  'item.moved': {
    outdatesTldr: false,
    reachesBack: true,
    apply(state, data, _entry, rules) {
      const lists = state as unknown as Readonly<Record<string, WorkingShelf<Item>>>
      for (const [name, { isOrdered }] of Object.entries(rules))
        if (isOrdered) move(lists[name]!, data.entry, data.after)
    },
  },
  // Applied before anything is folded.
  'entry.retracted': { outdatesTldr: true, reachesBack: true, apply: keep },
  'entry.amended': { outdatesTldr: true, reachesBack: true, apply: keep },
}

export const kinds = (): Kinds<DocumentData, DocumentState> => {
  const usual = {
    group: 'session',
    writers: ['document'],
    amendable: [],
    about: 'work',
    document: undefined,
  } as const
  const own = { ...usual, subject: undefined } as const
  const ofAnother = { ...usual, searchedAs: undefined, subject: 'entry' } as const
  return {
    'remark.placed': {
      ...own,
      label: 'remark placed',
      searchedAs: 'note',
      prose: ['section', 'text'],
      line: ['text'],
    },
    'section.written': {
      ...own,
      label: 'section written',
      searchedAs: 'note',
      prose: ['title', 'body'],
      line: ['title', 'body'],
    },
    'field.set': {
      ...own,
      label: 'field set',
      searchedAs: undefined,
      prose: ['key', 'value'],
      line: ['key'],
    },
    'item.moved': { ...ofAnother, label: 'item moved', prose: [], line: [] },
    'entry.retracted': {
      ...ofAnother,
      label: 'entry retracted',
      writers: ['agent', 'document'],
      prose: ['reason'],
      line: ['reason'],
    },
    'entry.amended': {
      ...ofAnother,
      label: 'entry amended',
      writers: ['agent', 'document'],
      // Search finds its text at the entry it changes.
      prose: [],
      line: ({ changes }) =>
        Object.values(changes ?? {})
          .filter((value) => typeof value === 'string' && value !== '')
          .join('; '),
    },
  }
}
