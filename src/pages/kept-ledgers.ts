// Counted from many files, so cached until something happens.
import type { Ledger } from '../ledger/contract.ts'
import { ledgerOf } from '../ledger/ledger.ts'
import type { OpenedProject } from './opened-project.ts'
import { defined } from '../text/defined.ts'

const DAY_MS = 24 * 60 * 60_000
/** Those that cost most; the command line lists all. */
const MOST_ROWS = 20
const MOST_KEPT = 50

export interface LedgerScope {
  readonly session?: string
  /** Up to today; all time when absent. */
  readonly days?: number
}

export class KeptLedgers {
  readonly #stampOf: (project: string) => number | undefined
  readonly #kept = new Map<string, { readonly stamp: number; readonly ledger: Promise<Ledger> }>()

  /** `stampOf` changes when something happens in a project; undefined while it is not watched. */
  constructor(stampOf: (project: string) => number | undefined) {
    this.#stampOf = stampOf
  }

  answer(
    { key, workspace }: OpenedProject,
    { session, days }: LedgerScope,
    now = Date.now(),
  ): Promise<Ledger> {
    const since =
      days === undefined
        ? undefined
        : new Date(now - (days - 1) * DAY_MS).toISOString().slice(0, 10)
    const name = [key, session, since].join('\n')
    // Read first: what happens meanwhile may be missed by the counting.
    const stamp = this.#stampOf(key)
    const kept = this.#kept.get(name)
    if (kept !== undefined && kept.stamp === stamp) return kept.ledger
    const scope = {
      ...defined({ session, since }),
    }
    const ledger = ledgerOf(workspace, scope).then((whole) => ({
      ...whole,
      rows: whole.rows.slice(0, MOST_ROWS),
    }))
    this.#kept.delete(name)
    if (stamp !== undefined) this.#keep(name, stamp, ledger)
    return ledger
  }

  #keep(name: string, stamp: number, ledger: Promise<Ledger>): void {
    this.#kept.set(name, { stamp, ledger })
    // Failures are tried again.
    ledger.catch(() => this.#kept.get(name)?.ledger === ledger && this.#kept.delete(name))
    for (const old of [...this.#kept.keys()].slice(0, -MOST_KEPT)) this.#kept.delete(old)
  }
}
