import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { conversationTotals } from '../../src/project/conversation-budget.ts'
import { type BudgetInputs, computeBudget } from '../../src/project/conversation/compute-budget.ts'
import {
  readContextWindow,
  contextWindowPath,
  writeContextWindow,
} from '../../src/project/conversation/conversation-state.ts'
import { answered, compacted, said } from '../capture/transcript.ts'
import { scratchFolder } from '../support/scratch.ts'

const T = (minute: number) => `2026-01-01T10:${String(minute).padStart(2, '0')}:00.000Z`
const usage = { input: 100, cacheWritten: 900, cacheRead: 49_000, output: 500 }
const boundary = { uuid: 'b', trigger: 'auto', tokensBefore: 168_000, tokensAfter: 9000, at: T(5) }

function budget(known: Partial<BudgetInputs>) {
  return computeBudget({
    harness: 'claude',
    root: scratchFolder(),
    env: { HOME: scratchFolder() },
    now: T(30),
    ...known,
  })
}

describe("a conversation's budget", () => {
  test('takes the latest figure of transcript and status line', () => {
    const tail = { call: { usage, at: T(5) }, model: 'claude-sonnet-4-5' }
    expect(budget({ tail }).tokens).toEqual({
      value: 50_500,
      known: 'measured',
      from: 'transcript',
      at: T(5),
    })
    expect(budget({ tail, window: { at: T(6), used: 60_000 } }).tokens).toMatchObject({
      value: 60_000,
      from: 'status line',
    })
    expect(budget({ tail, window: { at: T(4), used: 40_000 } }).tokens).toMatchObject({
      value: 50_500,
      from: 'transcript',
    })
  })

  test('ignores the stale figure old clients report after a compaction', () => {
    const window = { at: T(9), used: 168_000 }
    expect(budget({ tail: { compacted: boundary }, window }).tokens).toMatchObject({
      value: 9000,
      known: 'estimated',
    })
    const { tokensAfter: _left, ...silent } = boundary
    expect(budget({ tail: { compacted: silent }, window }).tokens).toBeUndefined()
  })

  test('is empty without any figure', () => {
    expect(budget({})).toEqual({})
    expect(budget({ tail: {}, window: { at: T(1) } })).toEqual({})
  })

  test('takes the window from the configuration, then the status line, then the model', () => {
    const tail = { call: { usage }, model: 'claude-sonnet-4-5' }
    const window = { at: T(1), size: 1_000_000 }
    expect(budget({ tail }).window).toMatchObject({ value: 200_000, known: 'estimated' })
    expect(budget({ tail, window }).window).toMatchObject({
      value: 1_000_000,
      known: 'measured',
      from: 'status line',
    })
    expect(budget({ tail, window, configured: 150_000 })).toMatchObject({
      window: { value: 150_000, from: 'configuration' },
      point: { value: 117_000, known: 'estimated' },
    })
  })

  test('takes the compaction point from the harness', () => {
    const window = { at: T(1), size: 200_000, version: '2.0.77' }
    expect(budget({ window }).point?.value).toBe(155_000)
    expect(budget({ window, version: '2.1.325' }).point?.value).toBe(155_000)
    expect(budget({ window: { at: T(1), size: 200_000 }, version: '2.1.325' }).point?.value).toBe(
      167_000,
    )
    expect(budget({ window, harness: 'gemini' }).point?.value).toBe(100_000)
    expect(budget({ window, harness: 'unheard-of' }).point).toBeUndefined()
  })

  test('drops a limit that was reset since', () => {
    const window = {
      at: T(1),
      fiveHour: { percent: 80, resetsAt: T(20) },
      sevenDay: { percent: 30, resetsAt: T(50) },
    }
    expect(budget({ window })).toEqual({
      sevenDay: { value: window.sevenDay, known: 'measured', from: 'status line', at: T(1) },
    })
  })
})

describe("the status line's file", () => {
  test('is read by hooks, and ignored when damaged', () => {
    const folder = scratchFolder()
    const window = {
      at: T(1),
      used: 5,
      size: 200_000,
      cost: 0.5,
      model: 'm',
      fiveHour: { percent: 1 },
    }
    writeContextWindow(folder, 'c-1', window)
    expect(readContextWindow(folder, 'c-1')).toEqual(window)
    for (const damaged of ['', '{"at"', 'null', '[]', '{"used":5}']) {
      writeFileSync(contextWindowPath(folder, 'c-1'), damaged)
      expect(readContextWindow(folder, 'c-1')).toBeUndefined()
    }
    expect(readContextWindow(folder, 'c-2')).toBeUndefined()
  })
})

describe("a conversation's totals", () => {
  function world() {
    const folder = scratchFolder()
    const transcript = join(folder, 'c-1.jsonl')
    const notes = join(folder, 'notes')
    appendFileSync(
      transcript,
      [said('a'), answered('1'), compacted(), answered('2'), ''].join('\n'),
    )
    return {
      transcript,
      notes,
      total: () =>
        conversationTotals(notes, { conversation: 'c-1', harness: 'claude', transcript }),
      kept: join(notes, 'c-1.usage'),
    }
  }

  test("separate delegated usage, read from the delegates' transcripts", () => {
    const { transcript, total } = world()
    mkdirSync(join(transcript.replace('.jsonl', ''), 'subagents'), { recursive: true })
    const theirs = answered('3', { isSidechain: true })
    writeFileSync(
      join(transcript.replace('.jsonl', ''), 'subagents', 'agent-a.jsonl'),
      `${theirs}\n`,
    )
    expect(total()).toMatchObject({
      calls: 2,
      compactions: 1,
      delegates: 1,
      spent: { 'some-model': { output: 80 } },
      delegated: { 'some-model': { output: 40 } },
    })
  })

  test('are the same when their cache is deleted, damaged or unwritable', () => {
    const { transcript, notes, total, kept } = world()
    const first = total()
    expect(total()).toEqual(first)
    writeFileSync(
      kept,
      readFileSync(kept, 'utf8')
        .replace('"output":80', '"output":99')
        .replace('"output":40', '"output":99'),
    )
    expect(total()).toEqual(first)
    rmSync(kept)
    expect(total()).toEqual(first)
    rmSync(notes, { recursive: true })
    writeFileSync(notes, 'in the way')
    expect(total()).toEqual(first)
    appendFileSync(transcript, `${answered('4')}\n`)
    expect(total()?.calls).toBe(3)
  })
})
