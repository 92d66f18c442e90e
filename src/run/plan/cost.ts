// What a task costs, by how long the history is that it is done on. Each request reads all that is in the context; what is new is
// written to the cache once; and a context that is not in the cache is written once instead of read.
import { type Price, type Spent, priced } from '../../context/budget/prices.ts'
import type { Forecast, Start } from './contract.ts'

// As prices usually are to each other: what a token of input costs is 1.
const USUAL: Price = { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25, cacheWriteHour: 2 }
const MILLION = 1_000_000

/** What one task takes by itself. */
export interface Work {
  readonly added: number
  readonly requests: number
  readonly output: number
  readonly seconds: number
}

/** What is expected of a task. */
export function expectedWork({ added, requests, output, seconds }: Forecast, first?: Start): Work {
  const work = { added: added.middle, requests, output, seconds }
  return first === undefined ? work : plus(work, first)
}

export function plus(a: Work, b: Work): Work {
  return {
    added: a.added + b.added,
    requests: a.requests + b.requests,
    output: a.output + b.output,
    seconds: a.seconds + b.seconds,
  }
}

/** The tokens of a task that begins with so many in the context. It adds to them evenly, so each request reads half of that. */
export function spentOn(
  { added, requests, output }: Work,
  context: number,
  isWarm: boolean,
): Spent {
  const read = requests * (context + added / 2)
  const again = isWarm ? 0 : context
  return {
    input: 0,
    output,
    cacheRead: Math.max(0, read - again),
    cacheWritten: added + again,
    cacheWrittenHour: 0,
  }
}

/** In US dollars, or in tokens of input where the price is unknown. */
export function costIn(price: Price | undefined, spent: Spent): number {
  return price === undefined ? priced(spent, USUAL) * MILLION : priced(spent, price)
}

export function shownCost(price: Price | undefined, cost: number): string {
  if (price !== undefined) return `$${cost < 0.1 ? cost.toFixed(3) : cost.toFixed(2)}`
  return `${Math.round(cost / 1000)}k tokens of input`
}
