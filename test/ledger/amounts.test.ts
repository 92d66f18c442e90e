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

type Told = readonly [kind: string, data: object, more?: Partial<RawEntry>]

/** Entries of a journal, one a minute. */
function journal(entries: readonly Told[]): readonly RawEntry[] {
  return entries.map(([kind, data, more], index) => ({
    id: `019abc12-3456-7def-8901-${String(index).padStart(12, '0')}`,
    at: `${DAY}T10:${String(index).padStart(2, '0')}:00.000Z`,
    by: 'hook',
    kind,
    data: data as RawEntry['data'],
    ...more,
  }))
}

function of(...entries: readonly Told[]) {
  const { days, conversations } = journalAmounts(journal(entries))
  const { total: whole } = new DailyAmounts().addAll(days)
  return { ...costsOf(whole, 0), savings: savingsOf(whole), days, conversations }
}

const given = (chars: number, more: object = {}) =>
  [
    'context.given',
    { conversation: 'c-1', event: 'SessionStart', mark: 'a', chars, ...more },
  ] as const
const ran = (events: object, writes = 0, once?: string) =>
  [
    'hooks.ran',
    { conversation: 'c-1', events, writes },
    once === undefined ? {} : { once },
  ] as const

describe('a journal', () => {
  test('says of a text once that it was given, whether hooks noted it of themselves or not', () => {
    expect(of(given(3000))).toMatchObject({
      injections: 1,
      injectedChars: 3000,
      injectedTokens: 1000,
      hooks: 0,
      writes: 1,
    })
    const noted = of(
      given(3000),
      ran({ SessionStart: { times: 1, ms: 60, chars: 3000, gave: 1 } }, 9),
    )
    expect(noted).toMatchObject({
      injections: 1,
      injectedChars: 3000,
      injectedTokens: 1000,
      hooks: 1,
      hookMs: 60,
      writes: 9,
    })
    const reminded = of(
      given(4000),
      ran({ UserPromptSubmit: { times: 3, ms: 120, chars: 4400, gave: 2 } }),
    )
    expect(reminded).toMatchObject({ injections: 2, injectedChars: 4400, hooks: 3 })
  })

  test('counts once what hooks noted and two processes journalled', () => {
    const lines = { Stop: { times: 2, ms: 80, chars: 0, gave: 0 } }
    expect(of(ran(lines, 5, 'claude:costs:a'), ran(lines, 5, 'claude:costs:a'))).toMatchObject({
      hooks: 2,
      hookMs: 80,
      writes: 5,
    })
  })

  test('counts what was not told: the rest of the document, JSON, the output of a command as far as a model would have read it', () => {
    const { savings } = of(
      given(2000, { whole: 10_000, toon: { chars: 300, json: 700 } }),
      given(2000, { whole: 400 }),
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
      // The second cost more than the document would have.
      {
        name: 'pointers',
        tokens: Math.round((10_000 + 400) / 4 - 4000 / 3 - 75),
        known: 'estimated',
        times: 2,
      },
    ])
  })

  test('counts what is both shorter than the document and shorter than JSON once', () => {
    const context = given(2000, { whole: 10_000, toon: { chars: 300, json: 700 } })
    const joined = [
      'conversation.joined',
      { conversation: 'c-1', harness: 'claude', source: 'startup' },
    ] as const
    const { days, conversations } = of(joined, context, given(100))
    const { saved } = new DailyAmounts().addAll(days).total
    const both = saved.toon!.tokens + saved.pointers!.tokens
    expect(both).toBeCloseTo(10_000 / 4 - 2000 / 3)
    expect(conversations).toMatchObject([{ given: 2100, saved: expect.closeTo(both) }])
  })

  test('of an older Stint counts what it has', () => {
    expect(
      of(
        given(400),
        ['output.kept', { bytes: 9000 }],
        ['progress.made', { text: 'x' }, { by: 'cli' }],
      ),
    ).toMatchObject({
      injections: 1,
      writes: 3,
      savings: [],
    })
  })

  test('of anything at all is counted without a failure', () => {
    const odd = of(
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

  test('knows its conversations and what each was given', () => {
    const joined = (conversation: string) =>
      ['conversation.joined', { conversation, harness: 'claude', source: 'startup' }] as const
    const { conversations } = of(joined('c-1'), given(100), joined('c-2'), joined('c-1'), given(20))
    expect(conversations.map(({ id, given: chars }) => [id, chars])).toEqual([
      ['c-1', 120],
      ['c-2', 0],
    ])
  })
})

describe('a text', () => {
  test('is known for its tables, and how long they would be as JSON', () => {
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

/** Three tasks in one conversation, of which the second took twice as many tokens as the others, and a conversation of none. */
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

const wholeOf = (parts: NonNullable<ReturnType<typeof runAmounts>>['parts']) =>
  parts.reduce((sums, { days }) => sums.addAll(days), new DailyAmounts()).total

describe('the log of a run', () => {
  test('comes to what it says, task by task and together', () => {
    const log = runLog()
    const { compared } = reportFrom(foldRun(log)!, {
      run: 'r',
      prices: [USUAL_PRICE],
      isRunning: false,
      commits: 0,
    })
    const { parts, setups } = runAmounts(log)!
    const whole = wholeOf(parts)
    // Two set-ups that were read from the cache and not written to it, less the history that was read from it.
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
    // The report counts what the agent itself begins with, too.
    expect(compared.savedUsd! * 1_000_000).toBeCloseTo(2 * 400 * 1.15 - reread * 0.1)
    const byTask = parts.flatMap((part) =>
      part.task === undefined ? [] : [{ name: part.task.name, ...wholeOf([part]) }],
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

  test('of a delegate is told as the task of the backlog that it works on', () => {
    const amounts = runAmounts(
      runLog({ name: 'tests', what: 'x', task: 'backlog-1', run: 'r-0', target: 'main' }),
    )!
    expect(amounts).toMatchObject({ name: 'tests', of: 'r-0' })
    expect(new Set(amounts.parts.flatMap(({ task }) => task?.id ?? []))).toEqual(
      new Set(['backlog-1']),
    )
  })

  test('that does not say that it began comes to nothing', () => {
    expect(runAmounts([])).toBeUndefined()
    expect(runAmounts(runLog().slice(1))).toBeUndefined()
  })
})
