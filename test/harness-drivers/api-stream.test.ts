import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  AnthropicReplyReader,
  OpenAiReplyReader,
  type ModelReply,
  type ReplyReader,
} from '../../src/harness/api/drive/provider.ts'
import { failureFromResponse } from '../../src/harness/api/drive/model-failure.ts'
import { serverSentEvents } from '../../src/harness/api/drive/ask-model.ts'

async function* inChunks(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const offsets = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted(
    (a, b) => a - b,
  )
  let from = 0
  for (const offset of [...offsets, bytes.length]) {
    yield bytes.subarray(from, offset)
    from = offset
  }
}

async function eventsIn(text: string, cuts: readonly number[] = []): Promise<readonly string[]> {
  const events: string[] = []
  for await (const event of serverSentEvents(inChunks(Buffer.from(text), cuts))) events.push(event)
  return events
}

const CUTS = fc.array(fc.nat(100_000), { maxLength: 30 })

describe('a stream of server-sent events', () => {
  test('reads the same however its bytes are split and whatever line ends it has', async () => {
    const data = fc
      .string({ unit: 'binary', maxLength: 40 })
      .map((text) => text.toWellFormed().replaceAll(/[\r\n]/g, '·'))
    const event = fc.record({
      event: fc.constantFrom('', 'ping', 'näme'),
      data: fc.array(data, { minLength: 1, maxLength: 3 }),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { maxLength: 5 }),
        fc.constantFrom('\n', '\r', '\r\n'),
        CUTS,
        async (events, end, cuts) => {
          const text = events
            .map(({ event: name, data: lines }) =>
              [
                ': a comment',
                `event: ${name}`,
                ...lines.map((line) => `data: ${line}`),
                '',
                '',
              ].join(end),
            )
            .join('')
          const got = await eventsIn(text, cuts)
          expect(got).toEqual(events.map(({ data: lines }) => lines.join('\n')))
        },
      ),
      { numRuns: 60 },
    )
  })

  test('accepts what the standard allows, and drops an event that was cut off', async () => {
    expect(
      await eventsIn(
        '\uFEFFdata:{"a":1}\nid: 4\nretry: 10\nnonsense\n\n\n\nevent: empty\n\ndata\n\n',
      ),
    ).toEqual(['{"a":1}', ''])
    expect(await eventsIn('data: whole\n\ndata: {"half":')).toEqual(['whole'])
    expect(await eventsIn('data: whole\n\ndata: no end\n')).toHaveLength(1)
  })

  test('fails when a line never ends', async () => {
    const endless = async () => {
      for await (const _ of serverSentEvents(
        inChunks(Buffer.alloc(5000, 120), [1000, 2000]),
        undefined,
        1000,
      ));
    }
    await expect(endless()).rejects.toThrow('longer than 1000')
  })
})

/** The reply that a reader assembles from events, and the text deltas on the way. */
function read(
  reader: ReplyReader,
  events: readonly object[],
): { reply: ModelReply; text: string; isComplete: boolean } {
  const text = events.map((event) => reader.take(JSON.stringify(event)) ?? '').join('')
  return { reply: reader.reply(), text, isComplete: reader.isComplete }
}

const block = (index: number, content_block: object) => ({
  type: 'content_block_start',
  index,
  content_block,
})
const delta = (index: number, piece: object) => ({
  type: 'content_block_delta',
  index,
  delta: piece,
})

const ANTHROPIC = [
  {
    type: 'message_start',
    message: {
      id: 'msg_1',
      model: 'm-1',
      usage: { input_tokens: 5, cache_read_input_tokens: 70, output_tokens: 1 },
    },
  },
  { type: 'ping' },
  block(0, { type: 'thinking', thinking: '' }),
  delta(0, { type: 'thinking_delta', thinking: 'let me ' }),
  delta(0, { type: 'thinking_delta', thinking: 'see' }),
  delta(0, { type: 'signature_delta', signature: 'sig' }),
  { type: 'content_block_stop', index: 0 },
  block(1, { type: 'text', text: '' }),
  delta(1, { type: 'text_delta', text: 'I look' }),
  delta(1, { type: 'text_delta', text: ' first.' }),
  block(2, { type: 'tool_use', id: 'toolu_1', name: 'read', input: {} }),
  delta(2, { type: 'input_json_delta', partial_json: '{"pa' }),
  delta(2, { type: 'input_json_delta', partial_json: 'th":"a.txt"}' }),
  block(3, { type: 'tool_use', id: 'toolu_2', name: 'shell', input: {} }),
  delta(3, { type: 'input_json_delta', partial_json: '{"command":' }),
  {
    type: 'message_delta',
    delta: { stop_reason: 'tool_use' },
    usage: { cache_creation_input_tokens: 9, output_tokens: 40 },
  },
  { type: 'message_stop' },
]

