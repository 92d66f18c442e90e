import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'

interface Fact {
  readonly id: string
  readonly needs: readonly (readonly string[])[]
}
interface Score {
  readonly present: number
  readonly stale: number
  readonly net: number
  readonly missing: readonly string[]
  readonly wrong: readonly string[]
}
interface Message {
  readonly role: string
  readonly content: unknown
}
interface Body {
  readonly system?: unknown
  readonly tools?: readonly object[]
  readonly messages: readonly Message[]
}

const folder = join(
  dirname(dirname(dirname(fileURLToPath(import.meta.url)))),
  'bench',
  'continuity',
)
const { scoreOf } = (await part('score')) as {
  scoreOf(scenario: { facts: readonly Fact[]; stale?: readonly Fact[] }, text: string): Score
}
const { injectedText } = (await part('injected-text')) as {
  injectedText(body: Body, baseline: Body, options?: { recalled?: readonly string[] }): string
}
const { repliesOf } = (await part('scripted-model')) as {
  repliesOf(turn: object): {
    readonly replies: readonly object[]
    readonly answers: Readonly<Record<string, string>>
  }
}
const { continuityOptions } = (await part('options')) as {
  continuityOptions(args: readonly string[]): { readonly sets: readonly string[] }
}
const { idleHooks, hookTime } = (await part('measure')) as {
  idleHooks(hooks: object): Readonly<Record<string, readonly { hooks: { command: string }[] }[]>>
  hookTime(work: object): { readonly blocking: number; readonly background: number }
}

/** The benchmark is plain JavaScript, so it is imported by path. */
function part(name: string): Promise<unknown> {
  return import(/* @vite-ignore */ pathToFileURL(join(folder, `${name}.mjs`)).href)
}

describe('the score of a text', () => {
  const facts = [
    { id: 'a', needs: [['Norvik'], ['2,400', '2400']] },
    { id: 'b', needs: [['token bucket']] },
  ]
  const stale = [{ id: 's', needs: [['sliding log'], ['tenant']] }]

  test('counts a fact if every group has an alternative, whatever the case', () => {
    expect(scoreOf({ facts }, 'NORVIK peaks at 2400')).toMatchObject({
      present: 1,
      missing: ['b'],
    })
  })

  test('does not count a fact of which a group is absent', () => {
    expect(scoreOf({ facts }, 'Norvik peaks')).toMatchObject({ present: 0, net: 0 })
  })

  test('takes one off for each stale fact', () => {
    const text = 'a sliding log per tenant; now a token bucket'
    expect(scoreOf({ facts, stale }, text)).toMatchObject({
      present: 1,
      stale: 1,
      net: 0,
      wrong: ['s'],
    })
  })
})

