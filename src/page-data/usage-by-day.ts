// By day and model, from stored conversations, and from runs whose conversations are not stored.
import { findPrice } from '../context/budget/prices.ts'
import { runIds } from '../project/store/run-files.ts'
import { readRun } from '../run/run-log.ts'
import { ZERO_USAGE, sumUsage } from '../run/run-state.ts'
import { priceUsage } from '../run/report.ts'
import type { Usage } from '../session/entries.ts'
import type { UsageReport } from './page-types.ts'
import type { OpenedProject } from './project-pool.ts'
import { defined } from '../text/defined.ts'

const DAY_MS = 24 * 60 * 60_000

/** By day and model, as `2026-11-16 claude-opus-5`. */
type UsageSums = Map<string, Usage>

export class UsageByDay {
  readonly #cache = new Map<string, { readonly bytes: number; readonly sums: UsageSums }>()

  async report(
    { conversations, workspace }: OpenedProject,
    days: number,
    now = Date.now(),
  ): Promise<UsageReport> {
    const since = firstDay(days, now)
    const total: UsageSums = new Map()
    for (const { id, bytes, writtenAt } of conversations.stored()) {
      if (writtenAt.slice(0, 10) < since) continue
      const cached = this.#cache.get(id)
      const sums =
        cached?.bytes === bytes
          ? cached.sums
          : sumByDay((await conversations.read(id)).requestUsage)
      this.#cache.set(id, { bytes, sums })
      addSince(total, sums, since)
    }
    for (const run of runIds(workspace.paths))
      addSince(total, sumRun(workspace, run, conversations), since)
    return toReport(total, workspace.config.prices)
  }
}

/** The first of so many days up to today. */
export function firstDay(days: number, now: number): string {
  return new Date(now - (days - 1) * DAY_MS).toISOString().slice(0, 10)
}

function sumByDay(requests: readonly { at?: string; model: string; usage: Usage }[]) {
  const sums: UsageSums = new Map()
  for (const { at, model, usage } of requests)
    if (at !== undefined) addUsageTo(sums, `${at.slice(0, 10)} ${model}`, usage)
  return sums
}

function sumRun(
  { paths }: OpenedProject['workspace'],
  run: string,
  conversations: OpenedProject['conversations'],
) {
  const entries = readRun(paths, run)
  const stored = new Set<number>()
  for (const entry of entries) {
    if (entry.kind === 'conversation.started' && conversations.has(entry.data.conversation))
      stored.add(entry.data.number)
  }
  return sumByDay(
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

function addSince(total: UsageSums, sums: UsageSums, since: string) {
  for (const [key, usage] of sums) if (key.slice(0, 10) >= since) addUsageTo(total, key, usage)
}

function addUsageTo(sums: UsageSums, key: string, usage: Usage) {
  sums.set(key, sumUsage(sums.get(key) ?? ZERO_USAGE, usage))
}

function toReport(total: UsageSums, prices: Parameters<typeof priceUsage>[1]) {
  const days = new Map<string, Record<string, Usage>>()
  const models: UsageSums = new Map()
  for (const [key, usage] of total) {
    const [day, model] = [key.slice(0, 10), key.slice(11)]
    days.set(day, { ...days.get(day), [model]: usage })
    addUsageTo(models, model, usage)
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
