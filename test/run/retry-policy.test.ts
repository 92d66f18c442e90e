import { expect, test } from 'vitest'
import { afterFailure } from '../../src/run/attempt/retry-policy.ts'

const failed = {
  number: 1,
  conversation: 'live conversation',
  isConversationSpent: false,
  isOutOfTime: false,
} as const
const retry = { onFailure: 'retry' } as const

test('retries in the same conversation, then in a fresh one, then parks the task', () => {
  expect(afterFailure(failed, retry)).toBe('same conversation again')
  const second = { ...failed, number: 2, conversation: 'same conversation again' } as const
  expect(afterFailure(second, retry)).toBe('fresh conversation')
  const third = { ...failed, number: 3, conversation: 'fresh conversation' } as const
  expect(afterFailure(third, retry)).toBe('parked')
})

test('skips the same conversation when it is full or broken', () => {
  expect(afterFailure({ ...failed, isConversationSpent: true }, retry)).toBe('fresh conversation')
})

test.each(['continue', 'stop'] as const)('parks at once with onFailure %s', (onFailure) => {
  expect(afterFailure(failed, { onFailure })).toBe('parked')
})

test('parks a task that is out of time', () => {
  expect(afterFailure({ ...failed, isOutOfTime: true }, retry)).toBe('parked')
})

test('parks after three attempts of a resumed run', () => {
  expect(afterFailure({ ...failed, number: 3 }, retry)).toBe('parked')
})
