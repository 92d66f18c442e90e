// The driver against a misbehaving program; test/harness runs it against the real one.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  claudeArguments,
  claudeHarness,
  claudeEnvironment,
} from '../../src/harness/claude/drive.ts'
import type {
  Conversation,
  HarnessEvent,
  ConversationOptions,
  PermissionRequest,
} from '../../src/harness/contract/drive.ts'
import { carriersOf } from '../support/processes.ts'

const FAKE_CLAUDE = join(dirname(fileURLToPath(import.meta.url)), 'odd-claude.mjs')

function environment(how: string): { readonly cwd: string; readonly env: NodeJS.ProcessEnv } {
  const cwd = mkdtempSync(join(tmpdir(), 'odd-'))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  const program = join(cwd, 'odd')
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${FAKE_CLAUDE}" "$@"\n`)
  chmodSync(program, 0o755)
  return { cwd, env: { PATH: '/usr/bin:/bin', STINT_CLAUDE: program, ODD: how, IS_SANDBOX: '1' } }
}

async function opened(how: string, more: Partial<ConversationOptions> = {}): Promise<Conversation> {
  const conversation = await claudeHarness.open({
    ...environment(how),
    permissions: 'edits',
    allow: [],
    ...more,
  })
  onTestFinished(() => conversation.close())
  return conversation
}

async function turn(
  conversation: Conversation,
  prompt = 'hello',
): Promise<readonly HarnessEvent[]> {
  const events: HarnessEvent[] = []
  for await (const event of conversation.prompt(prompt)) events.push(event)
  return events
}

describe('a program in place of Claude Code', () => {
  test('that dies at once ends this turn and every later one with its last output', async () => {
    const conversation = await opened('dies at once')
    const died = { type: 'turn ended', how: 'died', failure: 'no room on this machine' }
    expect(await turn(conversation)).toEqual([died])
    expect(await turn(conversation)).toEqual([died])
    await conversation.interrupt()
  })

  test('that ignores an interruption is ended, and the turn is interrupted', async () => {
    const conversation = await opened('does not stop')
    const running = turn(conversation)
    await expect.poll(() => conversation.id).toBe('odd-1')
    await conversation.interrupt()
    expect((await running).at(-1)).toEqual({ type: 'turn ended', how: 'interrupted' })
    expect(carriersOf(conversation.process.mark)).toEqual([])
    expect(await turn(conversation)).toMatchObject([{ how: 'died' }])
  })

  test('that keeps running after its input closed is ended', async () => {
    const conversation = await opened('stays')
    await turn(conversation)
    await conversation.close()
    expect(carriersOf(conversation.process.mark)).toEqual([])
  })

  test('that rejects the system prompt is not run without it', async () => {
    const conversation = await opened('takes no instructions', { systemPrompt: 'Be careful.' })
    const failure = 'it does not take standing instructions: what is that?'
    expect(await turn(conversation)).toEqual([{ type: 'turn ended', how: 'died', failure }])
  })

  test('that prints malformed lines is still understood', async () => {
    const conversation = await opened('talks nonsense')
    expect((await turn(conversation)).at(-1)).toMatchObject({ how: 'completed', said: 'hello' })
  })

  test('that sends an unknown request gets an error at once', async () => {
    const conversation = await opened('asks')
    expect(await turn(conversation, '{"subtype":"mcp_message"}')).toMatchObject([
      { type: 'started' },
      { type: 'text', text: expect.stringContaining('"subtype":"error"') },
      { how: 'completed' },
    ])
  })

  test('that withdraws a request gets no response to it', async () => {
    const lines: string[] = []
    let withdraw = () => {}
    const withdrawn = new Promise<void>((resolve) => (withdraw = resolve))
    const decide = () => withdrawn.then(() => true)
    const trace = (direction: 'to' | 'from', line: string) => {
      if (direction === 'to') lines.push(line)
      else if (line.includes('control_cancel_request')) setImmediate(withdraw)
    }
    const conversation = await opened('withdraws', { decide, trace })
    expect((await turn(conversation)).at(-1)).toMatchObject({ said: 'without an answer' })
    expect(lines.filter((line) => line.includes('control_response'))).toEqual([])
  })

  test('gets a denial when the decision fails', async () => {
    const decide = () => Promise.reject(new Error('the terminal is gone'))
    const conversation = await opened('asks', { decide })
    const [, response] = await turn(
      conversation,
      '{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"x"}}',
    )
    expect(response).toMatchObject({ text: expect.stringMatching(/"deny".*the terminal is gone/) })
  })

  test.each([
    ['ask', 'git status', false],
    ['edits', 'git status', true],
    ['edits', 'npm test -- --bail', true],
    ['edits', 'npm install', false],
    ['edits', 'cd web && npm run lint', true],
    ['edits', 'git commit -m "$(cat <<\'EOF\'\none\n\ntwo\nEOF\n)"', true],
    ['edits', 'git push', false],
    ['edits', 'git status && curl http://example.invalid', false],
    ['all', 'curl http://example.invalid', true],
  ] as const)('under `%s` may run `%s`: %s', async (permissions, command, may) => {
    const asked: PermissionRequest[] = []
    const decide = async (request: PermissionRequest) => asked.push(request) < 0
    const conversation = await opened('asks', {
      permissions,
      allow: ['npm test', 'cd web && npm run lint'],
      decide,
    })
    const request = { subtype: 'can_use_tool', tool_name: 'Bash', input: { command } }
    const [, response] = await turn(conversation, JSON.stringify(request))
    expect(response).toMatchObject({ text: expect.stringContaining(may ? '"allow"' : '"deny"') })
    expect(asked).toEqual(may ? [] : [{ tool: 'Bash', title: `Bash: ${command}`, command }])
  })

  test('whose consumer stops early does not leak the end of that turn into the next', async () => {
    const conversation = await opened('talks nonsense')
    for await (const event of conversation.prompt('first')) if (event.type === 'started') break
    expect(await turn(conversation, 'second')).toEqual([
      { type: 'turn ended', how: 'completed', said: 'second' },
    ])
  })

  test('is found by STINT_CLAUDE, and a failing check prints the reason', async () => {
    expect(await claudeHarness.check(environment('').env)).toEqual({
      isThere: true,
      version: '9.8.7',
    })
    expect(await claudeHarness.check(environment('fails').env)).toMatchObject({
      isThere: false,
      problem: /fails/,
    })
    expect(await claudeHarness.check(environment('no version').env)).toMatchObject({
      isThere: false,
      problem: /hello/,
    })
  })
})

