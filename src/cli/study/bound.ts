import type { Rate } from './contract.ts'

const DOUBT = 0.05
const STEPS = 60

/**
 * What a rate is at most, with 95 % confidence. Of what never happened in N trials: 3/N. Of what did: the exact bound (Clopper and Pearson's),
 * the rate at which so few would be seen in one case of twenty. What was never tried may always happen.
 */
export function upperBound({ happened, trials }: Rate): number {
  if (trials <= 0 || happened >= trials) return 1
  if (happened === 0) return Math.min(1, 3 / trials)
  let [low, high] = [happened / trials, 1]
  for (let step = 0; step < STEPS; step += 1) {
    const middle = (low + high) / 2
    if (chanceOfAtMost(happened, trials, middle) > DOUBT) low = middle
    else high = middle
  }
  return high
}

/** That something happens at most so often, each of its probabilities being kept as a logarithm, or those of many trials would vanish. */
function chanceOfAtMost(most: number, trials: number, rate: number): number {
  const [logRate, logRest] = [Math.log(rate), Math.log1p(-rate)]
  let logWays = 0
  let sum = 0
  for (let count = 0; count <= most; count += 1) {
    if (count > 0) logWays += Math.log((trials - count + 1) / count)
    sum += Math.exp(logWays + count * logRate + (trials - count) * logRest)
  }
  return sum
}
