import { availableParallelism } from 'node:os'
import type { Rate } from '../../src/cli/study/parameters.ts'
import type { Lab } from './lab.ts'
import type { Deed, Standing, Status, StoreName } from './orders.ts'

/** Seeded random numbers (mulberry32). */
export class Chance {
  #state: number

  constructor(seed: number) {
    // Decorrelates neighbouring seeds.
    this.#state = Math.imul(seed + 1, 0x9e3779b1) >>> 0
  }

  /** From 0 to 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let bits = this.#state
    bits = Math.imul(bits ^ (bits >>> 15), bits | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296
  }

  /** An integer, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }
}

/** Trials of one store. */
export interface Trials {
  readonly lab: Lab
  readonly store: StoreName
  readonly count: number
  readonly seed: number
  /** Called after each trial. */
  readonly tried: () => void
}

/** Concurrency that keeps the machine busy without starving the jobs. */
export const LANES = Math.max(2, Math.min(8, availableParallelism()))

/** Attempts per counted trial, if not every attempt counts. */
const MOST_TRIES = 4

/** Distributes trials to lanes. Each trial has its own seed, so the lane does not matter. */
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

  /** The result of a trial; undefined if it does not count and is repeated. */
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

const ORDER: readonly Status[] = ['open', 'working', 'done']

/**
 * Acknowledged items that are missing, duplicated, or done but shown as open. Unacknowledged items
 * may be there or not.
 */
export function wrongIn(standing: Standing, acknowledged: readonly Deed[]): readonly string[] {
  const wrong: string[] = []
  for (const [text, times] of timesOf(acknowledged)) {
    const found = standing.counts[text] ?? 0
    if (found !== times) wrong.push(`${text}: ${found} times instead of ${times}`)
  }
  for (const [name, expected] of lastStatuses(acknowledged)) {
    const found = standing.statuses[name]
    if (found === undefined || ORDER.indexOf(found) < ORDER.indexOf(expected))
      wrong.push(`${name}: ${found ?? 'missing'}, not ${expected}`)
  }
  return wrong
}

function timesOf(deeds: readonly Deed[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>()
  for (const deed of deeds) {
    const text =
      'decision' in deed ? deed.decision : 'discovery' in deed ? deed.discovery : undefined
    if (text !== undefined) times.set(text, (times.get(text) ?? 0) + 1)
  }
  return times
}

function lastStatuses(deeds: readonly Deed[]): ReadonlyMap<string, Status> {
  const statuses = new Map<string, Status>()
  for (const deed of deeds) {
    if ('step' in deed) statuses.set(`step ${deed.step}`, deed.is)
    else if ('task' in deed) statuses.set(`task ${deed.task}`, deed.is)
    else if ('ticked' in deed) statuses.set(`item ${deed.ticked}`, 'done')
  }
  return statuses
}
