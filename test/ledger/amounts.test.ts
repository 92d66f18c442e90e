import { encode } from '@toon-format/toon'
import { expect, describe, test } from 'vitest'
import { measureToon } from '../../src/context/measure-toon.ts'
import { DailyAmounts, costsOf, savingsOf } from '../../src/ledger/amounts.ts'
import { journalAmounts } from '../../src/ledger/journal-amounts.ts'
import { runAmounts } from '../../src/ledger/run-amounts.ts'
import { reportFrom } from '../../src/run/report.ts'
import type { RunEntry, RunEntryKind } from '../../src/run/entries.ts'
import { foldRun } from '../../src/run/run-state.ts'
import type { RawEntry } from '../../src/session/effective-entries.ts'

const DAY = '2026-11-16'

type EntrySpec = readonly [kind: string, data: object, more?: Partial<RawEntry>]

/** Journal entries, one per minute. */
function journal(entries: readonly EntrySpec[]): readonly RawEntry[] {
  return entries.map(([kind, data, more], index) => ({
    id: `019abc12-3456-7def-8901-${String(index).padStart(12, '0')}`,
    at: `${DAY}T10:${String(index).padStart(2, '0')}:00.000Z`,
    by: 'hook',
    kind,
    data: data as RawEntry['data'],
    ...more,
  }))
}

function amountsOf(...entries: readonly EntrySpec[]) {
  const { days, conversations } = journalAmounts(journal(entries))
  const { total: whole } = new DailyAmounts().addAll(days)
  return { ...costsOf(whole, 0), savings: savingsOf(whole), days, conversations }
}

const contextGiven = (chars: number, more: object = {}) =>
  [
    'context.given',
    { conversation: 'c-1', event: 'SessionStart', mark: 'a', chars, ...more },
  ] as const
const hooksRan = (events: object, writes = 0, once?: string) =>
  [
    'hooks.ran',
    { conversation: 'c-1', events, writes },
    once === undefined ? {} : { once },
  ] as const

