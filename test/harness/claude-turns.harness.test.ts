import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type {
  Conversation,
  ConversationOptions,
  PermissionRequest,
} from '../../src/harness/contract/drive.ts'
import { carriersOf } from '../support/processes.ts'
import { type DrivenWorld, drivenWorld } from './driven-world.ts'
import { CLAUDE_VERSIONS } from './install.ts'
import { turn } from '../contract/harness.ts'

async function opened(
  { harness, open }: DrivenWorld,
  more: Partial<ConversationOptions> = {},
): Promise<Conversation> {
  const conversation = await harness.open({ ...open, ...more })
  onTestFinished(() => conversation.close())
  return conversation
}

const count = (text: string, word: string) => text.split(word).length - 1

describe.each(CLAUDE_VERSIONS)('a conversation with Claude Code %s', (version) => {
  test('takes five turns in one process, and each request has the system prompt and the setup once', async () => {
    const world = await drivenWorld(version)
    world.script(
      [{ say: 'one' }],
      [{ run: 'true' }, { say: 'two' }],
      [{ say: 'three' }],
      [{ say: 'four' }],
      [{ say: 'five' }],
    )
    const conversation = await opened(world, { systemPrompt: 'STANDING-RULES of this run.' })
    const prompts = [
      'SET-UP of the session.\n# Task A: first',
      ...['B', 'C', 'D', 'E'].map((name) => `# Task ${name}: more`),
    ]
    const processes = new Set<number>()
    for (const prompt of prompts) {
      expect((await turn(conversation, prompt)).at(-1)).toMatchObject({ how: 'completed' })
      for (const pid of agentsIn(world)) {
        processes.add(pid)
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        expect(command).not.toMatch(/STANDING-RULES|SET-UP|# Task/)
      }
    }
    expect([...processes]).toHaveLength(1)
    const { turns } = world.claude.stub
    expect(turns).toHaveLength(6)
    for (const { text } of turns) {
      expect(count(text, 'STANDING-RULES')).toBe(1)
      expect(count(text, 'SET-UP of the session.')).toBe(1)
    }
    expect(prompts.map((prompt) => count(turns.at(-1)!.text, prompt))).toEqual([1, 1, 1, 1, 1])
  })

  test('emits events while a reply is streaming, so that a long one is not a stall', async () => {
    const world = await drivenWorld(version)
    world.script([{ say: 'a long answer' }])
    const received: string[] = []
    const trace = (direction: 'to' | 'from', line: string) =>
      void (direction === 'from' && received.push(line))
    await turn(await opened(world, { trace }), 'hello')
    const piece = received.findIndex((line) => line.includes('text_delta'))
    const whole = received.findIndex((line) => line.includes('"type":"assistant"'))
    expect(piece).toBeGreaterThan(-1)
    expect(piece).toBeLessThan(whole)
  })

  test('reports the requested window', async () => {
    const world = await drivenWorld(version)
    const conversation = await opened(world, { model: 'claude-sonnet-4-5-20250929[1m]' })
    const events = [...(await turn(conversation, 'A')), ...(await turn(conversation, 'B'))]
    const windows = events.flatMap((event) => (event.type === 'usage' ? (event.window ?? []) : []))
    expect(windows).toEqual([1_000_000, 1_000_000])
  })

  test('reads CLAUDE.md by itself; AGENTS.md only in new versions without CLAUDE.md', async () => {
    const world = await drivenWorld(version)
    expect(world.harness.capabilities.instructions).toEqual(['CLAUDE.md'])
    writeFileSync(world.claude.path('AGENTS.md'), 'MARK-OF-AGENTS\n')
    await turn(await opened(world), 'hello')
    expect(world.seen().includes('MARK-OF-AGENTS')).toBe(version === '2.1.325')
    world.claude.stub.forget()
    writeFileSync(world.claude.path('CLAUDE.md'), 'MARK-OF-CLAUDE\n')
    await turn(await opened(world), 'hello')
    expect(world.seen()).toContain('MARK-OF-CLAUDE')
    expect(world.seen()).not.toContain('MARK-OF-AGENTS')
  })

  test('may commit a message of several lines under `edits`, with nothing hidden in it', async () => {
    const world = await drivenWorld(version)
    const message = (body: string) => `git commit --allow-empty -m "$(cat <<'EOF'\n${body}\nEOF\n)"`
    world.script([
      { run: message('A subject\n\nAnd why: `touch x`.') },
      { run: `${message('other')} $(touch sneaked)` },
      { run: message("other\nEOF\ntouch sneaked\ncat <<'EOF'\nanother") },
      { run: "git -c alias.x='!touch sneaked' x" },
      { run: 'git config alias.x "!touch sneaked"' },
      { run: 'stint digest -- touch sneaked' },
      { run: 'cd . && test -f readme.txt && touch verified' },
      { say: 'done' },
    ])
    const allow = ['stint task', 'cd . && test -f readme.txt && touch verified']
    const asked: PermissionRequest[] = []
    const decide = async (request: PermissionRequest) => asked.push(request) < 0
    const events = await turn(
      await opened(world, { permissions: 'edits', allow, decide }),
      'commit it',
    )
    expect(events.at(-1)).toMatchObject({ how: 'completed' })
    expect(world.claude.git('log', '-1', '--format=%s')).toBe('A subject\n')
    expect(asked.map(({ command }) => command)).toEqual([
      expect.stringContaining('$(touch sneaked)'),
      expect.stringContaining('EOF\ntouch sneaked'),
      expect.stringContaining('git -c alias.x'),
      expect.stringContaining('git config alias.x'),
      'stint digest -- touch sneaked',
    ])
    expect(existsSync(join(world.open.cwd, 'verified'))).toBe(true)
    expect(existsSync(join(world.open.cwd, 'sneaked'))).toBe(false)
  })

  test('commits in its own worktree under `edits`', async () => {
    const world = await drivenWorld(version)
    const tree = join(world.claude.root, 'tree')
    world.claude.git('worktree', 'add', '-q', '-b', 'run', tree)
    world.script([
      { run: 'echo more >> readme.txt' },
      { run: 'git add -A' },
      { run: 'git commit -qm more' },
      { say: 'done' },
    ])
    await turn(await opened(world, { cwd: tree, permissions: 'edits' }), 'do it')
    expect(
      execFileSync('git', ['log', '-1', '--format=%s'], {
        cwd: tree,
        env: world.claude.env,
        encoding: 'utf8',
      }),
    ).toBe('more\n')
  })

  test('that cannot be resumed ends its first turn as died, with the output of the program', async () => {
    const world = await drivenWorld(version)
    const conversation = await opened(world, { resume: '11111111-2222-4333-8444-555555555555' })
    const end = (await turn(conversation, 'hello')).at(-1)
    expect(end).toMatchObject({
      type: 'turn ended',
      how: 'died',
      failure: expect.stringContaining('No conversation found'),
    })
  })

  test('is interrupted even when asked before the prompt was accepted', async () => {
    const world = await drivenWorld(version)
    world.script([{ say: 'one' }], [{ hang: true }])
    const conversation = await opened(world)
    await turn(conversation, 'A')
    const hanging = turn(conversation, 'B')
    await conversation.interrupt()
    expect((await hanging).at(-1)).toMatchObject({ how: 'interrupted' })
    // It may or may not have reached the model.
    world.claude.stub.forget()
    expect((await turn(conversation, 'C')).at(-1)).toMatchObject({ how: 'completed' })
  })

  test('continues when a background command ends between two turns', async () => {
    const world = await drivenWorld(version)
    world.claude.stub.script(
      {
        tools: [
          {
            name: 'Bash',
            input: { command: 'echo behind', run_in_background: true, description: 'x' },
          },
        ],
      },
      { text: 'begun' },
    )
    const conversation = await opened(world)
    expect((await turn(conversation, 'A')).at(-1)).toMatchObject({
      how: 'completed',
      said: 'begun',
    })
    // Long enough to end, and on some machines even to be reported.
    await new Promise((resolve) => setTimeout(resolve, 1500))
    const end = (await turn(conversation, 'B')).at(-1)
    if (version === '2.1.325') return expect(end).toMatchObject({ how: 'completed', said: 'ok' })
    // This version accepts no more prompts from then on, which the driver has to notice.
    expect(end).toMatchObject({ how: 'died', failure: expect.stringContaining('streaming mode') })
    const next = await opened(world, { resume: conversation.id! })
    expect((await turn(next, 'B')).at(-1)).toMatchObject({ how: 'completed' })
  })
})

test('answers a question for the user by saying that no user is present', async () => {
  const world = await drivenWorld('2.1.325')
  const question = {
    question: 'Which?',
    header: 'Which',
    options: [
      { label: 'a', description: 'a' },
      { label: 'b', description: 'b' },
    ],
    multiSelect: false,
  }
  world.claude.stub.script(
    { tools: [{ name: 'AskUserQuestion', input: { questions: [question] } }] },
    { text: 'I take a.' },
  )
  const events = await turn(await opened(world), 'choose')
  expect(events.at(-1)).toMatchObject({ how: 'completed', said: 'I take a.' })
  expect(world.seen()).toContain('Nobody is here to answer')
})

/** The agent programs running in this world. */
function agentsIn(world: DrivenWorld): readonly number[] {
  return carriersOf(`CLAUDE_CONFIG_DIR=${world.claude.env.CLAUDE_CONFIG_DIR}`)
}
