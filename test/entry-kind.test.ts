// A new entry kind is added by one family file alone, and everything that lists kinds knows it.
import { describe, expect, test, vi } from 'vitest'
import { entryLine } from '../src/cli/print/session.ts'
import { countWorkEntries } from '../src/context/handoff/recorded-handoffs.ts'
import { editsBetween } from '../src/document/edits.ts'
import { parseDocument } from '../src/document/parse.ts'
import { renderDocument } from '../src/document/render.ts'
import { entryText } from '../src/index/entry-text.ts'
import { FOLD_VERSION, abridge, fold } from '../src/session/fold.ts'
import type { RawEntry } from '../src/session/effective-entries.ts'
import type { Folds, Kinds } from '../src/session/kinds/kind.ts'
import type { Item, ItemList, ListRules } from '../src/session/kinds/item-list.ts'
import {
  SEARCH_NAMES,
  amendableFields,
  kindGroup,
  kindLabel,
  mayWrite,
} from '../src/session/registry.ts'
import { idOf } from './support/entries.ts'

interface MilestoneData {
  'milestone.reached': { text: string; when?: string; conversation?: string }
}

interface MilestonesState {
  readonly milestones: ItemList<Item>
}

vi.mock('../src/session/kinds/findings.ts', async (importOriginal) => {
  const family = await importOriginal<typeof import('../src/session/kinds/findings.ts')>()
  const { insertItem } = await import('../src/session/kinds/item-list.ts')
  const { item } = await import('../src/session/kinds/read-fields.ts')
  const shelves: ListRules<MilestonesState> = { milestones: { recent: 1, isOrdered: true } }
  const folds: Folds<MilestoneData, MilestonesState> = {
    'milestone.reached': {
      outdatesTldr: true,
      apply: (state, data, entry) =>
        insertItem(state.milestones, item(entry, data.text, data.when)),
    },
  }
  const kinds = (): Kinds<MilestoneData, MilestonesState> => ({
    'milestone.reached': {
      label: 'milestone',
      searchedAs: 'milestone',
      group: 'steps',
      writers: ['document'],
      amendable: ['text'],
      about: 'work',
      prose: ['text'],
      line: ['text'],
      subject: undefined,
      document: {
        block: 'milestone',
        regions: ['notes'],
        ordered: ['notes'],
        text: { list: 'milestones', matches: () => true, isTimed: true, prefix: 'Milestone: ' },
      },
    },
  })
  return {
    ...family,
    listRules: { ...family.listRules, ...shelves },
    fold: { ...family.fold, ...folds },
    kinds: () => ({ ...family.kinds(), ...kinds() }),
  }
})

const SESSION = idOf(0)
const entry = (n: number, kind: string, data: Record<string, unknown>): RawEntry => ({
  id: idOf(n),
  at: `2025-01-15T10:0${n}:00.000Z`,
  kind,
  by: 'library',
  data,
})
const opened = entry(0, 'session.opened', { name: 'fix-login' })
const reached = entry(1, 'milestone.reached', { text: 'beta is out', conversation: 'c-1' })
const entries = [opened, entry(2, 'note.added', { text: 'a note' }), reached]
const milestonesOf = (state: unknown) => (state as MilestonesState).milestones

