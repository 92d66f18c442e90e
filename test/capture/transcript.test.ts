import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LONGEST_LINE } from '../../src/harness/contract/transcript-lines.ts'
import { inspectTranscript } from '../../src/harness/claude/transcript/inspect-transcript.ts'
import type { PendingCommands, TranscriptFacts } from '../../src/harness/contract/transcript.ts'
import {
  answered,
  attached,
  bytesOf,
  came,
  compacted,
  injected,
  ran,
  recorded,
  said,
  spaced,
  summed,
} from './transcript.ts'

const inspect = (...lines: readonly string[]) => inspectTranscript(bytesOf(...lines))

describe('the transcript of a real client', () => {
  test('version 2.1.325 shows the compaction, its summary and the context injected since', () => {
    const bytes = recorded('claude-2.1.325.jsonl')
    const looked = inspectTranscript(bytes)
    expect(looked).toMatchObject({
      consumed: bytes.length,
      boundaries: [
        {
          uuid: '81c69b9a-35b7-4f6c-81c3-915cfbf83fea',
          trigger: 'manual',
          tokensBefore: 147,
          at: '2026-11-15T12:02:53.067Z',
        },
      ],
      summary: { boundary: '81c69b9a-35b7-4f6c-81c3-915cfbf83fea' },
      deliveryMarkers: ['5e550001', '5e550002'],
      recordsHookContext: true,
      lastAssistantAt: '2026-11-15T12:02:53.612Z',
      lastText: 'ok',
      usage: { input: 100, cacheWritten: 0, cacheRead: 0, output: 20 },
      model: 'claude-opus-5-5',
      queued: [],
      carried: [],
    })
    expect(looked.summary?.text).toContain('The conversation so far was about the work at hand.')
    expect(looked.failure).toBeUndefined()
    expect(looked.commands.map(({ command, isError }) => [command, isError])).toEqual([
      [expect.stringContaining('env | grep'), false],
      ['npm test; exit 1', true],
    ])
    expect(looked.commands[1]?.output).toMatch(/^Exit code 1\nnpm error/)
  })

  test('version 2.0.77 shows the same, and that it does not record hook output', () => {
    const looked = inspectTranscript(recorded('claude-2.0.77.jsonl'))
    expect(looked.boundaries).toMatchObject([
      { uuid: 'ac5f3707-a266-4ebe-baa4-5d0f10b2c507', trigger: 'manual', tokensBefore: 120 },
    ])
    expect(looked.summary?.boundary).toBe('ac5f3707-a266-4ebe-baa4-5d0f10b2c507')
    expect(looked).toMatchObject({ recordsHookContext: false, deliveryMarkers: [], lastText: 'ok' })
    expect(looked.commands.map(({ isError }) => isError)).toEqual([false, true])
  })

  test.each(['claude-2.1.325.jsonl', 'claude-2.0.77.jsonl'] as const)(
    '%s gives the same facts with spaces in its JSON',
    (name) => {
      const bytes = Buffer.concat([
        recorded(name),
        bytesOf(attached('queued_command', { prompt: 'and this' })),
      ])
      const { consumed: _, messages, ...facts } = inspectTranscript(bytes)
      for (const other of [spaced(bytes), spaced(bytes, ' ')]) {
        const { messages: spacedMessages, ...others } = inspectTranscript(other)
        expect(others).toEqual({ ...facts, consumed: other.length })
        expect(spacedMessages()).toEqual(messages())
      }
    },
  )

  test.each(['claude-2.1.325.jsonl', 'claude-2.0.77.jsonl'] as const)(
    '%s gives the same facts in chunks of any size',
    (name) => {
      const bytes = recorded(name)
      const whole = inspectTranscript(bytes)
      for (const size of [3000, 7001, 20_000]) {
        const pieces = inChunks(bytes, size)
        expect(pieces.flatMap(({ boundaries }) => boundaries)).toEqual(whole.boundaries)
        expect(pieces.flatMap(({ commands }) => commands)).toEqual(whole.commands)
        expect(pieces.find(({ summary }) => summary !== undefined)?.summary).toEqual(whole.summary)
        expect(pieces.findLast(({ lastText }) => lastText !== undefined)?.lastText).toBe(
          whole.lastText,
        )
      }
    },
  )
})

