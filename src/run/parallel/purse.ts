// What several delegates use together, against the bounds that they share.
import type { OwnPrice } from '../../context/budget/prices.ts'
import type { Usage } from '../../session/entries.ts'
import type { RunOptions } from '../options.ts'
import type { Spend } from '../report.ts'
import { addSpent, totalOf } from '../run-state.ts'
import { spendOf } from '../spend.ts'

type Spent = Readonly<Record<string, Usage>>

export class Purse {
  readonly #bounds: Pick<RunOptions, 'budgetTokens' | 'budgetUsd'>
  readonly #prices: readonly OwnPrice[]
  readonly #spent = new Map<string, Spent>()

  constructor(bounds: Pick<RunOptions, 'budgetTokens' | 'budgetUsd'>, prices: readonly OwnPrice[]) {
    this.#bounds = bounds
    this.#prices = prices
  }

  /** What one has used so far, all in all. */
  told(delegate: string, spent: Spent): void {
    this.#spent.set(delegate, spent)
  }

  /** What all the others have used. */
  beside(delegate: string): Spent {
    return this.#sum((id) => id !== delegate)
  }

  get spend(): Spend {
    return spendOf(
      this.#sum(() => true),
      this.#prices,
    )
  }

  /** The bound that is passed, before anything else is begun. */
  get over(): 'budget tokens' | 'budget usd' | undefined {
    const { budgetTokens = Infinity, budgetUsd } = this.#bounds
    const { spend } = this
    if (totalOf(spend) > budgetTokens) return 'budget tokens'
    return budgetUsd !== undefined && (spend.usd ?? Infinity) > budgetUsd ? 'budget usd' : undefined
  }

  #sum(isCounted: (delegate: string) => boolean): Spent {
    return [...this.#spent].reduce<Spent>(
      (sum, [id, spent]) => (isCounted(id) ? addSpent(sum, spent) : sum),
      {},
    )
  }
}
