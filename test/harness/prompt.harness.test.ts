import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Message, MessagePart } from '../../src/history/items.ts'
import { conversationStore } from '../../src/history/store.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import type {
  PromptEvent,
  PromptEventKind,
  PromptHandle,
  PromptRequest,
} from '../../src/run/prompt/prompt-events.ts'
import { startPrompt } from '../../src/run/prompt/start-prompt.ts'
import { carriersOf, commandOf, expectNoneLeft } from '../support/processes.ts'
import { ClaudeWorld } from './claude-world.ts'
import { CodexWorld } from './codex-world.ts'
import type { Reply } from './model-stub.ts'

/** Claude Code does not let its model sleep. */
const WAIT = 'tail -f /dev/null'
const running = (command: string): Reply => ({
  tools: [{ name: 'Bash', input: { command, description: 'a command' } }],
})

/**
 * One prompt to the real program, by default Claude Code; permission requests are decided by the
 * command they are for.
 */
async function ask(
  { project, env }: Pick<ClaudeWorld, 'project' | 'env'>,
  text: string,
  request: Partial<PromptRequest> = {},
): Promise<readonly PromptEvent[]> {
  const workspace = new Workspace(project, { env })
  const events: PromptEvent[] = []
  let handle: PromptHandle | undefined
  const onEvent = (event: PromptEvent) => {
    events.push(event)
    if (event.kind === 'permission.asked')
      handle!.decide(
        event.data.request,
        event.data.permission.command?.includes('allowed') === true,
      )
  }
  handle = await startPrompt(workspace, { text, harness: 'claude', ...request }, onEvent)
  await handle.ended
  workspace.close()
  await expectNoneLeft(`STINT_PROMPT=${handle.id}`)
  return events
}

function of<K extends PromptEventKind>(
  events: readonly PromptEvent[],
  kind: K,
): readonly PromptEvent<K>['data'][] {
  return events.flatMap((event) =>
    event.kind === kind ? [event.data as PromptEvent<K>['data']] : [],
  )
}

test('Claude Code is prompted, asked for permission, resumed and outlived; nothing is journalled twice', async () => {
  const claude = await ClaudeWorld.create('2.1.325', { setup: true })
  claude.env.STINT_CLAUDE = claude.program
  claude.stub.script(running('touch allowed.txt'), running('touch refused.txt'), {
    text: 'One was written.',
  })
  const first = await ask(claude, 'Write two files, please')
  expect(of(first, 'prompt.ended')).toMatchObject([{ how: 'completed', said: 'One was written.' }])
  expect(of(first, 'permission.settled').map(({ isAllowed }) => isAllowed)).toEqual([true, false])
  expect(existsSync(claude.path('allowed.txt'))).toBe(true)
  expect(existsSync(claude.path('refused.txt'))).toBe(false)
  expect(of(first, 'delta').length).toBeGreaterThan(0)
  expect(of(first, 'usage').at(-1)!.gauge.percent).toBeDefined()
  const { conversation } = of(first, 'conversation.started')[0]!

  // The hooks of the project are installed, and silent.
  expect(claude.entries().map(({ kind, by }) => `${kind} by ${by}`)).toEqual([
    'session.opened by prompt',
    'conversation.joined by prompt',
    'request.made by prompt',
    'turn.ended by prompt',
    'conversation.ended by prompt',
  ])

  claude.stub.script({ text: 'Here I am again.' })
  const second = await ask(claude, 'And what did you do?')
  expect(of(second, 'conversation.started')).toMatchObject([{ conversation }])
  expect(claude.stub.requests.at(-1)!.text).toContain('Write two files, please')
  expect(claude.sessions).toHaveLength(1)
  expect(claude.ofKind('conversation.joined')[0]).toMatchObject({
    transcript: claude.transcriptPath(conversation),
  })

  // The transcript is stored with all tool uses, once.
  const stored = [...conversationStore(claude.path('.sessions'), {}).read(conversation)]
  expect(stored[0]).toMatchObject({ type: 'began', harness: 'claude', conversation })
  const messages = stored.filter(
    (item): item is Message & { offset: number } => item.type === 'message',
  )
  const texts = messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])),
  )
  for (const text of [
    'Write two files, please',
    'One was written.',
    'And what did you do?',
    'Here I am again.',
  ])
    expect(texts.filter((one) => one === text)).toHaveLength(1)
  const uses = messages.flatMap(({ parts }): readonly MessagePart[] =>
    parts.filter(({ type }) => type === 'tool use'),
  )
  expect(uses).toMatchObject([
    { input: { command: 'touch allowed.txt' } },
    { input: { command: 'touch refused.txt' } },
  ])

  claude.stub.script(running(WAIT))
  const killed = spawn(
    join(claude.root, 'bin', 'stint'),
    ['prompt', '--permissions', 'all', 'Wait for something'],
    {
      cwd: claude.project,
      env: claude.env,
      stdio: 'ignore',
    },
  )
  const ended = new Promise((resolve) => killed.once('close', resolve))
  // In the middle of a command, which must not survive.
  const own = `CLAUDE_CONFIG_DIR=${claude.env.CLAUDE_CONFIG_DIR}`
  const isWaiting = () => carriersOf(own).some((pid) => commandOf(pid) === WAIT)
  await expect.poll(isWaiting).toBe(true)
  killed.kill('SIGKILL')
  await ended
  // The messages so far are found without resuming the conversation.
  expect(claude.stint('history', conversation)).toContain('Wait for something')
  claude.stub.script({ text: 'On.' })
  const last = await ask(claude, 'What became of it?')
  expect(of(last, 'prompt.ended')).toMatchObject([{ how: 'completed', said: 'On.' }])
  expect(of(last, 'conversation.started')).toMatchObject([{ conversation }])
  await expectNoneLeft(own)
})

