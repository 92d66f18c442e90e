import { expect, test } from 'vitest'
import { boilerplateAvoided, promptSizes } from '../../../src/run/report.ts'
import { setupText } from '../../../src/run/texts/setup-text.ts'
import { taskText } from '../../../src/run/texts/task-text.ts'
import { SETUP, TASK } from './prompt-texts.ts'

test('a set-up said once saves itself for every task but the first', () => {
  const setup = setupText(SETUP)
  const sizes = promptSizes(
    setup,
    [1, 2, 3, 4, 5].map((n) => taskText({ ...TASK, shortname: `task-${n}` })),
  )
  expect(sizes.avoided).toBe(4 * sizes.setup)
  expect(sizes.apart - sizes.together).toBe(sizes.avoided)
  expect(sizes.tasks).toHaveLength(5)
})

test('a conversation without a task saves nothing', () => {
  expect(promptSizes('x', [])).toMatchObject({ avoided: 0, together: promptSizes('x', []).setup })
  expect(
    boilerplateAvoided([
      { setup: 500, tasks: 0 },
      { setup: 500, tasks: 1 },
      { setup: 400, tasks: 4 },
    ]),
  ).toBe(1200)
})

test.each([
  [5, 65],
  [10, 75],
  [50, 83],
])(
  '%i small tasks in one conversation save at least %i percent of what is said, as the prompts are',
  (count, percent) => {
    const tasks = Array.from({ length: count }, (_, n) =>
      taskText({ ...TASK, shortname: `task-${n}` }),
    )
    const { together, apart } = promptSizes(setupText(SETUP), tasks)
    expect((100 * (apart - together)) / apart).toBeGreaterThan(percent)
  },
)
