// Turns of a bare model against a server that replies correctly or badly.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { StreamKeyRedactor } from '../../src/harness/api/drive/model-failure.ts'
import type { ApiSettings } from '../../src/harness/contract/drive.ts'
import type {
  Conversation,
  HarnessEvent,
  ConversationOptions,
  PermissionRequest,
} from '../../src/harness/contract/drive.ts'
import type { Message } from '../../src/history/items.ts'
import { bundleProgram } from '../support/bundle.ts'
import { expectNoneLeft } from '../support/processes.ts'
import { scratchFolder } from '../support/scratch.ts'
import { type ApiWorld, apiWorld } from './api-world.ts'
import {
  type ServerReply,
  partialReply,
  modelServer,
  refusing,
  completeReply,
} from './model-server.ts'

interface Driven {
  readonly world: ApiWorld
  readonly seen: Awaited<ReturnType<typeof modelServer>>['seen']
  readonly conversation: Conversation
  turn(prompt?: string): Promise<readonly HarnessEvent[]>
  /** The events so far of the running turn. */
  readonly events: readonly HarnessEvent[]
  /** The last request to the model, as one text. */
  lastRequest(): string
  stored(): readonly Message[]
}

interface Choices {
  readonly settings?: Partial<ApiSettings>
  readonly open?: Partial<ConversationOptions>
}

/** A conversation with a server that sends these replies, repeating the last one. */
async function driven(
  replies: readonly ServerReply[],
  { settings, open }: Choices = {},
): Promise<Driven> {
  const world = await apiWorld('anthropic')
  const { url, seen } = await modelServer(...replies)
  const conversation = await world
    .with({ baseUrl: url, ...settings })
    .open({ ...world.open, ...open })
  onTestFinished(() => conversation.close())
  const events: HarnessEvent[] = []
  return {
    world,
    seen,
    conversation,
    events,
    turn: async (prompt = 'Go') => {
      events.length = 0
      for await (const event of conversation.prompt(prompt)) events.push(event)
      return [...events]
    },
    lastRequest: () => JSON.stringify(seen.at(-1)!.body),
    stored: () => [...world.store.read(conversation.id!)].filter((item) => item.type === 'message'),
  }
}

const shell = (command: string) => ({ name: 'shell', input: { command } })
const result = (text: string, isError: boolean) => ({
  type: 'tool result',
  parts: [{ text: expect.stringContaining(text) }],
  isError,
})
const resultsIn = (messages: readonly Message[]) =>
  messages.flatMap(({ parts }) => parts.filter(({ type }) => type === 'tool result'))