test('Codex is prompted and resumed, and its own history is stored once', async () => {
  const codex = await CodexWorld.create()
  codex.stub.script(
    { tools: [{ name: 'exec_command', input: { cmd: 'echo allowed > allowed.txt' } }] },
    { text: 'It is written.' },
  )
  const first = await ask(codex, 'Write a file, please', { harness: 'codex' })
  expect(of(first, 'prompt.ended')).toMatchObject([{ how: 'completed', said: 'It is written.' }])
  expect(of(first, 'permission.settled')).toMatchObject([{ isAllowed: true }])
  expect(existsSync(join(codex.project, 'allowed.txt'))).toBe(true)
  expect(of(first, 'delta').length).toBeGreaterThan(0)
  const { conversation } = of(first, 'conversation.started')[0]!
  codex.stub.script({ text: 'Here I am again.' })
  const second = await ask(codex, 'And what did you do?', { harness: 'codex' })
  expect(of(second, 'conversation.started')).toMatchObject([{ conversation }])
  expect(of(second, 'prompt.ended')).toMatchObject([{ how: 'completed', said: 'Here I am again.' }])

  const stored = [...conversationStore(join(codex.project, '.sessions'), {}).read(conversation)]
  const { path } = conversationStore(join(codex.project, '.sessions'), {}).list()[0]!
  expect(readFileSync(path, 'utf8').trimEnd().split('\n')).toHaveLength(stored.length)
  expect(stored.map(({ type }) => type).filter((type) => type !== 'message')).toEqual([
    'began',
    'ended',
    'ended',
  ])
  const parts = stored.flatMap((item) => (item.type === 'message' ? item.parts : []))
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  for (const text of [
    'Write a file, please',
    'It is written.',
    'And what did you do?',
    'Here I am again.',
  ])
    expect(texts.filter((one) => one === text)).toHaveLength(1)
  expect(parts.filter(({ type }) => type === 'tool use')).toHaveLength(1)
  expect(parts.filter(({ type }) => type === 'tool result')).toHaveLength(1)
})
