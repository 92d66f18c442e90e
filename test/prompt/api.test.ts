import { expect, onTestFinished, test } from 'vitest'
import { conversationStore } from '../../src/history/store.ts'
import { ModelStub } from '../harness/model-stub.ts'
import { PromptWorld } from './prompt-world.ts'

test('a bare model is prompted and resumed like any agent, and its messages are stored once', async () => {
  const stub = await new ModelStub().start()
  onTestFinished(() => stub.stop())
  const world = new PromptWorld()
  const model = `provider: openai, base_url: "${stub.url}/v1", model: small-1, window: 100000`
  world.project.write('.sessions/config.yaml', `api:\n  providers:\n    local: { ${model} }\n`)
  stub.script({ text: 'One it is.' }, { text: 'Two it is.' })
  const ask = (text: string) =>
    world.prompt(text, { harness: 'api:local', script: undefined as never })
  expect(await ask('Say one, please')).toMatchObject({ how: 'completed', said: 'One it is.' })
  const { conversation } = world.of('conversation.started')[0]!
  expect((await ask('Say two, please')).said).toBe('Two it is.')
  expect(world.of('conversation.started')).toMatchObject([{ conversation }])
  expect(stub.turns.at(-1)!.text).toContain('One it is.')
  const stored = [...conversationStore(world.project.path('.sessions'), {}).read(conversation)]
  const texts = stored.flatMap((item) =>
    item.type === 'message'
      ? item.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
      : [],
  )
  for (const text of ['Say one, please', 'One it is.', 'Say two, please', 'Two it is.'])
    expect(texts.filter((one) => one === text)).toHaveLength(1)
})
