import { availableParallelism } from 'node:os'
import type { Rate } from '../contract.ts'
import { Chance } from './chance.ts'
import type { Lab } from './lab.ts'
import type { StoreName } from './worker/orders.ts'

/** So many trials of one way to keep a session. */
export interface Trials {
  readonly lab: Lab
  readonly store: StoreName
  readonly count: number
  readonly seed: number
  /** After each of them. */
  readonly tried: () => void
}

/** How many things at once keep the machine busy without keeping them from getting anywhere. */
export const LANES = Math.max(2, Math.min(8, availableParallelism()))

/** For each that counts, when not every try does. */
const MOST_TRIES = 4

/** Hands out trials to lanes, each with a chance of its own, so that it is the same whoever takes it. */
export class Deal {
  #dealt = 0
  #open = 0
  #trials = 0
  #happened = 0

  constructor(readonly trials: Trials) {}

  next(): { readonly number: number; readonly chance: Chance } | undefined {
    const { count } = this.trials
    if (this.#trials + this.#open >= count) return undefined
    if (this.#dealt >= MOST_TRIES * count + 20)
      throw new Error(`of ${this.#dealt} trials only ${this.#trials} could be made`)
    this.#open += 1
    const number = this.#dealt++
    return { number, chance: new Chance(this.trials.seed * 100_003 + number) }
  }

  /** What a trial came to; undefined when it was none after all, and is to be made up for. */
  settle(hasHappened: boolean | undefined): void {
    this.#open -= 1
    if (hasHappened === undefined) return
    this.#trials += 1
    if (hasHappened) this.#happened += 1
    this.trials.tried()
  }

  get rate(): Rate {
    return { happened: this.#happened, trials: this.#trials }
  }
}
