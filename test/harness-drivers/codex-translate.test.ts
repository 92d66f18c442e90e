import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { HarnessEvent } from '../../src/harness/contract/drive.ts'
import { ThreadTranslator } from '../../src/harness/codex/drive/translator.ts'

const THREAD = '01a1e080-6514-7942-8983-4b5c8ef39548'
const TURN = '01a1e080-65be-7a70-91bf-986c8ce691b4'

/** Messages as Codex 0.166.0 sent them, some with fields that we do not read. */
const at = { threadId: THREAD, turnId: TURN }
const started = (item: object) =>
  ['item/started', { item, ...at, startedAtMs: 1_794_767_832_920 }] as const
const completed = (item: object) =>
  ['item/completed', { item, ...at, completedAtMs: 1_794_767_832_920 }] as const
const command = (more: object = {}) => ({
  type: 'commandExecution',
  id: 'call_1_0',
  pluginId: null,
  scriptPath: null,
  command: "/bin/bash -lc 'echo hi; exit 3'",
  cwd: '/project',
  processId: '33722',
  source: 'unifiedExecStartup',
  status: 'inProgress',
  commandActions: [{ type: 'unknown', command: 'echo hi; exit 3' }],
  aggregatedOutput: null,
  exitCode: null,
  durationMs: null,
  ...more,
})
const message = (text: string) => ({
  type: 'agentMessage',
  id: 'msg_3',
  text,
  phase: null,
  memoryCitation: null,
})
const breakdown = (inputTokens: number, outputTokens: number, cachedInputTokens = 0) => ({
  totalTokens: inputTokens + outputTokens,
  inputTokens,
  cachedInputTokens,
  cacheWriteInputTokens: 0,
  outputTokens,
  reasoningOutputTokens: 0,
})
type Breakdown = ReturnType<typeof breakdown>
const tokens = (total: Breakdown, last: Breakdown, threadId = THREAD, turnId = TURN) =>
  [
    'thread/tokenUsage/updated',
    { threadId, turnId, tokenUsage: { total, last, modelContextWindow: 190_000 } },
  ] as const
const over = (status: string, error: object | null = null) =>
  [
    'turn/completed',
    { threadId: THREAD, turn: { id: TURN, items: [], status, error, durationMs: 119 } },
  ] as const
const limitError = {
  message: 'You’ve hit your usage limit. Try again at 7:37 PM.',
  codexErrorInfo: 'usageLimitExceeded',
  additionalDetails: null,
  misalignment: null,
}
const failing = (error: object, willRetry = false) =>
  ['error', { error, willRetry, ...at }] as const
const window = (usedPercent: number, resetsAt: number | null) => ({
  usedPercent,
  windowDurationMins: 300,
  resetsAt,
})
const limits = (primary: object | null, secondary: object | null = null) =>
  [
    'account/rateLimits/updated',
    { rateLimits: { limitId: 'codex', limitName: null, primary, secondary, credits: null } },
  ] as const

type Message = readonly [method: string, params: object]

const turnStarted = [
  'turn/started',
  { threadId: THREAD, turn: { id: TURN, items: [], status: 'inProgress' } },
] as const
const running = (): ThreadTranslator =>
  translate([turnStarted], nextTurn(new ThreadTranslator(THREAD, 'gpt-5'))).thread

function nextTurn(thread: ThreadTranslator): ThreadTranslator {
  thread.beginTurn()
  return thread
}

function translate(messages: readonly Message[], thread = running()) {
  const events: HarnessEvent[] = messages.flatMap(([method, params]) =>
    thread.translate(method, params as Record<string, unknown>),
  )
  return { thread, events }
}

