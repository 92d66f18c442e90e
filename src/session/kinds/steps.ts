import {
  type Folds,
  type Kinds,
  type MutableState,
  orderedItem,
  outdatesWrittenTldr,
} from './kind.ts'
import { type PrecedingItemId, fields, item, when } from './read-fields.ts'
import {
  type Item,
  type ItemList,
  type ListRules,
  updateItem,
  findItemIndex,
  insertItem,
  removeItem,
} from './item-list.ts'

export interface StepData {
  /** `plan` names the conversation whose to-do list it comes from. */
  'step.added': { text: string; after?: PrecedingItemId; plan?: string }
  'step.started': { step: string }
  'step.stopped': { step: string }
  'step.done': { step: string; when?: string }
  'step.reopened': { step: string }
  /** An agent removed it from its list without doing it. */
  'step.dropped': { step: string }
  'progress.made': { text: string; when?: string }
  'next.added': { text: string; after?: PrecedingItemId }
  'next.taken': { next: string }
}

export interface Step extends Item {
  readonly status: 'todo' | 'started' | 'done'
  readonly changedAt: string
  /** The conversation whose to-do list it comes from; absent when a person or agent logged it. */
  readonly plan?: string
}

export interface StepsState {
  readonly steps: ItemList<Step>
  readonly progress: ItemList<Item>
  readonly next: ItemList<Item>
}

export const listRules: ListRules<StepsState> = {
  steps: { recent: 6, keeps: ({ status }) => status !== 'done', isOrdered: true },
  progress: { recent: 6, isOrdered: false },
  next: { recent: 50, isOrdered: true },
}

export const fold: Folds<StepData, StepsState> = {
  'step.added': outdatesWrittenTldr((state, data, entry) => {
    const step: Step = {
      ...item(entry, data.text),
      status: 'todo',
      changedAt: entry.at,
      ...fields(data, 'plan'),
    }
    insertItem(state.steps, step, data.after)
  }),
  'step.started': outdatesWrittenTldr((state, data, entry) =>
    setStep(state, data.step, 'started', entry.at),
  ),
  'step.stopped': outdatesWrittenTldr((state, data, entry) =>
    setStep(state, data.step, 'todo', entry.at),
  ),
  'step.done': outdatesWrittenTldr((state, data, entry) =>
    setStep(state, data.step, 'done', when(data.when, entry.at)),
  ),
  'step.reopened': outdatesWrittenTldr((state, data, { at }) =>
    updateItem<Step>(state.steps, data.step, (step) => ({
      ...step,
      status: 'todo',
      changedAt: at,
    })),
  ),
  'step.dropped': outdatesWrittenTldr((state, data) =>
    removeItem(state.steps, findItemIndex(state.steps, data.step)),
  ),
  'progress.made': outdatesWrittenTldr((state, data, entry) =>
    insertItem(state.progress, item(entry, data.text, data.when)),
  ),
  'next.added': outdatesWrittenTldr((state, data, entry) =>
    insertItem(state.next, item(entry, data.text), data.after),
  ),
  'next.taken': outdatesWrittenTldr((state, data) =>
    removeItem(state.next, findItemIndex(state.next, data.next)),
  ),
}

export const kinds = (): Kinds<StepData, StepsState> => {
  const usual = { group: 'steps', writers: ['agent', 'document'], about: 'work' } as const
  const text = { ...usual, amendable: ['text'], prose: ['text'] } as const
  const step = { ...usual, amendable: [], prose: [], subject: 'step' } as const
  return {
    'step.added': {
      ...text,
      searchedAs: 'step',
      document: {
        block: 'step',
        regions: ['completed', 'inProgress', 'remaining'],
        ordered: ['remaining'],
      },
    },
    'step.started': step,
    'step.stopped': { ...step, writers: ['document'] },
    'step.done': step,
    'step.reopened': step,
    'step.dropped': { ...step, writers: [] },
    'progress.made': {
      ...text,
      label: 'progress',
      searchedAs: 'progress',
      document: {
        ...orderedItem('progress', 'completed', { list: 'progress', isTimed: true }),
        ordered: [],
      },
    },
    'next.added': {
      ...text,
      searchedAs: 'next',
      document: orderedItem('next', 'next', { list: 'next', isTimed: false }),
    },
    'next.taken': { ...usual, writers: ['agent'], amendable: [], prose: [], subject: 'next' },
  }
}

// A done step stays done until it is reopened: a late "started" must not undo it.
function setStep(
  state: MutableState<StepsState>,
  id: unknown,
  status: Step['status'],
  changedAt: string,
) {
  updateItem<Step>(state.steps, id, (step) =>
    step.status === 'done' ? step : { ...step, status, changedAt },
  )
}
