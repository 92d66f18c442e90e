import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checksum } from '../../src/journal/record.ts'
import { claimOpening } from '../../src/project/store/open-sessions.ts'
import { findProjectPaths } from '../../src/project/store/project-paths.ts'
import { project } from './agent.ts'

const requests = (world: ReturnType<typeof project>, session?: string) =>
  world.ofKind('request.made', session).map(({ text }) => text)
const files = (world: ReturnType<typeof project>, session?: string) =>
  world.ofKind('file.changed', session).map(({ path }) => path)

describe('a conversation', () => {
  test('works on the project it was started in, wherever its agent changes to', async () => {
    const world = project()
    await world.stint('init', '--name', 'outer')
    const inner = world.path('vendor', 'lib')
    mkdirSync(inner, { recursive: true })
    world.git('init', '-q', inner)
    const agent = world.agent({ CLAUDE_PROJECT_DIR: world.cwd })
    await agent.start()
    await agent.send('UserPromptSubmit', { prompt: 'Fix the outer thing', cwd: inner })
    await agent.send('PostToolUse', {
      tool_name: 'Write',
      tool_input: { file_path: world.path('outer.ts') },
      tool_response: {},
      cwd: inner,
    })
    expect(requests(world)).toEqual(['Fix the outer thing'])
    expect(files(world)).toEqual(['outer.ts'])
    expect(existsSync(join(inner, '.git', 'stint'))).toBe(false)
  })

  test('adds its earlier requests to the session that its agent opens', async () => {
    const world = project()
    const agent = world.agent()
    await agent.start()
    await agent.prompt('Never use lodash in the parser')
    const { stdout } = await world.stint('init', '--name', 'alpha')
    await agent.run('stint init --name alpha', stdout)
    await agent.edit('src/parser.ts')
    await world.stint('close', '--complete')
    await agent.prompt('Now write a consumer for the queue')
    await agent.edit('src/consumer.ts')
    const [alpha, next] = world.sessions()
    expect(requests(world, alpha)).toEqual(['Never use lodash in the parser'])
    expect(requests(world, next)).toEqual(['Now write a consumer for the queue'])
    expect(world.ofKind('session.opened', next)).toMatchObject([
      { name: 'now-write-a-consumer-for-the-queue' },
    ])
  })

  test('records edits right after closing in no session', async () => {
    const world = project()
    await world.stint('init', '--name', 'first')
    const agent = world.agent()
    await agent.start()
    await world.stint('close', '--complete')
    await agent.edit('CHANGELOG.md')
    await agent.prompt('Now make the search faster')
    await agent.edit('src/search.ts')
    const [, next] = world.sessions()
    expect(files(world, next)).toEqual(['src/search.ts'])
  })

  test('takes nothing from a previous conversation that moved to another session', async () => {
    const world = project()
    await world.stint('init', '--name', 'alpha')
    const first = world.agent()
    await first.start()
    first.answers()
    await first.stop('begun')
    world.git('checkout', '-qb', 'other')
    const { stdout } = await world.stint('init', '--name', 'beta')
    await first.run('stint init --name beta', stdout)
    first.compacts()
    first.write({
      type: 'attachment',
      attachment: { type: 'queued_command', prompt: 'only ever for beta', commandMode: 'prompt' },
    })
    world.git('checkout', '-q', 'main')
    await world.agent().start()
    const [alpha] = world.sessions()
    expect(requests(world, alpha)).toEqual([])
    expect(world.ofKind('context.compacted', alpha)).toEqual([])
  })

  test('leaves its unread transcript to the next conversation when it is killed', async () => {
    const world = project()
    await world.stint('init', '--name', 'alpha')
    const first = world.agent()
    await first.start()
    first.answers()
    await first.stop('begun')
    first.write({
      type: 'attachment',
      attachment: { type: 'queued_command', prompt: 'keep the old name', commandMode: 'prompt' },
    })
    expect((await world.agent().start()).model).toContain('keep the old name')
  })

  test('joins the session opened by its first edit once', async () => {
    const world = project()
    const agent = world.agent()
    await agent.start()
    await agent.edit('a.ts')
    await agent.edit('b.ts')
    expect(world.ofKind('conversation.joined')).toHaveLength(1)
  })

  test('opens no session while a command opens one, and then joins that one', async () => {
    const world = project()
    mkdirSync(world.path('.sessions'))
    const claim = claimOpening(findProjectPaths(world.cwd), 'main')
    const agent = world.agent()
    await agent.edit('a.ts')
    expect(world.sessions()).toHaveLength(0)
    claim!.release()
    await world.stint('init', '--name', 'alpha')
    await agent.edit('b.ts')
    expect(world.sessions()).toHaveLength(1)
    expect(files(world)).toEqual(['a.ts', 'b.ts'])
  })

  test('opens a session despite a claim with a timestamp in the future', async () => {
    const world = project()
    mkdirSync(world.path('.sessions'))
    const claim = world.path(
      '.sessions',
      `opening-${checksum(Buffer.from(JSON.stringify(['main', world.cwd])))}`,
    )
    writeFileSync(claim, String(process.pid))
    const tomorrow = new Date(Date.now() + 86_400_000)
    utimesSync(claim, tomorrow, tomorrow)
    await world.agent().edit('a.ts')
    expect(world.sessions()).toHaveLength(1)
  })
})

