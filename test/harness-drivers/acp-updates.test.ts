import { describe, expect, test } from 'vitest'
import type { HarnessEvent } from '../../src/harness/contract/drive.ts'
import { UpdateTranslator, turnUsage } from '../../src/harness/acp/drive/translator.ts'
import { parseUsageLimit } from '../../src/harness/contract/usage.ts'

const chunk = (text: string, messageId?: string) => ({
  sessionUpdate: 'agent_message_chunk',
  content: { type: 'text', text },
  ...(messageId === undefined ? {} : { messageId }),
})

function eventsOf(...updates: readonly Record<string, unknown>[]): readonly HarnessEvent[] {
  const reader = new UpdateTranslator()
  return [...updates.flatMap((update) => reader.read(update)), ...reader.endTurn()]
}

describe('what an ACP agent says', () => {
  test('is joined into whole messages, which figures and plans do not break', () => {
    const events = eventsOf(
      chunk('One '),
      { sessionUpdate: 'usage_update', used: 10, size: 100 },
      { sessionUpdate: 'plan', entries: [] },
      chunk('message.'),
      { sessionUpdate: 'tool_call', toolCallId: 't', kind: 'execute', rawInput: { command: 'ls' } },
      chunk('Another.'),
    )
    expect(events.filter(({ type }) => type === 'text')).toEqual([
      { type: 'text', text: 'One message.' },
      { type: 'text', text: 'Another.' },
    ])
  })

  test('is told piece by piece as well, to whoever wants that', () => {
    const reader = new UpdateTranslator({ deltas: true })
    expect([chunk('a', '1'), chunk('b', '1')].flatMap((update) => reader.read(update))).toEqual([
      { type: 'delta', text: 'a' },
      { type: 'delta', text: 'b' },
    ])
    expect(reader.endTurn()).toEqual([{ type: 'text', text: 'ab' }])
  })

  test('is two messages when the agent names two', () => {
    expect(eventsOf(chunk('a', '1'), chunk('b', '1'), chunk('c', '2'))).toEqual([
      { type: 'text', text: 'ab' },
      { type: 'text', text: 'c' },
    ])
  })

  test('is passed over where it is not known, of another shape, or nothing', () => {
    const strange = [
      {},
      { sessionUpdate: 'from_the_future', x: 1 },
      { sessionUpdate: 'tool_call' },
      { sessionUpdate: 'compaction_update' },
    ]
    expect(
      eventsOf(
        ...strange,
        { ...chunk(''), content: { type: 'image' } },
        { sessionUpdate: 7 },
        chunk(' \n'),
      ),
    ).toEqual([])
  })
})

describe('a tool', () => {
  test('that is announced before its command is known begins when it is known', () => {
    const events = eventsOf(
      {
        sessionUpdate: 'tool_call',
        toolCallId: 't',
        name: 'Bash',
        title: 'Terminal',
        kind: 'execute',
        status: 'pending',
        rawInput: {},
      },
      {
        sessionUpdate: 'tool_call_update',
        toolCallId: 't',
        rawInput: { command: 'ls' },
        content: [said('a description')],
      },
      {
        sessionUpdate: 'tool_call_update',
        toolCallId: 't',
        status: 'completed',
        rawOutput: 'a.txt',
        content: [said('```console\na.txt\n```')],
      },
      { sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'completed' },
    )
    expect(events).toEqual([
      { type: 'tool', id: 't', name: 'Bash', status: 'started', command: 'ls' },
      { type: 'tool', id: 't', name: 'Bash', status: 'completed', command: 'ls', output: 'a.txt' },
    ])
  })

  test('that is told only when it is over has begun as well', () => {
    expect(
      eventsOf({
        sessionUpdate: 'tool_call',
        toolCallId: 't',
        title: 'Look',
        kind: 'search',
        status: 'failed',
      }),
    ).toEqual([
      { type: 'tool', id: 't', name: 'search', status: 'started' },
      { type: 'tool', id: 't', name: 'search', status: 'failed' },
    ])
  })

  test('that is not over at the end of the turn has failed', () => {
    const [start, end] = eventsOf({
      sessionUpdate: 'tool_call',
      toolCallId: 't',
      kind: 'edit',
      locations: [{ path: '/p/a.txt' }],
    })
    expect(start).toMatchObject({ status: 'started', path: '/p/a.txt' })
    expect(end).toMatchObject({ status: 'failed', id: 't' })
  })

  test.each([
    [{ rawInput: { command: ['/bin/bash', '-lc', 'npm test'] } }, 'npm test'],
    [{ rawInput: { command: ['npm', 'test'] } }, 'npm test'],
    [{ rawInput: { cmd: 'npm test' } }, 'npm test'],
    [{ kind: 'execute', status: 'in_progress', title: '`npm test`' }, 'npm test'],
  ])('has its command wherever the agent puts it: %j', (told, command) => {
    expect(eventsOf({ sessionUpdate: 'tool_call', toolCallId: 't', ...told })[0]).toMatchObject({
      command,
    })
  })
})

