import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anthropicItems, anthropicMessages } from '../../src/history/formats/anthropic.ts'
import { openAiItems, openAiMessages } from '../../src/history/formats/openai.ts'
import type { HistoryItem, Message, MessagePart } from '../../src/history/items.ts'
import { modelMessages } from '../../src/history/model-messages.ts'
import { PIXEL, item, textMessage, userPart, thinkingPart, toolUse } from './items.ts'

const text = (words: string): MessagePart => ({ type: 'text', text: words })
const use = (id: string): MessagePart => ({
  type: 'tool use',
  id,
  name: 'Bash',
  input: { command: id },
})
const result = (id: string, words = `${id} done`): MessagePart => ({
  type: 'tool result',
  use: id,
  parts: [text(words)],
  isError: false,
})

function message(
  id: string,
  role: Message['role'],
  parts: readonly MessagePart[],
  more: Partial<Message> = {},
): Message {
  return { type: 'message', id, role, parts, ...more }
}

/** Role and text of each message, one per line. */
function sentLines(items: Iterable<HistoryItem>): readonly string[] {
  return modelMessages(items).map(({ role, parts }) => `${role}: ${parts.map(words).join(' | ')}`)
}

function words(part: MessagePart): string {
  switch (part.type) {
    case 'text':
      return part.text
    case 'tool use':
      return `use ${part.id}`
    case 'tool result':
      return `${part.isError ? 'error' : 'result'} ${part.use}`
    default:
      return part.type
  }
}