describe('a Messages API reply', () => {
  test('is assembled from its deltas, with its usage', () => {
    const { reply, text, isComplete } = read(new AnthropicReplyReader(), ANTHROPIC)
    expect(isComplete).toBe(true)
    expect(text).toBe('I look first.')
    expect(reply).toEqual({
      parts: [
        { type: 'thinking', text: 'let me see', signature: 'sig' },
        { type: 'text', text: 'I look first.' },
        { type: 'tool use', id: 'toolu_1', name: 'read', input: { path: 'a.txt' } },
        { type: 'tool use', id: 'toolu_2', name: 'shell', input: { unreadable: '{"command":' } },
      ],
      stop: 'tools',
      usage: { input: 5, cacheWritten: 9, cacheRead: 70, output: 40 },
      model: 'm-1',
      request: 'msg_1',
    })
  })

  test('is incomplete before its end, and then has no tool uses and no unsigned thinking', () => {
    for (const length of ANTHROPIC.keys())
      expect(read(new AnthropicReplyReader(), ANTHROPIC.slice(0, length)).isComplete).toBe(false)
    const { reply } = read(new AnthropicReplyReader(), [
      ...ANTHROPIC.slice(0, 5),
      ...ANTHROPIC.slice(7, -2),
    ])
    expect(reply).toMatchObject({ parts: [{ type: 'text', text: 'I look first.' }], stop: 'cut' })
  })

  test('that breaks off with an error reports whether it can be retried', () => {
    const failing = (type: string) => () =>
      read(new AnthropicReplyReader(), [{ type: 'error', error: { type, message: 'sorry' } }])
    expect(failing('overloaded_error')).toThrow(
      expect.objectContaining({ kind: 'again', message: 'sorry, overloaded_error' }),
    )
    expect(failing('invalid_request_error')).toThrow(expect.objectContaining({ kind: 'no' }))
  })
})

const chunk = (piece: object, finish_reason: string | null = null) => ({
  id: 'chat-1',
  model: 'm-2',
  choices: [{ index: 0, delta: piece, finish_reason }],
})
const call = (fields: object) => chunk({ tool_calls: [fields] })

