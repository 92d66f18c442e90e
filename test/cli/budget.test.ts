import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { writeContextWindow } from '../../src/project/conversation/conversation-state.ts'
import type { Agent } from '../hook/agent.ts'
import { project } from '../hook/agent.ts'
import { program } from '../support/cli.ts'

interface FigureJson<T = number> {
  readonly value?: T
  readonly known: string
  readonly from?: string
}

interface BudgetJson {
  readonly conversation: string
  readonly session?: { readonly name: string }
  readonly tokens: FigureJson
  readonly window: FigureJson
  readonly compactsAt: FigureJson
  readonly percentOfWay?: number
  readonly stageReached?: number
  readonly nextStage?: { readonly stage: number; readonly left: number }
  readonly costUsd: FigureJson
  readonly fiveHour: FigureJson<{ readonly percent: number }>
  readonly sevenDay: FigureJson
  readonly startedAt: FigureJson<string>
  readonly used: FigureJson<{ readonly output: number; readonly calls: number }>
  readonly smartZone: { readonly line: number; readonly isPast?: boolean }
}

/** The model has answered after reading this many tokens. */
function writeAnswer(agent: Agent, tokens: number, model = 'claude-sonnet-4-5-20250929'): void {
  const usage = {
    input_tokens: 10,
    cache_read_input_tokens: tokens - 10 - 200 - 30,
    cache_creation_input_tokens: 200,
    output_tokens: 30,
  }
  const message = {
    id: `msg_${tokens}`,
    role: 'assistant',
    model,
    content: [{ type: 'text', text: 'ok' }],
    usage,
  }
  agent.write({ type: 'assistant', version: '2.1.325', message })
}

async function world() {
  const created = project()
  await created.stint('init', '--name', 'fix-login', '--goal', 'Fix it')
  const first = created.agent()
  await first.start()
  const budget = async (...args: string[]) =>
    (await created.stint('budget', ...args, '--json')).json<BudgetJson>()
  return { ...created, first, budget }
}

