import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { HarnessEvent } from '../../src/harness/contract/drive.ts'
import { ClaudeStreamTranslator } from '../../src/harness/claude/drive/translator.ts'
import type { Json } from '../../src/text/json-fields.ts'
import type { Usage } from '../../src/session/entries.ts'

const NOW = new Date('2026-11-15T18:40:00.000Z')
const VERSIONS = ['2.1.325', '2.0.77'] as const

/** The recorded output of a real Claude Code, line by line. */
function recorded(name: string): readonly Json[] {
  const text = readFileSync(
    new URL(`../fixtures/claude-stream/${name}.jsonl`, import.meta.url),
    'utf8',
  )
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Json]))
}

/** Read turn by turn: a prompt begins after the line that ended the turn before. */
function translated(
  messages: readonly Json[],
  isResumed = false,
  deltas = false,
): readonly HarnessEvent[] {
  const translator = new ClaudeStreamTranslator({ isResumed, now: () => NOW, deltas })
  return messages.flatMap((message) => {
    const prompt = (message['user_message_uuids'] as string[] | undefined)?.[0]
    if (message['subtype'] === 'init') translator.begin(prompt ?? 'not said')
    return translator.read(message)
  })
}

function of<Type extends HarnessEvent['type']>(events: readonly HarnessEvent[], type: Type) {
  return events.filter(
    (event): event is Extract<HarnessEvent, { readonly type: Type }> => event.type === type,
  )
}

function spentIn(events: readonly HarnessEvent[]): Usage {
  const total = { input: 0, cacheWritten: 0, cacheRead: 0, output: 0 }
  for (const { spent } of of(events, 'usage'))
    for (const field of Object.keys(total) as (keyof Usage)[]) total[field] += spent?.[field] ?? 0
  return total
}

/** The usage totals at the end of a recording, over all models. */
function countedIn(messages: readonly Json[]): Usage {
  const sums = messages.flatMap(({ modelUsage }) =>
    Object.keys(modelUsage ?? {}).length > 0 ? [modelUsage as Json] : [],
  )
  const models = Object.values(sums.at(-1)!) as Record<string, number>[]
  const total = (field: string) => models.reduce((sum, model) => sum + model[field]!, 0)
  return {
    input: total('inputTokens'),
    cacheWritten: total('cacheCreationInputTokens'),
    cacheRead: total('cacheReadInputTokens'),
    output: total('outputTokens'),
  }
}

const ended = (events: readonly HarnessEvent[]) =>
  of(events, 'turn ended').map(({ how, said, failure }) =>
    [how, said ?? failure].filter((word) => word !== undefined).join(': '),
  )

