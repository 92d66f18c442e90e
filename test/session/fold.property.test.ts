import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseLog } from '../../src/journal/read-log.ts'
import { encodeRecord } from '../../src/journal/record.ts'
import type { EntryKind } from '../../src/session/entries.ts'
import { NeedsFullFold, abridge, advance, fold } from '../../src/session/fold.ts'
import type { RawEntry } from '../../src/session/effective-entries.ts'
import type { SessionState } from '../../src/session/state.ts'
import { ENTRY_KINDS, anyEntries, history, historyInTwo, idOf } from '../support/entries.ts'
import { cases } from '../support/cases.ts'

const SESSION = 'session'
describe('a session folded from its entries', () => {
  test('is the same in any order and with repeated entries', () => {
    const disordered = history().chain((entries) =>
      fc.tuple(fc.constant(entries), shuffled(entries), fc.subarray(entries)),
    )
    fc.assert(
      fc.property(disordered, ([entries, permutation, repeated]) => {
        expect(fold(SESSION, [...permutation, ...repeated])).toEqual(fold(SESSION, entries))
      }),
    )
  })

  test('is the same after merging two copies of its log, in either order and twice', () => {
    const copies = history().chain((entries) =>
      fc.tuple(fc.constant(entries), fc.subarray(entries), fc.subarray(entries)),
    )
    fc.assert(
      fc.property(copies, ([entries, some, others]) => {
        const [a, b] = [bytesOf(some), bytesOf(others)]
        const rest = bytesOf(
          entries.filter((entry) => !some.includes(entry) && !others.includes(entry)),
        )
        const merged = folded(a, b, rest)
        expect(folded(rest, b, a)).toEqual(merged)
        expect(folded(a, b, rest, a, b)).toEqual(merged)
        expect(merged).toEqual(fold(SESSION, entries))
      }),
    )
  })

  test('is the same however the lines of several writers are interleaved', () => {
    const interleaved = history().chain((entries) =>
      fc.tuple(
        fc.constant(entries),
        fc.array(fc.nat({ max: 2 }), { minLength: entries.length, maxLength: entries.length }),
      ),
    )
    fc.assert(
      fc.property(interleaved, ([entries, writers]) => {
        const perWriter = [0, 1, 2].map((writer) =>
          entries.filter((_entry, index) => writers[index] === writer),
        )
        expect(folded(...perWriter.map(bytesOf))).toEqual(fold(SESSION, entries))
      }),
    )
  })

  test('never throws for any entries', () => {
    fc.assert(
      fc.property(anyEntries, (entries) => {
        const state = fold(SESSION, entries)
        expect(JSON.parse(JSON.stringify(abridge(state)))).toBeDefined()
      }),
      { numRuns: cases(500) },
    )
  })

  test('never throws on a kind that names an object property', () => {
    for (const kind of [
      '__proto__',
      'constructor',
      'hasOwnProperty',
      'isPrototypeOf',
      'toString',
      'valueOf',
    ]) {
      expect(fold(SESSION, [note(1, 'a'), { ...note(2, 'b'), kind }]).notes.items).toHaveLength(1)
    }
  })

  test('does not mutate its input', () => {
    fc.assert(
      fc.property(history(), (entries) => {
        const before = JSON.stringify(entries)
        const state = fold(SESSION, entries.slice(0, entries.length / 2))
        const stateBefore = JSON.stringify(state)
        advanceOrNot(state, entries.slice(entries.length / 2))
        expect([JSON.stringify(entries), JSON.stringify(state)]).toEqual([before, stateBefore])
      }),
    )
  })
})

