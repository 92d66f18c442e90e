import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { HarnessEvent } from '../../src/harness/contract/drive.ts'
import { ThreadTranslator } from '../../src/harness/codex/drive/translator.ts'

const THREAD = '01a1e080-6514-7942-8983-4b5c8ef39548'
const TURN = '01a1e080-65be-7a70-91bf-986c8ce691b4'

/** Shapes as Codex 0.166.0 sent them, with what nobody reads left in here and there. */
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

const begun = [
  'turn/started',
  { threadId: THREAD, turn: { id: TURN, items: [], status: 'inProgress' } },
] as const
const running = (): ThreadTranslator =>
  told([begun], nextTurn(new ThreadTranslator(THREAD, 'gpt-5'))).thread

function nextTurn(thread: ThreadTranslator): ThreadTranslator {
  thread.beginTurn()
  return thread
}

function told(messages: readonly Message[], thread = running()) {
  const events: HarnessEvent[] = messages.flatMap(([method, params]) =>
    thread.translate(method, params as Record<string, unknown>),
  )
  return { thread, events }
}

describe('a turn that Codex tells', () => {
  test('is a command with what it printed, a message, and an end with what was said last', () => {
    const { events } = told([
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

  test('is told piece by piece, but for what a thread says that the agent started by itself', () => {
    const piece = (delta: string, threadId = THREAD) =>
      ['item/agentMessage/delta', { ...at, threadId, itemId: 'msg_3', delta }] as const
    const { events } = told([piece('Al'), piece('No', 'another'), piece('l done.')])
    expect(events).toEqual([
      { type: 'delta', text: 'Al' },
      { type: 'delta', text: 'l done.' },
    ])
  })

  test('names the file of a patch, the server of an MCP tool, and a refused command as failed', () => {
    const changes = [{ path: '/project/a.txt', kind: { type: 'add' }, diff: 'hello\n' }]
    const { events } = told([
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

  test('closes what was open when it was broken off, and does not tell its late end again', () => {
    const { thread, events } = told([started(command()), over('interrupted')])
    expect(events.map((event) => ('status' in event ? event.status : event.type))).toEqual([
      'started',
      'failed',
      'turn ended',
    ])
    expect(events.at(-1)).toEqual({ type: 'turn ended', how: 'interrupted' })
    expect(
      told([completed(command({ status: 'failed', exitCode: -1 }))], nextTurn(thread)).events,
    ).toEqual([])
  })

  test('leaves open what goes on behind a completed turn, and tells its end in a later one', () => {
    const { thread } = told([started(command()), over('completed')])
    const { events } = told(
      [completed(command({ status: 'completed', exitCode: 0 }))],
      nextTurn(thread),
    )
    expect(events).toMatchObject([{ type: 'tool', id: 'call_1_0', status: 'completed' }])
  })

  test('has a start for each end, also when only the end was told', () => {
    const { events } = told([completed(command({ status: 'completed', exitCode: 0 }))])
    expect(events.map((event) => 'status' in event && event.status)).toEqual([
      'started',
      'completed',
    ])
  })

  test('is over once, whatever comes after', () => {
    expect(told([over('completed'), over('completed')]).events).toHaveLength(1)
  })

  test('does not repeat what an earlier one said', () => {
    const { thread } = told([completed(message('before')), over('completed')])
    expect(told([over('interrupted')], nextTurn(thread)).events).toEqual([
      { type: 'turn ended', how: 'interrupted' },
    ])
  })

  test('is not taken from a thread that the agent started by itself', () => {
    const other = { ...at, threadId: 'another' }
    const changes = [
      { path: '/project/b.txt', kind: { type: 'update', move_path: '/project/c.txt' }, diff: '' },
    ]
    const patch = { type: 'fileChange', id: 'theirs', changes, status: 'inProgress' }
    const { events, thread } = told([
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
    // What it wants to change is known when it asks to be allowed to.
    expect(thread.tools.get('theirs')?.paths).toEqual(['/project/b.txt', '/project/c.txt'])
    const { events: late, thread: after } = told(
      [['item/completed', { item: patch, ...other }]],
      thread,
    )
    expect([late, after.tools.size]).toEqual([[], 0])
  })
})

describe('what was used', () => {
  test('is counted once, though Codex tells it several times', () => {
    const first = breakdown(1000, 20)
    const both = breakdown(3000, 40, 500)
    const last = breakdown(2000, 20, 500)
    const { events } = told([
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
    'in a conversation that was resumed is not counted again, but its context is told: %s',
    (_, resumed) => {
      const { events, thread } = told([past], resumed)
      expect(events).toEqual([{ type: 'usage', context: 120, window: 190_000, point: 180_000 }])
      expect(
        told([begun, tokens(after, breakdown(100, 20))], nextTurn(thread)).events,
      ).toMatchObject([
        { type: 'usage', spent: { input: 100, cacheWritten: 0, cacheRead: 0, output: 20 } },
      ])
    },
  )

  test('of a resumed conversation that did not say where it stood is that of its first request', () => {
    const { events } = told([tokens(after, breakdown(100, 20))])
    expect(events).toMatchObject([{ spent: { input: 100, output: 20 } }])
  })

  test('by a thread that the agent started counts as spent, and not as context', () => {
    const ours = breakdown(1000, 20)
    const theirs = breakdown(9500, 99)
    const { events, thread } = told([
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
  ])('is told with where Codex compacts, when it is configured to at %s', (configured, point) => {
    const used = breakdown(1000, 20)
    const { events } = told(
      [begun, tokens(used, used)],
      nextTurn(new ThreadTranslator(THREAD, undefined, configured)),
    )
    expect(events).toMatchObject([{ window: 190_000, point }])
  })

  test('is told with the model that Codex went over to', () => {
    const used = breakdown(1000, 20)
    const { events } = told([
      ['model/rerouted', { ...at, fromModel: 'gpt-5', toModel: 'gpt-5-mini' }],
      tokens(used, used),
    ])
    expect(events).toMatchObject([{ model: 'gpt-5-mini' }])
  })
})

describe('a compaction', () => {
  const item = { type: 'contextCompaction', id: '01a1e080-65ca' }
  const full = breakdown(20_000, 20)
  const withSummary = breakdown(25_000, 40)
  // As it was told: the last request again, then the summarising one, then an estimate of what is left.
  const compaction = [
    started(item),
    tokens(full, full),
    tokens(withSummary, breakdown(5000, 20)),
    tokens(withSummary, { ...breakdown(0, 0), totalTokens: 6016 }),
    completed(item),
  ]

  test('is told once, with the tokens before it; its request is spent, and the context is what it left', () => {
    const { events, thread } = told([tokens(full, full), ...compaction])
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

  test('is not told when it did not come to its end', () => {
    const { events } = told([
      tokens(full, full),
      ...compaction.slice(0, 3),
      over('interrupted'),
      tokens(withSummary, full),
    ])
    expect(events.some(({ type }) => type === 'compaction')).toBe(false)
  })
})

describe('a turn that failed', () => {
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
  ])('says why: %j', (error, failure) => {
    expect(told([over('failed', error)]).events).toEqual([
      { type: 'turn ended', how: 'failed', failure },
    ])
  })

  test('of which nothing is known counts as failed', () => {
    expect(told([['turn/completed', { threadId: THREAD }]]).events).toMatchObject([
      { type: 'turn ended', how: 'failed' },
    ])
  })

  test('is not over with an error after which Codex tries again', () => {
    expect(
      told([failing(limitError, true), failing({ message: 'stream disconnected' }, true)]).events,
    ).toEqual([])
  })
})

describe('a limit', () => {
  const reset = 1_794_771_474
  const later = reset + 86_400

  test('is told once, until the window that is used up begins anew', () => {
    const { events } = told([
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

  test('lasts as long as the longest window that is used up', () => {
    const { events } = told([
      limits(window(100, reset), window(100, later)),
      over('failed', limitError),
    ])
    expect(events).toMatchObject([{ resetsAt: new Date(later * 1000).toISOString() }, {}])
  })

  test('keeps what an update leaves out', () => {
    const { events } = told([limits(window(100, reset)), limits(null), over('failed', limitError)])
    expect(events).toMatchObject([{ resetsAt: new Date(reset * 1000).toISOString() }, {}])
  })

  test.each([
    ['rateLimitExceeded', true],
    [{ responseTooManyFailedAttempts: { httpStatusCode: 429 } }, true],
    [{ responseTooManyFailedAttempts: { httpStatusCode: 500 } }, false],
    ['internalServerError', false],
  ])('is what %j says: %j', (codexErrorInfo, isLimit) => {
    const { events } = told([over('failed', { message: 'x', codexErrorInfo })])
    expect(events.some(({ type }) => type === 'limit')).toBe(isLimit)
  })

  test('of a later turn is told again', () => {
    const { thread } = told([over('failed', limitError)])
    expect(told([over('failed', limitError)], nextTurn(thread)).events).toMatchObject([
      { type: 'limit' },
      {},
    ])
  })
})

test('a turn that died closes what was open and says why', () => {
  const { thread } = told([started(command())])
  expect(thread.endTurn('died', 'Codex ended by SIGKILL')).toMatchObject([
    { type: 'tool', status: 'failed' },
    { type: 'turn ended', how: 'died', failure: 'Codex ended by SIGKILL' },
  ])
})

test('whatever Codex tells, nothing breaks, and a turn ends at most once', () => {
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
        const ends = told(messages).events.filter(({ type }) => type === 'turn ended')
        expect(ends.length).toBeLessThanOrEqual(1)
      },
    ),
  )
})
