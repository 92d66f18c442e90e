import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { estimated, measured } from '../../src/context/budget/budget.ts'
import {
  type ClaudeCompactionPointInput,
  compactionPoint,
  readCompactionSettings,
} from '../../src/harness/claude/limits.ts'
import { estimateWindow } from '../../src/context/budget/prices.ts'
import { findHarness } from '../../src/harness/registry.ts'
import { scratchFolder } from '../support/scratch.ts'

const AT = '2026-01-01T00:00:00.000Z'
const LATER = '2026-01-02T00:00:00.000Z'
const window = measured(200_000, 'status line', AT)
const settings = { isAutomatic: true, said: [] }
const point = (evidence: Partial<ClaudeCompactionPointInput>) =>
  compactionPoint({ window, settings, version: '2.1.325', ...evidence })

describe('the compaction point of Claude Code', () => {
  test('is 33,000 tokens before the end of the window', () => {
    expect(point({})).toMatchObject({
      value: 167_000,
      known: 'estimated',
      from: 'window less 33k',
      at: AT,
    })
    expect(point({ window: measured(1_000_000, 'status line', AT) })?.value).toBe(967_000)
  })

  test('leaves room for the longest response with clients before 2.1', () => {
    expect(point({ version: '2.0.77' })?.value).toBe(155_000)
    expect(point({ version: '1.0.128' })?.value).toBe(155_000)
    expect(point({ version: '2.0.77', settings: { ...settings, maxOutput: 64_000 } })?.value).toBe(
      123_000,
    )
    expect(point({ version: undefined })?.value).toBe(167_000)
  })

  test('follows a configured window, if the client knows that setting', () => {
    const set = { ...settings, window: 100_000, said: ['autoCompactWindow'] }
    expect(point({ settings: set })).toMatchObject({
      value: 67_000,
      from: 'window less 33k (autoCompactWindow)',
    })
    expect(point({ settings: { ...set, window: 500_000 } })?.value).toBe(167_000)
    expect(point({ settings: set, version: '2.0.77' })?.value).toBe(155_000)
  })

  test('follows a configured percentage, which can only lower it', () => {
    const large = measured(1_000_000, 'status line', AT)
    expect(point({ window: large, settings: { ...settings, percent: 10 } })?.value).toBe(98_000)
    expect(point({ settings: { ...settings, percent: 100 } })?.value).toBe(167_000)
  })

  test('is the end of the window when compaction is turned off', () => {
    const off = { isAutomatic: false, said: ['DISABLE_AUTO_COMPACT'] }
    expect(point({ settings: off })).toMatchObject({
      value: 200_000,
      from: expect.stringContaining('DISABLE_AUTO_COMPACT'),
    })
    expect(point({ settings: off, lastAutomatic: { tokens: 150_000, at: AT } })?.value).toBe(
      200_000,
    )
  })

  test('is unknown when the window is unknown and no compaction was seen', () => {
    expect(point({ window: undefined })).toBeUndefined()
    expect(point({ settings: { ...settings, window: 30_000 } })).toBeUndefined()
  })

  test('is where the last automatic compaction happened', () => {
    const seen = { tokens: 150_000, at: LATER }
    expect(point({ lastAutomatic: seen })).toMatchObject({
      value: 150_000,
      known: 'measured',
      at: LATER,
    })
    expect(point({ lastAutomatic: seen, window: undefined })?.value).toBe(150_000)
    expect(point({ lastAutomatic: { ...seen, tokens: 168_200 } })).toMatchObject({
      value: 168_200,
      known: 'measured',
    })
  })

  test('ignores a compaction after one long response overshot it', () => {
    expect(point({ lastAutomatic: { tokens: 196_000, at: LATER } })).toMatchObject({
      value: 167_000,
      known: 'estimated',
    })
  })

  test('ignores an earlier compaction once the context is larger than that', () => {
    expect(point({ lastAutomatic: { tokens: 80_000, at: LATER }, tokens: 90_000 })?.value).toBe(
      167_000,
    )
  })
})