describe('the injected text of a request', () => {
  const reminder = (text: string) => `<system-reminder>\n${text}\n</system-reminder>`
  const bare: Body = {
    system: [{ type: 'text', text: 'You are an agent.' }],
    tools: [{ name: 'Bash' }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'the prompt' }] }],
  }
  const withMessages = (...messages: readonly Message[]): Body => ({
    ...bare,
    messages: [...bare.messages, ...messages],
  })

  test('is empty without a tool', () => {
    expect(injectedText(bare, bare)).toBe('')
  })

  test('holds system messages, reminders, the system prompt and tool definitions', () => {
    const body: Body = {
      system: [{ type: 'text', text: 'You are an agent.\nfrom a server' }],
      tools: [{ name: 'Bash' }, { name: 'recall' }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: reminder('from a reminder') }] },
        { role: 'system', content: 'from a hook' },
      ],
    }
    const text = injectedText(body, bare)
    for (const words of ['from a server', '"recall"', 'from a reminder', 'from a hook'])
      expect(text).toContain(words)
    expect(text).not.toContain('You are an agent.')
  })

  test('leaves out prompts, replies, tool results and the summary of a compaction', () => {
    const body = withMessages(
      {
        role: 'user',
        content: `This session is being continued from a previous conversation. kept words ${reminder('<tools-used-before-summary>Bash</tools-used-before-summary>')}`,
      },
      { role: 'assistant', content: [{ type: 'text', text: 'kept words' }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content: 'kept words' }] },
      { role: 'user', content: 'kept words' },
    )
    expect(injectedText(body, bare)).toBe('')
  })

  test('leaves out files that the agent reads again and the git status it adds', () => {
    const body = withMessages(
      {
        role: 'user',
        content: reminder('Called the Read tool with the following input: {"file_path":"a"}'),
      },
      { role: 'user', content: reminder('Result of calling the Read tool:\n1\tkept words') },
      { role: 'user', content: reminder('# gitStatus\nCurrent branch: main\n\n?? tool.db') },
    )
    expect(injectedText(body, bare)).toBe('')
  })

  test('keeps an instruction file beside the git status', () => {
    const both = reminder('# gitStatus\nCurrent branch: x\n# claudeMd\nfrom a file')
    const text = injectedText(withMessages({ role: 'user', content: both }), bare)
    expect(text).toContain('from a file')
    expect(text).not.toContain('Current branch')
  })

  test('drops a line that the run without the tool has too', () => {
    const harness = { role: 'system', content: 'the date\nthe tools' }
    const tool = { role: 'system', content: 'the date\nfrom a hook' }
    expect(injectedText(withMessages(tool), withMessages(harness))).toBe('from a hook')
  })

  test('counts results of the calls that ask the tool, and of no others', () => {
    const call = (id: string, name: string) => ({ type: 'tool_use', id, name, input: {} })
    const result = (id: string, text: string) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: [{ type: 'text', text }],
    })
    const body = withMessages(
      { role: 'assistant', content: [call('1', 'read_graph'), call('2', 'Bash')] },
      { role: 'user', content: [result('1', 'the graph'), result('2', 'the files')] },
    )
    expect(injectedText(body, bare, { recalled: ['read_graph'] })).toBe('the graph')
  })
})

test('plays steps as tool calls, with what is said before them', () => {
  const ask = { question: 'Which?', header: 'Which', options: ['a', 'b'], answer: 'b' }
  const steps = [{ say: 'Looking.' }, { run: 'ls' }, { ask }, { say: 'So.' }]
  const { replies, answers } = repliesOf({ steps, reply: 'Done.' })
  expect(replies).toMatchObject([
    { text: 'Looking.', tools: [{ name: 'Bash', input: { command: 'ls' } }] },
    { tools: [{ name: 'AskUserQuestion' }] },
    { text: 'So.\n\nDone.' },
  ])
  expect(answers).toEqual({ 'Which?': 'b' })
})

test('runs held-out sets only on request', () => {
  expect(continuityOptions([]).sets).toEqual(['cue-free', 'superseded'])
  expect(() => continuityOptions(['--set', 'long'])).toThrow('--held-out')
  expect(continuityOptions(['--held-out']).sets).toHaveLength(5)
  expect(() => continuityOptions(['--held-out', '--texts', 'x'])).toThrow('--texts')
})

test('compares with different commands, because the agent runs equal ones once', () => {
  const hooks = { Stop: [{ hooks: [{ command: 'a' }, { command: 'b', async: true }] }] }
  const commands = idleHooks(hooks).Stop!.flatMap((group) =>
    group.hooks.map(({ command }) => command),
  )
  expect(new Set(commands).size).toBe(2)
})

test('tells hooks the agent waits for from those in the background', () => {
  const hooks = {
    Stop: [{ hooks: [{ command: 'a' }, { command: 'b', async: true }] }],
    PostToolUse: [
      { matcher: 'Write', hooks: [{ command: 'c', async: true }] },
      { matcher: 'Bash', hooks: [{ command: 'd' }] },
    ],
  }
  const hookTimes = [
    { event: 'Stop', subject: '', index: 0, ms: 10 },
    { event: 'Stop', subject: '', index: 1, ms: 30 },
    { event: 'PostToolUse', subject: 'Bash', index: 0, ms: 4 },
  ]
  expect(hookTime({ hooks, hookTimes, turns: 2 })).toEqual({ blocking: 7, background: 15 })
})
