import { type OwnPrice, costOf } from '../context/budget/prices.ts'
import type { Usage } from '../session/entries.ts'
import type { Spend } from './report.ts'
import { NOTHING, addUsage, totalOf } from './run-state.ts'

/** What was used of all models together, and what it came to. Without `usd` where the price of one is not known. */
export function spendOf(
  spent: Readonly<Record<string, Usage>>,
  prices: readonly OwnPrice[],
): Spend {
  const sum = Object.values(spent).reduce(addUsage, NOTHING)
  if (totalOf(sum) === 0) return { ...sum, usd: 0 }
  const used = Object.fromEntries(
    Object.entries(spent).map(([model, usage]) => [model, { ...usage, cacheWrittenHour: 0 }]),
  )
  const cost = costOf(used, prices, '')
  return cost === undefined ? sum : { ...sum, usd: cost.value }
}

export function addSpend(a: Spend, b: Spend): Spend {
  const sum = addUsage(a, b)
  return a.usd === undefined || b.usd === undefined ? sum : { ...sum, usd: a.usd + b.usd }
}