describe('the messages to send next', () => {
  test('hold one request in one message and its tool results in one, in order of arrival', () => {
    const items = [
      textMessage('go'),
      message('a1', 'assistant', [text('I look')], { parent: 'go', request: 'r1' }),
      message('a2', 'assistant', [use('t1')], { parent: 'a1', request: 'r1' }),
      message('a3', 'assistant', [use('t2')], { parent: 'a2', request: 'r1' }),
      message('u3', 'user', [result('t2')], { parent: 'a3' }),
      message('u2', 'user', [result('t1')], { parent: 'a2' }),
      message('h', 'system', [text('a hook spoke')], { parent: 'u2', isMeta: true }),
      textMessage('also this', { parent: 'h' }),
      message('a4', 'assistant', [text('done')], { parent: 'also this', request: 'r2' }),
    ]
    expect(sentLines(items)).toEqual([
      'user: go',
      'assistant: I look | use t1 | use t2',
      'user: result t2 | result t1 | also this',
      'system: a hook spoke',
      'assistant: done',
    ])
  })

  test('hold adjacent replies in one message where requests have no ids', () => {
    const items = [
      textMessage('go'),
      message('a', 'assistant', [text('I look')]),
      message('b', 'assistant', [use('t1')]),
      message('u', 'user', [result('t1')]),
      message('c', 'assistant', [text('done')]),
    ]
    expect(sentLines(items)).toEqual([
      'user: go',
      'assistant: I look | use t1',
      'user: result t1',
      'assistant: done',
    ])
  })

  test('leave out abandoned branches', () => {
    const items = [
      textMessage('first'),
      message('a', 'assistant', [text('one')], { parent: 'first' }),
      textMessage('wrong', { parent: 'a' }),
      message('b', 'assistant', [text('two')], { parent: 'wrong' }),
      textMessage('right', { parent: 'a' }),
    ]
    expect(sentLines(items)).toEqual(['user: first', 'assistant: one', 'user: right'])
    expect(
      sentLines([
        ...items,
        textMessage('all anew'),
        message('c', 'assistant', [text('yes')], { parent: 'all anew' }),
      ]),
    ).toEqual(['user: all anew', 'assistant: yes'])
  })

  test('begin at the last compaction: its summary, the kept messages, what followed', () => {
    const before = [
      textMessage('old'),
      message('a', 'assistant', [text('older')], { parent: 'old' }),
      textMessage('kept', { parent: 'a' }),
    ]
    const compaction: HistoryItem = { type: 'compaction', id: 'c', kept: ['kept', 'unknown'] }
    const summary = textMessage('in short', { parent: 'c', isSummary: true })
    // A harness attaches what follows to the summary, or to the last message it kept.
    for (const parent of ['in short', 'kept'])
      expect(sentLines([...before, compaction, summary, textMessage('new', { parent })])).toEqual([
        'user: in short\n | kept\n | new',
      ])
    const back = textMessage('rewound', { parent: 'a' })
    expect(sentLines([...before, compaction, summary, back])).toEqual([
      'user: old',
      'assistant: older',
      'user: rewound',
    ])
    const unlinked = [...before, compaction, summary, textMessage('new')].map(
      (node) => ({ ...node, parent: undefined }) as never,
    )
    expect(sentLines(unlinked)).toEqual(['user: in short\n | kept\n | new'])
  })

  test('have no failures, no sub-agent messages, and no thinking without a reply', () => {
    const items = [
      textMessage('go'),
      textMessage('look around', { agent: 'x', parent: 'go' }),
      message('f', 'assistant', [text('API Error')], { parent: 'go', isFailure: true }),
      message('t', 'assistant', [{ type: 'thinking', text: 'hm', signature: 's' }], {
        parent: 'f',
      }),
      textMessage('go on', { parent: 't' }),
      textMessage(' ', { parent: 'go on' }),
    ]
    expect(sentLines(items)).toEqual(['user: go\n | go on'])
  })

  test('mark a tool result that was lost in a crash as lost', () => {
    const items = [
      textMessage('go'),
      message('a', 'assistant', [use('t1'), use('t2')]),
      message('u', 'user', [result('t2')]),
    ]
    expect(sentLines(items)).toEqual([
      'user: go',
      'assistant: use t1 | use t2',
      'user: result t2 | error t1',
    ])
    expect(sentLines([...items.slice(0, 2), textMessage('again')])).toEqual([
      'user: go',
      'assistant: use t1 | use t2',
      'user: error t1 | error t2 | again',
    ])
    expect(sentLines([message('u', 'user', [result('t9')])])).toEqual([])
  })

  test('keep a tool result that follows a usage-only message', () => {
    const items = [
      textMessage('go'),
      message('a', 'assistant', [use('t1'), use('t2')]),
      message('u', 'user', [result('t1')]),
      message('b', 'assistant', [], {
        usage: { input: 1, cacheWritten: 0, cacheRead: 0, output: 1 },
      }),
      textMessage('go on'),
      message('v', 'user', [result('t2')]),
    ]
    expect(sentLines(items)).toEqual([
      'user: go',
      'assistant: use t1 | use t2',
      'user: result t1 | result t2 | go on',
    ])
  })

  test('put a mentioned file before the prompt that mentions it', () => {
    const items = [
      textMessage('look at @a'),
      textMessage('<system-reminder>\nthe file\n</system-reminder>', { isMeta: true }),
    ]
    expect(sentLines(items)).toEqual([
      'user: <system-reminder>\nthe file\n</system-reminder>\n | look at @a',
    ])
  })

  test('hold nothing that their role may not contain', () => {
    const thought: MessagePart = { type: 'thinking', text: 'hm', signature: 's' }
    const items = [
      message('u', 'user', [text('go'), thought, use('t1')]),
      message('a', 'assistant', [
        text('yes'),
        result('t1'),
        { type: 'image', mediaType: 'image/png', data: PIXEL },
      ]),
      message('s', 'system', [text('note'), use('t2')]),
    ]
    expect(sentLines(items)).toEqual(['user: go', 'assistant: yes', 'system: note'])
  })

  test('put a message whose parent was not stored after the message before it', () => {
    const items = [
      textMessage('a'),
      message('b', 'assistant', [text('b')], { parent: 'a' }),
      textMessage('c', { parent: 'gone' }),
    ]
    expect(sentLines(items)).toEqual(['user: a', 'assistant: b', 'user: c'])
  })

  test('are the same for every harness format', () => {
    fc.assert(
      fc.property(conversation, fc.infiniteStream(fc.nat({ max: 3 })), (plain, noise) => {
        expect(modelMessages(asBranches(plain, noise))).toEqual(modelMessages(plain))
      }),
      { numRuns: 200 },
    )
  })

  test('are valid for a provider for any history', () => {
    fc.assert(
      fc.property(fc.array(item, { maxLength: 12 }), (items) => {
        const messages = modelMessages(items)
        for (const [index, { role, parts }] of messages.entries()) {
          expect(parts.length).toBeGreaterThan(0)
          const uses = parts.flatMap((part) =>
            role === 'assistant' && part.type === 'tool use' ? [part.id] : [],
          )
          const replies = (messages[index + 1]?.parts ?? []).flatMap((part) =>
            part.type === 'tool result' ? [part.use] : [],
          )
          if (role === 'assistant')
            expect(replies.toSorted()).toEqual([...new Set(uses)].toSorted())
          if (role === 'user' && index > 0) expect(messages[index - 1]!.role).not.toBe('user')
        }
      }),
      { numRuns: 300 },
    )
  })
})

