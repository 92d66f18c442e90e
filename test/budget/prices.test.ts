import { describe, expect, test } from 'vitest'
import {
  type BilledTokens,
  estimateCost,
  plainModelName,
  findPrice,
} from '../../src/context/budget/prices.ts'

const AT = '2026-01-01T00:00:00.000Z'
const TOKENS: BilledTokens = {
  input: 10_000,
  output: 5000,
  cacheRead: 40_000,
  cacheWritten: 20_000,
  cacheWrittenHour: 0,
}

describe('the cost of tokens', () => {
  // As the client itself computes them, checked by `test/harness/budget.harness.test.ts`.
  test.each([
    ['claude-opus-5-5', 0.248],
    ['claude-opus-4-5', 0.32],
    ['claude-sonnet-5-5', 0.124],
    ['claude-sonnet-4-5', 0.192],
    ['claude-haiku-4-5', 0.064],
    ['claude-fable-5-1', 0.61],
  ])('follows the price of %s', (model, dollars) => {
    expect(estimateCost({ [model]: TOKENS }, [], AT)?.value).toBeCloseTo(dollars, 10)
  })

  test('is an estimate that names its price list', () => {
    expect(estimateCost({ 'claude-sonnet-4-5': TOKENS }, [], AT)).toMatchObject({
      known: 'estimated',
      from: expect.stringMatching(/^price list of 20\d\d-/),
      at: AT,
    })
  })

  test('is higher for one-hour cache writes', () => {
    const hour = { ...TOKENS, cacheWritten: 0, cacheWrittenHour: 20_000 }
    expect(estimateCost({ 'claude-sonnet-4-5': hour }, [], AT)?.value).toBeCloseTo(
      0.192 - 0.075 + 0.12,
      10,
    )
  })

  test('is unknown when the price of one of the models is unknown', () => {
    expect(
      estimateCost({ 'claude-sonnet-4-5': TOKENS, 'some-model': TOKENS }, [], AT),
    ).toBeUndefined()
    expect(estimateCost({}, [], AT)).toBeUndefined()
  })

  test('prefers configured prices to the list', () => {
    const own = {
      model: 'claude-sonnet-*',
      input: 1,
      output: 1,
      cacheRead: 1,
      cacheWrite: 1,
      cacheWriteHour: 1,
    }
    expect(estimateCost({ 'claude-sonnet-4-5': TOKENS }, [own], AT)).toMatchObject({
      value: 0.075,
      from: 'prices of the configuration',
    })
  })
})

describe('a model', () => {
  test.each([
    ['claude-sonnet-4-5-20250929', 'claude-sonnet-4-5'],
    ['claude-sonnet-4-5[1m]', 'claude-sonnet-4-5'],
    ['us.anthropic.claude-opus-4-5-20251101-v1:0', 'claude-opus-4-5'],
    ['anthropic/claude-opus-5-5', 'claude-opus-5-5'],
    ['claude-haiku-4-5@20251001', 'claude-haiku-4-5'],
    ['gpt-5-2025-08-07', 'gpt-5'],
  ])('is identified by its plain name: %s', (model, name) => {
    expect(plainModelName(model)).toBe(name)
    expect(findPrice(model, [])).toBeDefined()
  })

  test.each(['claude-sonnet-5-9', 'claude-sonnet-50', 'gpt-5-pro', '__proto__', 'constructor', ''])(
    'that is not on the list has no price, even if its name starts like a listed one: %s',
    (model) => {
      expect(findPrice(model, [])).toBeUndefined()
    },
  )

  test('can be matched by a pattern in the configuration', () => {
    const own = (model: string) => [
      { model, input: 1, output: 1, cacheRead: 1, cacheWrite: 1, cacheWriteHour: 1 },
    ]
    for (const pattern of ['local-*', '*-7b', 'local*7b', 'local-llama-7b', '*', 'l*l*7*b']) {
      expect(findPrice('local-llama-7b', own(pattern))).toBeDefined()
    }
    for (const pattern of ['local-', 'llama', '*llama', 'local*8b', 'local-llama-7b*b']) {
      expect(findPrice('local-llama-7b', own(pattern))).toBeUndefined()
    }
  })
})