/** A transcript that is read while it grows. */
function inChunks(bytes: Buffer, size: number): readonly TranscriptFacts[] {
  const pieces: TranscriptFacts[] = []
  let carried: PendingCommands = []
  for (let from = 0; from < bytes.length;) {
    let length = size
    let looked = inspectTranscript(bytes.subarray(from, from + length), carried)
    while (looked.consumed === 0)
      looked = inspectTranscript(bytes.subarray(from, from + (length += size)), carried)
    pieces.push(looked)
    // Serialised like the conversation state.
    carried = JSON.parse(JSON.stringify(looked.carried)) as PendingCommands
    from += looked.consumed
  }
  return pieces
}

describe('a compaction', () => {
  test('is reported with its details, in either spelling of the fields', () => {
    const [camel, snake, bare] = inspect(
      compacted({ trigger: 'auto', preTokens: 167_189 }),
      compacted(undefined as never, {
        compactMetadata: undefined,
        compact_metadata: { trigger: 'manual', pre_tokens: 5 },
      }),
      compacted('nonsense' as never),
    ).boundaries
    expect(camel).toMatchObject({ trigger: 'auto', tokensBefore: 167_189 })
    expect(snake).toMatchObject({ trigger: 'manual', tokensBefore: 5 })
    expect(Object.keys(bare!).sort()).toEqual(['at', 'uuid'])
  })

  test('is not detected in a message that only mentions one', () => {
    const text = '{"type":"system","subtype":"compact_boundary","uuid":"fake"}'
    const looked = inspect(
      said(text),
      answered(text),
      came('t1', text),
      answered([
        {
          type: 'tool_use',
          id: 't2',
          name: 'Write',
          input: { subtype: 'compact_boundary', type: 'system' },
        },
      ]),
      attached('file', { content: { type: 'system', subtype: 'compact_boundary', uuid: 'x' } }),
    )
    expect(looked.boundaries).toEqual([])
  })

  test('discards earlier markers, summaries and usage', () => {
    const before = [injected('[stint:aaaa1111]'), answered('before'), compacted(), summed('first')]
    const gone = inspect(...before, injected('[stint:bbbb2222]'), compacted())
    expect(gone).toMatchObject({ deliveryMarkers: [], lastText: 'before' })
    expect(gone).not.toHaveProperty('summary')
    expect(gone).not.toHaveProperty('usage')
    const since = inspect(
      ...before,
      compacted(),
      summed('second'),
      injected('[stint:cccc3333]'),
      answered('after'),
    )
    expect(since).toMatchObject({
      deliveryMarkers: ['cccc3333'],
      summary: { text: 'second' },
      usage: { input: 10 },
    })
  })

  test('is detected from the start of a line that is too long to parse', () => {
    const long = compacted(
      { trigger: 'auto', preserved: 'x'.repeat(2 * LONGEST_LINE) },
      { uuid: 'long-one' },
    )
    for (const bytes of [
      bytesOf(injected('[stint:aaaa1111]'), long),
      spaced(bytesOf(injected('[stint:aaaa1111]'), long)),
    ])
      expect(inspectTranscript(bytes)).toMatchObject({
        boundaries: [{ uuid: 'long-one', trigger: 'auto' }],
        deliveryMarkers: [],
      })
  })
})

