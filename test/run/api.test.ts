import { expect, onTestFinished, test } from 'vitest'
import { conversationStore } from '../../src/history/store.ts'
import { answerAsModel } from '../harness/api-agent.ts'
import { ModelStub } from '../harness/model-stub.ts'
import { ScriptedAgent, reporting } from '../harness/scripted-agent.ts'
import { RunWorld } from './run-world.ts'

test("a run hands off to a fresh conversation when a bare model's first turn fills the context", async () => {
  const stub = await new ModelStub().start()
  onTestFinished(() => stub.stop())
  const done = [
    { write: 'one.txt', text: 'one\n' },
    { run: 'git add one.txt && git commit --quiet --message one' },
    reporting('one'),
  ] as const
  // Below the rotation threshold, and above it with the output.
  const full = { run: 'cat numbers.txt', tokens: 60_000 } as const
  answerAsModel(
    stub,
    new ScriptedAgent({
      one: (occasion) => (occasion === 'begun earlier' ? done : [full, { hang: true }]),
    }),
  )
  const world = new RunWorld()
  world.project.commit('numbers', {
    'numbers.txt': Array.from({ length: 20_000 }, (_, n) => n * 7919).join(' '),
  })
  await world.tasks('One')
  world.config(
    `api: { provider: anthropic, base_url: "${stub.url}", model: small-1, window: 80000, max_output: 10000 }\n`,
  )
  expect((await world.run({ harness: 'api' })).how).toBe('finished')
  expect(world.of('stage').at(-1)).toMatchObject({
    gauge: { context: 80_000, window: 80_000, point: 70_000 },
  })
  const store = conversationStore(world.project.path('.sessions'), {})
  expect(store.list()).toHaveLength(2)
  for (const { id } of store.list())
    expect([...store.read(id)].map(({ type }) => type)).toContain('ended')
})