describe('a turn reported by Codex', () => {
  test('yields a command with its output, a message, and an end with the last message', () => {
    const { events } = translate([
      ['turn/started', { threadId: THREAD, turn: { id: TURN, status: 'inProgress' } }],
      started({
        type: 'userMessage',
        id: 'u',
        clientId: null,
        content: [{ type: 'text', text: 'hello' }],
      }),
      completed({
        type: 'userMessage',
        id: 'u',
        clientId: null,
        content: [{ type: 'text', text: 'hello' }],
      }),
      started(command()),
      completed(
        command({ status: 'failed', aggregatedOutput: 'hi\n', exitCode: 3, durationMs: 0 }),
      ),
      started(message('done')),
      completed(message('done')),
      over('completed'),
    ])
    const use = { type: 'tool', id: 'call_1_0', name: 'exec_command', command: 'echo hi; exit 3' }
    expect(events).toEqual([
      { ...use, status: 'started' },
      { ...use, status: 'failed', output: 'hi\n' },
      { type: 'text', text: 'done' },
      { type: 'turn ended', how: 'completed', said: 'done' },
    ])
  })

  test('yields deltas, but not those of a sub-agent thread', () => {
    const delta = (delta: string, threadId = THREAD) =>
      ['item/agentMessage/delta', { ...at, threadId, itemId: 'msg_3', delta }] as const
    const { events } = translate([delta('Al'), delta('No', 'another'), delta('l done.')])
    expect(events).toEqual([
      { type: 'delta', text: 'Al' },
      { type: 'delta', text: 'l done.' },
    ])
  })

  test('yields the file of a patch, the server of an MCP tool, and a declined command as failed', () => {
    const changes = [{ path: '/project/a.txt', kind: { type: 'add' }, diff: 'hello\n' }]
    const { events } = translate([
      started({ type: 'fileChange', id: 'p', changes, status: 'inProgress' }),
      completed({ type: 'fileChange', id: 'p', changes, status: 'completed' }),
      started({
        type: 'mcpToolCall',
        id: 'm',
        server: 'github',
        tool: 'search',
        status: 'inProgress',
        arguments: {},
      }),
      completed({
        type: 'mcpToolCall',
        id: 'm',
        server: 'github',
        tool: 'search',
        status: 'failed',
        error: { message: 'no' },
      }),
      started(command({ command: '/bin/bash -lc true' })),
      completed(command({ command: '/bin/bash -lc true', status: 'declined', processId: null })),
    ])
    expect(events).toEqual([
      { type: 'tool', id: 'p', name: 'apply_patch', status: 'started', path: '/project/a.txt' },
      { type: 'tool', id: 'p', name: 'apply_patch', status: 'completed', path: '/project/a.txt' },
      { type: 'tool', id: 'm', name: 'github.search', status: 'started' },
      { type: 'tool', id: 'm', name: 'github.search', status: 'failed', output: 'no' },
      { type: 'tool', id: 'call_1_0', name: 'exec_command', status: 'started', command: 'true' },
      { type: 'tool', id: 'call_1_0', name: 'exec_command', status: 'failed', command: 'true' },
    ])
  })

  test('ends open tools as failed when interrupted, and ignores their late end', () => {
    const { thread, events } = translate([started(command()), over('interrupted')])
    expect(events.map((event) => ('status' in event ? event.status : event.type))).toEqual([
      'started',
      'failed',
      'turn ended',
    ])
    expect(events.at(-1)).toEqual({ type: 'turn ended', how: 'interrupted' })
    expect(
      translate([completed(command({ status: 'failed', exitCode: -1 }))], nextTurn(thread)).events,
    ).toEqual([])
  })

  test('leaves tools open that outlive a completed turn, and reports their end in a later one', () => {
    const { thread } = translate([started(command()), over('completed')])
    const { events } = translate(
      [completed(command({ status: 'completed', exitCode: 0 }))],
      nextTurn(thread),
    )
    expect(events).toMatchObject([{ type: 'tool', id: 'call_1_0', status: 'completed' }])
  })

  test('yields a start for each end, even when only the end is reported', () => {
    const { events } = translate([completed(command({ status: 'completed', exitCode: 0 }))])
    expect(events.map((event) => 'status' in event && event.status)).toEqual([
      'started',
      'completed',
    ])
  })

  test('ends once, whatever follows', () => {
    expect(translate([over('completed'), over('completed')]).events).toHaveLength(1)
  })

  test('does not repeat the last message of an earlier turn', () => {
    const { thread } = translate([completed(message('before')), over('completed')])
    expect(translate([over('interrupted')], nextTurn(thread)).events).toEqual([
      { type: 'turn ended', how: 'interrupted' },
    ])
  })

  test('ignores events of a sub-agent thread', () => {
    const other = { ...at, threadId: 'another' }
    const changes = [
      { path: '/project/b.txt', kind: { type: 'update', move_path: '/project/c.txt' }, diff: '' },
    ]
    const patch = { type: 'fileChange', id: 'theirs', changes, status: 'inProgress' }
    const { events, thread } = translate([
      ['item/completed', { item: message('mine'), ...other }],
      ['item/started', { item: patch, ...other }],
      ['item/started', { item: { type: 'contextCompaction', id: 'c' }, ...other }],
      ['item/completed', { item: { type: 'contextCompaction', id: 'c' }, ...other }],
      [
        'turn/completed',
        { threadId: 'another', turn: { id: 'x', status: 'completed', error: null } },
      ],
    ])
    expect(events).toEqual([])
    // The files are known when the approval is requested.
    expect(thread.tools.get('theirs')?.paths).toEqual(['/project/b.txt', '/project/c.txt'])
    const { events: late, thread: after } = translate(
      [['item/completed', { item: patch, ...other }]],
      thread,
    )
    expect([late, after.tools.size]).toEqual([[], 0])
  })
})

