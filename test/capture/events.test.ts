import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readEvent } from '../../src/harness/claude/hooks/protocol.ts'
import type { HookEvent } from '../../src/harness/contract/hooks.ts'
import { recorded } from './transcript.ts'

const COMMON = {
  session_id: 'c0ffee-1',
  transcript_path: '/home/dev/t.jsonl',
  cwd: '/home/dev/project',
}
const parse = (fields: object) => readEvent(JSON.stringify({ ...COMMON, ...fields }))
const common = (name: string) => ({
  harness: 'claude',
  name,
  conversation: 'c0ffee-1',
  transcript: '/home/dev/t.jsonl',
  cwd: '/home/dev/project',
})

describe('an event', () => {
  test.each<[object, object]>([
    [
      { hook_event_name: 'SessionStart', source: 'compact', model: 'some-model' },
      { kind: 'sessionStart', source: 'compact', model: 'some-model' },
    ],
    [{ hook_event_name: 'SessionStart' }, { kind: 'sessionStart', source: 'startup' }],
    [
      { hook_event_name: 'UserPromptSubmit', prompt: ' do it ' },
      { kind: 'userPrompt', prompt: ' do it ', isFromHarness: false },
    ],
    [
      { hook_event_name: 'PreCompact', trigger: 'manual', custom_instructions: 'focus' },
      { kind: 'preCompact', trigger: 'manual', instructions: 'focus' },
    ],
    [
      { hook_event_name: 'PreCompact', trigger: 'auto', custom_instructions: null },
      { kind: 'preCompact', trigger: 'auto' },
    ],
    [
      {
        hook_event_name: 'PostToolUse',
        tool_name: 'Bash',
        tool_input: { command: 'ls' },
        tool_response: 'x',
        tool_use_id: 't1',
      },
      { kind: 'toolUsed', tool: 'Bash', input: { command: 'ls' }, response: 'x', toolUseId: 't1' },
    ],
    [
      { hook_event_name: 'PostToolUse', tool_name: 'Edit', agent_id: 'a1', agent_type: 'x' },
      { kind: 'toolUsed', tool: 'Edit', input: {}, response: undefined, agent: 'a1' },
    ],
    [
      { hook_event_name: 'Stop', stop_hook_active: true, last_assistant_message: 'done' },
      { kind: 'stop', isContinued: true, lastMessage: 'done' },
    ],
    [{ hook_event_name: 'Stop' }, { kind: 'stop', isContinued: false }],
    [
      {
        hook_event_name: 'SubagentStop',
        agent_id: 'a1',
        agent_type: 'reviewer',
        last_assistant_message: 'found it',
        agent_transcript_path: '/home/dev/a1.jsonl',
      },
      {
        kind: 'subagentStop',
        agent: 'a1',
        type: 'reviewer',
        lastMessage: 'found it',
        agentTranscript: '/home/dev/a1.jsonl',
      },
    ],
    [
      { hook_event_name: 'SessionEnd', reason: 'clear' },
      { kind: 'sessionEnd', reason: 'clear' },
    ],
    [
      { hook_event_name: 'Notification', message: 'waiting', notification_type: 'idle_prompt' },
      { kind: 'notification', message: 'waiting', about: 'idle_prompt' },
    ],
  ])('is parsed: %j', (given, expected) => {
    const { hook_event_name: name } = given as { hook_event_name: string }
    expect(parse(given)).toEqual({ ...common(name), ...expected })
  })

  test.each([
    'PostCompact',
    'PostToolUseFailure',
    'MessageDisplay',
    'constructor',
    '__proto__',
    'toString',
  ])('with an unknown name becomes "other": %s', (name) => {
    expect(parse({ hook_event_name: name })).toEqual({ ...common(name), kind: 'other' })
  })

  test.each([{}, { agent_id: 'a1' }, { agent_id: 'a1', agent_type: '' }, { agent_type: 'x' }])(
    'of an internal agent of the harness becomes "other": %j',
    (fields) => {
      expect(parse({ hook_event_name: 'SubagentStop', ...fields })?.kind).toBe('other')
    },
  )

  test('distinguishes prompts of the harness from prompts of the user', () => {
    const isFromHarness = (prompt: string) =>
      (parse({ hook_event_name: 'UserPromptSubmit', prompt }) as { isFromHarness?: boolean })
        .isFromHarness
    expect(isFromHarness('<task-notification>\n<task-id>a1</task-id>')).toBe(true)
    expect(isFromHarness('<div> does not close, why?')).toBe(false)
    expect(isFromHarness('what is a <task-notification>?')).toBe(false)
  })
})

