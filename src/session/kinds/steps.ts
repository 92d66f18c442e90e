import type { Folds, Kinds, Working } from './kind.ts'
import { type After, fields, item, when } from './read-fields.ts'
import { type Item, type Shelf, type ShelfRules, change, find, insert, remove } from './shelf.ts'

export interface StepData {
  /** `plan` names the conversation whose to-do list it comes from. */
  'step.added': { text: string; after?: After; plan?: string }
  'step.started': { step: string }
  'step.stopped': { step: string }
  'step.done': { step: string; when?: string }
  'step.reopened': { step: string }
  /** An agent removed it from its list without doing it. */
  'step.dropped': { step: string }
  'progress.made': { text: string; when?: string }
  'next.added': { text: string; after?: After }
  'next.taken': { next: string }
}

export interface Step extends Item {
  readonly status: 'todo' | 'started' | 'done'
  readonly changedAt: string
  /** The conversation whose list it comes from; absent when somebody wrote it. */
  readonly plan?: string
}

export interface StepsState {
  readonly steps: Shelf<Step>
  readonly progress: Shelf<Item>
  readonly next: Shelf<Item>
}

export const shelves: ShelfRules<StepsState> = {
  steps: { recent: 6, keeps: ({ status }) => status !== 'done', isOrdered: true },
  progress: { recent: 6, isOrdered: false },
  next: { recent: 50, isOrdered: true },
}

export const fold: Folds<StepData, StepsState> = {
  'step.added': {
    outdatesTldr: true,
    apply(state, data, entry) {
      const step: Step = {
        ...item(entry, data.text),
        status: 'todo',
        changedAt: entry.at,
        ...fields(data, 'plan'),
      }
      insert(state.steps, step, data.after)
    },
  },
  'step.started': {
    outdatesTldr: true,
    apply: (state, data, entry) => setStep(state, data.step, 'started', entry.at),
  },
  'step.stopped': {
    outdatesTldr: true,
    apply: (state, data, entry) => setStep(state, data.step, 'todo', entry.at),
  },
  'step.done': {
    outdatesTldr: true,
    apply: (state, data, entry) => setStep(state, data.step, 'done', when(data.when, entry.at)),
  },
  'step.reopened': {
    outdatesTldr: true,
    apply(state, data, { at }) {
      change<Step>(state.steps, data.step, (step) => ({ ...step, status: 'todo', changedAt: at }))
    },
  },
  'step.dropped': {
    outdatesTldr: true,
    apply: (state, data) => remove(state.steps, find(state.steps, data.step)),
  },
  'progress.made': {
    outdatesTldr: true,
    apply: (state, data, entry) => insert(state.progress, item(entry, data.text, data.when)),
  },
  'next.added': {
    outdatesTldr: true,
    apply: (state, data, entry) => insert(state.next, item(entry, data.text), data.after),
  },
  'next.taken': {
    outdatesTldr: true,
    apply: (state, data) => remove(state.next, find(state.next, data.next)),
  },
}

export const kinds = (): Kinds<StepData, StepsState> => {
  const usual = {
    searchedAs: undefined,
    group: 'steps',
    writers: ['agent', 'document'],
    amendable: [],
    about: 'work',
    document: undefined,
  } as const
  const text = {
    ...usual,
    amendable: ['text'],
    prose: ['text'],
    line: ['text'],
    subject: undefined,
  } as const
  const step = { ...usual, prose: [], line: [], subject: 'step' } as const
  return {
    'step.added': {
      ...text,
      label: 'step added',
      searchedAs: 'step',
      document: {
        block: 'step',
        regions: ['completed', 'inProgress', 'remaining'],
        ordered: ['remaining'],
        text: undefined,
      },
    },
    'step.started': { ...step, label: 'step started' },
    'step.stopped': { ...step, label: 'step stopped', writers: ['document'] },
    'step.done': { ...step, label: 'step done' },
    'step.reopened': { ...step, label: 'step reopened' },
    'step.dropped': { ...step, label: 'step dropped', writers: [] },
    'progress.made': {
      ...text,
      label: 'progress',
      searchedAs: 'progress',
      document: {
        block: 'progress',
        regions: ['completed'],
        ordered: [],
        text: { shelf: 'progress', holds: () => true, isTimed: true, prefix: '' },
      },
    },
    'next.added': {
      ...text,
      label: 'next added',
      searchedAs: 'next',
      document: {
        block: 'next',
        regions: ['next'],
        ordered: ['next'],
        text: { shelf: 'next', holds: () => true, isTimed: false, prefix: '' },
      },
    },
    'next.taken': {
      ...usual,
      label: 'next taken',
      writers: ['agent'],
      prose: [],
      line: [],
      subject: 'next',
    },
  }
}

// A done step stays done until it is reopened: a late "started" must not undo it.
function setStep(
  state: Working<StepsState>,
  id: unknown,
  status: Step['status'],
  changedAt: string,
) {
  change<Step>(state.steps, id, (step) =>
    step.status === 'done' ? step : { ...step, status, changedAt },
  )
}