describe('the usage reported by Codex', () => {
  test('is counted once, though Codex reports it several times', () => {
    const first = breakdown(1000, 20)
    const both = breakdown(3000, 40, 500)
    const last = breakdown(2000, 20, 500)
    const { events } = translate([
      tokens(first, first),
      tokens(first, first),
      tokens(both, last),
      tokens(both, last),
    ])
    expect(events).toEqual([
      {
        type: 'usage',
        spent: { input: 1000, cacheWritten: 0, cacheRead: 0, output: 20 },
        context: 1020,
        window: 190_000,
        point: 180_000,
        model: 'gpt-5',
      },
      {
        type: 'usage',
        spent: { input: 1500, cacheWritten: 0, cacheRead: 500, output: 20 },
        context: 2020,
        window: 190_000,
        point: 180_000,
        model: 'gpt-5',
      },
    ])
  })

  const before = breakdown(26_200, 100, 400)
  const after = breakdown(26_300, 120, 400)
  const past = tokens(before, breakdown(100, 20), THREAD, 'a turn of the past')

  test.each([
    ['before the next turn is asked for', new ThreadTranslator(THREAD, undefined)],
    ['while it is asked for', nextTurn(new ThreadTranslator(THREAD, undefined))],
  ])(
    'of a resumed conversation is not counted again, but its context size is reported: %s',
    (_, resumed) => {
      const { events, thread } = translate([past], resumed)
      expect(events).toEqual([{ type: 'usage', context: 120, window: 190_000, point: 180_000 }])
      expect(
        translate([turnStarted, tokens(after, breakdown(100, 20))], nextTurn(thread)).events,
      ).toMatchObject([
        { type: 'usage', spent: { input: 100, cacheWritten: 0, cacheRead: 0, output: 20 } },
      ])
    },
  )

  test('of a resumed conversation without an initial total is that of its first request', () => {
    const { events } = translate([tokens(after, breakdown(100, 20))])
    expect(events).toMatchObject([{ spent: { input: 100, output: 20 } }])
  })

  test('of a sub-agent thread counts as spent, not as context', () => {
    const ours = breakdown(1000, 20)
    const theirs = breakdown(9500, 99)
    const { events, thread } = translate([
      tokens(ours, ours),
      tokens(theirs, breakdown(500, 9), 'another'),
    ])
    expect(events.at(-1)).toEqual({
      type: 'usage',
      spent: { input: 500, cacheWritten: 0, cacheRead: 0, output: 9 },
      model: 'gpt-5',
    })
    expect(thread.context).toBe(1020)
  })

  test.each([
    [undefined, 180_000],
    [50_000, 50_000],
    [500_000, 180_000],
    [0, 180_000],
  ])('includes the compaction point when it is configured to %s', (configured, point) => {
    const used = breakdown(1000, 20)
    const { events } = translate(
      [turnStarted, tokens(used, used)],
      nextTurn(new ThreadTranslator(THREAD, undefined, configured)),
    )
    expect(events).toMatchObject([{ window: 190_000, point }])
  })

  test('names the model that Codex switched to', () => {
    const used = breakdown(1000, 20)
    const { events } = translate([
      ['model/rerouted', { ...at, fromModel: 'gpt-5', toModel: 'gpt-5-mini' }],
      tokens(used, used),
    ])
    expect(events).toMatchObject([{ model: 'gpt-5-mini' }])
  })
})

describe('a compaction reported by Codex', () => {
  const item = { type: 'contextCompaction', id: '01a1e080-65ca' }
  const full = breakdown(20_000, 20)
  const withSummary = breakdown(25_000, 40)
  // As Codex reported it: the last request again, then the summarising one, then an estimate of
  // what is left.
  const compaction = [
    started(item),
    tokens(full, full),
    tokens(withSummary, breakdown(5000, 20)),
    tokens(withSummary, { ...breakdown(0, 0), totalTokens: 6016 }),
    completed(item),
  ]

  test('is emitted once, with the tokens before it; its request counts as spent, not as context', () => {
    const { events, thread } = translate([tokens(full, full), ...compaction])
    expect(events.slice(1)).toEqual([
      {
        type: 'usage',
        spent: { input: 5000, cacheWritten: 0, cacheRead: 0, output: 20 },
        model: 'gpt-5',
      },
      { type: 'compaction', tokensBefore: 20_020, boundary: '01a1e080-65ca' },
      { type: 'usage', context: 6016, window: 190_000, point: 180_000, model: 'gpt-5' },
    ])
    expect(thread.context).toBe(6016)
  })

  test('is not emitted when it did not complete', () => {
    const { events } = translate([
      tokens(full, full),
      ...compaction.slice(0, 3),
      over('interrupted'),
      tokens(withSummary, full),
    ])
    expect(events.some(({ type }) => type === 'compaction')).toBe(false)
  })
})