describe('starting Claude Code', () => {
  const open: ConversationOptions = { cwd: '/', env: {}, permissions: 'edits', allow: [] }

  test('lists the allowed commands, but none that could end a rule early', () => {
    const allow = ['npm test', 'stint task', 'node -e "f(1), g(2)"', 'make && rm -rf x', 'a\nb']
    const args = claudeArguments({ ...open, allow })
    expect(args.slice(args.indexOf('--allowedTools') + 1)).toEqual([
      'Bash(npm test:*)',
      'Bash(stint task:*)',
    ])
    expect(claudeArguments(open)).not.toContain('--allowedTools')
    expect(claudeArguments({ ...open, permissions: 'ask', allow })).not.toContain('--allowedTools')
  })

  test('lists the protected files under `edits`, since edits need no permission', () => {
    expect(claudeArguments(open)).toEqual(
      expect.arrayContaining(['--disallowedTools', 'Edit(**/.sessions/**)', 'Edit(**/.mcp.json)']),
    )
    for (const permissions of ['ask', 'all'] as const)
      expect(claudeArguments({ ...open, permissions })).not.toContain('--disallowedTools')
  })

  test('passes a model or conversation that begins with a dash as a value, never as a flag', () => {
    const flag = '--dangerously-skip-permissions'
    const args = claudeArguments({ ...open, model: flag, resume: flag })
    expect(args).not.toContain(flag)
    expect(args.slice(-2)).toEqual([`--model=${flag}`, `--resume=${flag}`])
  })

  test('drops the variables of an outer Claude Code, and keeps all others', () => {
    const env = {
      CLAUDECODE: '1',
      CLAUDE_CODE_ENTRYPOINT: 'cli',
      CLAUDE_CODE_SESSION_ID: 'x',
      CLAUDE_CONFIG_DIR: '/c',
      PATH: '/bin',
    }
    expect(claudeEnvironment({ ...open, env })).toEqual({ CLAUDE_CONFIG_DIR: '/c', PATH: '/bin' })
  })

  test.runIf(process.getuid?.() === 0)(
    'refuses to let root allow everything outside a sandbox',
    () => {
      expect(() => claudeEnvironment({ ...open, permissions: 'all' })).toThrow(
        expect.objectContaining({ code: 'ROOT_WITHOUT_SANDBOX' }),
      )
      expect(() =>
        claudeEnvironment({ ...open, permissions: 'all', env: { IS_SANDBOX: '1' } }),
      ).not.toThrow()
    },
  )
})
