// Misbehaving agents. Each is a small program that speaks, or does not speak, the protocol.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { acpHarness } from '../../src/harness/acp/drive.ts'
import type {
  Conversation,
  HarnessEvent,
  ConversationOptions,
} from '../../src/harness/contract/drive.ts'
import { StintError } from '../../src/journal/errors.ts'
import { carriersOf } from '../support/processes.ts'
import { scratchFolder } from '../support/scratch.ts'

/** What all of them can do. `on` handles requests by method; a test may override it. */
const BASE = `
import { createInterface } from 'node:readline'
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
const update = (update) => send({ method: 'session/update', params: { sessionId: 's', update } })
const say = (text) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })
const answered = new Map()
let asked = 0
const ask = (params) => new Promise((resolve) => { asked += 1; answered.set('q' + asked, resolve); send({ id: 'q' + asked, method: 'session/request_permission', params: { sessionId: 's', ...params } }) })
const on = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: {} }),
  'session/new': () => ({ sessionId: 's' }),
  'session/prompt': () => ({ stopReason: 'end_turn' }),
}
createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params, result } = JSON.parse(line)
  if (method === undefined) return answered.get(id)?.(result)
  if (id === undefined) return on[method]?.(params)
  try { send({ id, result: await on[method](params) }) } catch (error) { send({ id, error }) }
})
`

async function opened(
  source: string,
  more: Partial<ConversationOptions> = {},
): Promise<Conversation> {
  const conversation = await open(source, more)
  onTestFinished(() => conversation.close())
  return conversation
}

function open(source: string, more: Partial<ConversationOptions> = {}): Promise<Conversation> {
  const cwd = scratchFolder()
  const file = join(cwd, 'agent.mjs')
  writeFileSync(file, source)
  const harness = acpHarness({ name: 'strange', command: process.execPath, args: [file] })
  return harness.open({
    cwd,
    env: { PATH: process.env.PATH, WORD: cwd },
    permissions: 'all',
    allow: [],
    ...more,
  })
}

async function turn(conversation: Conversation, prompt = 'go'): Promise<readonly HarnessEvent[]> {
  const events: HarnessEvent[] = []
  for await (const event of conversation.prompt(prompt)) events.push(event)
  return events
}