describe('STINT_SESSION', () => {
  test('selects a session for hooks as for commands, by any part of its id', async () => {
    const world = project()
    await world.stint('init', '--name', 'alpha')
    const [id] = world.sessions()
    world.git('checkout', '-qb', 'other')
    await world.agent({ STINT_SESSION: id!.slice(-6) }).edit('a.ts')
    expect(world.sessions()).toHaveLength(1)
    expect(files(world)).toEqual(['a.ts'])
  })

  test('opens no session when it names none that is open', async () => {
    const world = project()
    await world.stint('init', '--name', 'alpha')
    await world.stint('close', '--complete')
    await world.agent({ STINT_SESSION: 'alpha' }).edit('a.ts')
    expect(world.sessions()).toHaveLength(1)
  })
})

describe('a session', () => {
  test('stays on its branch through a detached head and a checkout in another terminal', async () => {
    const world = project()
    world.git('checkout', '-qb', 'feature')
    await world.stint('init', '--name', 'alpha', '--goal', 'Stay here')
    const agent = world.agent()
    await agent.start()
    world.git('checkout', '-q', '--detach')
    await agent.stop('bisecting')
    world.git('checkout', '-q', 'main')
    await agent.prompt('where is it?')
    world.git('checkout', '-q', 'feature')
    expect((await world.agent().start()).model).toContain('Stay here')
  })

  test('follows its agent to the branch it works on', async () => {
    const world = project()
    await world.stint('init', '--name', 'alpha', '--goal', 'Move on')
    const agent = world.agent()
    await agent.start()
    world.git('checkout', '-qb', 'feature')
    await agent.edit('a.ts')
    expect((await world.agent().start()).model).toContain('Move on')
  })

  test('of a removed worktree is found on its branch', async () => {
    const world = project()
    const tree = join(world.folder, 'tree')
    world.git('worktree', 'add', '-qb', 'feature', tree)
    await world.run(['init', '--name', 'alpha', '--goal', 'Outlive the tree'], { cwd: tree })
    world.git('worktree', 'remove', '--force', tree)
    world.git('checkout', '-q', 'feature')
    expect((await world.agent().start()).model).toContain('Outlive the tree')
  })

  test('does not record the commits that a merge brought in', async () => {
    const world = project()
    await world.stint('init', '--name', 'alpha')
    const agent = world.agent()
    await agent.start()
    world.git('checkout', '-qb', 'theirs')
    for (const name of ['one', 'two'])
      world.git('commit', '-q', '--allow-empty', '-m', `Theirs ${name}`)
    world.git('checkout', '-q', 'main')
    world.git('merge', '-q', '--no-ff', 'theirs', '-m', 'Merge theirs')
    await agent.run('git merge theirs')
    expect(world.ofKind('commit.made').map(({ subject }) => subject)).toEqual(['Merge theirs'])
  })
})

describe('a worktree', () => {
  test('records files by their path inside it', async () => {
    const world = project()
    const tree = join(world.folder, 'tree')
    world.git('worktree', 'add', '-qb', 'feature', tree)
    const agent = world.agent()
    await agent.send('PostToolUse', {
      tool_name: 'Write',
      tool_input: { file_path: join(tree, 'a.ts') },
      tool_response: {},
      cwd: tree,
    })
    expect(files(world)).toEqual(['a.ts'])
    expect(world.ofKind('session.opened')).toMatchObject([{ name: 'feature', worktree: tree }])
  })
})

describe('the conversation state of hooks', () => {
  const notes = (world: ReturnType<typeof project>) =>
    readdirSync(world.notes)
      .map((name) => readFileSync(join(world.notes, name), 'utf8'))
      .join('\n')

  test('holds no secret of a running command or of a subagent prompt', async () => {
    const world = project()
    await world.stint('init', '--name', 'alpha')
    const secret = `sk-ant-api03-${'Ab1'.repeat(30)}`
    const agent = world.agent()
    await agent.start()
    const input = { command: `ANTHROPIC_API_KEY=${secret} npm test` }
    agent.write({
      type: 'assistant',
      message: {
        id: 'm',
        role: 'assistant',
        content: [{ type: 'tool_use', id: 't', name: 'Bash', input }],
      },
    })
    await agent.prompt('is it still running over there')
    await agent.send('PostToolUse', {
      tool_name: 'Agent',
      tool_input: { description: `use ${secret}`, prompt: 'x', subagent_type: 'general-purpose' },
      tool_response: { status: 'async_launched', agentId: 'a1', description: `use ${secret}` },
    })
    expect(notes(world)).not.toContain(secret)
  })

  test('and the journal hold no part of a secret at the point where a text is cut', async () => {
    const world = project()
    await world.stint('init', '--name', 'alpha')
    const secret = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`
    const agent = world.agent()
    await agent.start()
    // Without a space, so that the cut is inside the secret.
    await agent.prompt(`${'x,'.repeat(292)}${secret},is,the,token`)
    await agent.stop(`${'y,'.repeat(592)}${secret}`)
    expect(JSON.stringify(world.entries())).not.toContain(secret.slice(0, 12))
  })
})

describe('a subagent', () => {
  test('gets no context that is meant for the conversation', async () => {
    const world = project()
    await world.stint('init', '--name', 'alpha', '--goal', 'For the conversation')
    const agent = world.agent()
    await agent.start()
    agent.write({ type: 'attachment', attachment: { type: 'environment' } })
    agent.answers()
    const tool = {
      tool_name: 'Edit',
      tool_input: { file_path: world.path('a.ts') },
      tool_response: {},
      agent_id: 'a1',
    }
    for (let time = 0; time < 6; time += 1)
      expect((await agent.send('PostToolUse', tool)).printed).toBe('')
    expect((await agent.prompt('look at the first thing')).model).toContain('For the conversation')
    expect(files(world)).toEqual(['a.ts'])
  })
})