describe('a snapshot advanced over new entries', () => {
  const LOOKING_BACK = new Set<EntryKind>(['entry.retracted', 'entry.amended', 'item.moved'])
  const lookingOn = ENTRY_KINDS.filter((kind) => !LOOKING_BACK.has(kind))
  /** Many entries of few kinds, which fill a list beyond what a snapshot keeps. */
  const long = fc
    .shuffledSubarray(lookingOn, { minLength: 1, maxLength: 3 })
    .chain((kinds) => historyInTwo(kinds, kinds, { minLength: 60, maxLength: 140 }))

  test('equals the full fold or requests one', () => {
    const anywhere = history().chain((entries) =>
      fc.record({ entries: fc.constant(entries), at: fc.nat({ max: entries.length }) }),
    )
    fc.assert(fc.property(anywhere, expectSameAfter), { numRuns: cases(200) })
    fc.assert(fc.property(historyInTwo(ENTRY_KINDS, lookingOn), expectSameAfter), {
      numRuns: cases(300),
    })
  })

  test('equals the full fold or requests one when lists were cut', () => {
    fc.assert(fc.property(long, expectSameAfter), { numRuns: cases(200), endOnFailure: true })
  })

  test('equals the full fold or requests one when advanced entry by entry', () => {
    fc.assert(
      fc.property(long, ({ entries }) => {
        let state = abridge(fold(SESSION, entries.slice(0, 1)))
        for (let end = 2; end <= entries.length; end += 1) {
          const carried = advanceOrNot(state, entries.slice(end - 1, end))
          state = abridge(carried ?? fold(SESSION, entries.slice(0, end)))
        }
        expect(state).toEqual(abridge(fold(SESSION, entries)))
      }),
      { numRuns: cases(20), endOnFailure: true },
    )
  })

  const REFERRING: readonly [string, readonly RawEntry[], RawEntry][] = [
    [
      'a step that was left out because it was noticed twice',
      [
        { ...step(1), once: 'edit' },
        { ...step(2), once: 'edit' },
      ],
      entry(3, 'step.done', { step: idOf(2) }),
    ],
    [
      'a decision that was taken back',
      [entry(1, 'decision.made', { title: 'a' }), entry(2, 'entry.retracted', { entry: idOf(1) })],
      entry(3, 'key.added', { text: 'a', from: idOf(1) }),
    ],
    [
      'one of more next steps than it keeps',
      Array.from({ length: 150 }, (_, n) => entry(n, 'next.added', { text: String(n) })),
      entry(150, 'next.taken', { next: idOf(149) }),
    ],
    [
      'one of more files than it keeps',
      Array.from({ length: 150 }, (_, n) => entry(n, 'file.noted', { path: String(n) })),
      entry(150, 'file.dropped', { path: '149', list: 'key' }),
    ],
  ]
  test.each(REFERRING)(
    'equals the full fold or requests one when an entry refers to %s',
    (_name, before, last) => {
      expectSameAfter({ entries: [...before, last], at: before.length })
    },
  )

  test('needs no full fold for entries that only add', () => {
    const adding: readonly EntryKind[] = [
      'progress.made',
      'goal.set',
      'context.compacted',
      'git.observed',
      'checkpoint.made',
    ]
    fc.assert(
      fc.property(
        historyInTwo(adding, adding, { minLength: 50, maxLength: 100 }),
        ({ entries, at }) => {
          expect(
            advanceOrNot(abridge(fold(SESSION, entries.slice(0, at))), entries.slice(at)),
          ).toBeDefined()
        },
      ),
      { numRuns: cases(30) },
    )
  })

  test('requests a full fold when an entry is late', () => {
    fc.assert(
      fc.property(history({ minLength: 3 }), (entries) => {
        const [late, ...others] = entries
        expect(advanceOrNot(fold(SESSION, others), [late!])).toBeUndefined()
      }),
    )
  })
})

describe('a retracted entry', () => {
  test('has no effect, and is restored when the retraction is retracted', () => {
    const first = [note(0, 'a'), note(1, 'b')]
    const retraction = (n: number, target: number) =>
      entry(n, 'entry.retracted', { entry: idOf(target) })
    expect(notesOf([...first, retraction(2, 1)])).toEqual(['a'])
    expect(notesOf([...first, retraction(2, 1), retraction(3, 2)])).toEqual(['a', 'b'])
    expect(notesOf([...first, retraction(2, 1), retraction(3, 2), retraction(4, 3)])).toEqual(['a'])
  })

  test('that is restored leaves any session as it was', () => {
    const target = history({ minLength: 1 }).chain((entries) =>
      fc.tuple(fc.constant(entries), fc.nat({ max: entries.length - 1 })),
    )
    fc.assert(
      fc.property(target, ([entries, index]) => {
        const n = entries.length
        const back = [
          ...entries,
          entry(n, 'entry.retracted', { entry: entries[index]!.id }),
          entry(n + 1, 'entry.retracted', { entry: idOf(n) }),
        ]
        expect(withoutCounts(fold(SESSION, back))).toEqual(withoutCounts(fold(SESSION, entries)))
      }),
    )
  })

  test("is never the session's first entry", () => {
    const opened = entry(0, 'session.opened', { name: 'fix-login' })
    expect(fold(SESSION, [opened, entry(1, 'entry.retracted', { entry: opened.id })]).name).toBe(
      'fix-login',
    )
  })
})