describe('a new kind of entry', () => {
  test('is folded into its own list, which a snapshot abridges', () => {
    const more = [...entries, entry(3, 'milestone.reached', { text: 'release' })]
    const state = fold(SESSION, more)
    expect(milestonesOf(state).items.map(({ text }) => text)).toEqual(['beta is out', 'release'])
    expect(milestonesOf(abridge(state))).toMatchObject({ earlier: 1, items: [{ text: 'release' }] })
  })

  test('makes a TL;DR outdated, can be retracted and amended, and its item can be moved', () => {
    const tldr = entry(0, 'tldr.written', { text: 'all is well' })
    expect(fold(SESSION, [{ ...tldr, id: `${idOf(0)}a` }, reached]).tldr?.isOutdated).toBe(true)
    const amended = entry(3, 'entry.amended', { entry: reached.id, changes: { text: 'beta' } })
    expect(milestonesOf(fold(SESSION, [...entries, amended])).items[0]!.text).toBe('beta')
    const retracted = entry(4, 'entry.retracted', { entry: reached.id })
    expect(milestonesOf(fold(SESSION, [...entries, retracted])).items).toEqual([])
    const second = entry(5, 'milestone.reached', { text: 'release' })
    const moved = entry(6, 'item.moved', { entry: second.id, after: 'start' })
    const { items } = milestonesOf(fold(SESSION, [...entries, second, moved]))
    expect(items.map(({ text }) => text)).toEqual(['release', 'beta is out'])
  })

  test('has a line, a search text, a context text, a label and a group', () => {
    expect(entryLine(reached, () => entries)).toMatch(/milestone\.reached\s+beta is out$/)
    expect(entryText(reached)).toBe('beta is out')
    expect(SEARCH_NAMES.get('milestone')).toEqual(['milestone.reached'])
    expect([kindLabel('milestone.reached'), kindGroup('milestone.reached')]).toEqual([
      'milestone',
      'steps',
    ])
    expect(countWorkEntries(entries)).toBe(3)
  })

  test('can be amended in its listed fields, and is refused from an agent that may not write it', () => {
    expect(amendableFields('milestone.reached')).toEqual(['text'])
    expect(mayWrite('document', 'milestone.reached')).toBe(true)
    expect(mayWrite('agent', 'milestone.reached')).toBe(false)
  })

  test("is rendered in the document, and a user's edits of it become entries", () => {
    const state = fold(SESSION, entries)
    const text = renderDocument(state, { offset: 0, sum: '00000000' })
    expect(text).toContain(
      '- a note (2025-01-15T10:02)\n- Milestone: beta is out (2025-01-15T10:01)',
    )
    const edited = text.replace(
      '- Milestone: beta is out (2025-01-15T10:01)',
      '- Milestone: the beta is out (2025-01-15T10:01)\n- Milestone: release',
    )
    const parsed = parseDocument(edited)
    if (!parsed.ok) throw new Error(parsed.problem)
    const { drafts } = editsBetween(state, parsed.document, {
      mint: () => idOf(9),
      isBaseSure: true,
    })
    expect(drafts).toMatchObject([
      { kind: 'entry.amended', data: { entry: reached.id, changes: { text: 'the beta is out' } } },
      { kind: 'milestone.reached', data: { text: 'release' }, by: 'document' },
    ])
  })
})

describe('an unknown kind', () => {
  const unknown = entry(1, 'sail.trimmed', { text: 'by two turns' })

  test('is kept and changes nothing, and search still finds its text', () => {
    const { entryCount, lastId, updatedAt, ...state } = fold(SESSION, [opened, unknown])
    const { entryCount: _n, lastId: _l, updatedAt: _u, ...without } = fold(SESSION, [opened])
    expect(state).toEqual(without)
    expect([entryCount, lastId, updatedAt]).toEqual([2, unknown.id, unknown.at])
    expect(entryText(unknown)).toBe('by two turns')
    expect(amendableFields(unknown.kind)).toEqual([])
    expect([mayWrite('agent', 'toString'), mayWrite('document', unknown.kind)]).toEqual([
      false,
      false,
    ])
  })

  test('does not make older states invalid', () => expect(FOLD_VERSION).toBe(5))
})

// A missing field does not compile.
const whole: Kinds<MilestoneData, MilestonesState>['milestone.reached'] = {
  label: 'milestone',
  searchedAs: undefined,
  group: 'steps',
  writers: [],
  amendable: [],
  about: 'work',
  prose: [],
  line: [],
  subject: undefined,
  document: undefined,
}
const { writers: _writers, ...withoutWriters } = whole
const { amendable: _amendable, ...withoutAmendable } = whole
export const lacksWriters: Kinds<MilestoneData, MilestonesState> = {
  // @ts-expect-error who may write it is not stated
  'milestone.reached': withoutWriters,
}
export const lacksAmendable: Kinds<MilestoneData, MilestonesState> = {
  // @ts-expect-error whether it can be amended is not stated
  'milestone.reached': withoutAmendable,
}
// @ts-expect-error the kind is not described at all
export const lacksKind: Kinds<MilestoneData, MilestonesState> = {}
export const lacksFlags: Folds<MilestoneData & { 'milestone.seen': { git?: object } }, object> = {
  // @ts-expect-error whether it makes a TL;DR outdated is not stated
  'milestone.reached': { apply: () => undefined },
  // @ts-expect-error whether it binds the branch is not stated
  'milestone.seen': { outdatesTldr: true, apply: () => undefined },
}
// @ts-expect-error a list of the state has no rule
export const lacksListRule: ListRules<MilestonesState> = {}
