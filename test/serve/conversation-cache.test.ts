import { expect, test } from 'vitest'
import type { HistoryItem } from '../../src/history/items.ts'
import { conversationStore } from '../../src/history/store.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import { ConversationCache } from '../../src/page-data/conversation-cache.ts'
import { plainProject } from '../support/project.ts'

test('the conversation cache keeps the last used entries within its limits', async () => {
  const workspace = new Workspace(plainProject().root)
  const store = conversationStore(workspace.paths.sessions, {})
  const says = (number: number): HistoryItem => ({
    type: 'message',
    id: `m${number}`,
    role: 'user',
    parts: [],
  })
  for (const [id, count] of Object.entries({ one: 3, two: 3, three: 3, huge: 20 }))
    store.append(
      id,
      Array.from({ length: count }, (_, number) => says(number)),
    )
  const conversations = new ConversationCache(workspace, store, { conversations: 3, items: 6 })
  const [one, two] = [await conversations.read('one'), await conversations.read('two')]
  expect(await conversations.read('one')).toBe(one)
  await conversations.read('three')
  expect(await conversations.read('one')).toBe(one)
  expect(await conversations.read('two')).not.toBe(two)
  const huge = await conversations.read('huge')
  expect(await conversations.read('huge')).toBe(huge)
  expect(await conversations.read('one')).not.toBe(one)
  workspace.close()
})