describe('of the events of real clients', () => {
  const events = recorded('claude-events.jsonl').toString('utf8').trim().split('\n').map(readEvent)

  test('every one is parsed', () => {
    expect(events.filter((event) => event === undefined)).toEqual([])
    const kinds = new Set(events.map((event) => event!.kind))
    expect([...kinds].sort()).toEqual([
      'other',
      'preCompact',
      'sessionEnd',
      'sessionStart',
      'stop',
      'subagentStop',
      'toolUsed',
      'userPrompt',
    ])
  })

  test('only requested subagents count, not internal ones', () => {
    const agents = events.filter(
      (event): event is Extract<HookEvent, { kind: 'subagentStop' }> =>
        event?.kind === 'subagentStop',
    )
    expect(agents.map(({ type, lastMessage }) => ({ type, lastMessage }))).toEqual([
      { type: 'general-purpose', lastMessage: 'agent says found it' },
    ])
  })
})

describe('input that is not an event', () => {
  test.each([
    '',
    'null',
    '7',
    '[]',
    '{}',
    '{"session_id":"c0ffee"}',
    'not json',
    '{"half":',
    '['.repeat(200_000),
    '\u0000',
    '{"hook_event_name":"Stop","session_id":"c0ffee"}',
  ])('gives nothing: %#', (json) => {
    expect(readEvent(json)).toBeUndefined()
  })

  test.each([
    '../../etc/passwd',
    '.hidden',
    'a/b',
    'a\\b',
    'a.b',
    '',
    ' ',
    '-x',
    'x'.repeat(129),
    7,
    null,
    {},
    ['a'],
    'a\n',
    'ä',
  ])('gives nothing if the conversation id is not a safe file name: %j', (id) => {
    expect(parse({ hook_event_name: 'Stop', session_id: id })).toBeUndefined()
  })

  test.each(['relative/path', '', 7, null, `/${'x'.repeat(5000)}`, '/a\0b', ['/a']])(
    'loses a path that is not absolute: %j',
    (path) => {
      expect(parse({ hook_event_name: 'Stop', transcript_path: path })).not.toHaveProperty(
        'transcript',
      )
      expect(parse({ hook_event_name: 'Stop', cwd: path })).toBeUndefined()
    },
  )
})

describe('for any field values of an event', () => {
  const FIELDS = [
    'source',
    'model',
    'prompt',
    'trigger',
    'custom_instructions',
    'tool_name',
    'tool_input',
    'tool_response',
    'tool_use_id',
    'agent_id',
    'agent_type',
    'last_assistant_message',
    'reason',
    'message',
    'notification_type',
    'stop_hook_active',
    '__proto__',
  ]
  const NAMES = [
    'SessionStart',
    'UserPromptSubmit',
    'PreCompact',
    'PostToolUse',
    'Stop',
    'SubagentStop',
    'SessionEnd',
    'Notification',
  ]

  test('parsing never throws', () => {
    const value = fc.oneof(
      fc.anything({ maxDepth: 2 }),
      fc.string(),
      fc.constant('x'.repeat(300_000)),
    )
    fc.assert(
      fc.property(
        fc.constantFrom(...NAMES),
        fc.dictionary(fc.constantFrom(...FIELDS), value),
        (name, fields) => {
          const event = readEvent(
            JSON.stringify({ ...fields, ...COMMON, hook_event_name: name }, (_, field: unknown) =>
              typeof field === 'bigint' ? 0 : field,
            ),
          )
          expect(event?.conversation).toBe('c0ffee-1')
          for (const [key, field] of Object.entries(event!)) {
            if (key === 'input' || key === 'response') continue
            expect(['string', 'boolean']).toContain(typeof field)
            if (typeof field === 'string') expect(field.length).toBeLessThanOrEqual(200_000)
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  test('a text of ten megabytes is cut, and a name of that length is dropped', () => {
    const long = 'x'.repeat(10_000_000)
    const prompt = parse({ hook_event_name: 'UserPromptSubmit', prompt: long })
    expect(prompt).toMatchObject({ prompt: 'x'.repeat(200_000) })
    expect(parse({ hook_event_name: 'SessionStart', source: long })).toMatchObject({
      source: 'startup',
    })
    expect(parse({ hook_event_name: 'PostToolUse', tool_name: long })?.kind).toBe('other')
  })

  test('a field called __proto__ changes nothing', () => {
    const event = readEvent(
      `{"__proto__":{"polluted":true},"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"__proto__":{"polluted":true}},"session_id":"c0ffee","cwd":"/a"}`,
    )
    expect(event?.kind).toBe('toolUsed')
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})