describe.each(VERSIONS)('the stream of Claude Code %s', (version) => {
  const lines = recorded(`${version}-tools-and-delegate`)
  const events = translated(lines)

  test('starts the conversation once, though it is announced with every turn', () => {
    expect(lines.filter(({ subtype }) => subtype === 'init')).toHaveLength(2)
    const [started, ...more] = of(events, 'started')
    expect(more).toEqual([])
    expect(started).toEqual({
      type: 'started',
      conversation: lines.find(({ subtype }) => subtype === 'init')!['session_id'],
      model: version === '2.1.325' ? 'claude-opus-5-5' : 'claude-sonnet-4-5-20250929',
      window: version === '2.1.325' ? 1_000_000 : 200_000,
    })
  })

  test('yields the texts of the agent itself, not of its sub-agents', () => {
    expect(of(events, 'text').map(({ text }) => text)).toEqual(['let me see', 'two', 'end'])
    expect(ended(events)).toEqual(['completed: two', 'completed: end'])
  })

  test('yields deltas only when they are requested', () => {
    expect(of(events, 'delta')).toEqual([])
    const pieces = of(translated(lines, false, true), 'delta').map(({ text }) => text)
    expect(pieces.join('')).toBe('let me seetwoend')
  })

  test('pairs the start of a tool use with its end', () => {
    const tools = of(events, 'tool')
    const about = tools.map(({ name, command, status, output }) => [
      name,
      command,
      status,
      output?.split('\n')[0],
    ])
    const delegate = version === '2.1.325' ? 'Agent' : 'Task'
    expect(about).toEqual([
      ['Bash', 'echo a', 'started', undefined],
      ['Bash', 'exit 3', 'started', undefined],
      ['Bash', 'echo a', 'completed', 'a'],
      ['Bash', 'exit 3', 'failed', 'Exit code 3'],
      [delegate, undefined, 'started', undefined],
      ['Bash', 'echo sub', 'started', undefined],
      ['Bash', 'echo sub', 'completed', 'sub'],
      [delegate, undefined, 'completed', expect.any(String)],
    ])
    for (const start of tools.filter(({ status }) => status === 'started'))
      expect(
        tools.filter(({ id, status }) => id === start.id && status !== 'started'),
      ).toHaveLength(1)
  })

  test('reports the usage of each request as soon as it ends, with the context size', () => {
    const withContext = of(events, 'usage').filter(({ context }) => context !== undefined)
    expect(withContext.map(({ spent, context }) => [spent, context])).toEqual([
      [{ input: 7, cacheWritten: 800, cacheRead: 60_000, output: 333 }, 61_140],
      [{ input: 9, cacheWritten: 1200, cacheRead: 60_800, output: 41 }, 62_050],
      [{ input: 11, cacheWritten: 300, cacheRead: 62_000, output: 77 }, 62_388],
      [{ input: 17, cacheWritten: 500, cacheRead: 62_300, output: 55 }, 62_872],
    ])
  })

  test('adds up to the totals of the harness, including requests it did not show', () => {
    expect(spentIn(events)).toEqual(countedIn(lines))
    expect(of(events, 'usage').at(-1)!.costUsd).toBe(
      lines.findLast(({ type }) => type === 'result')!['total_cost_usd'],
    )
  })

  test('counts no earlier usage when a conversation is resumed', () => {
    const spent = spentIn(translated(recorded(`${version}-resumed`), true))
    expect(spent).toEqual({ input: 100, cacheWritten: 0, cacheRead: 0, output: 20 })
  })

  test('ends turns as failed with the reason, and as interrupted only when they were', () => {
    const how = ended(translated(recorded(`${version}-errors-and-interrupts`)))
    const isNew = version === '2.1.325'
    expect(how).toEqual([
      'completed: ok',
      expect.stringMatching(/^failed: API Error: .*429.*rate limit/),
      'interrupted',
      'completed: ok',
      // In this version the model cannot sleep, so there was nothing to interrupt.
      isNew ? 'completed: ok' : 'interrupted',
      'completed: ok',
      'completed: ok',
    ])
  })

  test('reports a usage limit once, with its reset time', () => {
    const events = translated(recorded(`${version}-limit-of-account`))
    expect(of(events, 'limit')).toEqual([
      {
        type: 'limit',
        message: expect.stringMatching(/limit/),
        resetsAt: '2027-01-02T03:00:00.000Z',
      },
    ])
    expect(ended(events)[0]).toMatch(/^failed: You've hit your/)
    expect(of(events, 'text').every(({ text }) => text === 'ok')).toBe(true)
  })

  test('reports a throttled key as a limit, and an overloaded model as a failure', () => {
    const events = translated(recorded(`${version}-limit-of-key`))
    expect(of(events, 'limit')).toEqual([
      { type: 'limit', message: expect.stringMatching(/429.*rate limit/) },
    ])
    if (version === '2.1.325')
      expect(ended(events)).toContainEqual(
        expect.stringMatching(/^failed: API Error: 529 Overloaded/),
      )
  })
})

describe('the stream of Claude Code', () => {
  const wholeMessages = recorded('2.1.325-whole-messages-only')

  test('adds up the same where whole messages carry placeholder output counts', () => {
    expect(spentIn(translated(wholeMessages))).toEqual(countedIn(wholeMessages))
  })

  test('reports a compaction by its boundary, once', () => {
    const boundary = wholeMessages.find(({ subtype }) => subtype === 'compact_boundary')!
    const events = translated(
      wholeMessages.flatMap((line) => (line === boundary ? [line, line] : [line])),
    )
    expect(of(events, 'compaction')).toEqual([
      { type: 'compaction', trigger: 'manual', tokensBefore: 62_872, boundary: boundary['uuid'] },
    ])
  })

  test('does not end our turn at the end of a background turn', () => {
    const lines = recorded('2.1.325-background')
    const events = translated(lines)
    expect(lines.filter(({ type }) => type === 'result')).toHaveLength(5)
    expect(ended(events)).toEqual([
      'completed: first over',
      'completed: ok',
      'interrupted',
      'completed: ok',
    ])
    expect(of(events, 'text').map(({ text }) => text)).toContain('spontaneous?')
    expect(spentIn(events)).toEqual(countedIn(lines))
  })

  test('does not end our turn at the end of another prompt', () => {
    const translator = new ClaudeStreamTranslator({ isResumed: false, now: () => NOW })
    translator.begin('mine')
    const result = { type: 'result', subtype: 'success', is_error: false, result: 'done' }
    expect(
      translator.read({ ...result, user_message_uuid: 'theirs', user_message_uuids: ['theirs'] }),
    ).toEqual([])
    expect(translator.read({ ...result, user_message_uuids: ['theirs', 'mine'] })).toEqual([
      { type: 'turn ended', how: 'completed', said: 'done' },
    ])
  })

  test.each([
    [
      'error_max_turns',
      { errors: ['Reached maximum number of turns (3)'] },
      'Reached maximum number of turns (3)',
    ],
    ['error_max_budget_usd', {}, 'error max budget usd'],
    ['error_during_execution', { errors: ['it broke'] }, 'it broke'],
    [
      'success',
      { is_error: true, result: 'Prompt is too long', terminal_reason: 'blocking_limit' },
      'Prompt is too long',
    ],
  ])('ends a turn as failed by %s', (subtype, more, failure) => {
    const [end] = translated([{ type: 'result', subtype, ...more }])
    expect(end).toEqual({ type: 'turn ended', how: 'failed', failure })
  })

  test.each([
    ['Claude AI usage limit reached|1798858800', '2027-01-02T03:00:00.000Z'],
    ["You've hit your session limit · resets 9pm (UTC)", '2026-11-15T21:00:00.000Z'],
    ["You've hit your session limit · resets 3:30am (UTC)", '2026-11-16T03:30:00.000Z'],
    ["You've hit your session limit · resets 3am (Asia/Tokyo)", '2026-11-16T18:00:00.000Z'],
    ["You've hit your weekly limit · resets Jan 2, 3am (Europe/Oslo)", '2027-01-02T02:00:00.000Z'],
    [
      "You've hit your weekly limit · resets Jul 2, 2027, 3:05pm (America/New_York)",
      '2027-07-02T19:05:00.000Z',
    ],
    ["You've hit your weekly limit · resets 3am (Nowhere/Else)", undefined],
    ['Credit balance is too low', undefined],
  ])('reads a usage limit from "%s"', (result, resetsAt) => {
    const [limit, end] = translated([
      { type: 'result', subtype: 'success', is_error: true, result },
    ])
    expect(limit).toMatchObject({ type: 'limit', message: result.replace(/\|.*/, '') })
    expect((limit as { readonly resetsAt?: string }).resetsAt).toBe(resetsAt)
    expect(end).toMatchObject({ type: 'turn ended', how: 'failed' })
  })

  test('takes neither a warning nor paid overage for a limit', () => {
    const info = (fields: object) => ({ type: 'rate_limit_event', rate_limit_info: fields })
    const warned = info({ status: 'allowed_warning', utilization: 0.9, rateLimitType: 'five_hour' })
    const beyond = info({ status: 'rejected', isUsingOverage: true, rateLimitType: 'five_hour' })
    expect(translated([warned, beyond])).toEqual([])
  })

  test('is read leniently: unknown, empty or malformed lines yield nothing', () => {
    const malformed: readonly Json[] = [
      {},
      { type: 'news of tomorrow' },
      { type: 'system' },
      { type: 'system', subtype: 'init' },
      { type: 'system', subtype: 'init', session_id: 7 },
      { type: 'assistant' },
      { type: 'assistant', message: 'text' },
      {
        type: 'assistant',
        message: {
          id: 'm',
          content: [null, 7, { type: 'tool_use' }, { type: 'text', text: '' }],
          usage: [],
        },
      },
      { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: 'unknown' }] } },
      { type: 'stream_event' },
      { type: 'stream_event', event: { type: 'message_delta', usage: { output_tokens: 3 } } },
      { type: 'stream_event', event: { type: 'message_start', message: {} } },
      { type: 'rate_limit_event' },
    ]
    expect(translated(malformed)).toEqual([])
    expect(translated([{ type: 'result' }])).toEqual([
      { type: 'turn ended', how: 'failed', failure: 'it failed without a reason' },
    ])
  })

  test('reports the requested window, though replies name the model without it', () => {
    const model = 'claude-sonnet-4-5-20250929'
    const answer = (id: string) => ({
      type: 'assistant',
      message: { id, model, content: [], usage: { input_tokens: 9 } },
    })
    const windows = (lines: readonly Json[]) =>
      of(translated(lines), 'usage').flatMap(({ window }) => window ?? [])
    const init = { type: 'system', subtype: 'init', session_id: 'c', model: `${model}[1m]` }
    expect(windows([init, answer('a')])).toEqual([1_000_000])
    const modelUsage = {
      [`${model}[1m]`]: { contextWindow: 900_000 },
      [model]: { contextWindow: 200_000 },
    }
    expect(
      windows([init, { type: 'result', subtype: 'success', modelUsage }, answer('b')]),
    ).toEqual([900_000])
    expect(windows([answer('c')])).toEqual([200_000])
  })

  test('keeps the texts and the interruption of a sub-agent out of our turn', () => {
    const content = [{ type: 'text', text: 'between us' }]
    const delegated = { parent_tool_use_id: 'toolu_1', session_id: 'c' }
    const cut = { content: [{ type: 'text', text: '[Request interrupted by user]' }] }
    const failed = { type: 'result', subtype: 'error_during_execution', errors: ['it broke'] }
    expect(
      translated([
        { type: 'assistant', message: { content }, ...delegated },
        { type: 'user', message: cut, ...delegated },
        failed,
      ]),
    ).toEqual([{ type: 'turn ended', how: 'failed', failure: 'it broke' }])
  })

  test('takes the input count from the start of a request where its end has only the output', () => {
    const usage = {
      input_tokens: 5,
      cache_creation_input_tokens: 6,
      cache_read_input_tokens: 70,
      output_tokens: 1,
    }
    const events = translated([
      {
        type: 'stream_event',
        event: { type: 'message_start', message: { id: 'm', model: 'claude-opus-5-5', usage } },
      },
      { type: 'stream_event', event: { type: 'message_delta', usage: { output_tokens: 30 } } },
    ])
    expect(events).toMatchObject([
      { spent: { input: 5, cacheWritten: 6, cacheRead: 70, output: 30 }, context: 111 },
    ])
  })
})