/** A conversation without parents. */
const conversation: fc.Arbitrary<readonly Message[]> = fc
  .array(
    fc.record({
      asked: fc.array(userPart, { minLength: 1, maxLength: 3 }),
      thought: fc.array(thinkingPart, { maxLength: 1 }),
      answer: fc.array(
        userPart.filter(({ type }) => type === 'text'),
        { minLength: 1, maxLength: 2 },
      ),
      uses: fc.array(toolUse, { maxLength: 3 }),
      results: fc.array(fc.array(userPart, { maxLength: 2 }), { minLength: 3, maxLength: 3 }),
      isError: fc.boolean(),
    }),
    { maxLength: 5 },
  )
  .map((turns) =>
    turns.flatMap(({ asked, thought, answer, uses, results, isError }, turn) => {
      const named = uses.map((part, index) => ({ ...part, id: `use-${turn}-${index}` }))
      const replies = named.map(({ id }, index): MessagePart => ({
        type: 'tool result',
        use: id,
        parts: results[index]!,
        isError,
      }))
      const request = `request-${turn}`
      return [
        message(`asked-${turn}`, 'user', asked),
        message(`said-${turn}`, 'assistant', [...thought, ...answer, ...named], { request }),
        ...(replies.length === 0 ? [] : [message(`results-${turn}`, 'user', replies)]),
      ]
    }),
  )

/**
 * The same as Claude Code writes it: a line per part, each result after its own use, and abandoned
 * branches.
 */
function asBranches(plain: readonly Message[], noise: fc.Stream<number>): readonly HistoryItem[] {
  const items: Message[] = []
  let parent: string | undefined
  const useIds = new Map<string, string>()
  const add = (next: Message) => items.push(next)
  for (const { id, role, parts, request } of plain) {
    for (let count = noise.next().value ?? 0; count > 0; count -= 1) {
      const left = `${id}-left-${count}`
      add(message(left, 'user', [text('never mind')], parent === undefined ? {} : { parent }))
      add(message(`${left}-agent`, 'assistant', [text('busy')], { parent: left, agent: 'x' }))
    }
    const isResults = parts.every(({ type }) => type === 'tool result')
    const split = role === 'assistant' || isResults ? parts.map((part) => [part]) : [parts]
    for (const [index, piece] of split.entries()) {
      const [part] = piece
      const behind = part?.type === 'tool result' ? useIds.get(part.use) : parent
      const own = `${id}-${index}`
      add(
        message(own, role, piece, {
          ...(behind === undefined ? {} : { parent: behind }),
          ...(request === undefined ? {} : { request }),
        }),
      )
      if (part?.type === 'tool use') useIds.set(part.id, own)
      parent = own
    }
  }
  return items
}