describe('stint budget', () => {
  test('prints how each figure is known, or unknown', async () => {
    const { first: agent, budget } = await world()
    writeAnswer(agent, 126_000)
    const shown = await budget()
    expect(shown).toMatchObject({
      conversation: agent.conversation,
      session: { name: 'fix-login' },
      tokens: { value: 126_000, known: 'measured', from: 'transcript' },
      window: { value: 200_000, known: 'estimated' },
      compactsAt: { value: 167_000, known: 'estimated' },
      percentOfWay: 75,
      stageReached: 75,
      nextStage: { stage: 85, left: 141_950 - 126_000 },
      costUsd: { known: 'estimated' },
      startedAt: { known: 'measured' },
      used: { value: { calls: 1, output: 30 } },
      smartZone: { line: 100_000, isPast: true },
      fiveHour: { known: 'unknown' },
      sevenDay: { known: 'unknown' },
    })
    expect(shown.costUsd.value).toBeCloseTo(
      (10 * 3 + 30 * 15 + 125_760 * 0.3 + 200 * 3.75) / 1e6,
      10,
    )
  })

  test('uses the figures that the harness passed to the status line', async () => {
    const { first: agent, budget, notes } = await world()
    writeAnswer(agent, 20_000)
    writeContextWindow(notes, agent.conversation, {
      at: new Date(Date.now() + 60_000).toISOString(),
      used: 500_000,
      size: 1_000_000,
      cost: 4.5,
      fiveHour: { percent: 41 },
    })
    expect(await budget()).toMatchObject({
      tokens: { value: 500_000, from: 'status line' },
      window: { value: 1_000_000, known: 'measured' },
      compactsAt: { value: 967_000 },
      percentOfWay: 51,
      costUsd: { value: 4.5, known: 'measured', from: 'status line' },
      fiveHour: { value: { percent: 41 }, known: 'measured' },
    })
  })

  test('draws a table and a gauge with the stages, the position and the next step', async () => {
    const { first: agent, stint } = await world()
    writeAnswer(agent, 126_000)
    const { stdout } = await stint('budget')
    expect(stdout).toMatch(
      /^📊 fix-login · conversation 00000000 · claude 2\.1\.325, claude-sonnet-4-5-20250929$/m,
    )
    expect(stdout).toMatch(/^\[█{45}┃░+┃░+┃░+\] 167,000$/m)
    expect(stdout).toMatch(/^ {46}75 {4}85 90$/m)
    expect(stdout).toMatch(/^in context +126,000 tokens +measured +transcript, just now$/m)
    expect(stdout).toMatch(/^compacts at +167,000 tokens +estimated +window less 33k, /m)
    expect(stdout).toMatch(/^to compaction +41,000 tokens left, 75% of the way done$/m)
    expect(stdout).toMatch(/^smart zone +past the line of 100,000 tokens of history$/m)
    expect(stdout).toMatch(/^5-hour limit +unknown$/m)
    expect(stdout).toContain('Stage 75% is reached: write down what only this conversation knows.')
    expect(stdout).toContain('Next: stage 85% in 15,950 tokens: hand over soon')
  })

  test('prints unknown instead of 0 for a conversation without an answer yet', async () => {
    const { budget, stint } = await world()
    expect(await budget()).toMatchObject({
      tokens: { known: 'unknown' },
      costUsd: { known: 'unknown' },
      used: { known: 'unknown' },
    })
    const { stdout } = await stint('budget')
    expect(stdout).toMatch(/^in context +unknown$/m)
    expect(stdout).toContain('how full it is is unknown')
    expect(stdout).not.toMatch(/ 0 tokens/)
  })

  test('uses the stages, window and prices from the configuration', async () => {
    const { first: agent, budget, stint, path } = await world()
    writeAnswer(agent, 90_000, 'local-model')
    expect(await budget()).toMatchObject({
      window: { known: 'unknown' },
      compactsAt: { known: 'unknown' },
      costUsd: { known: 'unknown' },
    })
    writeFileSync(
      path('.sessions', 'config.yaml'),
      'budget: { stages: [50000, 80000, 120000], smart_zone: 60000, window: 120000 }\nprices: { "local-*": { input: 1, output: 1 } }\n',
    )
    const shown = await budget()
    expect(shown).toMatchObject({
      window: { value: 120_000, known: 'estimated', from: 'configuration' },
      compactsAt: { value: 87_000 },
      stageReached: 80_000,
      smartZone: { line: 60_000, isPast: true },
      costUsd: { known: 'estimated', from: 'prices of the configuration' },
    })
    expect(shown.costUsd.value).toBeCloseTo(0.09, 10)
    const { stdout } = await stint('budget')
    expect(stdout).toContain('Stage 120,000 lies behind the compaction point and is never reached.')
    expect(stdout).toContain('It compacts with its next call')
  })

  test.each([
    ['budget: { stages: [85%, 75%] }', 'each stage lies above the one before it'],
    ['budget: { stages: [75] }', '75 is neither a percentage up to 100% nor at least 1000 tokens'],
    ['budget: { stages: 75% }', 'must be a list'],
    ['budget: { stages: [75%, 150000] }', 'all percentages, or all tokens'],
    ['budget: { smart_zone: much }', '"budget.smart_zone" must be a whole number of tokens'],
    ['budget: { warn: 1 }', 'there is no setting "budget.warn"'],
    ['prices: { m: { input: 1 } }', '"prices.m.output" must be dollars per million tokens'],
    ['prices: { m: { input: 1, output: 2, cache: 3 } }', 'there is no price "prices.m.cache"'],
    ['prices: { m: 5 }', '"prices.m" must hold input'],
  ])('refuses %s', async (config, reason) => {
    const { stint, path } = await world()
    writeFileSync(path('.sessions', 'config.yaml'), config)
    const { exitCode, stderr } = await stint('budget')
    expect(exitCode).toBe(1)
    expect(stderr).toContain(reason)
  })

  test('reports the enclosing conversation, else the last active one, or the named one', async () => {
    const { first, budget, ...created } = await world()
    writeAnswer(first, 50_000)
    await first.stop('done')
    const second = created.agent()
    await second.start()
    writeAnswer(second, 60_000)
    expect((await budget()).tokens.value).toBe(60_000)
    expect((await budget('fix-login')).tokens.value).toBe(60_000)
    expect((await budget(first.conversation)).tokens.value).toBe(50_000)
    created.env.CLAUDE_CODE_SESSION_ID = first.conversation
    expect((await budget()).tokens.value).toBe(50_000)
    expect((await budget(second.conversation)).tokens.value).toBe(60_000)
  })

  test('also reports a conversation without a session', async () => {
    const created = project()
    const agent = created.agent()
    await agent.start()
    writeAnswer(agent, 12_000)
    const shown = (await created.stint('budget', '--json')).json<BudgetJson>()
    expect(shown.tokens.value).toBe(12_000)
    expect(shown.session).toBeUndefined()
    expect((await created.stint('budget', agent.conversation.slice(0, 30))).stdout).toContain(
      '📊 no session',
    )
  })

  test('suggests a next step when there is no conversation', async () => {
    const created = project()
    const nowhere = await created.stint('budget')
    expect([nowhere.exitCode, nowhere.stderr]).toEqual([
      1,
      expect.stringContaining('no conversation is known here\n  stint setup claude'),
    ])
    await created.stint('init', '--name', 'quiet', '--goal', 'g')
    expect((await created.stint('budget')).stderr).toContain(
      'no conversation of quiet is known here',
    )
    const other = await created.stint('budget', 'quite')
    expect(other.stderr).toContain('there is no session "quite"; did you mean quiet?')
    const asJson = await created.stint('budget', '--json')
    expect(asJson.json<{ error: { code: string } }>().error.code).toBe('NO_CONVERSATION')
  })

  test('works when conversation state and transcripts are missing', async () => {
    const { first: agent, budget, notes } = await world()
    writeAnswer(agent, 126_000)
    rmSync(agent.transcript)
    expect((await budget()).tokens).toEqual({ known: 'unknown' })
    mkdirSync(agent.transcript)
    expect((await budget()).tokens).toEqual({ known: 'unknown' })
    for (const name of readdirSync(notes))
      if (name.endsWith('.window')) writeFileSync(join(notes, name), '{')
    expect((await budget()).tokens).toEqual({ known: 'unknown' })
  })

  test('prints a line for each change with --watch until interrupted', async () => {
    const { first: agent, cwd, env } = await world()
    writeAnswer(agent, 20_000)
    const child = spawn(
      process.execPath,
      [join(dirname(program), 'stint.js'), 'budget', '--watch'],
      { cwd, env },
    )
    const lines: string[] = []
    child.stdout.on('data', (chunk: Buffer) =>
      lines.push(...chunk.toString().trimEnd().split('\n')),
    )
    const until = async (count: number) => {
      while (lines.length < count) await new Promise((wake) => setTimeout(wake, 20))
    }
    await until(1)
    writeAnswer(agent, 130_000)
    await until(2)
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
    child.kill('SIGINT')
    expect(await ended).toBe(0)
    expect(lines).toEqual([
      expect.stringMatching(/^ctx 11% · 20k\/~167k · \$/),
      expect.stringMatching(/^ctx 77% · 130k\/~167k · stage 75% · \$/),
    ])
  })
})
