import type { Costs, LedgerDay, Saving, SavingName } from './ledger-types.ts'

type Counts = Readonly<Omit<Costs, 'modelCalls' | 'bytes'>>

export interface Amounts extends Counts {
  readonly saved: Readonly<
    Partial<Record<SavingName, { readonly tokens: number; readonly times: number }>>
  >
}

export type AmountsByDay = Readonly<Record<string, Amounts>>

const COUNTS: Counts = {
  injections: 0,
  injectedChars: 0,
  injectedTokens: 0,
  hooks: 0,
  hookMs: 0,
  writes: 0,
}
export const NO_AMOUNTS: Amounts = { ...COUNTS, saved: {} }

const SAVING_NAMES: readonly SavingName[] = [
  'batching',
  'toon',
  'digest',
  'pointers',
  'profiles',
  'resuming',
]

/** Only the length of a past text is known; savings are underestimated, costs overestimated. */
const MIN_CHARS_PER_TOKEN = 3

export function highTokenEstimate(characters: number): number {
  return characters / MIN_CHARS_PER_TOKEN
}

export function charsForTokens(tokens: number): number {
  return tokens * MIN_CHARS_PER_TOKEN
}

/** Of English text, a little too many, so that savings are not overstated. */
const CHARACTERS_PER_TOKEN = 4

export function tokensSaved(avoided: number, injected: number): number {
  return avoided / CHARACTERS_PER_TOKEN - highTokenEstimate(injected)
}

export function saving(name: SavingName, tokens: number, times = 1): Pick<Amounts, 'saved'> {
  return { saved: { [name]: { tokens, times } } }
}

function mapCounts(change: (name: keyof Counts) => number) {
  const names = Object.keys(COUNTS) as (keyof Counts)[]
  return Object.fromEntries(names.map((name) => [name, change(name)])) as unknown as Counts
}

export function addAmounts(a: Amounts, b: Amounts, share = 1): Amounts {
  const saved = { ...a.saved }
  for (const name of Object.keys(b.saved) as SavingName[]) {
    const { tokens, times } = b.saved[name]!
    const sum = saved[name] ?? { tokens: 0, times: 0 }
    saved[name] = { tokens: sum.tokens + tokens * share, times: sum.times + times * share }
  }
  return { ...mapCounts((name) => a[name] + b[name] * share), saved }
}

export function sumSavedTokens({ saved }: Pick<Amounts, 'saved'>): number {
  return Object.values(saved).reduce((sum, { tokens }) => sum + tokens, 0)
}

export class DailyAmounts {
  readonly #days = new Map<string, Amounts>()

  add(day: string, amounts: Partial<Amounts>, share = 1): this {
    this.#days.set(
      day,
      addAmounts(this.#days.get(day) ?? NO_AMOUNTS, { ...NO_AMOUNTS, ...amounts }, share),
    )
    return this
  }

  addAll(
    days: AmountsByDay,
    { since = '', share = 1 }: { since?: string; share?: number } = {},
  ): this {
    for (const [day, amounts] of Object.entries(days))
      if (day >= since) this.add(day, amounts, share)
    return this
  }

  get isEmpty(): boolean {
    return this.#days.size === 0
  }

  get byDay(): AmountsByDay {
    return Object.fromEntries(this.#days)
  }

  get total(): Amounts {
    return [...this.#days.values()].reduce((sum, day) => addAmounts(sum, day), NO_AMOUNTS)
  }

  get days(): readonly LedgerDay[] {
    const days = [...this.#days]
      .filter(([day]) => isDay(day))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
    return days.map(([day, { injectedTokens, hooks, hookMs, saved }]) => ({
      day,
      injectedTokens: Math.round(injectedTokens),
      avoidedTokens: Math.round(sumSavedTokens({ saved })),
      hooks: Math.round(hooks),
      hookMs: Math.round(hookMs),
    }))
  }
}

export function costsOf(amounts: Amounts, bytes: number): Costs {
  return { ...mapCounts((name) => Math.round(amounts[name])), modelCalls: 0, bytes }
}

export function savingsOf({ saved }: Amounts): readonly Saving[] {
  return SAVING_NAMES.flatMap((name) => {
    const { tokens = 0, times = 0 } = saved[name] ?? {}
    if (times === 0) return []
    // Even a share counts as one.
    const count = Math.max(1, Math.round(times))
    return [{ name, tokens: Math.round(tokens), known: 'estimated', times: count }]
  })
}

/** An invalid time counts under an unknown day. */
export function dayOf(at: string): string {
  const day = at.slice(0, 10)
  return isDay(day) ? day : 'unknown'
}

function isDay(day: string) {
  return /^\d{4}-\d\d-\d\d$/.test(day)
}
