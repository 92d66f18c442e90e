import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ClaudeWorld } from './claude-world.ts'
import { CLAUDE_VERSIONS, type ClaudeVersion } from './install.ts'

const FACTS = Array.from(
  { length: 30 },
  (_, index) =>
    `fact ${index + 1}: port ${41_000 + index * 7} belongs to service-${String.fromCodePoint(97 + (index % 26))}${index}`,
)

/** More than any of these clients has left in its window, so that the next call has to compact. */
const FULL: Record<ClaudeVersion, number> = { '2.1.325': 90_000, '2.0.77': 199_000 }

async function worldFor(version: ClaudeVersion): Promise<ClaudeWorld> {
  const world = await ClaudeWorld.create(version)
  world.env.CLAUDE_CODE_AUTO_COMPACT_WINDOW = '100000'
  return world
}

async function withPinnedFacts(version: ClaudeVersion): Promise<ClaudeWorld> {
  const world = await worldFor(version)
  world.stint('init', '--name', 'pinned', '--goal', 'Keep thirty facts')
  world.stint('log', ...FACTS.flatMap((fact) => ['--key', fact]))
  return world
}

const missingIn = (text: string) => FACTS.filter((fact) => !text.includes(fact))

describe.each(CLAUDE_VERSIONS)('Claude Code %s', (version) => {
  test('after a manual compaction the model has all thirty pinned facts, and it counts once', async () => {
    const world = await withPinnedFacts(version)
    const talk = world.talk()
    await talk.say('look at the ports')
    await talk.say('and at the services')
    await talk.say('/compact keep the ports')
    expect(world.stub.summaries).toHaveLength(1)
    expect(world.stub.summaries[0]!.text).toContain('Pre-Compaction Checkpoint')
    expect(missingIn(world.stub.summaries[0]!.text)).toEqual([])
    await talk.say('go and fix the first one')
    expect(missingIn(world.stub.turns.at(-1)!.text)).toEqual([])
    await talk.end()
    expect(world.state().compactions).toBe(1)
    expect(world.ofKind('summary.kept')).toHaveLength(1)
    expect(world.troubles).toBe('')
  })

  test('after an automatic compaction in the middle of a turn the model has them too', async () => {
    const world = await withPinnedFacts(version)
    const talk = world.talk()
    await talk.say('look at the ports')
    world.stub.script(
      {
        tools: [{ name: 'Bash', input: { command: 'echo one', description: 'first' } }],
        inputTokens: FULL[version],
      },
      { tools: [{ name: 'Bash', input: { command: 'echo two', description: 'second' } }] },
      { text: 'done' },
    )
    await talk.say('run both')
    expect(world.stub.summaries).toHaveLength(1)
    expect(missingIn(world.stub.turns.at(-1)!.text)).toEqual([])
    await talk.end()
    expect(world.state().compactions).toBe(1)
    expect(world.ofKind('context.compacted')[0]).toMatchObject({ trigger: 'auto' })
  })

  test('context that SessionStart injected and that was lost reaches the model by another channel', async () => {
    const world = await withPinnedFacts(version)
    // As if the harness had dropped it: the hook runs, and its output goes nowhere.
    const path = join(world.project, '.claude', 'settings.local.json')
    const settings = JSON.parse(readFileSync(path, 'utf8')) as {
      hooks: { SessionStart: { hooks: { command: string }[] }[] }
    }
    for (const { hooks } of settings.hooks.SessionStart) {
      for (const hook of hooks) hook.command = `{ ${hook.command}; } > /dev/null`
    }
    writeFileSync(path, JSON.stringify(settings))
    const talk = world.talk()
    await talk.say('look at the ports')
    await talk.say('and at the services')
    await talk.say('/compact')
    await talk.say('go and fix the first one')
    expect(missingIn(world.stub.turns.at(-1)!.text)).toEqual([])
    await talk.end()
    expect(world.state().compactions).toBe(1)
    const deliveries = world.stint('view', '--delivery')
    if (version === '2.1.325')
      expect(deliveries).toMatch(/UserPromptSubmit \(did not arrive\).*✓ line \d+/)
  })

  test.each([0, 3])('a compaction counts once when PreCompact fires %i times', async (times) => {
    const world = await withPinnedFacts(version)
    const path = join(world.project, '.claude', 'settings.local.json')
    const settings = JSON.parse(readFileSync(path, 'utf8')) as {
      hooks: Record<string, { hooks: { command: string }[] }[]>
    }
    const { command } = settings.hooks.PreCompact![0]!.hooks[0]!
    // Identical commands run once however often they are registered, so each one differs.
    settings.hooks.PreCompact = Array.from({ length: times }, (_, index) => ({
      hooks: [{ type: 'command', command: `${command} # ${index}` }],
    }))
    writeFileSync(path, JSON.stringify(settings))
    const talk = world.talk()
    await talk.say('look at the ports')
    await talk.say('and at the services')
    await talk.say('/compact')
    await talk.say('go on with the work that is open here, please')
    await talk.end()
    expect(world.state().compactions).toBe(1)
    expect(missingIn(world.stub.turns.at(-1)!.text)).toEqual([])
  })
})