describe('an amended entry', () => {
  test('shows the latest amendment in any file order', () => {
    const entries = [note(0, 'a'), amendment(1, 0, { text: 'b' }), amendment(2, 0, { text: 'c' })]
    expect(notesOf(entries)).toEqual(['c'])
    expect(notesOf(entries.toReversed())).toEqual(['c'])
  })

  test('is restored when the amendment is retracted', () => {
    const entries = [
      note(0, 'a'),
      amendment(1, 0, { text: 'b' }),
      entry(2, 'entry.retracted', { entry: idOf(1) }),
    ]
    expect(notesOf(entries)).toEqual(['a'])
  })

  test('loses a field that is set to null', () => {
    const decision = entry(0, 'decision.made', { title: 'a', choice: 'b' })
    expect(
      fold(SESSION, [decision, amendment(1, 0, { choice: null })]).decisions.items[0],
    ).not.toHaveProperty('choice')
  })

  test('keeps its place', () => {
    expect(notesOf([note(0, 'a'), note(1, 'b'), amendment(2, 0, { text: 'z' })])).toEqual([
      'z',
      'b',
    ])
  })
})

test('an event captured twice counts once, and the first capture wins', () => {
  const notices = [note(1, 'first'), note(2, 'second')].map((notice) => ({
    ...notice,
    once: 'event',
  }))
  expect(notesOf(notices)).toEqual(['first'])
  expect(notesOf(notices.toReversed())).toEqual(['first'])
})

function entry(n: number, kind: EntryKind, data: Record<string, unknown>): RawEntry {
  return {
    id: idOf(n),
    at: new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString(),
    kind,
    by: 'test',
    data,
  }
}

function note(n: number, text: string): RawEntry {
  return entry(n, 'note.added', { text })
}

function step(n: number): RawEntry {
  return entry(n, 'step.added', { text: 'a' })
}

function amendment(n: number, target: number, changes: Record<string, unknown>): RawEntry {
  return entry(n, 'entry.amended', { entry: idOf(target), changes })
}

function notesOf(entries: readonly RawEntry[]): readonly string[] {
  return fold(SESSION, entries).notes.items.map(({ text }) => text)
}

function shuffled(entries: readonly RawEntry[]): fc.Arbitrary<RawEntry[]> {
  return fc.shuffledSubarray([...entries], { minLength: entries.length, maxLength: entries.length })
}

function bytesOf(entries: readonly RawEntry[]): Buffer {
  return Buffer.concat(entries.map(encodeRecord))
}

function folded(...logs: readonly Buffer[]): SessionState {
  return fold(SESSION, parseLog(Buffer.concat(logs), 'log').records)
}

function advanceOrNot(state: SessionState, entries: readonly RawEntry[]): SessionState | undefined {
  try {
    return advance(state, entries)
  } catch (error) {
    if (error instanceof NeedsFullFold) return undefined
    throw error
  }
}

function expectSameAfter({ entries, at }: { entries: readonly RawEntry[]; at: number }): void {
  const carried = advanceOrNot(abridge(fold(SESSION, entries.slice(0, at))), entries.slice(at))
  if (carried !== undefined) expect(abridge(carried)).toEqual(abridge(fold(SESSION, entries)))
}

/** A state without entry counts and the time of the last entry. */
function withoutCounts(state: SessionState): unknown {
  const { entryCount: _count, lastId: _last, updatedAt: _at, tldr, ...rest } = state
  return { ...rest, tldr: tldr?.text }
}