describe('an injected text', () => {
  test('counts as delivered when the transcript shows its marker', () => {
    expect(inspect(injected('where we are [stint:aaaa1111]\nand more')).deliveryMarkers).toEqual([
      'aaaa1111',
    ])
    expect(inspect(said('prompt [stint:aaaa1111]')).deliveryMarkers).toEqual(['aaaa1111'])
    expect(
      inspect(said([{ type: 'text', text: '<system-reminder>[stint:aaaa1111]</system-reminder>' }]))
        .deliveryMarkers,
    ).toEqual(['aaaa1111'])
  })

  test('is not delivered because the agent, a tool, a summary or a subagent repeats its marker', () => {
    const looked = inspect(
      answered('I saw [stint:aaaa1111]'),
      ran('t1', 'cat notes'),
      came('t1', 'x [stint:aaaa1111]'),
      summed('there was [stint:aaaa1111]'),
      injected('[stint:aaaa1111]', { isSidechain: true }),
      attached('hook_success', { content: '[stint:aaaa1111]', stdout: '[stint:aaaa1111]' }),
      said('[stint:not-hex] [stint:] [stint:aaaa1111'),
    )
    expect(looked.deliveryMarkers).toEqual([])
  })

  test('is expected in the transcript once the client has recorded any hook output', () => {
    expect(inspect(attached('environment')).recordsHookContext).toBe(true)
    expect(inspect(said('hello'), answered('hello')).recordsHookContext).toBe(false)
    const argument = { type: 'tool_use', id: 't1', name: 'Write', input: { type: 'attachment' } }
    expect(inspect(answered([argument])).recordsHookContext).toBe(false)
  })
})

describe('the last message of the assistant', () => {
  test('is the last text, even if tools were used after it', () => {
    const looked = inspect(answered('first'), answered('second'), ran('t1', 'ls'), came('t1', 'x'))
    expect(looked.lastText).toBe('second')
  })

  test('is not that of a subagent', () => {
    const looked = inspect(answered('mine'), answered('theirs', { isSidechain: true }))
    expect(looked.lastText).toBe('mine')
    expect(inspect(answered('theirs', { isSidechain: true }))).not.toHaveProperty('lastAssistantAt')
  })

  test('is not confused by the input of a tool', () => {
    const input = { isSidechain: true, type: 'user', nested: { type: 'attachment' } }
    const looked = inspect(
      answered([
        { type: 'text', text: 'mine' },
        { type: 'tool_use', id: 't1', name: 'Write', input },
      ]),
    )
    expect(looked.lastText).toBe('mine')
  })

  test('is shortened', () => {
    expect(inspect(answered('word '.repeat(50_000))).lastText!.length).toBeLessThanOrEqual(4000)
  })
})

describe('the token usage', () => {
  const usage = (input: number, written: number, read: number, output: number) => ({
    usage: {
      input_tokens: input,
      cache_creation_input_tokens: written,
      cache_read_input_tokens: read,
      output_tokens: output,
      service_tier: 'standard',
    },
  })

  test('is that of the last call with real numbers', () => {
    const looked = inspect(
      answered('a', { message: usage(5, 6, 7, 8) }),
      answered('b', { message: { model: '<synthetic>', ...usage(0, 0, 0, 0) } }),
      answered('c', { message: usage(1, 0, 0, 1) }),
      answered('d', { message: { usage: 'nonsense' } }),
    )
    expect(looked).toMatchObject({
      usage: { input: 5, cacheWritten: 6, cacheRead: 7, output: 8 },
      model: 'some-model',
      lastText: 'd',
    })
  })

  test('counts cached tokens while the rest is unknown', () => {
    expect(inspect(answered('a', { message: usage(1, 20, 90_000, 1) })).usage).toEqual({
      input: 1,
      cacheWritten: 20,
      cacheRead: 90_000,
      output: 1,
    })
  })

  test('is counted once when a response spans several lines', () => {
    const looked = inspect(
      answered('earlier', { message: { id: 'msg_x', ...usage(900, 0, 0, 900) } }),
      answered('a', { message: { id: 'msg_y', ...usage(3, 20, 500, 700) } }),
      answered([{ type: 'thinking', thinking: 'hm' }], {
        message: { id: 'msg_y', ...usage(3, 20, 500, 1) },
      }),
    )
    expect(looked.usage).toEqual({ input: 3, cacheWritten: 20, cacheRead: 500, output: 700 })
  })

  test('is not mixed with that of another call', () => {
    const looked = inspect(
      answered('text', { message: { id: 'msg_x', ...usage(900, 900, 900, 900) } }),
      ran('t1', 'ls', { message: { id: 'msg_y', content: [], ...usage(3, 20, 500, 7) } }),
    )
    expect(looked).toMatchObject({
      lastText: 'text',
      usage: { input: 3, cacheWritten: 20, cacheRead: 500, output: 7 },
    })
  })

  test('ignores values that are not numbers', () => {
    const odd = {
      input_tokens: -5,
      cache_creation_input_tokens: '7',
      cache_read_input_tokens: 9,
      output_tokens: null,
    }
    expect(inspect(answered('a', { message: { usage: odd } })).usage).toEqual({
      input: 0,
      cacheWritten: 0,
      cacheRead: 9,
      output: 0,
    })
  })
})

