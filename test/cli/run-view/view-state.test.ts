import { describe, expect, test } from 'vitest'
import {
  EMPTY_VIEW,
  type RunViewState,
  applyEvent,
  countOutcome,
} from '../../../src/cli/print/run/view-state.ts'
import type { RunEvent } from '../../../src/run/entries.ts'
import { ATTEMPT, OPENED, REST, STORY, TASKS, at, gauge, named, spend } from './story.ts'

function after(...events: readonly RunEvent[]): RunViewState {
  return events.reduce(applyEvent, EMPTY_VIEW)
}

const [started] = STORY as [RunEvent]
const begun = (task = TASKS.login, seconds = 3, attempt = 1): RunEvent => {
  return {
    kind: 'attempt.started',
    at: at(seconds),
    task,
    data: {
      ...ATTEMPT,
      task,
      number: attempt,
      place: attempt === 1 ? 'live conversation' : 'fresh conversation',
    },
  }
}
const done = (task = TASKS.login): RunEvent => ({
  kind: 'attempt.ended',
  at: at(9),
  task,
  data: { attempt: 'a', outcome: 'done', spend: spend(1), seconds: 6 },
})
const parked = (task = TASKS.login): RunEvent => ({
  kind: 'task.parked',
  at: at(8),
  task,
  data: { task: task.id, reason: 'red' },
})

describe('the view state', () => {
  test('has each task in one place', () => {
    const state = after(...STORY, ...REST)
    const counts = (['done', 'parked', 'blocked', 'open'] as const).map((outcome) =>
      countOutcome(state, outcome),
    )
    expect(counts).toEqual([3, 1, 1, 1])
    expect(state).toMatchObject({ ended: 'waiting', stopping: 'after task' })
    expect(state.current).toBeUndefined()
  })

  test('counts a task that was parked and then done once, as done', () => {
    const state = after(started, parked(), done())
    expect([countOutcome(state, 'done'), countOutcome(state, 'parked')]).toEqual([1, 0])
  })

  test('counts a task that was added to the backlog later', () => {
    const late = named('late', 'Came later')
    expect(countOutcome(after(started, begun(late)), 'open')).toBe(7)
  })

  test("keeps a task's clock running over its attempts and restarts it for the next task", () => {
    expect(after(started, begun(), begun(TASKS.login, 90, 2)).current).toMatchObject({
      startedAt: at(3),
      attempt: 2,
    })
    expect(after(started, begun(), done(), begun(TASKS.cookie, 90)).current?.startedAt).toBe(at(90))
  })

  test('has no usage for a fresh conversation', () => {
    const used: RunEvent = {
      kind: 'usage',
      at: at(4),
      data: { gauge: gauge(90_000), spend: spend(1) },
    }
    const opened = (number: number): RunEvent => ({
      kind: 'conversation.opened',
      at: at(5),
      data: { ...OPENED, number },
    })
    const known: RunEvent = {
      kind: 'conversation.started',
      at: at(5),
      data: { number: 1, conversation: 'c' },
    }
    expect(after(started, opened(1), used, known).gauge).toBeDefined()
    expect(after(started, opened(1), used, opened(2)).gauge).toBeUndefined()
    expect(after(started, opened(1), used, opened(2)).spend).toBeDefined()
  })

  test('clears a rate limit when the model answers again', () => {
    const limit: RunEvent = {
      kind: 'limit.reached',
      at: at(4),
      data: { message: 'full', isWaiting: true },
    }
    const used: RunEvent = { kind: 'usage', at: at(5), data: { gauge: gauge(1), spend: spend(1) } }
    expect(after(started, limit).limit).toBeDefined()
    expect(after(started, limit, used).limit).toBeUndefined()
  })

  test('shows the activity of a task until the next one', () => {
    const verifying: RunEvent = {
      kind: 'verify.started',
      at: at(5),
      task: TASKS.login,
      data: { command: 'npm test' },
    }
    const turn: RunEvent = {
      kind: 'turn.started',
      at: at(6),
      task: TASKS.login,
      data: { why: 'task' },
    }
    expect(after(started, begun(), verifying).current?.activity).toBe('verifying with npm test')
    expect(after(started, begun(), verifying, turn).current?.activity).toBeUndefined()
  })

  test('shows a tool call once, even when the harness reports only its end', () => {
    const tool = (status: 'started' | 'completed', path: string): RunEvent => ({
      kind: 'tool',
      at: at(5),
      data: { name: 'Read', status, path },
    })
    expect(
      after(
        tool('started', 'a'),
        tool('started', 'b'),
        tool('completed', 'a'),
        tool('completed', 'b'),
      ).tail,
    ).toHaveLength(2)
    expect(after(tool('completed', 'a')).tail).toMatchObject([{ text: 'Read a' }])
  })

  test("shows paths in the run's worktree relative to it", () => {
    const read: RunEvent = {
      kind: 'tool',
      at: at(5),
      data: { name: 'Read', status: 'started', path: '/tmp/run-3f9c1a/src/a.ts' },
    }
    expect(after(started, read).tail.at(-1)?.text).toBe('Read src/a.ts')
  })

  test('keeps only the last lines', () => {
    const texts = Array.from({ length: 500 }, (_, index): RunEvent => ({
      kind: 'text',
      at: at(index),
      data: { text: `t${index}` },
    }))
    expect(after(...texts).tail.length).toBeLessThan(20)
    expect(after(...texts).tail.at(-1)?.text).toBe('“t499”')
  })
})
