import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readStatusInput } from '../../src/harness/claude/hooks.ts'
import { statusFigures } from '../../src/project/conversation/conversation-state.ts'

/** Recorded from Claude Code 2.1.325 and 2.0.77. */
const NEW = {
  session_id: 'c-1',
  cwd: '/home/dev/project',
  version: '2.1.325',
  model: { id: 'claude-opus-5-5', display_name: 'Opus 5.5' },
  cost: { total_cost_usd: 0.122, total_duration_ms: 1387 },
  context_window: {
    total_input_tokens: 61_000,
    total_output_tokens: 500,
    context_window_size: 1_000_000,
    current_usage: {
      input_tokens: 1000,
      output_tokens: 500,
      cache_creation_input_tokens: 20_000,
      cache_read_input_tokens: 40_000,
    },
    used_percentage: 6,
  },
  rate_limits: {
    five_hour: { used_percentage: 41.5, resets_at: 1_794_754_800 },
    seven_day: { used_percentage: 12, resets_at: '2026-11-20T08:00:00Z' },
  },
}
const OLD = {
  session_id: 'c-1',
  cwd: '/home/dev/project',
  version: '2.0.77',
  context_window: {
    total_input_tokens: 1500,
    total_output_tokens: 600,
    context_window_size: 200_000,
    current_usage: {
      input_tokens: 1000,
      output_tokens: 500,
      cache_creation_input_tokens: 20_000,
      cache_read_input_tokens: 40_000,
    },
  },
}

const figures = (input: object) => readStatusInput(JSON.stringify(input)).figures

describe('the status line input', () => {
  test('has context size, window, cost and rate limits', () => {
    expect(readStatusInput(JSON.stringify(NEW))).toEqual({
      cwd: '/home/dev/project',
      conversation: 'c-1',
      figures: {
        usedPercent: 6,
        size: 1_000_000,
        used: 61_500,
        model: 'claude-opus-5-5',
        version: '2.1.325',
        cost: 0.122,
        fiveHour: { percent: 41.5, resetsAt: '2026-11-15T15:00:00.000Z' },
        sevenDay: { percent: 12, resetsAt: '2026-11-20T08:00:00.000Z' },
      },
    })
  })

  test('ignores the totals of old clients, which are sums over all calls', () => {
    expect(figures(OLD)).toEqual({ size: 200_000, used: 61_500, version: '2.0.77' })
  })

  test.each([
    ['null', null],
    [
      'zeros',
      {
        input_tokens: 0,
        output_tokens: 0,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
      },
    ],
  ])('has no size right after a compaction, when it is %s', (_what, current_usage) => {
    expect(
      figures({ context_window: { ...NEW.context_window, current_usage } }).used,
    ).toBeUndefined()
  })

  test.each([
    '',
    'null',
    '[]',
    '{',
    '{"context_window":5,"cost":[],"rate_limits":{"five_hour":"x","seven_day":null}}',
  ])('is empty when it is broken: %s', (input) => {
    expect(readStatusInput(input)).toEqual({ figures: {} })
  })

  test('is read back as it was stored, and anything else as nothing', () => {
    const left = figures(NEW)
    expect(statusFigures(JSON.parse(JSON.stringify(left)) as object as never)).toEqual(left)
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...Object.keys(left)), fc.jsonValue()),
        (fields) => {
          for (const value of Object.values(statusFigures(fields as never)))
            expect(value).not.toBeUndefined()
        },
      ),
    )
  })
})