describe('counting a journal', () => {
  test('counts an injected text once, whether or not hook costs were recorded too', () => {
    expect(amountsOf(contextGiven(3000))).toMatchObject({
      injections: 1,
      injectedChars: 3000,
      injectedTokens: 1000,
      hooks: 0,
      writes: 1,
    })
    const noted = amountsOf(
      contextGiven(3000),
      hooksRan({ SessionStart: { times: 1, ms: 60, chars: 3000, gave: 1 } }, 9),
    )
    expect(noted).toMatchObject({
      injections: 1,
      injectedChars: 3000,
      injectedTokens: 1000,
      hooks: 1,
      hookMs: 60,
      writes: 9,
    })
    const reminded = amountsOf(
      contextGiven(4000),
      hooksRan({ UserPromptSubmit: { times: 3, ms: 120, chars: 4400, gave: 2 } }),
    )
    expect(reminded).toMatchObject({ injections: 2, injectedChars: 4400, hooks: 3 })
  })

  test('counts hook costs once when two processes journalled them', () => {
    const lines = { Stop: { times: 2, ms: 80, chars: 0, gave: 0 } }
    expect(
      amountsOf(hooksRan(lines, 5, 'claude:costs:a'), hooksRan(lines, 5, 'claude:costs:a')),
    ).toMatchObject({
      hooks: 2,
      hookMs: 80,
      writes: 5,
    })
  })

  test('counts avoided tokens: the rest of the document, JSON, readable command output', () => {
    const { savings } = amountsOf(
      contextGiven(2000, { whole: 10_000, toon: { chars: 300, json: 700 } }),
      contextGiven(2000, { whole: 400 }),
      ['output.kept', { bytes: 9000, shown: 1000 }],
      ['output.kept', { bytes: 5_000_000, shown: 2000 }],
    )
    expect(savings).toEqual([
      { name: 'toon', tokens: 75, known: 'estimated', times: 1 },
      {
        name: 'digest',
        tokens: Math.round((9000 + 30_000) / 4 - 3000 / 3),
        known: 'estimated',
        times: 2,
      },
      // The second was longer than the document.
      {
        name: 'pointers',
        tokens: Math.round((10_000 + 400) / 4 - 4000 / 3 - 75),
        known: 'estimated',
        times: 2,
      },
    ])
  })

  test('counts a text once that is shorter than both the document and JSON', () => {
    const context = contextGiven(2000, { whole: 10_000, toon: { chars: 300, json: 700 } })
    const joined = [
      'conversation.joined',
      { conversation: 'c-1', harness: 'claude', source: 'startup' },
    ] as const
    const { days, conversations } = amountsOf(joined, context, contextGiven(100))
    const { saved } = new DailyAmounts().addAll(days).total
    const both = saved.toon!.tokens + saved.pointers!.tokens
    expect(both).toBeCloseTo(10_000 / 4 - 2000 / 3)
    expect(conversations).toMatchObject([{ given: 2100, saved: expect.closeTo(both) }])
  })

  test("counts what an older Stint's journal has", () => {
    expect(
      amountsOf(
        contextGiven(400),
        ['output.kept', { bytes: 9000 }],
        ['progress.made', { text: 'x' }, { by: 'cli' }],
      ),
    ).toMatchObject({
      injections: 1,
      writes: 3,
      savings: [],
    })
  })

  test('never fails for any journal', () => {
    const odd = amountsOf(
      ['context.given', { chars: 'many', whole: -1, toon: [] }],
      ['hooks.ran', { events: 'none', writes: null }],
      ['hooks.ran', { events: { Stop: 7, Start: { times: Number.NaN } } }],
      ['conversation.joined', {}],
      ['turn.ended', {}, { at: 'yesterday' }],
    )
    expect([odd.injectedTokens, odd.hooks, odd.savings, Object.keys(odd.days)]).toEqual([
      0,
      0,
      [],
      [DAY, 'unknown'],
    ])
  })

  test('lists conversations and the context injected into each', () => {
    const joined = (conversation: string) =>
      ['conversation.joined', { conversation, harness: 'claude', source: 'startup' }] as const
    const { conversations } = amountsOf(
      joined('c-1'),
      contextGiven(100),
      joined('c-2'),
      joined('c-1'),
      contextGiven(20),
    )
    expect(conversations.map(({ id, given: chars }) => [id, chars])).toEqual([
      ['c-1', 120],
      ['c-2', 0],
    ])
  })
})

describe('a context text', () => {
  test('reports its tables and their length as JSON', () => {
    const rows = [
      { decision: 'keep it small', choice: 'a | b', because: 'says "so": yes' },
      { decision: 'x', choice: '', because: '12' },
    ]
    const steps = [{ step: 'one' }, { step: 'two' }]
    const tables = [
      encode({ decisions: rows }, { delimiter: '|' }),
      encode({ open_steps: steps }, { delimiter: '|' }),
    ]
    const text = [
      '<stint-session name="x">',
      tables[0],
      'Lately:',
      '- a',
      tables[1],
      '[stint:12]',
    ].join('\n')
    expect(measureToon(text)).toEqual({
      chars: tables.reduce((sum, table) => sum + table.length + 1, 0),
      json:
        JSON.stringify({ decisions: rows }).length + JSON.stringify({ open_steps: steps }).length,
    })
    expect(measureToon('Decisions:\n- a (b)')).toBeUndefined()
  })
})

const runner = { pid: 1, startedAt: 'x', mark: '' }
const TASKS = ['one', 'two', 'three'].map((name) => ({ id: `id-${name}`, name, title: name }))

