import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readContextWindow } from '../../src/project/conversation/conversation-state.ts'
import { program } from '../support/cli.ts'
import { project } from './agent.ts'

const hook = join(dirname(program), 'hook.cjs')

function statusLine(
  world: ReturnType<typeof project>,
  input: string | object,
  env: NodeJS.ProcessEnv = {},
): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [hook, 'statusline'], {
    cwd: world.cwd,
    env: { ...world.env, ...env },
    input: typeof input === 'string' ? input : JSON.stringify(input),
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([0, ''])
  return stdout
}

const usage = {
  input_tokens: 2000,
  cache_creation_input_tokens: 3000,
  cache_read_input_tokens: 120_000,
  output_tokens: 1000,
}
const context = { context_window_size: 200_000, used_percentage: 62, current_usage: usage }

describe('the status line', () => {
  test.each([
    '',
    'nonsense',
    '{"cwd":',
    '[]',
    'null',
    '{"cwd":"/nowhere/at/all","session_id":"../../x","context_window":7}',
  ])('shows what it can for %j', async (input) => {
    const world = project()
    expect(statusLine(world, input)).toBe('📋 no session\n')
    await world.stint('init', '--name', 'fix-login', '--goal', 'g')
    if (!input.includes('nowhere')) expect(statusLine(world, input)).toBe('📋 fix-login\n')
  })

  test('stores its input for hooks, with the time, if they follow the conversation', async () => {
    const world = project()
    const agent = world.agent()
    const input = {
      session_id: agent.conversation,
      cwd: world.cwd,
      version: '2.1.325',
      model: { id: 'claude-sonnet-4-5' },
      cost: { total_cost_usd: 1.25 },
      context_window: context,
      rate_limits: {
        five_hour: { used_percentage: 40 },
        seven_day: { used_percentage: 7.5, resets_at: 4_000_000_000 },
      },
    }
    expect(statusLine(world, input)).toBe('📋 no session · ctx 75% · 126k/~167k\n')
    expect(existsSync(world.notes) ? readdirSync(world.notes) : []).toEqual([])
    await agent.start()
    statusLine(world, input)
    const left = readContextWindow(world.notes, agent.conversation)!
    expect(Date.parse(left.at)).not.toBeNaN()
    expect(left).toEqual({
      at: left.at,
      usedPercent: 62,
      size: 200_000,
      used: 126_000,
      model: 'claude-sonnet-4-5',
      version: '2.1.325',
      cost: 1.25,
      fiveHour: { percent: 40 },
      sevenDay: { percent: 7.5, resetsAt: '2096-10-02T07:06:40.000Z' },
    })
  })

  test('shows percent of the compaction point of this client and these settings', () => {
    const world = project()
    const told = { cwd: world.cwd, context_window: context }
    expect(statusLine(world, { ...told, version: '2.0.77' })).toContain('ctx 81% · 126k/~155k')
    expect(statusLine(world, told, { DISABLE_AUTO_COMPACT: '1' })).toContain('ctx 63% · 126k/200k')
    expect(statusLine(world, told, { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '100000' })).toContain(
      'ctx 188% · 126k/~67k',
    )
  })

  test('shows percent of the point at which the conversation was compacted before', async () => {
    const world = project()
    await world.stint('init', '--name', 'fix-login', '--goal', 'g')
    const agent = world.agent()
    await agent.start()
    agent.write({
      type: 'system',
      subtype: 'compact_boundary',
      compactMetadata: { trigger: 'auto', preTokens: 140_000 },
    })
    await agent.prompt('go on with the login')
    const told = { session_id: agent.conversation, cwd: world.cwd, context_window: context }
    expect(statusLine(world, told)).toContain('ctx 90% · 126k/140k')
    expect(statusLine(world, { ...told, session_id: 'another' })).toContain('126k/~167k')
  })

  test('shows its input even if the configuration is broken', async () => {
    const world = project()
    await world.stint('init', '--name', 'fix-login', '--goal', 'g')
    writeFileSync(world.path('.sessions', 'config.yaml'), 'budget: 5\n')
    expect(statusLine(world, { cwd: world.cwd, context_window: context })).toBe(
      '📋 no session · ctx 75% · 126k/~167k\n',
    )
  })

  test('shows no context size right after a compaction, when it is unknown', () => {
    const world = project()
    const zero = {
      input_tokens: 0,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 0,
    }
    const told = {
      cwd: world.cwd,
      context_window: { context_window_size: 200_000, current_usage: zero, used_percentage: 0 },
    }
    expect(statusLine(world, told)).toBe('📋 no session\n')
  })
})
