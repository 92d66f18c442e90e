import { expect, test } from 'vitest'
import { compareConversations } from '../../../src/run/report.ts'
import type { RunState } from '../../../src/run/run-state.ts'
import { estimateTokens } from '../../../src/text/tokens.ts'
import { setupText } from '../../../src/run/agent-prompts/setup-text.ts'
import { taskText } from '../../../src/run/agent-prompts/task-text.ts'
import { SETUP, TASK } from './prompt-texts.ts'

/** Tokens with one conversation for all tasks, and with one per task. */
function promptSizes(setup: string, tasks: readonly string[]) {
  const own = tasks.map(estimateTokens).reduce((sum, tokens) => sum + tokens, 0)
  const once = estimateTokens(setup)
  return { together: once + own, apart: once * tasks.length + own }
}

test('a set-up text sent once saves its tokens for every later task', () => {
  const conversation = (number: number, tasks: readonly string[]) => ({
    conversation: { opened: { number, setup: 400, session: 's' }, isEnded: true, notLoaded: 0 },
    attempts: tasks.map((id) => ({
      started: { conversation: number, task: { id }, isFirst: true },
      requests: 1,
    })),
  })
  const all = [conversation(1, []), conversation(2, ['a']), conversation(3, ['a', 'b', 'b', 'c'])]
  const compared = compareConversations({
    conversations: all.map((one) => one.conversation),
    attempts: all.flatMap(({ attempts }) => attempts),
  } as unknown as RunState)
  expect(compared.map(({ boilerplateAvoided }) => boilerplateAvoided)).toEqual([0, 0, 800])
})

test.each([
  [5, 65],
  [10, 75],
  [50, 83],
])(
  '%i small tasks in one conversation save at least %i percent of the prompt tokens',
  (count, percent) => {
    const tasks = Array.from({ length: count }, (_, n) =>
      taskText({ ...TASK, shortname: `task-${n}` }),
    )
    const { together, apart } = promptSizes(setupText(SETUP), tasks)
    expect((100 * (apart - together)) / apart).toBeGreaterThan(percent)
  },
)