/** One conversation with three tasks, the second using twice the tokens of the others, and one without tasks. */
function runLog(delegate?: object): readonly RunEntry[] {
  const entries: (readonly [RunEntryKind, unknown])[] = [
    [
      'run.started',
      {
        options: {},
        harness: 'rehearsal',
        source: '.tasks',
        tree: '/t',
        branch: 'b',
        base: 'c',
        runner,
        delegate,
      },
    ],
    ['session.opened', { session: 's-1', name: 'run-1', number: 1, because: 'first' }],
    ['conversation.opened', { number: 1, session: 's-1', process: runner, setup: 900 }],
    ['conversation.started', { number: 1, conversation: 'c-1' }],
    ...TASKS.flatMap((task, index): (readonly [RunEntryKind, unknown])[] => [
      [
        'attempt.started',
        {
          attempt: task.name,
          task,
          session: 's-1',
          conversation: 1,
          isFirst: index === 0,
          context: index * 1000,
          text: 100,
        },
      ],
      [
        'turn.ended',
        {
          attempt: task.name,
          conversation: 1,
          spent: { m: { input: index === 1 ? 200 : 100 } },
          requests: 2,
        },
      ],
      ['attempt.ended', { attempt: task.name, outcome: 'done', added: 600 }],
    ]),
    ['conversation.ended', { number: 1, because: 'done', profilesNotLoaded: 300 }],
    ['conversation.opened', { number: 2, session: 's-1', process: runner, setup: 900 }],
  ]
  return entries.map(([kind, data], index) => {
    return {
      id: `e-${index}`,
      at: `${DAY}T11:00:${String(index).padStart(2, '0')}.000Z`,
      kind,
      data,
    } as unknown as RunEntry
  })
}

const USUAL_PRICE = {
  model: '*',
  input: 1,
  output: 5,
  cacheRead: 0.1,
  cacheWrite: 1.25,
  cacheWriteHour: 2,
}

const totalOf = (parts: NonNullable<ReturnType<typeof runAmounts>>['parts']) =>
  parts.reduce((sums, { days }) => sums.addAll(days), new DailyAmounts()).total

describe("counting a run's log", () => {
  test('adds up per task and in total', () => {
    const log = runLog()
    const { compared } = reportFrom(foldRun(log)!, {
      run: 'r',
      prices: [USUAL_PRICE],
      isRunning: false,
      commits: 0,
    })
    const { parts, setups } = runAmounts(log)!
    const whole = totalOf(parts)
    // Two setups read from the cache instead of written to it, minus the history read from it.
    const reread = 2 * (1000 - 400) + 2 * (2000 - 400)
    const batching = 2 * 900 * 1.15 - reread * 0.1
    expect(costsOf(whole, 0)).toMatchObject({
      injections: 5,
      injectedTokens: 2 * 900 + 3 * 100,
      injectedChars: 3 * 2100,
      hooks: 0,
      writes: log.length,
    })
    expect(savingsOf(whole)).toEqual([
      { name: 'batching', tokens: Math.round(batching), known: 'estimated', times: 2 },
      { name: 'profiles', tokens: 300, known: 'estimated', times: 1 },
    ])
    // The report also counts the agent's own system prompt.
    expect(compared.savedUsd! * 1_000_000).toBeCloseTo(2 * 400 * 1.15 - reread * 0.1)
    const byTask = parts.flatMap((part) =>
      part.task === undefined ? [] : [{ name: part.task.name, ...totalOf([part]) }],
    )
    expect(
      byTask.map(({ name, injectedTokens, saved }) => [
        name,
        injectedTokens,
        saved.batching!.tokens,
      ]),
    ).toEqual([
      ['one', 400, expect.closeTo(batching / 4)],
      ['two', 400, expect.closeTo(batching / 2)],
      ['three', 400, expect.closeTo(batching / 4)],
    ])
    expect(setups).toEqual({ 'c-1': 900 })
  })

  test('attributes a delegate to its backlog task', () => {
    const amounts = runAmounts(
      runLog({ name: 'tests', what: 'x', task: 'backlog-1', run: 'r-0', target: 'main' }),
    )!
    expect(amounts).toMatchObject({ name: 'tests', of: 'r-0' })
    expect(new Set(amounts.parts.flatMap(({ task }) => task?.id ?? []))).toEqual(
      new Set(['backlog-1']),
    )
  })

  test('counts nothing without run.started', () => {
    expect(runAmounts([])).toBeUndefined()
    expect(runAmounts(runLog().slice(1))).toBeUndefined()
  })
})