describe('for Anthropic', () => {
  test('a messages array holds everything, and converts back to the same items', () => {
    fc.assert(
      fc.property(conversation, (items) => {
        expect(modelMessages(anthropicItems(anthropicMessages(items)))).toEqual(
          modelMessages(items),
        )
      }),
      { numRuns: 150 },
    )
  })

  test('a conversation is written in the format of the API', () => {
    const items = [
      message('u', 'user', [text('look'), { type: 'image', mediaType: 'image/png', data: PIXEL }]),
      message('a', 'assistant', [
        { type: 'thinking', text: 'hm', signature: 's' },
        { type: 'thinking', text: '', data: 'd' },
        use('t.1'),
      ]),
      message('r', 'user', [{ ...result('t.1'), isError: true } as MessagePart]),
      message('h', 'system', [text('note')]),
    ]
    expect(anthropicMessages(items)).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'redacted_thinking', data: 'd' },
          { type: 'tool_use', id: 't_1', name: 'Bash', input: { command: 't.1' } },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 't_1',
            content: [{ type: 'text', text: 't.1 done' }],
            is_error: true,
          },
        ],
      },
      { role: 'system', content: [{ type: 'text', text: 'note' }] },
    ])
    expect(anthropicMessages(items, { isSystemSaidByUser: true }).at(-1)!.content.at(-1)).toEqual({
      type: 'text',
      text: '<system-reminder>\nnote\n</system-reminder>',
    })
  })

  test('the initial system prompt is not among the messages, even if a compaction kept it', () => {
    const opening = [
      message('s', 'system', [text('you are an agent')], { isMeta: true }),
      textMessage('the folder', { parent: 's', isMeta: true }),
      textMessage('go', { parent: 'the folder' }),
    ]
    const later = message('h', 'system', [text('note')], { parent: 'go', isMeta: true })
    expect(anthropicMessages([...opening, later]).map(({ role }) => role)).toEqual([
      'user',
      'system',
    ])
    expect(openAiMessages(opening).map(({ role }) => role)).toEqual(['user'])
    const ofHook = message('k', 'system', [text('SessionStart hook additional context: note')], {
      isMeta: true,
    })
    expect(
      anthropicMessages([ofHook, textMessage('go', { parent: 'k' })]).map(({ role }) => role),
    ).toEqual(['user', 'system'])
    const compaction = { type: 'compaction', id: 'c', kept: ['s', 'the folder'] } as const
    const after = [
      compaction,
      textMessage('in short', { parent: 'c', isSummary: true }),
      textMessage('go on', { parent: 'in short' }),
    ]
    expect(anthropicMessages([...opening, ...after]).map(({ role }) => role)).toEqual(['user'])
  })

  test('unsigned thinking is not sent', () => {
    const items = [
      textMessage('go'),
      message('a', 'assistant', [{ type: 'thinking', text: 'hm' }, text('done')]),
    ]
    expect(anthropicMessages(items)[1]!.content).toEqual([{ type: 'text', text: 'done' }])
  })
})

describe('for OpenAI', () => {
  /** What the format has fields for: joined texts, no thinking, no images and no failed results. */
  const carried = (items: readonly Message[]) =>
    items.map((one) => ({
      ...one,
      parts: joinedTexts(one.parts.filter(({ type }) => type !== 'thinking').map(plainResult)),
    }))

  test('a messages array holds everything it can, and converts back to the same items', () => {
    fc.assert(
      fc.property(conversation, (plain) => {
        const items = carried(plain)
        expect(modelMessages(openAiItems(openAiMessages(items)))).toEqual(modelMessages(items))
      }),
      { numRuns: 150 },
    )
  })

  test('a conversation is written in the format of the API', () => {
    const picture: MessagePart = { type: 'image', mediaType: 'image/png', data: PIXEL }
    const items = [
      textMessage('go'),
      message('a', 'assistant', [
        { type: 'thinking', text: 'hm', signature: 's' },
        text('I look'),
        use('t1'),
        use('t2'),
      ]),
      message('r', 'user', [
        { type: 'tool result', use: 't1', parts: [text('here'), picture], isError: false },
        result('t2'),
      ]),
      textMessage('and?'),
    ]
    expect(openAiMessages(items)).toEqual([
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: 'I look',
        tool_calls: [
          { id: 't1', type: 'function', function: { name: 'Bash', arguments: '{"command":"t1"}' } },
          { id: 't2', type: 'function', function: { name: 'Bash', arguments: '{"command":"t2"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 't1', content: 'here' },
      { role: 'tool', tool_call_id: 't2', content: 't2 done' },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
          { type: 'text', text: 'and?' },
        ],
      },
    ])
  })
})

function plainResult(part: MessagePart): MessagePart {
  if (part.type !== 'tool result') return part
  return {
    ...part,
    isError: false,
    parts: joinedTexts(part.parts.filter(({ type }) => type === 'text')),
  }
}

/** All texts of a message joined in front, as in a plain string. */
function joinedTexts(parts: readonly MessagePart[]): readonly MessagePart[] {
  const hasPicture = parts.some(({ type }) => type === 'image' || type === 'image link')
  if (hasPicture) return parts
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  return [...(texts === '' ? [] : [text(texts)]), ...parts.filter(({ type }) => type !== 'text')]
}