describe('a chat completions reply', () => {
  test('is assembled from its deltas, with its usage', () => {
    const { reply, text, isComplete } = read(new OpenAiReplyReader(), [
      chunk({ role: 'assistant', content: '' }),
      chunk({ reasoning_content: 'let me see' }),
      chunk({ content: 'I look ' }),
      chunk({ content: 'first.' }),
      call({ index: 0, id: 'call_1', function: { name: 'read', arguments: '' } }),
      call({ index: 0, function: { arguments: '{"path":' } }),
      call({ index: 1, id: 'call_2', function: { name: 'shell', arguments: '{}' } }),
      call({ index: 0, function: { arguments: '"a.txt"}' } }),
      chunk({}, 'tool_calls'),
      {
        choices: [],
        usage: {
          prompt_tokens: 90,
          completion_tokens: 8,
          prompt_tokens_details: { cached_tokens: 60 },
        },
      },
    ])
    expect(isComplete).toBe(true)
    expect(text).toBe('I look first.')
    expect(reply).toEqual({
      parts: [
        { type: 'thinking', text: 'let me see' },
        { type: 'text', text: 'I look first.' },
        { type: 'tool use', id: 'call_1', name: 'read', input: { path: 'a.txt' } },
        { type: 'tool use', id: 'call_2', name: 'shell', input: {} },
      ],
      stop: 'tools',
      usage: { input: 30, cacheWritten: 0, cacheRead: 60, output: 8 },
      model: 'm-2',
      request: 'chat-1',
    })
  })

  test('may omit indexes and ids and finish with "stop" despite tool calls', () => {
    const { reply } = read(new OpenAiReplyReader(), [
      call({ function: { name: 'read', arguments: '{"path":"a"}' }, id: '' }),
      call({ id: 'x', function: { name: 'read', arguments: '{"path":"b"}' } }),
      chunk({}, 'stop'),
    ])
    expect(reply.stop).toBe('tools')
    expect(reply.parts).toEqual([
      {
        type: 'tool use',
        id: expect.stringMatching(/^call_\w+$/),
        name: 'read',
        input: { path: 'a' },
      },
      { type: 'tool use', id: 'x', name: 'read', input: { path: 'b' } },
    ])
    expect(reply.usage).toBeUndefined()
  })

  test('is incomplete before its end, and throws on an error in the stream', () => {
    expect(read(new OpenAiReplyReader(), [chunk({ content: 'I' })])).toMatchObject({
      isComplete: false,
      reply: { stop: 'cut' },
    })
    expect(() =>
      read(new OpenAiReplyReader(), [{ error: { message: 'no memory left', code: 500 } }]),
    ).toThrow('no memory left')
    expect(
      read(new OpenAiReplyReader(), [chunk({ content: 'I' }), chunk({}, 'length')]).reply.stop,
    ).toBe('length')
  })
})

describe('an HTTP error from a model server', () => {
  const now = Date.parse('2026-11-16T12:00:00Z')
  const failure = (status: number, body: unknown, headers: Record<string, string> = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return failureFromResponse({
      status,
      headers: new Headers(headers),
      body: text,
      keyVariable: 'THE_KEY',
      now,
    })
  }
  const errorBody = (message: string, more: object = {}) => ({ error: { message, ...more } })

  test.each([
    [
      401,
      errorBody('invalid x-api-key'),
      'no',
      'the key in THE_KEY was refused: invalid x-api-key (HTTP 401)',
    ],
    [
      401,
      errorBody('wrong key sk-ant-api03-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4'),
      'no',
      expect.stringMatching(/: wrong key \[redacted:.*\] \(HTTP 401\)$/),
    ],
    [
      404,
      errorBody('model: nothing'),
      'no',
      'there is no such model or address: model: nothing (HTTP 404)',
    ],
    [400, errorBody('messages: bad'), 'no', 'messages: bad (HTTP 400)'],
    [
      400,
      errorBody('prompt is too long: 9 > 8'),
      'no',
      'the context is full: prompt is too long: 9 > 8 (HTTP 400)',
    ],
    [
      400,
      errorBody('Your credit balance is too low'),
      'limit',
      'Your credit balance is too low (HTTP 400)',
    ],
    [
      429,
      errorBody('slow down', { code: 'insufficient_quota' }),
      'limit',
      'slow down, insufficient_quota (HTTP 429)',
    ],
    [301, '', 'no', expect.stringContaining('leads elsewhere')],
    [500, '<html><h1>Bad gateway</h1></html>', 'again', 'Bad gateway (HTTP 500)'],
    [529, errorBody('Overloaded'), 'again', 'Overloaded (HTTP 529)'],
    [429, errorBody('slow down'), 'again', 'slow down (HTTP 429)'],
  ])('%i %j is %s', (status, body, kind, message) => {
    expect(failure(status, body)).toMatchObject({ kind, message })
  })

  test('carries the retry delay; a long delay is a usage limit', () => {
    expect(failure(529, '', { 'retry-after': '7' })).toMatchObject({
      kind: 'again',
      details: { retryAfterMs: 7000 },
    })
    expect(failure(429, '', { 'retry-after': 'Mon, 16 Nov 2026 12:00:20 GMT' })).toMatchObject({
      kind: 'again',
      details: { retryAfterMs: 20_000 },
    })
    expect(failure(429, '', { 'retry-after': '3600' })).toMatchObject({
      kind: 'limit',
      details: { resetsAt: '2026-11-16T13:00:00.000Z' },
    })
  })
})