describe('a failed turn of Codex', () => {
  test.each([
    [
      { message: '{"error":{"type":"invalid_request_error","message":"the model said no"}}' },
      'the model said no',
    ],
    [
      { message: 'exceeded retry limit', additionalDetails: 'last status: 500' },
      'exceeded retry limit\nlast status: 500',
    ],
    [{ message: '\u001B[31mred\u001B[0m' }, 'red'],
    [{}, 'the turn failed'],
    [null, 'the turn failed'],
  ])('reports the reason: %j', (error, failure) => {
    expect(translate([over('failed', error)]).events).toEqual([
      { type: 'turn ended', how: 'failed', failure },
    ])
  })

  test('without a known reason counts as failed', () => {
    expect(translate([['turn/completed', { threadId: THREAD }]]).events).toMatchObject([
      { type: 'turn ended', how: 'failed' },
    ])
  })

  test('does not end while Codex retries after an error', () => {
    expect(
      translate([failing(limitError, true), failing({ message: 'stream disconnected' }, true)])
        .events,
    ).toEqual([])
  })
})

describe('a usage limit of Codex', () => {
  const reset = 1_794_771_474
  const later = reset + 86_400

  test('is reported once, until the exhausted window resets', () => {
    const { events } = translate([
      limits(window(100, reset), window(40, later)),
      failing(limitError),
      over('failed', limitError),
    ])
    expect(events).toEqual([
      {
        type: 'limit',
        message: limitError.message,
        resetsAt: new Date(reset * 1000).toISOString(),
      },
      { type: 'turn ended', how: 'failed', failure: limitError.message },
    ])
  })

  test('lasts as long as the longest exhausted window', () => {
    const { events } = translate([
      limits(window(100, reset), window(100, later)),
      over('failed', limitError),
    ])
    expect(events).toMatchObject([{ resetsAt: new Date(later * 1000).toISOString() }, {}])
  })

  test('keeps what an update leaves out', () => {
    const { events } = translate([
      limits(window(100, reset)),
      limits(null),
      over('failed', limitError),
    ])
    expect(events).toMatchObject([{ resetsAt: new Date(reset * 1000).toISOString() }, {}])
  })

  test.each([
    ['rateLimitExceeded', true],
    [{ responseTooManyFailedAttempts: { httpStatusCode: 429 } }, true],
    [{ responseTooManyFailedAttempts: { httpStatusCode: 500 } }, false],
    ['internalServerError', false],
  ])('has the status of %j: %j', (codexErrorInfo, isLimit) => {
    const { events } = translate([over('failed', { message: 'x', codexErrorInfo })])
    expect(events.some(({ type }) => type === 'limit')).toBe(isLimit)
  })

  test('is reported again in a later turn', () => {
    const { thread } = translate([over('failed', limitError)])
    expect(translate([over('failed', limitError)], nextTurn(thread)).events).toMatchObject([
      { type: 'limit' },
      {},
    ])
  })
})

test('a turn that died ends its open tools as failed, with the reason', () => {
  const { thread } = translate([started(command())])
  expect(thread.endTurn('died', 'Codex ended by SIGKILL')).toMatchObject([
    { type: 'tool', status: 'failed' },
    { type: 'turn ended', how: 'died', failure: 'Codex ended by SIGKILL' },
  ])
})

test('any sequence of Codex messages is handled, and ends a turn at most once', () => {
  const methods = [
    'item/started',
    'item/completed',
    'thread/tokenUsage/updated',
    'account/rateLimits/updated',
    'error',
    'turn/completed',
    'constructor',
    '__proto__',
  ]
  const words = [
    'threadId',
    'item',
    'id',
    'type',
    'status',
    'turn',
    'error',
    'tokenUsage',
    'total',
    'last',
    'changes',
    'kind',
  ]
  const key = fc.constantFrom(...words)
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom(
        THREAD,
        'commandExecution',
        'fileChange',
        'contextCompaction',
        'agentMessage',
        'constructor',
        '',
        null,
        -1,
        7,
        true,
      ),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(key, tie('any'), { maxKeys: 5 }),
    ),
  })).any
  const params = fc
    .dictionary(key, value, { maxKeys: 6 })
    .map((fields) => ({ ...fields, threadId: THREAD }))
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...methods), params), { maxLength: 12 }),
      (messages) => {
        const ends = translate(messages).events.filter(({ type }) => type === 'turn ended')
        expect(ends.length).toBeLessThanOrEqual(1)
      },
    ),
  )
})
