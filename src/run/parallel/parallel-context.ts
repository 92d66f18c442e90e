import type { DelegateState } from '../delegate/delegates.ts'
import type { OwnPrice } from '../../context/budget/prices.ts'
import type { Usage } from '../../session/entries.ts'
import type { RunContext } from '../attempt/run-context.ts'
import type { ResolvedOptions, RunOptions } from '../options.ts'
import type { Listener } from '../events.ts'
import type { Spend } from '../report.ts'
import { addSpent, totalOf } from '../run-state.ts'
import { spendOf } from '../make-report.ts'

/** What the parts of one parallel run share. */
export interface Stage extends Pick<
  RunContext,
  'run' | 'workspace' | 'log' | 'tree' | 'source' | 'stopping' | 'emit' | 'latest'
> {
  readonly settled: ResolvedOptions
  readonly purse: Purse
  readonly listener: Listener
  readonly merges: InTurn
  readonly said: Set<string>
}

/** One after the other, in the order of asking. */
export class InTurn {
  #last: Promise<unknown> = Promise.resolve()

  add<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => undefined)
    return result
  }
}

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

export interface TakenUp {
  /** Those to go on with, in the order in which they were begun. */
  readonly left: readonly DelegateState[]
  /** Tasks whose delegates are not gone on with. */
  readonly given: readonly string[]
  readonly begun: readonly string[]
  /** How many are merged. */
  readonly done: number
}
