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

describe('messages of an ACP agent', () => {
  test('are joined from chunks, even with usage and plan updates in between', () => {
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

  test('are also emitted as deltas when requested', () => {
    const reader = new UpdateTranslator({ deltas: true })
    expect([chunk('a', '1'), chunk('b', '1')].flatMap((update) => reader.read(update))).toEqual([
      { type: 'delta', text: 'a' },
      { type: 'delta', text: 'b' },
    ])
    expect(reader.endTurn()).toEqual([{ type: 'text', text: 'ab' }])
  })

  test('are two when the agent uses two message ids', () => {
    expect(eventsOf(chunk('a', '1'), chunk('b', '1'), chunk('c', '2'))).toEqual([
      { type: 'text', text: 'ab' },
      { type: 'text', text: 'c' },
    ])
  })

  test('are skipped where the update is unknown, malformed or empty', () => {
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

describe('a tool call of an ACP agent', () => {
  test('announced before its command is known starts when the command is known', () => {
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
        content: [textContent('a description')],
      },
      {
        sessionUpdate: 'tool_call_update',
        toolCallId: 't',
        status: 'completed',
        rawOutput: 'a.txt',
        content: [textContent('```console\na.txt\n```')],
      },
      { sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'completed' },
    )
    expect(events).toEqual([
      { type: 'tool', id: 't', name: 'Bash', status: 'started', command: 'ls' },
      { type: 'tool', id: 't', name: 'Bash', status: 'completed', command: 'ls', output: 'a.txt' },
    ])
  })

  test('reported only when it is over gets a start event too', () => {
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

  test('that is unfinished at the end of the turn has failed', () => {
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
  ])('gets its command from wherever the agent puts it: %j', (update, command) => {
    expect(eventsOf({ sessionUpdate: 'tool_call', toolCallId: 't', ...update })[0]).toMatchObject({
      command,
    })
  })
})

describe('a compaction of an ACP agent', () => {
  const compaction = (compactionId: string, status: string) => ({
    sessionUpdate: 'compaction_update',
    compactionId,
    status,
  })

  test('is reported once, when completed, with the context size before it', () => {
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

describe('the usage of an ACP turn', () => {
  const figures = (inputTokens: number, outputTokens: number, totalTokens: number, more = {}) =>
    turnUsage({ usage: { inputTokens, outputTokens, totalTokens, ...more } })

  test('counts cached tokens once, whether or not the input includes them', () => {
    const apart = figures(100, 10, 1110, { cachedReadTokens: 900, cachedWriteTokens: 100 })
    const within = figures(1100, 10, 1110, { cachedReadTokens: 900, cachedWriteTokens: 100 })
    expect(apart).toEqual({ input: 100, cacheWritten: 100, cacheRead: 900, output: 10 })
    expect(within).toEqual(apart)
  })

  test('counts thinking tokens once, whether or not the output includes them', () => {
    expect(figures(100, 10, 115, { thoughtTokens: 5 })?.output).toBe(15)
    expect(figures(100, 15, 115, { thoughtTokens: 5 })?.output).toBe(15)
  })

  test('is read from where Gemini CLI puts it, and is unknown if no agent reports it', () => {
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

describe('a usage limit in text', () => {
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
    'is not recognised in %j',
    (text) => {
      expect(parseUsageLimit(text)).toBeUndefined()
    },
  )

  test('is reported for an error notice, not for a warning before it', () => {
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

function textContent(text: string) {
  return { type: 'content', content: { type: 'text', text } }
}
