import { describe, expect, test } from 'vitest'
import { type Talk, ClaudeWorld } from './claude-world.ts'
import type { ClaudeVersion } from './install.ts'

interface Case {
  readonly window: string
  readonly version: ClaudeVersion
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Its compaction point. */
  readonly point: number
}

const CASES: readonly Case[] = [
  { window: '200k', version: '2.1.325', args: ['--model', 'claude-sonnet-4-5'], point: 167_000 },
  { window: '1M', version: '2.1.325', args: ['--model', 'claude-opus-5'], point: 967_000 },
  {
    window: 'lowered',
    version: '2.1.325',
    env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '100000' },
    point: 67_000,
  },
  { window: '200k', version: '2.0.77', args: ['--model', 'claude-sonnet-4-5'], point: 155_000 },
]

const FACTS = Array.from(
  { length: 12 },
  (_, index) => `pinned fact ${index}: the sweep keeps lock ${index * 7}`,
)
const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'a command' } })
const using = (tokens: number) => ({
  inputTokens: 100,
  cacheWritten: 0,
  cacheRead: tokens - 150,
  outputTokens: 50,
})

function untilRecorded({ env }: ClaudeWorld, tokens: number) {
  const usage = `"cache_read_input_tokens":${using(tokens).cacheRead}`
  return `until grep -rqs '${usage}' '${env.CLAUDE_CONFIG_DIR}/projects'; do sleep 0.05; done`
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((wake) => setTimeout(wake, 50))
}

async function working({ version, args = [], env = {} }: Case) {
  const world = await ClaudeWorld.create(version)
  Object.assign(world.env, env)
  world.stint('init', '--name', 'fix-sweep-bug', '--goal', 'Fix the sweep')
  world.stint('log', ...FACTS.flatMap((fact) => ['--key', fact]))
  const talk = world.talk(...args)
  await talk.say('hello')
  return { world, talk }
}

/**
 * A command just below the threshold, and one at it. The client writes its transcript in batches, so
 * the second command ends only when the transcript shows its usage; the hook after it then sees it.
 */
async function reaches(world: ClaudeWorld, talk: Talk, tokens: number): Promise<void> {
  world.stub.script(
    { tools: [bash('echo before')], ...using(tokens - 1) },
    { tools: [bash(untilRecorded(world, tokens))], ...using(tokens) },
    { text: 'Done so far.', ...using(tokens) },
  )
  await talk.say('go on with the sweep')
}

describe.each(CASES)('a conversation of Claude Code $version in a window of $window', (where) => {
  const { point } = where
  const at = (stage: number) => Math.ceil((point * stage) / 100)

  test('gets each budget stage once, at its threshold, and again after a compaction', async () => {
    const { world, talk } = await working(where)
    const crossed = () => {
      world.stint('view')
      return world.ofKind('budget.crossed').filter(({ stage }) => stage !== 'smart-zone')
    }
    const banners = () => world.stub.turns.at(-1)!.text.match(/TOKEN WARNING - \d+%/g) ?? []
    for (const stage of [75, 85, 90]) {
      await reaches(world, talk, at(stage))
      expect(banners().at(-1)).toBe(`TOKEN WARNING - ${stage}%`)
    }
    await talk.say('and what else')
    const shown = banners()
    expect(
      ['75%', '85%', '90%'].map((stage) => shown.filter((banner) => banner.endsWith(stage)).length),
    ).toEqual([1, 1, 1])
    expect(crossed().map(({ stage, tokens, point: seen }) => [stage, tokens, seen])).toEqual(
      [75, 85, 90].map((stage) => [stage, at(stage), point]),
    )
    await talk.say('/compact')
    world.stub.script({ text: 'A new window.', ...using(20_000) })
    await talk.say('look at the lock now')
    // One more than before the compaction, so that its usage is new in the transcript.
    await reaches(world, talk, at(75) + 1)
    await talk.end()
    expect(crossed().map(({ stage }) => stage)).toEqual([75, 85, 90, 75])
    expect(world.state().compactions).toBe(1)
    expect(world.troubles).toBe('')
  })

  test('leaves a handoff that a new conversation accepts, with every pinned fact in its context', async () => {
    const { world, talk } = await working(where)
    await reaches(world, talk, at(90))
    await until(() => world.ofKind('handoff.made').some(({ isDraft }) => isDraft !== true))
    await talk.end()
    world.stub.forget()
    world.stub.script({ tools: [bash('stint handoff accept')] }, { text: 'I go on.' })
    await world.ask('carry on')
    const [first, last] = [world.stub.turns[0]!.text, world.stub.turns.at(-1)!.text]
    expect(first).toMatch(/handoff \d waits: stint handoff accept/)
    expect(FACTS.filter((fact) => !last.includes(fact))).toEqual([])
    expect(world.ofKind('handoff.accepted')).toMatchObject([{ outcome: 'loaded' }])
    expect(world.troubles).toBe('')
  })
})