describe('an ACP agent', () => {
  test('that exits at once is reported with its output, and leaves no process', async () => {
    const failure = open('console.error("no key is set"); process.exit(4)')
    await expect(failure).rejects.toThrow(StintError)
    await expect(failure).rejects.toMatchObject({
      code: 'HARNESS_NOT_STARTED',
      message: expect.stringMatching(/exited with 4.*no key is set/),
      hint: expect.stringMatching(/\w/),
    })
  })

  test('that only echoes its input is reported as not speaking ACP', async () => {
    await expect(open('process.stdin.pipe(process.stdout)')).rejects.toMatchObject({
      code: 'HARNESS_NOT_STARTED',
      hint: expect.stringContaining('Agent Client Protocol'),
    })
  })

  test('that requires a login is reported with that reason', async () => {
    const failure = open(
      `${BASE} on['session/new'] = () => { throw { code: -32000, message: 'Authentication required' } }`,
    )
    await expect(failure).rejects.toMatchObject({
      message: expect.stringContaining('Authentication'),
      hint: expect.stringContaining('log in'),
    })
  })

  test('that cannot resume a conversation is reported, and leaves no process', async () => {
    const word = `resume-${process.pid}-${Date.now()}`
    const failure = open(BASE, { resume: 'old', env: { PATH: process.env.PATH, WORD: word } })
    await expect(failure).rejects.toMatchObject({ code: 'CANNOT_RESUME' })
    expect(carriersOf(word)).toEqual([])
  })

  test('that does not let its model be chosen is reported', async () => {
    await expect(open(BASE, { model: 'big' })).rejects.toMatchObject({ code: 'NO_CHOICE_OF_MODEL' })
  })

  test('gets the requested model', async () => {
    const conversation = await opened(
      `${BASE} on['session/new'] = () => ({ sessionId: 's', configOptions: [{ id: 'm', name: 'Model', category: 'model', type: 'select', currentValue: 'small', options: [] }] })
      on['session/set_config_option'] = ({ value }) => { on['session/prompt'] = () => { say('I am ' + value); return { stopReason: 'end_turn' } }; return { configOptions: [] } }`,
      { model: 'big' },
    )
    expect(await turn(conversation)).toMatchObject([
      { type: 'started', model: 'big' },
      { type: 'text', text: 'I am big' },
      { how: 'completed' },
    ])
  })

  test('that prints other lines is still understood, and gets no reply to them', async () => {
    let sent = ''
    const conversation = await opened(
      `console.log('Welcome!'); console.log('[1,2]'); console.log('{"jsonrpc":"1.0"}'); console.log(''); ${BASE}
      on['session/prompt'] = () => { console.log('DEBUG {'); say('hello'); update({ sessionUpdate: 'unheard_of' }); return { stopReason: 'end_turn' } }`,
      { trace: (direction, line) => (sent += direction === 'to' ? line : '') },
    )
    expect((await turn(conversation)).slice(1)).toEqual([
      { type: 'text', text: 'hello' },
      { type: 'turn ended', how: 'completed', said: 'hello' },
    ])
    expect(sent).not.toContain('error')
  })

  test('that exits in the middle of a turn ends it as died, with its last output', async () => {
    const conversation = await opened(
      `${BASE} on['session/prompt'] = () => { say('half'); console.error('out of memory'); setTimeout(() => process.exit(3), 50); return new Promise(() => {}) }`,
    )
    const events = await turn(conversation)
    expect(events.at(-1)).toMatchObject({
      how: 'died',
      said: 'half',
      failure: expect.stringMatching(/exited with 3.*out of memory/),
    })
  })

  test('that closes its output and keeps running is ended, and the turn has died', async () => {
    const conversation = await opened(
      `import { closeSync } from 'node:fs'\n${BASE} on['session/prompt'] = () => { closeSync(1); setInterval(() => {}, 1000); return new Promise(() => {}) }`,
    )
    expect((await turn(conversation)).at(-1)).toMatchObject({ how: 'died' })
    expect(carriersOf(conversation.process.mark)).toEqual([])
  })

  test('that ignores an interruption is ended, and the turn is interrupted', async () => {
    const conversation = await opened(
      `${BASE} on['session/prompt'] = () => { say('never mind'); return new Promise(() => {}) }`,
    )
    const running = turn(conversation)
    await conversation.interrupt()
    expect((await running).at(-1)).toMatchObject({ how: 'interrupted' })
    expect(carriersOf(conversation.process.mark)).toEqual([])
  })

  test('that answers an interruption with an error was interrupted', async () => {
    const conversation = await opened(
      `${BASE} let stop; on['session/prompt'] = () => new Promise((_, reject) => { stop = reject }); on['session/cancel'] = () => stop({ code: -32603, message: 'aborted' })`,
    )
    const running = turn(conversation)
    await conversation.interrupt()
    expect((await running).at(-1)).toMatchObject({ how: 'interrupted' })
    expect((await turnWithin(conversation)).at(-1)).toMatchObject({ how: 'interrupted' })
  })

  test('that completes an interrupted turn normally was still interrupted', async () => {
    const conversation = await opened(
      `${BASE} let stop; on['session/prompt'] = () => new Promise((resolve) => { stop = resolve }); on['session/cancel'] = () => stop({ stopReason: 'end_turn' })`,
    )
    expect((await turnWithin(conversation)).at(-1)).toMatchObject({ how: 'interrupted' })
  })

  test('is ignored where it reports another conversation', async () => {
    const conversation = await opened(
      `${BASE} on['session/prompt'] = () => { send({ method: 'session/update', params: { sessionId: 'other', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'elsewhere' } } } }); say('here'); return { stopReason: 'end_turn' } }`,
    )
    expect((await turn(conversation)).filter(({ type }) => type === 'text')).toEqual([
      { type: 'text', text: 'here' },
    ])
  })

  test.each([
    ['refusal', 'refused'],
    ['max_tokens', 'longer'],
    ['from_the_future', 'from_the_future'],
  ])('that stops with %s has failed, with a readable reason', async (reason, words) => {
    const conversation = await opened(
      `${BASE} on['session/prompt'] = () => ({ stopReason: '${reason}' })`,
    )
    expect((await turn(conversation)).at(-1)).toMatchObject({
      how: 'failed',
      failure: expect.stringContaining(words),
    })
  })

  test('that sends updates after its turn ended does not affect the next turn', async () => {
    let received = ''
    const conversation = await opened(
      `${BASE} let n = 0; on['session/prompt'] = () => { n += 1; if (n === 1) setTimeout(() => { say('too late'); update({ sessionUpdate: 'usage_update', used: 5, size: 9 }) }, 20); else say('in time'); return { stopReason: 'end_turn' } }`,
      { trace: (_, line) => (received += line) },
    )
    await turn(conversation)
    await expect.poll(() => received).toContain('usage_update')
    const events = await turn(conversation)
    expect(events.filter(({ type }) => type === 'text')).toEqual([
      { type: 'text', text: 'in time' },
    ])
    expect(events[0]).toEqual({ type: 'usage', context: 5, window: 9 })
  })

  test('throws when a second turn is started while one is running', async () => {
    const conversation = await opened(`${BASE} on['session/prompt'] = () => new Promise(() => {})`)
    conversation.prompt('one')
    expect(() => conversation.prompt('two')).toThrow('another turn')
  })
})

