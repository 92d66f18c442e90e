import * as fc from 'fast-check'
import type { HistoryItem, Message, MessagePart } from '../../src/history/items.ts'
import type { Json } from '../../src/text/json-fields.ts'

/** The smallest valid image. */
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

const id = fc.uuid()
// Without text that looks like a secret, which would be redacted.
const text = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }),
  fc.constantFrom(
    '## a heading',
    '{"$blob":"x"}',
    '[redacted:token]',
    'two\nlines',
    '\u0000',
    '🚀',
  ),
  fc.constantFrom(16_380, 16_390, 20_000).map((length) => 'word '.repeat(length / 5)),
)
const word = fc.stringMatching(/^[a-z]{1,8}$/)

const json: fc.Arbitrary<Json> = fc.dictionary(
  fc.oneof(word, fc.constantFrom('$blob', '$$blob', 'length')),
  fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null), fc.array(word, { maxLength: 3 })),
  { maxKeys: 4, noNullPrototype: true },
)

export const userPart: fc.Arbitrary<MessagePart> = fc.oneof(
  text.map((value) => ({ type: 'text' as const, text: value })),
  fc.constant({ type: 'image' as const, mediaType: 'image/png', data: PIXEL }),
  fc.webUrl().map((url) => ({ type: 'image link' as const, url })),
)

export const thinkingPart: fc.Arbitrary<MessagePart> = fc.oneof(
  fc.record({
    type: fc.constant('thinking' as const),
    text,
    signature: fc.base64String({ minLength: 8 }),
  }),
  fc.record({
    type: fc.constant('thinking' as const),
    text: fc.constant(''),
    data: fc.base64String({ minLength: 8 }),
  }),
)

export const toolUse = fc.record({
  type: fc.constant('tool use' as const),
  id: word,
  name: word,
  input: json,
})

const toolResult = fc.record({
  type: fc.constant('tool result' as const),
  use: word,
  parts: fc.array(userPart, { maxLength: 3 }),
  isError: fc.boolean(),
})

const part: fc.Arbitrary<MessagePart> = fc.oneof(
  userPart,
  thinkingPart,
  toolUse,
  toolResult,
  fc.record({
    type: fc.constant('other' as const),
    block: json.map((block) => ({ ...block, type: 'server_tool_use' })),
  }),
)

const count = fc.nat({ max: 1_000_000 })
const at = fc
  .date({ min: new Date('2020-01-01'), max: new Date('2030-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString())
const flag = fc.constant(true as const)

const message: fc.Arbitrary<Message> = fc.record(
  {
    type: fc.constant('message' as const),
    id,
    parent: id,
    at,
    role: fc.constantFrom('user' as const, 'assistant' as const, 'system' as const),
    parts: fc.array(part, { maxLength: 5 }),
    asTold: fc.record({
      role: fc.constantFrom('user' as const, 'system' as const),
      parts: fc.array(userPart, { maxLength: 2 }),
    }),
    model: word,
    request: word,
    usage: fc.record({ input: count, cacheWritten: count, cacheRead: count, output: count }),
    context: fc.record(
      { tokens: count, window: count, point: count },
      { requiredKeys: ['tokens'] },
    ),
    agent: word,
    isMeta: flag,
    isSummary: flag,
  },
  { requiredKeys: ['type', 'id', 'role', 'parts'], noNullPrototype: true },
)

/** Any item that the store accepts. */
export const item: fc.Arbitrary<HistoryItem> = fc.oneof(
  { weight: 5, arbitrary: message },
  fc.record(
    {
      type: fc.constant('compaction' as const),
      id,
      at,
      trigger: word,
      tokensBefore: count,
      tokensAfter: count,
      kept: fc.array(id, { minLength: 1, maxLength: 3 }),
    },
    { requiredKeys: ['type', 'id'], noNullPrototype: true },
  ),
  fc.record(
    {
      type: fc.constant('began' as const),
      conversation: word,
      harness: word,
      at,
      cwd: word,
      model: word,
      forkOf: word,
    },
    { requiredKeys: ['type', 'conversation', 'harness', 'at'], noNullPrototype: true },
  ),
  fc.record(
    { type: fc.constant('taken back' as const), id, at, from: id },
    { requiredKeys: ['type', 'id'], noNullPrototype: true },
  ),
  fc.record({ type: fc.constant('ended' as const), at, reason: word }, { noNullPrototype: true }),
)

export function textMessage(words: string, more: Partial<Message> = {}): Message {
  return {
    type: 'message',
    id: words.slice(0, 100),
    role: 'user',
    parts: [{ type: 'text', text: words }],
    ...more,
  }
}
