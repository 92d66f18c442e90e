import { expect, onTestFinished, test } from 'vitest'
import { conversationStore } from '../../src/history/store.ts'
import { answerAsModel } from '../harness/api-agent.ts'
import { ModelStub } from '../harness/model-stub.ts'
import { ScriptedAgent, reporting } from '../harness/scripted-agent.ts'
import { RunWorld } from './run-world.ts'

test('a run hands over from a bare model before its context is full', async () => {
  const stub = await new ModelStub().start()
  onTestFinished(() => stub.stop())
  const done = [
    { write: 'one.txt', text: 'one\n' },
    { run: 'git add one.txt && git commit --quiet --message one' },
    reporting('one'),
  ] as const
  const full = { run: 'git status', tokens: 82_000 } as const
  answerAsModel(stub, new ScriptedAgent({ one: (occasion) => (occasion === 'begun earlier' ? done : [full, { hang: true }]) }))
  const world = new RunWorld()
  await world.tasks('One')
  world.config(`api: { provider: anthropic, base_url: "${stub.url}", model: small-1, window: 100000, max_output: 16000 }\n`)
  expect((await world.run({ harness: 'api' })).how).toBe('finished')
  expect(world.of('stage').at(-1)).toMatchObject({ gauge: { context: 82_000, window: 100_000, point: 84_000 } })
  const store = conversationStore(world.project.path('.sessions'), {})
  expect(store.list()).toHaveLength(2)
  for (const { id } of store.list()) expect([...store.read(id)].map(({ type }) => type)).toContain('ended')
})
