import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runAfterEvent } from '../../src/hook/after-event.ts'
import { program } from '../support/cli.ts'
import { projectAfterOneTurn } from './agent.ts'

async function upToDateProject() {
  const world = await projectAfterOneTurn({ key: 'the cookie is set twice' })
  const { agent } = world
  const [session] = world.sessions()
  const outboxKinds = () => {
    const folder = world.path('.git', 'stint', 'outbox', session!)
    return existsSync(folder)
      ? readdirSync(folder).map((name) => name.split('.').slice(1, 3).join('.'))
      : []
  }
  const logged = () => world.entries().length
  agent.isFollowed = false
  return { ...world, outboxKinds, logged }
}

describe('an event of an up-to-date conversation', () => {
  test.each([
    [
      'an ordinary prompt',
      'request.made',
      (agent: Agent) => agent.prompt('Now look at the cookie code'),
    ],
    ['the end of a turn', 'turn.ended', (agent: Agent) => agent.stop('Looked.')],
    [
      'a finished subagent',
      'agent.finished',
      (agent: Agent) => agent.send('SubagentStop', SUBAGENT),
    ],
    ['the end of the conversation', 'conversation.ended', (agent: Agent) => agent.end()],
  ])('goes to the outbox without a response: %s', async (_, kind, send) => {
    const { agent, outboxKinds, logged, ofKind, stint } = await upToDateProject()
    const before = logged()
    expect((await send(agent)).printed).toBe('')
    expect([outboxKinds(), logged()]).toEqual([[kind], before])
    await stint('view')
    expect([outboxKinds(), logged()]).toEqual([[], before + 1])
    expect(ofKind(kind).at(-1)).toMatchObject({ conversation: agent.conversation })
  })

  test('stores why the conversation ended', async () => {
    const { agent, path } = await upToDateProject()
    await agent.end('logout')
    const copy = readFileSync(
      path('.sessions', 'conversations', `${agent.conversation}.jsonl`),
      'utf8',
    )
    expect(JSON.parse(copy.trimEnd().split('\n').at(-1)!)).toMatchObject({
      type: 'ended',
      reason: 'logout',
    })
  })

  test('uses the precomputed summariser text, and leaves the checkpoint in the outbox', async () => {
    const { agent, outboxKinds } = await upToDateProject()
    const { printed } = await agent.send('PreCompact', { trigger: 'auto' })
    expect(printed).toContain('Pre-Compaction Checkpoint')
    expect(printed).toContain('the cookie is set twice')
    expect(outboxKinds()).toEqual(['checkpoint.made'])
  })

  test.each(['startup', 'resume', 'clear', 'compact', 'fork'])(
    'starts with the precomputed context: %s',
    async (source) => {
      const { agent, another, outboxKinds, logged } = await upToDateProject()
      const before = logged()
      const other =
        source === 'resume' || source === 'compact' ? agent : withoutBackgroundHooks(another())
      if (source === 'clear') await agent.end('clear')
      const heard = await other.start(source)
      expect(heard.person).toContain('📋 there')
      if (source === 'resume') expect(heard.model).toBe('')
      else expect(heard.model).toContain('the cookie is set twice')
      if (source === 'compact') expect(heard.person).toContain('after 1 compaction')
      expect(logged()).toBe(before)
      expect(outboxKinds()).toContain(
        source === 'compact' ? 'context.given' : 'conversation.joined',
      )
    },
  )

  test('gets the same text as from the handler', async () => {
    const { another, path, sessions } = await upToDateProject()
    const fast = await withoutBackgroundHooks(another()).start()
    writeFileSync(path('.sessions', 'journal', sessions()[0]!, 'prepared.json'), '')
    expect(await withoutBackgroundHooks(another()).start()).toEqual(fast)
  })

  test('records usage with the last message, once the transcript has it', async () => {
    const { agent, ofKind } = await upToDateProject()
    await agent.prompt('Now look at the cookie code')
    agent.isFollowed = true
    agent.answers('Looked.')
    await agent.stop('Looked.')
    expect(ofKind('turn.ended').at(-1)).toMatchObject({
      said: 'Looked.',
      usage: { cacheRead: 5000 },
    })
  })

  test('records test results from the transcript when the turn ends', async () => {
    const { agent, ofKind } = await upToDateProject()
    agent.write({ type: 'assistant', message: { id: 'm', content: [bash('t1', 'npm test')] } })
    await agent.run('npm test', ' Tests  3 passed (3)\n', 't1')
    expect(ofKind('test.ran')).toEqual([])
    agent.write({
      type: 'user',
      message: {
        content: [{ type: 'tool_result', tool_use_id: 't1', content: ' Tests  3 passed (3)\n' }],
      },
    })
    agent.isFollowed = true
    await agent.stop('They pass.')
    expect(ofKind('test.ran')).toMatchObject([{ command: 'npm test', passed: true }])
  })
})

