import { describe, expect, test } from 'vitest'
import { estimateCost, estimateWindow } from '../../src/context/budget/prices.ts'
import { conversationTotals } from '../../src/project/conversation-budget.ts'
import { readContextWindow } from '../../src/project/conversation/conversation-state.ts'
import { compactionPoint, readCompactionSettings } from '../../src/harness/claude/limits.ts'
import { contextSizeFrom } from '../../src/harness/contract/transcript.ts'
import { readLastUsage } from '../../src/harness/claude/transcript/inspect-transcript.ts'
import { ClaudeWorld } from './claude-world.ts'
import { CLAUDE_VERSIONS, type ClaudeVersion } from './install.ts'
import type { Reply } from './model-stub.ts'
import { Terminal, hasTmux } from './terminal.ts'

const NOW = '2026-01-01T00:00:00.000Z'

type Used = Pick<Required<Reply>, 'inputTokens' | 'cacheWritten' | 'cacheRead' | 'outputTokens'>

const used = (
  inputTokens: number,
  cacheWritten: number,
  cacheRead: number,
  outputTokens: number,
): Used => ({
  inputTokens,
  cacheWritten,
  cacheRead,
  outputTokens,
})
const tokensOf = ({ inputTokens, cacheWritten, cacheRead, outputTokens }: Used) =>
  inputTokens + cacheWritten + cacheRead + outputTokens

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'a command' } })
const AGENT: Record<ClaudeVersion, string> = { '2.1.325': 'Agent', '2.0.77': 'Task' }