describe('an ACP permission request', () => {
  const ASK = (
    toolCall: object,
    kinds = ['allow_once', 'allow_always', 'reject_once', 'reject_always'],
  ) =>
    `${BASE} on['session/prompt'] = async () => { const { outcome } = await ask({ toolCall: ${JSON.stringify({ toolCallId: 't', ...toolCall })}, options: ${JSON.stringify(
      kinds.map((kind) => ({ optionId: kind, name: kind, kind })),
    )} }); say(outcome.optionId ?? outcome.outcome); return { stopReason: 'end_turn' } }`
  const permissionOutcome = async (
    toolCall: object,
    options: Partial<ConversationOptions>,
    kinds?: string[],
  ) => {
    const events = await turn(await opened(ASK(toolCall, kinds), options))
    return events.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join()
  }

  test('is allowed once or rejected once', async () => {
    expect(await permissionOutcome({ kind: 'other', title: 'Do it' }, { permissions: 'all' })).toBe(
      'allow_once',
    )
    expect(
      await permissionOutcome({ kind: 'other', title: 'Do it' }, { permissions: 'edits' }),
    ).toBe('reject_once')
    expect(
      await permissionOutcome({ title: 'Do it' }, { permissions: 'edits' }, ['allow_always']),
    ).toBe('cancelled')
  })

  test('is allowed by the rules for edits within the project, and for reading', async () => {
    const edits = { permissions: 'edits' } as const
    expect(await permissionOutcome({ kind: 'edit', locations: [{ path: 'a.txt' }] }, edits)).toBe(
      'allow_once',
    )
    expect(
      await permissionOutcome(
        { kind: 'edit', locations: [{ path: 'a.txt' }, { path: '/etc/passwd' }] },
        edits,
      ),
    ).toBe('reject_once')
    expect(await permissionOutcome({ kind: 'other', rawInput: { path: 'a.txt' } }, edits)).toBe(
      'reject_once',
    )
    expect(await permissionOutcome({ kind: 'search', title: 'Look' }, edits)).toBe('allow_once')
    expect(await permissionOutcome({ kind: 'execute', title: 'Something' }, edits)).toBe(
      'reject_once',
    )
  })

  test('is allowed for a commit whose message has several lines', async () => {
    const commit = (text: string) => ({
      kind: 'execute',
      rawInput: { command: `git commit -m "$(cat <<'EOF'\n${text}\nEOF\n)"` },
    })
    expect(
      await permissionOutcome(commit('one\n\n$(touch x) `two`'), { permissions: 'edits' }),
    ).toBe('allow_once')
    expect(
      await permissionOutcome(commit('one\nEOF\n)" && ./other "'), { permissions: 'edits' }),
    ).toBe('reject_once')
    expect(
      await permissionOutcome(commit("one\nEOF\n./other\ncat <<'EOF'\ntwo"), {
        permissions: 'edits',
      }),
    ).toBe('reject_once')
  })

  test('is allowed for exactly the listed line with any shell syntax', async () => {
    const allow = ['cd web && npm run lint > lint.log']
    const run = (command: unknown) =>
      permissionOutcome({ kind: 'execute', rawInput: { command } }, { permissions: 'edits', allow })
    expect(await run(allow[0])).toBe('allow_once')
    expect(await run(['bash', '-lc', allow[0]])).toBe('allow_once')
    expect(await run(`${allow[0]} && rm x`)).toBe('reject_once')
  })

  test('is not allowed for words that only look like a quotation when joined', async () => {
    const run = (command: unknown) =>
      permissionOutcome({ kind: 'execute', rawInput: { command } }, { permissions: 'edits' })
    expect(await run(['git', 'log', '-1'])).toBe('allow_once')
    expect(await run(['git', 'rebase', "'", '--exec=./other', "'"])).toBe('reject_once')
    expect(await run(['./other', '-c', 'git status'])).toBe('reject_once')
  })

  test('is rejected when the decision fails', async () => {
    const decide = () => Promise.reject(new Error('nobody there'))
    expect(await permissionOutcome({ kind: 'other' }, { permissions: 'ask', decide })).toBe(
      'reject_once',
    )
  })

  test('that is still undecided is cancelled with the turn', async () => {
    let isAsked = () => {}
    const asked = new Promise<void>((resolve) => (isAsked = resolve))
    const decide = () => (isAsked(), new Promise<boolean>(() => {}))
    const conversation = await opened(ASK({ kind: 'other' }), { permissions: 'ask', decide })
    const running = turn(conversation)
    await asked
    await conversation.interrupt()
    const events = await running
    expect(events.find(({ type }) => type === 'text')).toEqual({ type: 'text', text: 'cancelled' })
    expect(events.at(-1)).toMatchObject({ how: 'interrupted' })
  })
})

/** A turn that is interrupted at once. */
async function turnWithin(conversation: Conversation): Promise<readonly HarnessEvent[]> {
  const running = turn(conversation)
  await conversation.interrupt()
  return running
}