describe('the compaction settings', () => {
  function world(files: Readonly<Record<string, string>>) {
    const folder = scratchFolder()
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    return (env: NodeJS.ProcessEnv = {}) =>
      readCompactionSettings({ root: join(folder, 'project'), env: { HOME: folder, ...env } })
  }

  test('are empty by default', () => {
    expect(world({})()).toEqual({ isAutomatic: true, said: [] })
  })

  test('are read from the environment and the settings of project and user', () => {
    const read = world({
      '.claude/settings.json':
        '{ "autoCompactWindow": 300000, "env": { "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "60" } }',
      'project/.claude/settings.local.json': '{ "autoCompactWindow": "150k" }',
    })
    expect(read()).toMatchObject({ isAutomatic: true, window: 150_000, percent: 60 })
    expect(read({ CLAUDE_CODE_AUTO_COMPACT_WINDOW: '120000' })).toMatchObject({ window: 120_000 })
    expect(read({ CLAUDE_CODE_AUTO_COMPACT_WINDOW: '5' })).toMatchObject({ window: 100_000 })
  })

  test.each<[string, NodeJS.ProcessEnv, string]>([
    ['DISABLE_AUTO_COMPACT', { DISABLE_AUTO_COMPACT: '1' }, '{}'],
    ['DISABLE_COMPACT', { DISABLE_COMPACT: 'true' }, '{}'],
    ['autoCompactEnabled', {}, '{ "autoCompactEnabled": false }'],
    ['the env of the settings', {}, '{ "env": { "DISABLE_AUTO_COMPACT": "1" } }'],
  ])('may turn compaction off: %s', (_what, env, user) => {
    expect(world({ '.claude/settings.json': user })(env).isAutomatic).toBe(false)
  })

  test.each([
    ['not JSON', '{'],
    ['a list', '[]'],
    ['nonsense', '{ "autoCompactWindow": {}, "autoCompactEnabled": 0, "env": 5 }'],
  ])('are empty if the file holds %s', (_what, text) => {
    expect(world({ '.claude/settings.json': text })()).toMatchObject({ isAutomatic: true })
    expect(world({ '.claude/settings.json': text })().window).toBeUndefined()
  })
})

describe('the window of a model', () => {
  test.each([
    ['claude-opus-5-5', 1_000_000],
    ['claude-opus-4-8', 1_000_000],
    ['claude-sonnet-5', 1_000_000],
    ['claude-haiku-5-5', 1_000_000],
    ['claude-sonnet-4-5-20250929', 200_000],
    ['claude-sonnet-4-6[1m]', 1_000_000],
    ['claude-opus-4-6', 200_000],
    ['claude-haiku-4-5', 200_000],
  ])('is estimated from its name: %s', (model, size) => {
    expect(estimateWindow(model, undefined)).toMatchObject({ value: size, known: 'estimated' })
  })

  test('is the large one when the context is larger than the usual one', () => {
    expect(estimateWindow('claude-sonnet-4-5', 210_000)?.value).toBe(1_000_000)
  })

  test('is unknown for an unknown model', () => {
    expect(estimateWindow('some-model', 10)).toBeUndefined()
    expect(estimateWindow(undefined, 10)).toBeUndefined()
  })
})

describe('the compaction point of other harnesses', () => {
  const of = estimated(200_000, 'configuration', AT)
  const pointIn = (harness: string, window: typeof of | undefined) =>
    findHarness(harness)?.limits?.compactionPoint({ root: '/', env: {} })({ window })
  test.each([
    ['codex', 180_000],
    ['gemini', 100_000],
    ['goose', 160_000],
    ['opencode', 180_000],
    ['pi', 183_616],
  ])('is estimated: %s', (harness, tokens) => {
    expect(pointIn(harness, of)).toMatchObject({ value: tokens, known: 'estimated' })
  })

  test('is unknown for an unknown harness, or without a window', () => {
    expect(pointIn('constructor', of)).toBeUndefined()
    expect(pointIn('gemini', undefined)).toBeUndefined()
  })
})
