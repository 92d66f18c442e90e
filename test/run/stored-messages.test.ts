import { expect, test } from 'vitest'
import { conversationStore } from '../../src/history/store.ts'
import { RunWorld, doing } from './run-world.ts'

test('stores the messages of a run, prompts included; if that fails it reports it once and continues', async () => {
  const world = new RunWorld()
  await world.tasks('One')
  const script = world.script({
    one: [[{ say: 'I begin.' }, ...doing('one')]],
    two: [doing('two')],
  })
  expect((await world.run({ script })).how).toBe('finished')
  const store = conversationStore(world.project.path('.sessions'), {})
  const [{ conversation }] = world.journalled('conversation.joined').map(({ data }) => data) as [
    { conversation: string },
  ]
  const items = [...store.read(conversation)]
  expect(items[0]).toMatchObject({ type: 'began', harness: 'rehearsal' })
  expect(items.at(-1)).toMatchObject({ type: 'ended' })
  const texts = items.flatMap((item) =>
    item.type === 'message' ? item.parts.map((part) => [item.role, part] as const) : [],
  )
  expect(texts[0]).toMatchObject([
    'user',
    { type: 'text', text: expect.stringContaining('# Task one:') },
  ])
  expect(texts).toContainEqual(['assistant', { type: 'text', text: 'I begin.' }])
  expect(texts.filter(([, { type }]) => type === 'tool use')).toHaveLength(3)
  expect(texts.filter(([, { type }]) => type === 'tool result')).toHaveLength(3)

  world.project.git('clean', '-fdxq', '.sessions/conversations')
  world.project.write('.sessions/conversations', 'in the way')
  await world.tasks('Two')
  world.events.length = 0
  expect((await world.run({ script })).how).toBe('finished')
  expect(world.of('message').filter(({ text }) => text.includes('is not stored'))).toHaveLength(1)
})
