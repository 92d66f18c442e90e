import { expect, test } from 'vitest'
import type { HarnessEvent } from '../../src/harness/contract/drive.ts'
import { conversationStore } from '../../src/history/store.ts'
import { CopyRecorder } from '../../src/run/attempt/record-conversation.ts'
import { scratchFolder } from '../support/scratch.ts'

const TURN: readonly HarnessEvent[] = [
  { type: 'started', conversation: 'c1' },
  { type: 'text', text: 'Told.' },
  { type: 'turn ended', how: 'completed' },
]

/** Two turns and a close, for a harness whose transcript `copy` provides. */
function follow(copy: (store: ReturnType<typeof conversationStore>) => boolean) {
  const store = conversationStore(scratchFolder(), {})
  const messages: string[] = []
  const recorder = new CopyRecorder(
    { store, harness: 'claude', cwd: '/project', say: (text) => messages.push(text) },
    () => copy(store),
  )
  for (let turn = 0; turn < 2; turn += 1) {
    recorder.recordPrompt('Asked.')
    for (const event of TURN) recorder.recordEvent(event)
  }
  recorder.recordClose()
  const items = [...store.read('c1')]
  return {
    messages,
    items: items.map((item) =>
      item.type === 'message'
        ? item.parts.map((part) => 'text' in part && part.text).join()
        : item.type,
    ),
  }
}

test("copies the harness's own transcript and does not store its events as well", () => {
  let copies = 0
  const { items } = follow((store) => {
    copies += 1
    store.append('c1', [
      {
        type: 'message',
        id: `m${copies}`,
        role: 'user',
        parts: [{ type: 'text', text: `Copied ${copies}` }],
      },
    ])
    return true
  })
  expect(items).toEqual(['Copied 1', 'Copied 2', 'Copied 3', 'ended'])
})

test('stores every event from the start when the harness writes no visible transcript', () => {
  expect(follow(() => false).items).toEqual([
    'began',
    'Asked.',
    'Told.',
    'Asked.',
    'Told.',
    'ended',
  ])
})

test('reports a failed copy once and never throws', () => {
  const { messages } = follow(() => {
    throw new Error('no space left')
  })
  expect(messages).toEqual(['what is said is not stored: no space left'])
})
