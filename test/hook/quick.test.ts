import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runAfterEvent } from '../../src/hook/after-event.ts'
import { program } from '../support/cli.ts'
import { project } from './agent.ts'

/** A conversation of some turns, after which everything is recorded and made ready. */
async function settled() {
  const world = project()
  await world.stint('init', '--name', 'there', '--goal', 'Be there')
  await world.stint('log', '--key', 'the cookie is set twice')
  const agent = world.agent()
  agent.received((await agent.start()).model)
  agent.answers()
  await agent.prompt('Change the known file')
  await agent.edit('known.ts')
  agent.answers('Changed.')
  await agent.stop('Changed.')
  const [session] = world.sessions()
  const left = () => {
    const folder = world.path('.git', 'stint', 'outbox', session!)
    return existsSync(folder)
      ? readdirSync(folder).map((name) => name.split('.').slice(1, 3).join('.'))
      : []
  }
  const logged = () => world.entries().length
  agent.isFollowed = false
  return { ...world, agent, another: world.agent, left, logged }
}

describe('an event of a settled conversation', () => {
  test.each([
    [
      'an ordinary prompt',
      'request.made',
      (agent: Agent) => agent.prompt('Now look at the cookie code'),
    ],
    ['the end of a turn', 'turn.ended', (agent: Agent) => agent.stop('Looked.')],
    [
      'a delegated agent that finished',
      'agent.finished',
      (agent: Agent) => agent.send('SubagentStop', SUBAGENT),
    ],
    ['the end', 'conversation.ended', (agent: Agent) => agent.end()],
  ])('is left for the journal and says nothing: %s', async (_, kind, send) => {
    const { agent, left, logged, ofKind, stint } = await settled()
    const before = logged()
    expect((await send(agent)).printed).toBe('')
    expect([left(), logged()]).toEqual([[kind], before])
    await stint('view')
    expect([left(), logged()]).toEqual([[], before + 1])
    expect(ofKind(kind).at(-1)).toMatchObject({ conversation: agent.conversation })
  })

  test('says in what was stored of it why it ended', async () => {
    const { agent, path } = await settled()
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

  test('asks for the summary with what was made ready, and leaves the checkpoint', async () => {
    const { agent, left } = await settled()
    const { printed } = await agent.send('PreCompact', { trigger: 'auto' })
    expect(printed).toContain('Pre-Compaction Checkpoint')
    expect(printed).toContain('the cookie is set twice')
    expect(left()).toEqual(['checkpoint.made'])
  })

  test.each(['startup', 'resume', 'clear', 'compact', 'fork'])(
    'begins with what was made ready: %s',
    async (source) => {
      const { agent, another, left, logged } = await settled()
      const before = logged()
      const other = source === 'resume' || source === 'compact' ? agent : notFollowed(another())
      if (source === 'clear') await agent.end('clear')
      const heard = await other.start(source)
      expect(heard.person).toContain('📋 there')
      if (source === 'resume') expect(heard.model).toBe('')
      else expect(heard.model).toContain('the cookie is set twice')
      if (source === 'compact') expect(heard.person).toContain('after 1 compaction')
      expect(logged()).toBe(before)
      expect(left()).toContain(source === 'compact' ? 'context.given' : 'conversation.joined')
    },
  )

  test('gets the same words as one that is served in full', async () => {
    const { another, path, sessions } = await settled()
    const quick = await notFollowed(another()).start()
    writeFileSync(path('.sessions', 'journal', sessions()[0]!, 'prepared.json'), '')
    expect(await notFollowed(another()).start()).toEqual(quick)
  })

  test('shows usage with the last words, once the transcript has it', async () => {
    const { agent, ofKind } = await settled()
    await agent.prompt('Now look at the cookie code')
    agent.isFollowed = true
    agent.answers('Looked.')
    await agent.stop('Looked.')
    expect(ofKind('turn.ended').at(-1)).toMatchObject({
      said: 'Looked.',
      usage: { cacheRead: 5000 },
    })
  })

  test('records how tests went from the transcript, when the turn is over', async () => {
    const { agent, ofKind } = await settled()
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

describe('a conversation is served in full', () => {
  test.each([
    ['that was compacted unseen', ({ agent }: Settled) => agent.compacts('auto')],
    [
      'in which a command failed',
      ({ agent }: Settled) => agent.write({ type: 'user', message: { content: [FAILED] } }),
    ],
    [
      'whose model answered without what it was given',
      async ({ agent }: Settled) => {
        await agent.start('clear')
        agent.write({ type: 'attachment', attachment: { type: 'hook_success' } })
        agent.answers()
      },
    ],
    [
      'whose branch moved',
      ({ git, path }: Settled) => {
        writeFileSync(path('x'), '')
        git('add', '.')
        git('commit', '-qm', 'by somebody')
      },
    ],
    [
      'whose configuration changed',
      ({ path }: Settled) => writeFileSync(path('.sessions', 'config.yaml'), 'nudges: off\n'),
    ],
    ['whose session was paused', async ({ stint }: Settled) => void (await stint('pause'))],
    [
      'with patterns of the person',
      async ({ path, agent }: Settled) => {
        writeFileSync(path('.sessions', 'config.yaml'), 'redact: { patterns: ["x-[0-9]+"] }\n')
        agent.isFollowed = true
        await agent.stop('Settled again.')
        agent.isFollowed = false
      },
    ],
  ])('%s', async (_, happens) => {
    const world = await settled()
    await happens(world)
    const before = world.left().length
    await world.agent.prompt('Now look at the cookie code of x-17')
    expect(world.left().length).toBeLessThanOrEqual(before)
    expect(JSON.stringify(world.entries())).not.toContain('"by":"hook","once":"outbox')
  })

  test('that was given another session', async () => {
    const world = await settled()
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

  test('whose model did not get what it was given, though that was looked at before', async () => {
    const world = await settled()
    const other = world.another()
    await other.start()
    other.write({ type: 'attachment', attachment: { type: 'hook_success' } })
    other.answers()
    await other.stop('A turn of words.')
    expect((await other.prompt('Now look at the cookie code')).model).toContain(
      'the cookie is set twice',
    )
  })

  test('before which another was killed whose tests went well', async () => {
    const world = await settled()
    const { agent } = world
    agent.write({ type: 'assistant', message: { id: 'm', content: [bash('t1', 'npm test')] } })
    await agent.run('npm test', ' Tests  3 passed (3)\n', 't1')
    agent.write({
      type: 'user',
      message: {
        content: [{ type: 'tool_result', tool_use_id: 't1', content: ' Tests  3 passed (3)\n' }],
      },
    })
    await notFollowed(world.another()).start()
    expect(world.ofKind('test.ran')).toHaveLength(1)
  })

  test('for which what was made ready is garbage', async () => {
    const world = await settled()
    writeFileSync(
      world.path('.sessions', 'journal', world.sessions()[0]!, 'prepared.json'),
      'garbage',
    )
    expect((await notFollowed(world.another()).start()).model).toContain('the cookie is set twice')
    await world.agent.send('PreCompact', { trigger: 'auto' })
    expect(world.ofKind('checkpoint.made')).toHaveLength(1)
  })

  test('that has not been copied to its end, when it ends', async () => {
    const world = await settled()
    world.agent.answers('and one more thing')
    await world.agent.end()
    const copy = world.path('.sessions', 'conversations', `${world.agent.conversation}.jsonl`)
    expect(readFileSync(copy, 'utf8')).toMatch(
      /and one more thing[\s\S]*"type":"ended".*"reason":"other"/,
    )
  })

  test('for which something was left that it has to be told', async () => {
    const world = await settled()
    await world.agent.prompt('Never touch the billing code')
    expect(world.left()).toEqual(['request.made'])
    expect((await notFollowed(world.another()).start()).model).toContain('billing')
  })

  test('before which another was killed, whose transcript tells of a failure', async () => {
    const world = await settled()
    world.agent.write({
      type: 'assistant',
      isApiErrorMessage: true,
      message: { content: [{ type: 'text', text: 'API Error: 529' }] },
    })
    expect((await notFollowed(world.another()).start()).model).toContain('529')
  })
})

describe('what was made ready', () => {
  test('begins a conversation once, though the file that the harness named cannot be written', async () => {
    const world = await settled()
    const other = notFollowed(world.another({ CLAUDE_ENV_FILE: '/nowhere/at/all' }))
    expect((await other.start()).model).toContain('the cookie is set twice')
    await world.stint('view')
    expect(
      world
        .ofKind('conversation.joined')
        .filter(({ conversation }) => conversation === other.conversation),
    ).toHaveLength(1)
  })

  test('goes with a purge', async () => {
    const world = await settled()
    const prepared = world.path('.sessions', 'journal', world.sessions()[0]!, 'prepared.json')
    expect(readFileSync(prepared, 'utf8')).toContain('the cookie is set twice')
    expect((await world.stint('purge', 'the cookie is set twice')).exitCode).toBe(0)
    expect(existsSync(prepared)).toBe(false)
  })
})

describe('what happens beside a hook', () => {
  test('does not write over what another hook noted meanwhile', async () => {
    const world = await settled()
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

type Settled = Awaited<ReturnType<typeof settled>>
type Agent = Settled['agent']

const SUBAGENT = { agent_id: 'a1', agent_type: 'reviewer', last_assistant_message: 'Fine.' }
const FAILED = { type: 'tool_result', tool_use_id: 't0', is_error: true, content: 'oh' }
const bash = (id: string, command: string) => ({
  type: 'tool_use',
  id,
  name: 'Bash',
  input: { command },
})

function notFollowed(agent: Agent): Agent {
  agent.isFollowed = false
  return agent
}