describe('a failure of the model', () => {
  const failed = (text: string) =>
    answered(text, { isApiErrorMessage: true, message: { model: '<synthetic>' } })

  test('is reported until the model responds', () => {
    const looked = inspect(answered('fine'), failed('API Error: 529 overloaded'))
    expect(looked).toMatchObject({ failure: 'API Error: 529 overloaded', lastText: 'fine' })
  })

  test('is the latest of several', () => {
    expect(inspect(failed('first'), failed('second')).failure).toBe('second')
  })

  test('is dropped once the model has responded', () => {
    expect(inspect(failed('API Error'), answered('fine'))).not.toHaveProperty('failure')
    expect(inspect(failed('API Error'), ran('t1', 'ls'))).not.toHaveProperty('failure')
  })

  test('without a text still counts', () => {
    expect(inspect(answered([], { isApiErrorMessage: true })).failure).toBe(
      'the model could not be reached',
    )
  })
})

describe('a command', () => {
  test('is reported with its result', () => {
    const looked = inspect(
      ran('t1', 'npm test'),
      came('t1', 'Exit code 1\nbad', true),
      ran('t2', 'ls'),
      came('t2', [{ type: 'text', text: 'a b' }]),
    )
    expect(looked.commands).toEqual([
      { toolUseId: 't1', command: 'npm test', isError: true, output: 'Exit code 1\nbad' },
      { toolUseId: 't2', command: 'ls', isError: false, output: 'a b' },
    ])
    expect(looked.carried).toEqual([])
  })

  test('finds its result in a later chunk', () => {
    const first = inspect(ran('t1', 'npm test'), ran('t2', 'ls'), came('t2', 'x'))
    expect(first.carried).toEqual([{ toolUseId: 't1', command: 'npm test' }])
    const second = inspectTranscript(bytesOf(said('hello'), came('t1', 'bad', true)), first.carried)
    expect(second.commands).toEqual([
      { toolUseId: 't1', command: 'npm test', isError: true, output: 'bad' },
    ])
    expect(second.carried).toEqual([])
  })

  test('is reported whatever fields the harness adds', () => {
    const more = { toolUseResult: { messages: [{ type: 'assistant' }, { type: 'attachment' }] } }
    expect(inspect(ran('t1', 'npm test'), came('t1', 'bad', true, more)).commands).toHaveLength(1)
  })

  test('is distinguished from other tools in the same message', () => {
    const use = (id: string, name: string) => ({
      type: 'tool_use',
      id,
      name,
      input: { command: name },
    })
    const looked = inspect(
      answered([use('t1', 'Bash'), use('t2', 'Monitor')]),
      came('t1', 'x'),
      came('t2', 'x'),
    )
    expect(looked.commands.map(({ command }) => command)).toEqual(['Bash'])
  })

  test('is not reported when the result has no command, or belongs to another tool', () => {
    const write = answered([
      { type: 'tool_use', id: 't9', name: 'Write', input: { command: 'npm test' } },
    ])
    expect(inspect(came('t1', 'bad', true), write, came('t9', 'x')).commands).toEqual([])
  })

  test.each([
    "The user doesn't want to proceed with this tool use. The tool use was rejected",
    '[Request interrupted by user for tool use]',
    '<tool_use_error>Error: No such tool available: Bash</tool_use_error>',
    'Permission to use Bash with command npm test has been denied.',
    'Command running in background with ID: b1. Output is being written to: /tmp/x',
    'PreToolUse:Bash hook error: blocked',
  ])('that did not finish is not reported: %s', (text) => {
    const looked = inspect(ran('t1', 'npm test'), came('t1', text, true))
    expect(looked.commands).toEqual([])
    expect(looked.carried).toEqual([])
  })

  test('of a subagent is not reported', () => {
    expect(
      inspect(
        ran('t1', 'npm test', { isSidechain: true }),
        came('t1', 'bad', true, { isSidechain: true }),
      ).commands,
    ).toEqual([])
  })

  test('is carried over in at most twenty items of three hundred characters', () => {
    const many = Array.from({ length: 100 }, (_, index) =>
      ran(`t${index}`, `npm test ${'x '.repeat(5000)}`),
    )
    const { carried } = inspect(...many)
    expect(carried).toHaveLength(20)
    expect(carried.at(-1)?.toolUseId).toBe('t99')
    for (const { command } of carried) expect(command.length).toBeLessThanOrEqual(300)
    expect(JSON.stringify(carried).length).toBeLessThan(8000)
  })

  test('keeps both ends of a long output', () => {
    const output = `begin ${'x'.repeat(2_000_000)} end`
    const looked = inspectTranscript(bytesOf(ran('t1', 'npm test')))
    const [command] = inspectTranscript(
      bytesOf(came('t1', output.slice(0, 900_000) + ' end', true)),
      looked.carried,
    ).commands
    expect(command?.output).toMatch(/^begin /)
    expect(command?.output).toMatch(/ end$/)
    expect(command!.output.length).toBeLessThan(20_000)
  })

  test.each([
    undefined,
    null,
    7,
    'x',
    {},
    [null, 7, 'x', {}, { toolUseId: 7 }, { toolUseId: 't1' }],
  ])('is reported whatever was carried over: %j', (carried) => {
    const looked = inspectTranscript(bytesOf(ran('t1', 'ls'), came('t1', 'x')), carried as never)
    expect(looked.commands).toHaveLength(1)
  })
})

