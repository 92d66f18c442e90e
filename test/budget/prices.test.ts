import { describe, expect, test } from 'vitest'
import {
  type BilledTokens,
  estimateCost,
  plainModelName,
  findPrice,
} from '../../src/context/budget/prices.ts'

const AT = '2026-01-01T00:00:00.000Z'
const SPENT: BilledTokens = {
  input: 10_000,
  output: 5000,
  cacheRead: 40_000,
  cacheWritten: 20_000,
  cacheWrittenHour: 0,
}

describe('what tokens cost', () => {
  // As the client itself reckons them; `test/harness/budget.harness.test.ts` asks it.
  test.each([
    ['claude-opus-5-5', 0.248],
    ['claude-opus-4-5', 0.32],
    ['claude-sonnet-5-5', 0.124],
    ['claude-sonnet-4-5', 0.192],
    ['claude-haiku-4-5', 0.064],
    ['claude-fable-5-1', 0.61],
  ])('is the price of %s', (model, dollars) => {
    expect(estimateCost({ [model]: SPENT }, [], AT)?.value).toBeCloseTo(dollars, 10)
  })

  test('is an estimate that says which list it comes from', () => {
    expect(estimateCost({ 'claude-sonnet-4-5': SPENT }, [], AT)).toMatchObject({
      known: 'estimated',
      from: expect.stringMatching(/^price list of 20\d\d-/),
      at: AT,
    })
  })

  test('is more for what is kept an hour in the cache', () => {
    const hour = { ...SPENT, cacheWritten: 0, cacheWrittenHour: 20_000 }
    expect(estimateCost({ 'claude-sonnet-4-5': hour }, [], AT)?.value).toBeCloseTo(
      0.192 - 0.075 + 0.12,
      10,
    )
  })

  test('is unknown when the price of one of the models is', () => {
    expect(
      estimateCost({ 'claude-sonnet-4-5': SPENT, 'some-model': SPENT }, [], AT),
    ).toBeUndefined()
    expect(estimateCost({}, [], AT)).toBeUndefined()
  })

  test('is what the configuration says before what the list says', () => {
    const own = {
      model: 'claude-sonnet-*',
      input: 1,
      output: 1,
      cacheRead: 1,
      cacheWrite: 1,
      cacheWriteHour: 1,
    }
    expect(estimateCost({ 'claude-sonnet-4-5': SPENT }, [own], AT)).toMatchObject({
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
  ])('is known by its plain name: %s', (model, name) => {
    expect(plainModelName(model)).toBe(name)
    expect(findPrice(model, [])).toBeDefined()
  })

  test.each(['claude-sonnet-5-9', 'claude-sonnet-50', 'gpt-5-pro', '__proto__', 'constructor', ''])(
    'that is not on the list has no price, though its name begins like one that is: %s',
    (model) => {
      expect(findPrice(model, [])).toBeUndefined()
    },
  )

  test('is named in the configuration by a pattern', () => {
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
