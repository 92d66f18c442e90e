// By day and model, from stored conversations, and from runs whose conversations are not stored.
import { findPrice } from '../context/budget/prices.ts'
import { runIds } from '../project/store/run-files.ts'
import { readRun } from '../run/run-log.ts'
import { ZERO_USAGE, sumUsage } from '../run/run-state.ts'
import { priceUsage } from '../run/report.ts'
import type { Usage } from '../session/entries.ts'
import type { UsageReport } from './contract.ts'
import type { OpenedProject } from './project-pool.ts'
import { defined } from '../text/defined.ts'
import type { Ledger } from '../ledger/contract.ts'
import { computeLedger } from '../ledger/ledger.ts'

const DAY_MS = 24 * 60 * 60_000

/** By day and model, as `2026-11-16 claude-opus-5`. */
type Sums = Map<string, Usage>

export class UsageByDay {
  readonly #known = new Map<string, { readonly bytes: number; readonly sums: Sums }>()

  async report(
    { conversations, workspace }: OpenedProject,
    days: number,
    now = Date.now(),
  ): Promise<UsageReport> {
    const since = new Date(now - (days - 1) * DAY_MS).toISOString().slice(0, 10)
    const total: Sums = new Map()
    for (const { id, bytes, writtenAt } of conversations.stored()) {
      if (writtenAt.slice(0, 10) < since) continue
      const known = this.#known.get(id)
      const sums =
        known?.bytes === bytes ? known.sums : sumsOf((await conversations.read(id)).requestUsage)
      this.#known.set(id, { bytes, sums })
      addTo(total, sums, since)
    }
    for (const run of runIds(workspace.paths))
      addTo(total, sumsOfRun(workspace, run, conversations), since)
    return asAnswer(total, workspace.config.prices)
  }
}

function sumsOf(used: readonly { at?: string; model: string; usage: Usage }[]) {
  const sums: Sums = new Map()
  for (const { at, model, usage } of used)
    if (at !== undefined) add(sums, `${at.slice(0, 10)} ${model}`, usage)
  return sums
}

function sumsOfRun(
  { paths: place }: OpenedProject['workspace'],
  run: string,
  conversations: OpenedProject['conversations'],
) {
  const entries = readRun(place, run)
  const stored = new Set<number>()
  for (const entry of entries) {
    if (entry.kind === 'conversation.started' && conversations.has(entry.data.conversation))
      stored.add(entry.data.number)
  }
  return sumsOf(
    entries.flatMap((entry) =>
      entry.kind !== 'turn.ended' || stored.has(entry.data.conversation)
        ? []
        : Object.entries(entry.data.spent).map(([model, usage]) => ({
            at: entry.at,
            model,
            usage,
          })),
    ),
  )
}

function addTo(total: Sums, sums: Sums, since: string) {
  for (const [key, usage] of sums) if (key.slice(0, 10) >= since) add(total, key, usage)
}

function add(sums: Sums, key: string, usage: Usage) {
  sums.set(key, sumUsage(sums.get(key) ?? ZERO_USAGE, usage))
}

function asAnswer(total: Sums, prices: Parameters<typeof priceUsage>[1]) {
  const days = new Map<string, Record<string, Usage>>()
  const models: Sums = new Map()
  for (const [key, usage] of total) {
    const [day, model] = [key.slice(0, 10), key.slice(11)]
    days.set(day, { ...days.get(day), [model]: usage })
    add(models, model, usage)
  }
  const byDay = [...days].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return {
    days: byDay.map(([day, spent]) => ({ day, spend: priceUsage(spent, prices) })),
    models: [...models].map(([model, usage]) => {
      const { usd } = priceUsage({ [model]: usage }, prices)
      return { model, usage, ...defined({ usd }) }
    }),
    unpriced: [...models.keys()].filter((model) => findPrice(model, prices) === undefined),
  }
}

// Counted from many files, so cached until something happens.

/** Those that cost most; the command line lists all. */
const MOST_ROWS = 20
const MOST_KEPT = 50

export interface LedgerScope {
  readonly session?: string
  /** Up to today; all time when absent. */
  readonly days?: number
}

export class LedgerCache {
  readonly #stampOf: (project: string) => number | undefined
  readonly #kept = new Map<string, { readonly stamp: number; readonly ledger: Promise<Ledger> }>()

  /** `stampOf` changes when something happens in a project; undefined while it is not watched. */
  constructor(stampOf: (project: string) => number | undefined) {
    this.#stampOf = stampOf
  }

  get(
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
    const ledger = computeLedger(workspace, scope).then((whole) => ({
      ...whole,
      rows: whole.rows.slice(0, MOST_ROWS),
    }))
    this.#kept.delete(name)
    if (stamp !== undefined) this.#keep(name, stamp, ledger)
    return ledger
  }

  #keep(name: string, stamp: number, ledger: Promise<Ledger>) {
    this.#kept.set(name, { stamp, ledger })
    // Failures are tried again.
    ledger.catch(() => this.#kept.get(name)?.ledger === ledger && this.#kept.delete(name))
    for (const old of [...this.#kept.keys()].slice(0, -MOST_KEPT)) this.#kept.delete(old)
  }
}