describe('a compaction', () => {
  const compaction = (compactionId: string, status: string) => ({
    sessionUpdate: 'compaction_update',
    compactionId,
    status,
  })

  test('is told once, when it is done, with what the context was before', () => {
    const events = eventsOf(
      { sessionUpdate: 'usage_update', used: 900, size: 1000 },
      compaction('c', 'in_progress'),
      { sessionUpdate: 'usage_update', used: 100, size: 1000 },
      compaction('c', 'completed'),
      compaction('c', 'completed'),
      compaction('d', 'failed'),
    )
    expect(events.filter(({ type }) => type === 'compaction')).toEqual([
      { type: 'compaction', boundary: 'c', tokensBefore: 900 },
    ])
  })
})

describe('what a turn used', () => {
  const figures = (inputTokens: number, outputTokens: number, totalTokens: number, more = {}) =>
    turnUsage({ usage: { inputTokens, outputTokens, totalTokens, ...more } })

  test('counts cached tokens once, whether the input has them or not', () => {
    const apart = figures(100, 10, 1110, { cachedReadTokens: 900, cachedWriteTokens: 100 })
    const within = figures(1100, 10, 1110, { cachedReadTokens: 900, cachedWriteTokens: 100 })
    expect(apart).toEqual({ input: 100, cacheWritten: 100, cacheRead: 900, output: 10 })
    expect(within).toEqual(apart)
  })

  test('counts thoughts once, whether the output has them or not', () => {
    expect(figures(100, 10, 115, { thoughtTokens: 5 })?.output).toBe(15)
    expect(figures(100, 15, 115, { thoughtTokens: 5 })?.output).toBe(15)
  })

  test('is read where Gemini CLI puts it, and is unknown where nobody tells', () => {
    expect(
      turnUsage({ _meta: { quota: { token_count: { input_tokens: 7, output_tokens: 3 } } } }),
    ).toEqual({
      input: 7,
      cacheWritten: 0,
      cacheRead: 0,
      output: 3,
    })
    expect(turnUsage({ stopReason: 'end_turn' })).toBeUndefined()
  })
})

describe('a limit', () => {
  test.each([
    ['Claude AI usage limit reached|1924992000', '2031-01-01T00:00:00.000Z'],
    ['usage limit reached; it resets at 2031-01-01T00:00:00Z', '2031-01-01T00:00:00.000Z'],
    ["You've hit your session limit · resets 3pm", undefined],
    ['429 Too Many Requests', undefined],
    ['RESOURCE_EXHAUSTED: Quota exceeded for this project', undefined],
  ])('is recognised in %j', (text, resetsAt) => {
    expect(parseUsageLimit(text)).toEqual({
      message: text,
      ...(resetsAt === undefined ? {} : { resetsAt }),
    })
  })

  test.each(['the model is out of order', 'no such file: 4290.txt', 'API Error: 400 bad request'])(
    'is not seen in %j',
    (text) => {
      expect(parseUsageLimit(text)).toBeUndefined()
    },
  )

  test('is told by a notice that says it is reached, and not by a warning before', () => {
    const notice = (severity: string) => ({
      sessionUpdate: 'notice',
      severity,
      title: 'Usage limit',
      description: 'You are near it',
    })
    expect(eventsOf(notice('warning'))).toEqual([])
    expect(eventsOf(notice('error'))).toEqual([
      { type: 'limit', message: 'Usage limit: You are near it' },
    ])
  })
})

function said(text: string) {
  return { type: 'content', content: { type: 'text', text } }
}