describe('the handler serves a conversation', () => {
  test.each([
    ['that was compacted unannounced', ({ agent }: World) => agent.compacts('auto')],
    [
      'in which a command failed',
      ({ agent }: World) => agent.write({ type: 'user', message: { content: [FAILED] } }),
    ],
    [
      'whose model responded without the injected context',
      async ({ agent }: World) => {
        await agent.start('clear')
        agent.write({ type: 'attachment', attachment: { type: 'hook_success' } })
        agent.answers()
      },
    ],
    [
      'whose branch moved',
      ({ git, path }: World) => {
        writeFileSync(path('x'), '')
        git('add', '.')
        git('commit', '-qm', 'by somebody')
      },
    ],
    [
      'whose configuration changed',
      ({ path }: World) => writeFileSync(path('.sessions', 'config.yaml'), 'nudges: off\n'),
    ],
    ['whose session was paused', async ({ stint }: World) => void (await stint('pause'))],
    [
      'with redaction patterns of the user',
      async ({ path, agent }: World) => {
        writeFileSync(path('.sessions', 'config.yaml'), 'redact: { patterns: ["x-[0-9]+"] }\n')
        agent.isFollowed = true
        await agent.stop('Settled again.')
        agent.isFollowed = false
      },
    ],
  ])('%s', async (_, happens) => {
    const world = await upToDateProject()
    await happens(world)
    const before = world.outboxKinds().length
    await world.agent.prompt('Now look at the cookie code of x-17')
    expect(world.outboxKinds().length).toBeLessThanOrEqual(before)
    expect(JSON.stringify(world.entries())).not.toContain('"by":"hook","once":"outbox')
  })

  test('that was bound to another session', async () => {
    const world = await upToDateProject()
    const { agent, stint } = world
    await stint('pause')
    await stint('init', '--name', 'second', '--goal', 'Another')
    const notes = join(world.notes, `${agent.conversation}.json`)
    const second = world.sessions().at(-1)!
    writeFileSync(
      notes,
      JSON.stringify({ ...JSON.parse(readFileSync(notes, 'utf8')), session: second }),
    )
    agent.isFollowed = true
    await agent.prompt('Now change the known file for this')
    await agent.edit('known.ts')
    await agent.stop('Changed.')
    expect(world.ofKind('conversation.joined', second)).toHaveLength(1)
    expect(world.ofKind('file.changed', second)).toEqual([{ path: 'known.ts' }])
  })

  test('whose injected context was not delivered, although the transcript was read before', async () => {
    const world = await upToDateProject()
    const other = world.another()
    await other.start()
    other.write({ type: 'attachment', attachment: { type: 'hook_success' } })
    other.answers()
    await other.stop('A turn of words.')
    expect((await other.prompt('Now look at the cookie code')).model).toContain(
      'the cookie is set twice',
    )
  })

  test('whose killed predecessor ran passing tests', async () => {
    const world = await upToDateProject()
    const { agent } = world
    agent.write({ type: 'assistant', message: { id: 'm', content: [bash('t1', 'npm test')] } })
    await agent.run('npm test', ' Tests  3 passed (3)\n', 't1')
    agent.write({
      type: 'user',
      message: {
        content: [{ type: 'tool_result', tool_use_id: 't1', content: ' Tests  3 passed (3)\n' }],
      },
    })
    await withoutBackgroundHooks(world.another()).start()
    expect(world.ofKind('test.ran')).toHaveLength(1)
  })

  test('whose precomputed file is garbage', async () => {
    const world = await upToDateProject()
    writeFileSync(
      world.path('.sessions', 'journal', world.sessions()[0]!, 'prepared.json'),
      'garbage',
    )
    expect((await withoutBackgroundHooks(world.another()).start()).model).toContain(
      'the cookie is set twice',
    )
    await world.agent.send('PreCompact', { trigger: 'auto' })
    expect(world.ofKind('checkpoint.made')).toHaveLength(1)
  })

  test('that ends before it was copied completely', async () => {
    const world = await upToDateProject()
    world.agent.answers('and one more thing')
    await world.agent.end()
    const copy = world.path('.sessions', 'conversations', `${world.agent.conversation}.jsonl`)
    expect(readFileSync(copy, 'utf8')).toMatch(
      /and one more thing[\s\S]*"type":"ended".*"reason":"other"/,
    )
  })

  test('with an outbox entry that changes its context', async () => {
    const world = await upToDateProject()
    await world.agent.prompt('Never touch the billing code')
    expect(world.outboxKinds()).toEqual(['request.made'])
    expect((await withoutBackgroundHooks(world.another()).start()).model).toContain('billing')
  })

  test('whose killed predecessor has a failure in its transcript', async () => {
    const world = await upToDateProject()
    world.agent.write({
      type: 'assistant',
      isApiErrorMessage: true,
      message: { content: [{ type: 'text', text: 'API Error: 529' }] },
    })
    expect((await withoutBackgroundHooks(world.another()).start()).model).toContain('529')
  })
})

