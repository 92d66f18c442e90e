import { describe, expect, test } from 'vitest'
import { type EntryData, draftEntry } from '../../src/session/entries.ts'
import { advance, fold } from '../../src/session/fold.ts'
import type { RawEntry } from '../../src/session/effective-entries.ts'
import { idOf } from '../support/entries.ts'

let made = 0
function crossed(data: Partial<EntryData['budget.crossed']>, once?: string): RawEntry {
  made += 1
  const full = {
    conversation: 'c-1',
    stage: 75,
    tokens: 126_000,
    source: 'transcript',
    ...data,
  } as EntryData['budget.crossed']
  const { kind, by, data: stored } = draftEntry('budget.crossed', full)
  return {
    id: idOf(made),
    at: `at ${made}`,
    kind,
    by,
    data: stored,
    ...(once === undefined ? {} : { once }),
  }
}

describe('a budget crossing', () => {
  test('replaces the earlier one of its conversation', () => {
    const state = fold('s', [
      crossed({ stage: 'smart-zone', tokens: 101_000 }),
      crossed({ stage: 75, point: 167_000, window: 200_000 }),
      crossed({ conversation: 'c-2', stage: 150_000, tokens: 151_000 }),
    ])
    expect(state.crossings.items).toMatchObject([
      {
        text: 'c-1',
        stage: 75,
        tokens: 126_000,
        point: 167_000,
        window: 200_000,
        source: 'transcript',
      },
      { text: 'c-2', stage: 150_000, tokens: 151_000 },
    ])
  })

  test('captured by two hooks counts once, also when advanced from a snapshot', () => {
    const entries = [
      crossed({ tokens: 126_000 }, 'budget:c-1:w:75'),
      crossed({ tokens: 127_000 }, 'budget:c-1:w:75'),
      crossed({ stage: 85 }),
    ]
    const whole = fold('s', entries)
    expect(whole.crossings).toMatchObject({ earlier: 0, items: [{ stage: 85 }] })
    expect(fold('s', entries.slice(0, 2)).crossings.items).toMatchObject([{ tokens: 126_000 }])
    expect(advance(fold('s', entries.slice(0, 2)), entries.slice(2))).toEqual(whole)
  })

  test('does not outdate the TL;DR', () => {
    const tldr = {
      id: idOf(made + 1),
      at: 'x',
      kind: 'tldr.written',
      by: 'cli',
      data: { text: 'All is well' },
    }
    made += 1
    expect(fold('s', [tldr, crossed({})]).tldr?.isOutdated).toBe(false)
  })

  test.each([{ stage: 'often' }, { stage: -1 }, { tokens: 'many' }, { tokens: undefined }])(
    'with %o is ignored',
    (data) => {
      expect(fold('s', [crossed(data as never)]).crossings.items).toEqual([])
    },
  )

  test('is kept for the latest few conversations only', () => {
    const state = fold(
      's',
      Array.from({ length: 50 }, (_, index) => crossed({ conversation: `c-${index}` })),
    )
    expect(state.crossings.items).toHaveLength(8)
    expect(state.crossings.items.at(-1)?.text).toBe('c-49')
  })
})

describe('a compaction', () => {
  const compacted = (data: EntryData['context.compacted']): RawEntry => {
    made += 1
    return { id: idOf(made), at: `at ${made}`, kind: 'context.compacted', by: 'hook', data }
  }

  test('triggered automatically records where the harness compacts', () => {
    const auto = compacted({ trigger: 'auto', conversation: 'c-1', tokensBefore: 167_189 })
    const manual = compacted({ trigger: 'manual', conversation: 'c-1', tokensBefore: 5000 })
    expect(fold('s', [auto, manual]).lastAutomatic).toEqual({
      conversation: 'c-1',
      tokens: 167_189,
      at: auto.at,
    })
    expect(fold('s', [manual, compacted({ trigger: 'auto' })]).lastAutomatic).toBeUndefined()
  })
})
