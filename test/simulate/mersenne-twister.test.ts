import { describe, expect, test } from 'vitest'
import { MersenneTwister } from '../../src/cli/study/mersenne-twister.ts'

// Drawn with Python 3.
describe("the generator matches Python's random", () => {
  test.each([
    { seed: 0, numbers: [0.8444218515250481, 0.7579544029403025, 0.420571580830845] },
    { seed: 42, numbers: [0.6394267984578837, 0.025010755222666936, 0.27502931836911926] },
    { seed: 4294967296, numbers: [0.11299430095636409, 0.41782886486292836, 0.0166763664992291] },
    {
      seed: 9007199254740990,
      numbers: [0.4563829620986519, 0.711187665561653, 0.7538294929633319],
    },
  ])('with the seed $seed', ({ seed, numbers }) => {
    const random = new MersenneTwister(seed)
    expect(numbers.map(() => random.random())).toEqual(numbers)
  })

  test('beyond its first words', () => {
    const random = new MersenneTwister(7)
    for (let drawn = 0; drawn < 2000; drawn += 1) random.random()
    expect(random.random()).toBe(0.6415743501553379)
  })

  test('as whole numbers, by weights and evenly, one after the other', () => {
    const random = new MersenneTwister(42)
    const times = (count: number, draw: () => number) => Array.from({ length: count }, draw)
    expect(times(12, () => random.between(6, 10))).toEqual([6, 6, 8, 7, 7, 7, 6, 10, 6, 10, 9, 6])
    expect(times(8, () => random.between(1, 2))).toEqual([1, 1, 1, 1, 1, 1, 2, 1])
    const sums = [0.35, 0.35 + 0.45, 0.35 + 0.45 + 0.2]
    expect(times(10, () => random.choose(sums))).toEqual([1, 0, 2, 1, 0, 1, 0, 0, 1, 0])
    expect(random.uniform(-0.05, 0.05)).toBe(-0.01200726993626626)
  })
})
