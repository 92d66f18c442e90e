import { describe, expect, test } from 'vitest'
import { COUNTED_RUNS, type CountedRun } from '../savings/sent-in-runs.ts'
import { RunWorld } from './run-world.ts'
import { ScriptedAgent } from './scripted-agent.ts'
import { sentIn } from './sent-text.ts'

// Fifty processes take minutes; five show what each of them costs.
const isLong = ({ tasks, conversations }: CountedRun) => tasks > 5 && conversations === 'each'
const isAsked = process.env['STINT_LONG_TESTS'] === '1'

type Figure = 'handoffs' | 'starts' | 'input'
/** They contain ids, times and folders that differ each time. */
const SLACK = 0.03

function figuresOf({ handoffs, starts, input }: Record<Figure, number>): Record<Figure, number> {
  return { handoffs, starts, input }
}

describe.each(COUNTED_RUNS)('$tasks tasks in a conversation for $conversations', (counted) => {
  test.runIf(isAsked || !isLong(counted))(
    'send as much as the savings documentation states',
    async () => {
      const { tasks, conversations } = counted
      const world = await RunWorld.create(new ScriptedAgent(), {
        config: 'run:\n  batch_places: 1000\n',
      })
      world.tasks(Array.from({ length: tasks }, (_, index) => `Part ${index + 1}`))
      const batch = conversations === 'each' ? 'one' : 'fixed'
      expect(await world.run(['--branch', 'work', '--batch', batch]), world.errors).toBe(0)
      const sent = sentIn(world.claude.stub.turns)
      expect(sent.conversations).toBe(conversations === 'each' ? tasks : 1)
      const now = { tasks, conversations, prompts: sent.setup + sent.tasks, ...figuresOf(sent) }
      const summary = JSON.stringify(now)
      expect(now.prompts, summary).toBe(counted.prompts)
      for (const [name, figure] of Object.entries(figuresOf(counted)))
        expect(Math.abs(now[name as Figure] - figure), `${name}: ${summary}`).toBeLessThanOrEqual(
          SLACK * figure,
        )
    },
    400_000,
  )
})

test('one conversation per task sends as much for each of them', () => {
  const each = COUNTED_RUNS.filter(({ conversations }) => conversations === 'each')
  expect(new Set(each.map(({ tasks, prompts }) => prompts / tasks)).size).toBe(1)
})
