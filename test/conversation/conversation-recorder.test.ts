import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { StreamRecorder } from '../../src/project/conversation/conversation-recorder.ts'
import type { HarnessEvent } from '../../src/harness/contract/drive.ts'
import { modelMessages } from '../../src/history/model-messages.ts'
import { type StoredItem, conversationStore } from '../../src/history/store.ts'
import { summarise } from '../../src/history/summary.ts'
import { scratchFolder } from '../support/scratch.ts'

const usage = { input: 10, cacheWritten: 0, cacheRead: 5, output: 3 }
const started: HarnessEvent = { type: 'started', conversation: 'c1', model: 'm1' }
const over: HarnessEvent = { type: 'turn ended', how: 'completed' }

function follow() {
  const sessions = scratchFolder()
  const store = conversationStore(sessions, {})
  const messages: string[] = []
  const recorder = () =>
    new StreamRecorder({
      store,
      harness: 'acp',
      cwd: '/project',
      say: (text) => messages.push(text),
    })
  /** Without ids and times. */
  const items = (): readonly object[] =>
    [...store.read('c1')].map((item) => {
      const {
        id: _id,
        at: _at,
        offset: _offset,
        ...rest
      } = item as StoredItem & { id?: string; at?: string }
      return rest
    })
  return { sessions, store, messages, recorder, items }
}

describe("recording a harness's events", () => {
  test('stores prompts, messages, tool calls and usage', () => {
    const { recorder, items } = follow()
    const one = recorder()
    one.recordPrompt('Do it')
    const events: readonly HarnessEvent[] = [
      started,
      { type: 'delta', text: 'I l' },
      { type: 'text', text: 'I look.' },
      { type: 'tool', id: 't1', name: 'execute', status: 'started', command: 'ls' },
      { type: 'usage', spent: usage, context: 20 },
      {
        type: 'tool',
        id: 't1',
        name: 'execute',
        status: 'failed',
        command: 'ls',
        output: 'no such folder',
      },
      { type: 'compaction', trigger: 'auto', tokensBefore: 900, boundary: 'b1' },
      { type: 'text', text: 'It is done.' },
      { type: 'usage', spent: usage, context: 30, window: 100 },
      over,
    ]
    for (const event of events) one.recordEvent(event)
    one.recordClose()
    expect(items()).toEqual([
      { type: 'began', conversation: 'c1', harness: 'acp', cwd: '/project', model: 'm1' },
      { type: 'message', role: 'user', parts: [{ type: 'text', text: 'Do it' }] },
      {
        type: 'message',
        role: 'assistant',
        model: 'm1',
        parts: [{ type: 'text', text: 'I look.' }],
      },
      {
        type: 'message',
        role: 'assistant',
        model: 'm1',
        parts: [{ type: 'tool use', id: 't1', name: 'execute', input: { command: 'ls' } }],
      },
      {
        type: 'message',
        role: 'user',
        parts: [
          {
            type: 'tool result',
            use: 't1',
            parts: [{ type: 'text', text: 'no such folder' }],
            isError: true,
          },
        ],
      },
      { type: 'compaction', trigger: 'auto', tokensBefore: 900 },
      // The usage of a request without a message goes to the next message.
      {
        type: 'message',
        role: 'assistant',
        model: 'm1',
        parts: [{ type: 'text', text: 'It is done.' }],
        usage: { input: 20, cacheWritten: 0, cacheRead: 10, output: 6 },
        context: { tokens: 30, window: 100 },
      },
      { type: 'ended', reason: 'closed' },
    ])
  })

  test('continues a resumed conversation, and marks failures apart from messages', () => {
    const { recorder, items } = follow()
    for (const text of ['First', 'Second']) {
      const each = recorder()
      each.recordPrompt(text)
      for (const event of [
        started,
        { type: 'turn ended', how: 'failed', failure: 'the model is overloaded' } as const,
      ])
        each.recordEvent(event)
    }
    expect(items()).toMatchObject([
      { type: 'began' },
      { role: 'user', parts: [{ text: 'First' }] },
      { role: 'assistant', isFailure: true },
      { role: 'user', parts: [{ text: 'Second' }] },
      { role: 'assistant', isFailure: true, parts: [{ text: 'the model is overloaded' }] },
    ])
  })

  test('stores usage once, however a turn ends', () => {
    const tool = { type: 'tool', id: 't1', name: 'execute', command: 'ls' } as const
    const ends: Readonly<Record<string, readonly HarnessEvent[]>> = {
      'a tool': [
        { ...tool, status: 'started' },
        { ...tool, status: 'completed', output: 'a' },
      ],
      'a tool that is not over': [{ ...tool, status: 'started' }],
      'a text': [{ type: 'text', text: 'Done.' }],
      'a compaction': [{ type: 'compaction', trigger: 'auto', boundary: 'b1' }],
      nothing: [],
    }
    for (const [end, events] of Object.entries(ends)) {
      const { recorder, store } = follow()
      const one = recorder()
      one.recordPrompt('Do it')
      for (const event of [
        started,
        ...events,
        { type: 'usage', spent: usage, context: 20 } as const,
        over,
      ])
        one.recordEvent(event)
      expect(summarise(store.read('c1')).usage, end).toEqual({ m1: usage })
      one.recordPrompt('Go on')
      for (const event of [started, { type: 'text', text: 'Yes.' } as const, over])
        one.recordEvent(event)
      // Closed before the turn is over.
      one.recordEvent({ type: 'usage', spent: usage })
      one.recordClose()
      const { usage: all, messages } = summarise(store.read('c1'))
      expect(all, end).toEqual({ m1: { input: 20, cacheWritten: 0, cacheRead: 10, output: 6 } })
      // A failure is no response, and is not sent to a model.
      expect(messages, end).toBe(3 + (end === 'nothing' || end === 'a compaction' ? 0 : 1))
      expect(JSON.stringify(modelMessages(store.read('c1'))), end).not.toContain('[]')
    }
  })

  test('writes the prompt to disk before the response', () => {
    const { recorder, items } = follow()
    const one = recorder()
    one.recordPrompt('Do it')
    one.recordEvent(started)
    expect(items()).toMatchObject([{ type: 'began' }, { role: 'user' }])
  })

  test('reports a failed write once and never throws', () => {
    const { sessions, messages, recorder } = follow()
    rmSync(join(sessions, 'conversations'), { recursive: true, force: true })
    writeFileSync(join(sessions, 'conversations'), 'in the way')
    const one = recorder()
    for (let turn = 0; turn < 2; turn += 1) {
      one.recordPrompt('Do it')
      for (const event of [started, over]) one.recordEvent(event)
    }
    one.recordClose()
    expect(messages).toEqual([expect.stringContaining('what is said is not stored')])
  })
})
