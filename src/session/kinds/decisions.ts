import { type Folds, type Kinds, orderedItem, outdating } from './kind.ts'
import { type After, type Whose, fields, item } from './read-fields.ts'
import { type Item, type Shelf, type ShelfRules, insert } from './shelf.ts'

export interface DecisionData {
  'decision.made': {
    title: string
    context?: string
    options?: string
    choice?: string
    rationale?: string
    after?: After
    when?: string
    whose?: Whose
  }
}

type Decided = Omit<DecisionData['decision.made'], 'title' | 'after' | 'when'>

export interface Decision extends Item, Readonly<Decided> {}

export interface DecisionsState {
  readonly decisions: Shelf<Decision>
}

export const shelves: ShelfRules<DecisionsState> = { decisions: { recent: 12, isOrdered: true } }

export const fold: Folds<DecisionData, DecisionsState> = {
  'decision.made': outdating((state, data, entry) => {
    const decision = {
      ...item(entry, data.title, data.when),
      ...fields(data, 'context', 'options', 'choice', 'rationale', 'whose'),
    }
    insert(state.decisions, decision, data.after)
  }),
}

export const kinds = (): Kinds<DecisionData, DecisionsState> => ({
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
})