describe('a prompt typed while the agent worked', () => {
  const queued = (fields: object) =>
    attached('queued_command', { commandMode: 'prompt', ...fields })

  test('is reported', () => {
    const looked = inspect(
      queued({ prompt: 'also fix the docs', origin: { kind: 'human' } }),
      queued({ prompt: [{ type: 'text', text: 'and the tests' }] }),
    )
    expect(looked.queued.map(({ text }) => text)).toEqual(['also fix the docs', 'and the tests'])
    expect(looked.queued[0]).toMatchObject({ uuid: expect.any(String), at: expect.any(String) })
  })

  test('is distinguished from prompts that the harness queued', () => {
    const looked = inspect(
      queued({ prompt: '<task-notification>', commandMode: 'task-notification' }),
      queued({ prompt: 'x', origin: { kind: 'peer' } }),
      queued({ prompt: 'x', isMeta: true }),
      queued({ prompt: '' }),
    )
    expect(looked.queued).toEqual([])
  })
})

describe('a transcript in any condition', () => {
  test('is read up to the line that is still being written', () => {
    const whole = bytesOf(said('a'), answered('first'))
    const torn = Buffer.from(answered('second'))
    for (const length of [1, 20, torn.length - 1, torn.length]) {
      const looked = inspectTranscript(Buffer.concat([whole, torn.subarray(0, length)]))
      expect(looked).toMatchObject({ consumed: whole.length, lastText: 'first' })
    }
    expect(inspectTranscript(Buffer.concat([whole, torn, Buffer.from('\n')]))).toMatchObject({
      lastText: 'second',
    })
  })

  test('is read with Windows line endings and blank lines', () => {
    const bytes = Buffer.from(
      [ran('t1', 'ls'), '', came('t1', 'x'), compacted(), '\n', answered('done'), ''].join('\r\n'),
    )
    expect(inspectTranscript(bytes)).toMatchObject({
      lastText: 'done',
      commands: [{ command: 'ls' }],
      boundaries: [{ trigger: 'auto' }],
    })
  })

  test('is read around damaged lines', () => {
    const nul = Buffer.alloc(4096)
    const noise = Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7919) % 256))
    const halves = Buffer.from(
      answered('half').slice(0, 100) + '\n' + answered('half').slice(100) + '\n',
    )
    const bytes = Buffer.concat([
      nul,
      Buffer.from('\n'),
      noise,
      Buffer.from('\n'),
      halves,
      bytesOf(said('a'), answered('good')),
      noise,
    ])
    expect(inspectTranscript(bytes).lastText).toBe('good')
  })

  test('is read past a line that never ends', () => {
    const endless = Buffer.alloc(3 * LONGEST_LINE, 'x')
    expect(inspectTranscript(endless).consumed).toBe(endless.length)
    expect(
      inspectTranscript(Buffer.concat([endless, Buffer.from('\n'), bytesOf(answered('after'))]))
        .lastText,
    ).toBe('after')
    expect(inspectTranscript(Buffer.alloc(LONGEST_LINE - 1, 'x')).consumed).toBe(0)
  })

  test('is read past a line of fifty megabytes', () => {
    const long = Buffer.concat([
      Buffer.from('{"type":"assistant","message":{"content":"'),
      Buffer.alloc(50_000_000, 'x'),
      Buffer.from('"}}\n'),
    ])
    const looked = inspectTranscript(Buffer.concat([long, bytesOf(answered('after'))]))
    expect(looked.lastText).toBe('after')
  })

  test('gives no facts when it is empty', () => {
    const { messages, ...facts } = inspectTranscript(Buffer.alloc(0))
    expect(messages()).toEqual([])
    expect(facts).toEqual({
      consumed: 0,
      boundaries: [],
      deliveryMarkers: [],
      recordsHookContext: false,
      commands: [],
      queued: [],
      carried: [],
    })
  })

  test('is read without an error, whatever its lines are', () => {
    const needles = [
      '"type":"assistant"',
      '"type":"user"',
      '"type":"attachment"',
      '"subtype":"compact_boundary"',
      '"isCompactSummary":true',
      '"name":"Bash"',
      '[stint:aaaa1111]',
      '"isSidechain":true',
      '"uuid":"u"',
      '{',
      '}',
      '\n',
      '"message":',
      '"content":[',
      ']',
      ',',
      '\\',
      '"',
      '\u0000',
    ]
    const value = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom('assistant', 'user', 'system', 'compact_boundary', '[stint:aaaa1111]'),
    )
    const object = fc
      .record({
        type: fc.constantFrom('assistant', 'user', 'system', 'attachment'),
        message: value,
        attachment: value,
        uuid: value,
        timestamp: value,
        subtype: fc.constantFrom('compact_boundary', undefined),
        isCompactSummary: fc.boolean(),
        isApiErrorMessage: fc.boolean(),
      })
      .map((fields) => JSON.stringify(fields))
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constantFrom(...needles), object, fc.string({ unit: 'binary' }))),
        fc.anything(),
        (parts, carried) => {
          const bytes = Buffer.from(parts.join('\n'))
          const looked = inspectTranscript(bytes, carried as never)
          expect(looked.consumed).toBeLessThanOrEqual(bytes.length)
          JSON.stringify(looked)
        },
      ),
      { numRuns: 500 },
    )
  })
})