describe('a failing model request', () => {
  test('is retried where that may help, and a partial reply leaves nothing behind', async () => {
    const replies = [
      refusing(529, 'busy', { 'retry-after': '0' }),
      partialReply('I beg', 'breaks'),
      partialReply('I beg', 'ends'),
      completeReply('I begin.'),
    ]
    const { turn, seen, stored } = await driven(replies)
    const events = await turn()
    expect(events.at(-1)).toEqual({ type: 'turn ended', how: 'completed', said: 'I begin.' })
    const pieces = events.filter(({ type }) => ['delta', 'anew', 'text'].includes(type))
    expect(pieces).toEqual([
      { type: 'delta', text: 'I beg' },
      { type: 'anew' },
      { type: 'delta', text: 'I beg' },
      { type: 'anew' },
      { type: 'delta', text: 'I begin.' },
      { type: 'text', text: 'I begin.' },
    ])
    expect(seen).toHaveLength(4)
    expect(new Set(seen.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    expect(stored().filter(({ role }) => role === 'assistant')).toMatchObject([
      { parts: [{ text: 'I begin.' }] },
    ])
    expect(events.filter(({ type }) => type === 'usage')).toMatchObject([
      { spent: { input: 1000, output: 10 } },
    ])
  })

  test('is retried a few times and then reported, but not to the model', async () => {
    const { turn, seen, stored, lastRequest } = await driven([refusing(503, 'gone fishing')])
    expect((await turn()).at(-1)).toMatchObject({
      how: 'failed',
      failure: 'gone fishing (HTTP 503); asked 4 times',
    })
    expect(seen).toHaveLength(4)
    expect(stored().at(-1)).toMatchObject({
      isFailure: true,
      parts: [{ text: expect.stringContaining('gone fishing') }],
    })
    await turn('Once more')
    expect(lastRequest()).not.toContain('fishing')
  })

  test('is a usage limit when the server throttles every retry', async () => {
    const { turn } = await driven([refusing(429, 'slow down')])
    const events = await turn()
    expect(events.map(({ type }) => type)).toEqual(['started', 'limit', 'turn ended'])
    expect(events.at(-1)).toMatchObject({ how: 'failed' })
  })

  test.each([
    [
      refusing(401, 'invalid key'),
      'a key is wanted, and api.key_env names none: invalid key (HTTP 401)',
    ],
    [refusing(400, 'max_tokens: too large'), 'max_tokens: too large (HTTP 400)'],
    [
      refusing(307, '', { location: 'http://127.0.0.1:9/' }),
      expect.stringContaining('leads elsewhere'),
    ],
  ])('is reported at once where a retry cannot help', async (reply, failure) => {
    const { turn, seen } = await driven([reply])
    expect((await turn()).at(-1)).toMatchObject({ how: 'failed', failure })
    expect(seen).toHaveLength(1)
  })

  test('is a full context, detected before too much is sent', async () => {
    const { turn, seen, stored } = await driven([completeReply('ok')], {
      settings: { window: 4000, maxOutput: 1000 },
    })
    expect((await turn()).at(-1)).toMatchObject({ how: 'completed' })
    const [usage, full] = await turn('word '.repeat(3000))
    expect(usage).toEqual({
      type: 'usage',
      context: 4000,
      window: 4000,
      point: 3000,
      model: 'model-1',
    })
    expect(full).toMatchObject({
      how: 'failed',
      failure: expect.stringMatching(
        /^the context is full: it has about \d+ tokens, .* 3000 of 4000/,
      ),
    })
    expect(seen).toHaveLength(1)
    expect(stored().at(-1)).toMatchObject({ isFailure: true })
  })

  test('is a reply that became too long, whose tool uses are not run', async () => {
    const { turn, lastRequest, stored } = await driven([
      completeReply('I write', [shell('touch never')], 'max_tokens'),
      completeReply('Shorter.'),
    ])
    expect((await turn()).at(-1)).toMatchObject({
      how: 'failed',
      failure: expect.stringContaining('max_output'),
      said: 'I write',
    })
    expect(resultsIn(stored())).toEqual([])
    expect((await turn('Go on')).at(-1)).toMatchObject({ how: 'completed' })
    expect(lastRequest()).not.toContain('tool_use')
  })

  test.each([
    ['never answers', () => undefined],
    ['falls silent', partialReply('I beg', 'hangs')],
  ])('is a server that %s', async (_, reply: ServerReply) => {
    const { turn, seen } = await driven([reply], { settings: { silenceSeconds: 0.2 } })
    expect((await turn()).at(-1)).toMatchObject({
      how: 'failed',
      failure: 'the server said nothing for 0.2 seconds; api.silence_seconds is how long it may',
    })
    expect(seen).toHaveLength(1)
  })

  test('is a server that cannot be reached', async () => {
    const { turn } = await driven([], { settings: { baseUrl: 'http://127.0.0.1:9' } })
    expect((await turn()).at(-1)).toMatchObject({
      how: 'failed',
      failure: expect.stringContaining('http://127.0.0.1:9 cannot be reached'),
    })
  })
})

describe('an interrupted API turn', () => {
  test('keeps the text received so far, and the conversation continues from it', async () => {
    const { conversation, turn, events, stored, lastRequest } = await driven([
      partialReply('I was about to', 'hangs'),
      completeReply('Yes.'),
    ])
    const running = turn()
    await expect.poll(() => events.map(({ type }) => type)).toContain('delta')
    await conversation.interrupt()
    const received = await running
    expect(received.map(({ type }) => type)).toEqual([
      'started',
      'delta',
      'text',
      'usage',
      'turn ended',
    ])
    expect(received.at(-1)).toEqual({
      type: 'turn ended',
      how: 'interrupted',
      said: 'I was about to',
    })
    expect(stored().at(-1)).toMatchObject({
      role: 'assistant',
      parts: [{ text: 'I was about to' }],
    })
    expect((await turn('Go on')).at(-1)).toMatchObject({ how: 'completed' })
    expect(lastRequest()).toContain('I was about to')
  })

  test('ends the running command, does not start the next one, and answers both', async () => {
    const { conversation, turn, stored, world } = await driven([
      completeReply('', [shell('touch begun; sleep 987'), shell('touch second')]),
      completeReply('ok'),
    ])
    const running = turn()
    await expect.poll(() => existsSync(join(world.open.cwd, 'begun'))).toBe(true)
    await conversation.interrupt()
    expect((await running).at(-1)).toMatchObject({ how: 'interrupted' })
    expect(resultsIn(stored())).toMatchObject([
      result('it was interrupted', true),
      result('not run', true),
    ])
    expect(existsSync(join(world.open.cwd, 'second'))).toBe(false)
  })
})

describe('the tool uses of a reply', () => {
  test('run in order and are answered together, including an invalid one', async () => {
    const tools = [
      shell('echo one > a.txt'),
      shell('cat a.txt'),
      { name: 'fly', input: {} },
      { name: 'edit', input: { path: 'a.txt' } },
      { name: 'edit', input: { path: 'a.txt', old_text: 'one', new_text: 'two' } },
      { name: 'read', input: { path: 'a.txt' } },
    ]
    const { turn, stored, seen } = await driven([
      completeReply('', tools),
      completeReply('Done.'),
      completeReply('', [shell('true')]),
      completeReply('Done.'),
    ])
    const events = await turn()
    expect(events.at(-1)).toMatchObject({ how: 'completed', said: 'Done.' })
    expect(resultsIn(stored())).toMatchObject([
      result('it printed nothing', false),
      result('one', false),
      result('there is no tool fly', true),
      result('old_text is missing', true),
      result('Edited', false),
      result('two', false),
    ])
    const { content } = (
      seen[1]!.body['messages'] as readonly { content: readonly { type: string }[] }[]
    ).at(-1)!
    expect(content.map(({ type }) => type)).toEqual(Array.from({ length: 6 }, () => 'tool_result'))
    // All replies of this server share one id, and so do their tool uses, but they still count as
    // several.
    await turn('More')
    const roles = (seen.at(-1)!.body['messages'] as readonly { role: string }[]).map(
      ({ role }) => role,
    )
    expect(roles).toEqual(['user', 'assistant', 'user', 'assistant', 'user', 'assistant', 'user'])
    const ids = resultsIn(stored()).map((part) => (part.type === 'tool result' ? part.use : ''))
    expect(new Set(ids).size).toBe(7)
  })

  test('stay in the working tree under `edits`, wherever links lead', async () => {
    const outside = scratchFolder()
    writeFileSync(join(outside, 'secret.txt'), 'SECRET')
    const tools = [
      { name: 'read', input: { path: join(outside, 'secret.txt') } },
      { name: 'read', input: { path: 'link/secret.txt' } },
      { name: 'write', input: { path: 'link/new.txt', content: 'x' } },
      { name: 'write', input: { path: '../beside.txt', content: 'x' } },
      { name: 'edit', input: { path: '.git/config', old_text: '[core]', new_text: '[hooks]' } },
      { name: 'write', input: { path: 'inside.txt', content: 'x' } },
    ]
    const asked: PermissionRequest[] = []
    const decide = async (request: PermissionRequest) => {
      asked.push(request)
      return false
    }
    const { turn, stored, world } = await driven(
      [completeReply('', tools), completeReply('Done.')],
      {
        open: { permissions: 'edits', decide },
      },
    )
    symlinkSync(outside, join(world.open.cwd, 'link'))
    await turn()
    const refused = result('not permitted here', true)
    expect(resultsIn(stored())).toMatchObject([
      refused,
      refused,
      refused,
      refused,
      refused,
      result('Written', false),
    ])
    expect(asked.map(({ tool }) => tool)).toEqual(['read', 'read', 'write', 'write', 'edit'])
    expect(asked.every(({ path }) => path?.startsWith('/'))).toBe(true)
    expect(existsSync(join(outside, 'new.txt'))).toBe(false)
    expect(readFileSync(join(world.open.cwd, '.git/config'), 'utf8')).toContain('[core]')
  })
})

test('may read the project under `ask`, and need permission for everything else', async () => {
  const tools = [
    { name: 'read', input: { path: 'a.txt' } },
    { name: 'read', input: { path: '/etc/hostname' } },
    { name: 'write', input: { path: 'a.txt', content: 'two' } },
    shell('true'),
  ]
  const asked: string[] = []
  const decide = async ({ title }: PermissionRequest) => {
    asked.push(title)
    return false
  }
  const { turn, stored, world } = await driven([completeReply('', tools), completeReply('Done.')], {
    open: { permissions: 'ask', decide },
  })
  writeFileSync(join(world.open.cwd, 'a.txt'), 'one')
  await turn()
  expect(resultsIn(stored())[0]).toMatchObject(result('one', false))
  expect(asked).toEqual(['read: /etc/hostname', 'write: a.txt', 'shell: true'])
})

describe('the API key', () => {
  test('goes only to its server, and not to what the agent runs', async () => {
    const open = {
      env: { PATH: process.env.PATH, MY_KEY: 'sesame-42', ANTHROPIC_API_KEY: 'of-another' },
    }
    const settings = { keyEnv: 'MY_KEY', headers: { 'anthropic-beta': 'token-efficient-tools' } }
    const { turn, seen, lastRequest } = await driven(
      [
        completeReply('', [shell('env | grep -c sesame; env | grep ANTHROPIC')]),
        completeReply('ok'),
      ],
      {
        settings,
        open,
      },
    )
    await turn()
    expect(seen[0]!.headers).toMatchObject({
      'x-api-key': 'sesame-42',
      'anthropic-beta': 'token-efficient-tools',
    })
    expect(lastRequest()).toContain('0\\nANTHROPIC_API_KEY=')
    expect(lastRequest()).not.toContain('sesame-42')
  })

  test('is neither emitted nor stored, even if a server repeats it', async () => {
    const key = 'a/plain"word'
    const lines: string[] = []
    const open = {
      env: { PATH: process.env.PATH, MY_KEY: key },
      trace: (_: string, line: string) => void lines.push(line),
    }
    const settings = { keyEnv: 'MY_KEY' }
    const inStream: ServerReply = (response) =>
      void response.end(
        `data: ${JSON.stringify({ type: 'error', error: { type: 'invalid_request', message: `bad ${key}` } })}\n\n`,
      )
    const page: ServerReply = (response) =>
      void response.writeHead(400).end(`${'<p>'.repeat(98)}${key.repeat(40)}`)
    const escaped: ServerReply = (response) =>
      void response.writeHead(400).end('{"error":{"message":"no a\\/plain\\"word here"}}')
    const refused = refusing(401, `Bearer ${key} is unknown`)
    const four = (reply: ServerReply) => [reply, reply, reply, reply]
    const { turn, stored, world, seen } = await driven(
      [
        refused,
        refusing(400, `you sent ${key}`),
        ...four(refusing(429, `slow down, ${key}`)),
        ...four(refusing(500, `${'x'.repeat(1990)} ${key}`)),
        inStream,
        page,
        escaped,
        completeReply(`Your key is ${key}.`, [{ name: 'read', input: { path: key } }]),
        completeReply('ok'),
      ],
      { settings, open },
    )
    const events: unknown[] = []
    for (let turns = 0; turns < 8; turns += 1) events.push(await turn())
    expect(seen).toHaveLength(15)
    expect(seen[0]!.headers['x-api-key']).toBe(key)
    expect(events.at(-1)).toContainEqual({ type: 'text', text: 'Your key is [redacted:api-key].' })
    for (const text of [...events, ...stored(), ...lines])
      expect(JSON.stringify(text)).not.toContain('plain')
    const { url } = await modelServer(refused)
    const check = await world.with({ ...settings, baseUrl: url }).check(open.env)
    expect(check).toMatchObject({ isThere: false, problem: expect.not.stringContaining('plain') })
  })

  test('is redacted even when it arrives in pieces', () => {
    const pieces = new StreamKeyRedactor('sesame-42')
    expect(
      ['It is ses', 'ame', '-42, sesa', 'me, s', '.'].map((piece) => pieces.take(piece)),
    ).toEqual(['It is ', '', '[redacted:api-key], ', 'sesame, ', 's.'])
    const word = new StreamKeyRedactor('none')
    expect(word.take('none')).toBe('none')
  })

  test('is not sent when none is configured, nor over an unencrypted connection', async () => {
    const { turn, seen } = await driven([completeReply('ok')], {
      open: { env: { PATH: process.env.PATH, ANTHROPIC_API_KEY: 'mine' } },
    })
    await turn()
    expect(seen[0]!.headers).not.toHaveProperty('x-api-key')
    const world = await apiWorld('anthropic')
    const problem = async (settings: Partial<ApiSettings>, env = {}) => {
      const check = await world.with(settings).check(env)
      return check.isThere ? '' : check.problem
    }
    expect(
      await problem({ baseUrl: 'http://models.example', keyEnv: 'MY_KEY' }, { MY_KEY: 'x' }),
    ).toContain('without encryption')
    expect(await problem({ keyEnv: 'MY_KEY' }, { MY_KEY: 'sesame\n42' })).toBe(
      'what is in MY_KEY is no key',
    )
    expect(await problem({ baseUrl: 'https://api.anthropic.com' })).toBe(
      'there is no key in ANTHROPIC_API_KEY',
    )
  })
})

test('kill -9 during tool use leaves no process, and another process resumes from the store', async () => {
  const world = await apiWorld('anthropic')
  const tools = [shell('echo of-the-first'), shell('sleep 987')]
  const { url, seen } = await modelServer(
    completeReply('I run both.', tools),
    completeReply('I look again.'),
  )
  // From there it finds the tool program where a build puts it.
  const folder = scratchFolder()
  const program = join(folder, 'a/b/c/worker.mjs')
  symlinkSync(fileURLToPath(new URL('../../dist', import.meta.url)), join(folder, 'dist'))
  await bundleProgram(fileURLToPath(new URL('api.worker.ts', import.meta.url)), program)
  const words = [
    world.open.env['API_WORLD']!,
    JSON.stringify({ ...world.settings, baseUrl: url }),
    JSON.stringify(world.open),
  ]
  const child = spawn(process.execPath, [program, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const killed: { conversation?: string; mark?: string } = {}
  for await (const line of createInterface({ input: child.stdout })) {
    const event = JSON.parse(line) as HarnessEvent & { mark: string }
    if (event.type === 'started')
      Object.assign(killed, { conversation: event.conversation, mark: event.mark })
    if (event.type === 'tool' && event.status === 'started' && event.command === 'sleep 987')
      child.kill('SIGKILL')
  }
  const { conversation, mark } = killed
  await expectNoneLeft(mark!)

  const resumed = await world.with({ baseUrl: url }).open({ ...world.open, resume: conversation! })
  onTestFinished(() => resumed.close())
  for await (const _ of resumed.prompt('Go on'));
  const messages = seen.at(-1)!.body['messages'] as readonly {
    role: string
    content: readonly object[]
  }[]
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  expect(messages[2]!.content).toMatchObject([
    { type: 'tool_result', tool_use_id: 'use_0', content: [{ text: 'of-the-first' }] },
    {
      type: 'tool_result',
      tool_use_id: 'use_1',
      is_error: true,
      content: [{ text: expect.stringContaining('never recorded') }],
    },
    { type: 'text', text: 'Go on' },
  ])
})
