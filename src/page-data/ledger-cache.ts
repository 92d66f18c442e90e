// Ledgers are counted from many files, so they are cached until something changes.
import type { Ledger } from '../ledger/ledger-types.ts'
import { computeLedger } from '../ledger/ledger.ts'
import { defined } from '../text/defined.ts'
import type { OpenedProject } from './project-pool.ts'
import { firstDay } from './usage-by-day.ts'

/** The most expensive rows; the command line lists all. */
const MAX_ROWS = 20
const MAX_CACHED = 50

export interface LedgerScope {
  readonly session?: string
  /** Up to today; all time when absent. */
  readonly days?: number
}

export class LedgerCache {
  readonly #versionOf: (project: string) => number | undefined
  readonly #cache = new Map<
    string,
    { readonly version: number; readonly ledger: Promise<Ledger> }
  >()

  /** `versionOf` changes when something happens in a project; undefined while it is not watched. */
  constructor(versionOf: (project: string) => number | undefined) {
    this.#versionOf = versionOf
  }

  get(
    { key, workspace }: OpenedProject,
    { session, days }: LedgerScope,
    now = Date.now(),
  ): Promise<Ledger> {
    const since = days === undefined ? undefined : firstDay(days, now)
    const cacheKey = [key, session, since].join('\n')
    // Read before counting: the count may miss later changes.
    const version = this.#versionOf(key)
    const cached = this.#cache.get(cacheKey)
    if (cached !== undefined && cached.version === version) return cached.ledger
    const ledger = computeLedger(workspace, defined({ session, since })).then((full) => ({
      ...full,
      rows: full.rows.slice(0, MAX_ROWS),
    }))
    this.#cache.delete(cacheKey)
    if (version !== undefined) this.#store(cacheKey, version, ledger)
    return ledger
  }

  #store(cacheKey: string, version: number, ledger: Promise<Ledger>) {
    this.#cache.set(cacheKey, { version, ledger })
    // Failed counts are retried.
    ledger.catch(() => this.#cache.get(cacheKey)?.ledger === ledger && this.#cache.delete(cacheKey))
    for (const old of [...this.#cache.keys()].slice(0, -MAX_CACHED)) this.#cache.delete(old)
  }
}