/** The last lines of a turn may be written after it ended. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((wake) => setTimeout(wake, 20))
}

describe.each(CLAUDE_VERSIONS)('Claude Code %s', (version) => {
  test('its transcript has exactly the token counts that the model reported', async () => {
    const world = await ClaudeWorld.create(version)
    const talk = world.talk()
    const { session_id: id } = await talk.say('hello')
    const path = world.transcriptPath(id)
    const figure = () => contextSizeFrom(readLastUsage(path), NOW)
    const expectReported = async (last: Used) => {
      await until(() => figure()?.value === tokensOf(last))
      expect(figure()).toMatchObject({
        value: tokensOf(last),
        known: 'measured',
        from: 'transcript',
      })
    }
    const [plain, tool, after] = [
      used(1000, 20_000, 40_000, 500),
      used(7, 800, 60_000, 333),
      used(9, 1200, 60_800, 41),
    ]
    world.stub.script({ text: 'one', ...plain })
    await talk.say('a turn')
    await expectReported(plain)
    // A text and two tools, on several lines with one id.
    world.stub.script(
      { text: 'let me see', tools: [bash('echo a'), bash('echo b')], ...tool },
      { text: 'two', ...after },
    )
    await talk.say('a turn with tools')
    await expectReported(after)
    const [asks, theirs, last] = [
      used(11, 300, 62_000, 77),
      used(13, 9000, 5000, 99),
      used(17, 500, 62_300, 55),
    ]
    const input = {
      description: 'look',
      prompt: 'look around',
      subagent_type: 'general-purpose',
      run_in_background: false,
    }
    world.stub.script(
      { tools: [{ name: AGENT[version], input }], ...asks },
      { text: 'theirs', ...theirs },
      { text: 'three', ...last },
    )
    await talk.say('delegate it')
    await expectReported(last)
    await talk.say('/compact')
    await until(() => readLastUsage(path).compacted !== undefined)
    expect(figure()?.known ?? 'unknown').not.toBe('measured')
    const again = used(21, 15_000, 300, 44)
    world.stub.script({ text: 'four', ...again })
    await talk.say('and on')
    await expectReported(again)
    await talk.end()
    const first = used(100, 0, 0, 20)
    const totals = conversationTotals(world.path('.git', 'notes'), {
      conversation: id,
      harness: 'claude',
      transcript: path,
    })!
    const sum = (all: readonly Used[], of: (each: Used) => number) =>
      all.reduce((total, each) => total + of(each), 0)
    const mine = [first, plain, tool, after, asks, last, again]
    const spent = Object.values(totals.spent)
    expect(spent).toEqual([
      {
        input: sum(mine, (each) => each.inputTokens),
        cacheWritten: sum(mine, (each) => each.cacheWritten),
        cacheRead: sum(mine, (each) => each.cacheRead),
        output: sum(mine, (each) => each.outputTokens),
        cacheWrittenHour: 0,
      },
    ])
    expect(totals).toMatchObject({ calls: mine.length, compactions: 1, version })
    if (version === '2.1.325')
      expect(Object.values(totals.delegated)).toMatchObject([{ output: 99, cacheWritten: 9000 }])
  })

  test.each([-600, 600])(
    'it compacts at the computed compaction point, and not before: %i tokens off',
    async (off) => {
      const world = await ClaudeWorld.create(version)
      world.env.CLAUDE_CODE_AUTO_COMPACT_WINDOW = '100000'
      const talk = world.talk()
      await talk.say('hello')
      const model = world.stub.turns.at(-1)!.body.model
      const settings = readCompactionSettings({ root: world.project, env: world.env })
      const point = compactionPoint({
        window: estimateWindow(model, undefined),
        settings,
        version,
      })!.value
      expect(point).toBe(version === '2.0.77' ? 155_000 : 67_000)
      const output = 500
      world.stub.script({
        text: 'much',
        inputTokens: 100,
        cacheRead: point + off - 100 - output,
        outputTokens: output,
      })
      await talk.say('more')
      await talk.say('and more')
      await talk.end()
      expect(world.stub.summaries).toHaveLength(off > 0 ? 1 : 0)
    },
  )

  test.skipIf(!hasTmux)(
    'its status line input is stored for hooks, and matches the transcript',
    async () => {
      const world = await ClaudeWorld.create(version)
      world.stint('init', '--name', 'fix-sweep-bug', '--goal', 'Fix the sweep')
      const terminal = new Terminal(world)
      await terminal.shows(/^ +📋 fix-sweep-bug\s*$/m)
      const last = used(1000, 20_000, 40_000, 500)
      world.stub.script({ text: 'I see the sweep.', ...last })
      await terminal.type('have a look at the sweeper')
      await terminal.shows('I see the sweep.')
      await terminal.shows(version === '2.0.77' ? 'ctx 39% · 62k/~155k' : 'ctx 6% · 62k/~967k')
      const { conversation } = world.ofKind('conversation.joined').at(-1) as {
        conversation: string
      }
      const notes = world.path('.git', 'stint', 'conversations')
      await until(() => readContextWindow(notes, conversation)?.used === tokensOf(last))
      const window = readContextWindow(notes, conversation)!
      expect(window).toMatchObject({ version, size: version === '2.0.77' ? 200_000 : 1_000_000 })
      const path = world.transcriptPath(conversation)
      await until(() => contextSizeFrom(readLastUsage(path), NOW) !== undefined)
      expect(contextSizeFrom(readLastUsage(path), NOW)?.value).toBe(window.used)
      const shown = JSON.parse(world.stint('budget', '--json')) as Record<
        string,
        { value: number; known: string; from: string }
      >
      expect(shown).toMatchObject({
        tokens: { value: tokensOf(last), known: 'measured' },
        window: { value: window.size, known: 'measured', from: 'status line' },
        costUsd: { value: window.cost, known: 'measured', from: 'status line' },
      })
      world.stub.script({ text: 'And the lock.', ...used(10, 20, 61_500, 30) })
      await terminal.type('and at the lock')
      await terminal.shows('And the lock.')
      await terminal.type('/compact')
      await terminal.shows(/Compacted|compacted/)
      await until(() => readLastUsage(path).compacted !== undefined)
      const after = JSON.parse(world.stint('budget', '--json')) as typeof shown
      // Old versions keep reporting the size from before.
      expect(after.tokens!.known).toBe(version === '2.0.77' ? 'unknown' : 'estimated')
    },
  )
})

test.each([
  'claude-opus-5-5',
  'claude-sonnet-5',
  'claude-sonnet-4-5',
  'claude-haiku-4-5',
  'claude-fable-5-1',
])('the window and the prices of %s match those of the client', async (model) => {
  const world = await ClaudeWorld.create('2.1.325', { setup: false })
  world.stub.script({ text: 'x', ...used(10_000, 20_000, 40_000, 5000) })
  const { total_cost_usd: cost, modelUsage } = await world.ask('hello', '--model', model)
  expect(estimateWindow(model, undefined)?.value).toBe(modelUsage[model]?.contextWindow)
  const spent = {
    input: 10_000,
    cacheWritten: 20_000,
    cacheRead: 40_000,
    output: 5000,
    cacheWrittenHour: 0,
  }
  expect(estimateCost({ [model]: spent }, [], NOW)?.value).toBeCloseTo(cost, 10)
})