describe('the precomputed file', () => {
  test('joins a conversation once even if the env file of the harness is not writable', async () => {
    const world = await upToDateProject()
    const other = withoutBackgroundHooks(world.another({ CLAUDE_ENV_FILE: '/nowhere/at/all' }))
    expect((await other.start()).model).toContain('the cookie is set twice')
    await world.stint('view')
    expect(
      world
        .ofKind('conversation.joined')
        .filter(({ conversation }) => conversation === other.conversation),
    ).toHaveLength(1)
  })

  test('is removed by a purge', async () => {
    const world = await upToDateProject()
    const prepared = world.path('.sessions', 'journal', world.sessions()[0]!, 'prepared.json')
    expect(readFileSync(prepared, 'utf8')).toContain('the cookie is set twice')
    expect((await world.stint('purge', 'the cookie is set twice')).exitCode).toBe(0)
    expect(existsSync(prepared)).toBe(false)
  })
})

describe('background work', () => {
  test('does not overwrite the state that another hook wrote meanwhile', async () => {
    const world = await upToDateProject()
    const notes = join(world.notes, `${world.agent.conversation}.json`)
    const input = JSON.stringify({
      session_id: world.agent.conversation,
      transcript_path: world.agent.transcript,
      cwd: world.cwd,
      hook_event_name: 'UserPromptSubmit',
      prompt: 'x',
    })
    const running = runAfterEvent(input, world.agent.env, program)
    writeFileSync(
      notes,
      JSON.stringify({
        conversation: world.agent.conversation,
        harness: 'claude',
        session: world.sessions()[0],
        edits: 77,
        fired: {},
        requests: [],
        nudged: [],
        agents: {},
      }),
    )
    await running
    expect(readFileSync(notes, 'utf8')).toContain('"edits":77')
  })
})

type World = Awaited<ReturnType<typeof upToDateProject>>
type Agent = World['agent']

const SUBAGENT = { agent_id: 'a1', agent_type: 'reviewer', last_assistant_message: 'Fine.' }
const FAILED = { type: 'tool_result', tool_use_id: 't0', is_error: true, content: 'oh' }
const bash = (id: string, command: string) => ({
  type: 'tool_use',
  id,
  name: 'Bash',
  input: { command },
})

function withoutBackgroundHooks(agent: Agent): Agent {
  agent.isFollowed = false
  return agent
}
