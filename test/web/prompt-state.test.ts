import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { PromptEvent } from '../../src/run/prompt/prompt-events.ts'
import {
  INITIAL_PROMPT_STATE,
  hasGap,
  openPermissions,
  applyEvents,
} from '../../web/prompt/prompt-state.ts'

const SPEND = { input: 10, cacheWritten: 0, cacheRead: 0, output: 2 }
const GAUGE = { context: 900, smartZone: 80_000, stages: [75, 85, 90] }
const STORY = numbered([
  {
    kind: 'prompt.started',
    data: {
      prompt: 'p',
      session: 's',
      name: 'fix',
      harness: 'rehearsal',
      isNewSession: true,
      isFresh: true,
    },
  },
  { kind: 'conversation.started', data: { conversation: 'c', model: 'm' } },
  { kind: 'delta', data: { text: 'I am ' } },
  { kind: 'usage', data: { gauge: GAUGE, spend: SPEND } },
  { kind: 'delta', data: { text: 'look' } },
  { kind: 'text', data: { text: 'I am looking.' } },
  {
    kind: 'permission.asked',
    data: { request: 'r1', permission: { tool: 'Bash', title: 'ls', command: 'ls' } },
  },
  { kind: 'permission.settled', data: { request: 'r1', isAllowed: true } },
  { kind: 'tool', data: { id: 't1', name: 'Bash', status: 'started', command: 'ls' } },
  { kind: 'tool', data: { id: 't1', name: 'Bash', status: 'completed', output: 'a\nb' } },
  { kind: 'stage', data: { stage: 75, gauge: GAUGE } },
  { kind: 'context.compacted', data: { tokensBefore: 155_000 } },
  { kind: 'text', data: { text: 'Done.' } },
  { kind: 'prompt.ended', data: { how: 'completed', said: 'Done.', spend: SPEND, seconds: 3 } },
])

describe('the state of a prompt', () => {
  test('joins the deltas of a message and replaces them with the complete message', () => {
    expect(applyEvents(INITIAL_PROMPT_STATE, STORY.slice(0, 5)).blocks).toEqual([
      { type: 'text', text: 'I am look', isComplete: false },
    ])
    expect(applyEvents(INITIAL_PROMPT_STATE, STORY.slice(0, 6)).blocks).toEqual([
      { type: 'text', text: 'I am looking.', isComplete: true },
    ])
  })

  test('drops a message that broke off once it starts again', () => {
    const broken = numbered([
      { kind: 'delta', data: { text: 'I am lo' } },
      { kind: 'anew', data: {} },
      { kind: 'delta', data: { text: 'I am ' } },
    ])
    expect(applyEvents(INITIAL_PROMPT_STATE, broken.slice(0, 2)).blocks).toEqual([])
    expect(applyEvents(INITIAL_PROMPT_STATE, broken).blocks).toEqual([
      { type: 'text', text: 'I am ', isComplete: false },
    ])
  })

  test('puts the complete message in place of its deltas, even after a permission request', () => {
    const asked = [...STORY.slice(0, 5), ...STORY.slice(6, 7), ...STORY.slice(5, 6)]
    const state = applyEvents(
      INITIAL_PROMPT_STATE,
      asked.map((event, index) => ({ ...event, number: index + 1 })),
    )
    expect(state.blocks.map((piece) => (piece.type === 'text' ? piece.text : piece.type))).toEqual([
      'I am looking.',
      'permission',
    ])
  })

  test('keeps one block for the start and the end of a tool', () => {
    const state = applyEvents(INITIAL_PROMPT_STATE, STORY)
    expect(state.blocks.filter(({ type }) => type === 'tool')).toEqual([
      { type: 'tool', id: 't1', name: 'Bash', status: 'completed', command: 'ls', output: 'a\nb' },
    ])
    expect(state).toMatchObject({
      last: 14,
      session: 's',
      name: 'fix',
      model: 'm',
      gauge: GAUGE,
      ended: { how: 'completed' },
    })
  })

  test('keeps a permission request open until it is answered or the prompt ends', () => {
    expect(
      openPermissions(applyEvents(INITIAL_PROMPT_STATE, STORY.slice(0, 7))).map(
        ({ request }) => request,
      ),
    ).toEqual(['r1'])
    expect(openPermissions(applyEvents(INITIAL_PROMPT_STATE, STORY.slice(0, 8)))).toEqual([])
    const over = [...STORY.slice(0, 7), { ...STORY[13], number: 8 } as PromptEvent]
    expect(openPermissions(applyEvents(INITIAL_PROMPT_STATE, over))).toEqual([])
  })

  test('waits for missing events and reports the gap', () => {
    const state = applyEvents(INITIAL_PROMPT_STATE, [...STORY.slice(0, 2), ...STORY.slice(4)])
    expect([state.last, hasGap(state), state.ended]).toEqual([2, true, undefined])
    const whole = applyEvents(state, STORY.slice(2, 4))
    expect([whole.last, hasGap(whole), whole.ended?.how]).toEqual([14, false, 'completed'])
  })

  test('is the same in any order and with repeated events', () => {
    const whole = applyEvents(INITIAL_PROMPT_STATE, STORY)
    fc.assert(
      fc.property(
        fc.array(fc.shuffledSubarray([...STORY], { minLength: 1 }), { maxLength: 5 }),
        (batches) => {
          let state = INITIAL_PROMPT_STATE
          for (const batch of batches) state = applyEvents(state, batch)
          expect(applyEvents(state, STORY)).toEqual(whole)
        },
      ),
    )
  })

  test('is the same object when nothing new came, so nothing is rendered again', () => {
    const whole = applyEvents(INITIAL_PROMPT_STATE, STORY)
    expect(applyEvents(whole, STORY)).toBe(whole)
  })
})

type EventDraft = PromptEvent extends infer Event
  ? Event extends PromptEvent
    ? Omit<Event, 'at' | 'number'>
    : never
  : never

function numbered(events: readonly EventDraft[]): readonly PromptEvent[] {
  return events.map(
    (event, index) =>
      ({ ...event, at: '2026-03-01T12:00:00.000Z', number: index + 1 }) as PromptEvent,
  )
}
