import { CHARACTERS_PER_TOKEN } from '../context/cost.ts'
import type { Costs, Known, LedgerDay, Saving, SavingName } from './contract.ts'

export interface Amounts {
  readonly injections: number
  readonly injectedChars: number
  readonly injectedTokens: number
  readonly hooks: number
  readonly hookMs: number
  readonly writes: number
  readonly saved: Readonly<
    Partial<Record<SavingName, { readonly tokens: number; readonly times: number }>>
  >
}

/** Keys like `2026-11-16`. */
export type ByDay = Readonly<Record<string, Amounts>>

export const NOTHING: Amounts = {
  injections: 0,
  injectedChars: 0,
  injectedTokens: 0,
  hooks: 0,
  hookMs: 0,
  writes: 0,
  saved: {},
}

/** In display order. */
const KNOWN: Readonly<Record<SavingName, Known>> = {
  batching: 'estimated',
  toon: 'estimated',
  digest: 'estimated',
  pointers: 'estimated',
  profiles: 'estimated',
  resuming: 'estimated',
}
const NAMES = Object.keys(KNOWN) as SavingName[]

/** Only the length of a past text is known; savings are underestimated, costs overestimated. */
export function tokensOf(length: number): number {
  return length / CHARACTERS_PER_TOKEN
}

const FEWEST_PER_TOKEN = 3

export function tokensGiven(characters: number): number {
  return characters / FEWEST_PER_TOKEN
}

export function charactersGiven(tokens: number): number {
  return tokens * FEWEST_PER_TOKEN
}

export function tokensSaved(instead: number, given: number): number {
  return tokensOf(instead) - tokensGiven(given)
}

export function saving(name: SavingName, tokens: number, times = 1): Amounts {
  return { ...NOTHING, saved: { [name]: { tokens, times } } }
}

export function add(a: Amounts, b: Amounts): Amounts {
  const saved: Partial<Record<SavingName, { tokens: number; times: number }>> = { ...a.saved }
  for (const name of NAMES) {
    const more = b.saved[name]
    if (more === undefined) continue
    const known = saved[name] ?? { tokens: 0, times: 0 }
    saved[name] = { tokens: known.tokens + more.tokens, times: known.times + more.times }
  }
  return {
    injections: a.injections + b.injections,
    injectedChars: a.injectedChars + b.injectedChars,
    injectedTokens: a.injectedTokens + b.injectedTokens,
    hooks: a.hooks + b.hooks,
    hookMs: a.hookMs + b.hookMs,
    writes: a.writes + b.writes,
    saved,
  }
}

export function tokensIn({ saved }: Pick<Amounts, 'saved'>): number {
  return Object.values(saved).reduce((sum, { tokens }) => sum + tokens, 0)
}

export function partOf(amounts: Amounts, share: number): Amounts {
  const saved = Object.entries(amounts.saved).map(([name, { tokens, times }]) => {
    return [name, { tokens: tokens * share, times: times * share }] as const
  })
  return {
    injections: amounts.injections * share,
    injectedChars: amounts.injectedChars * share,
    injectedTokens: amounts.injectedTokens * share,
    hooks: amounts.hooks * share,
    hookMs: amounts.hookMs * share,
    writes: amounts.writes * share,
    saved: Object.fromEntries(saved),
  }
}

export class Sums {
  readonly #days = new Map<string, Amounts>()

  add(day: string, amounts: Amounts): this {
    this.#days.set(day, add(this.#days.get(day) ?? NOTHING, amounts))
    return this
  }

  addAll(days: ByDay, { since = '', share = 1 }: { since?: string; share?: number } = {}): this {
    for (const [day, amounts] of Object.entries(days)) {
      if (day >= since) this.add(day, share === 1 ? amounts : partOf(amounts, share))
    }
    return this
  }

  get isEmpty(): boolean {
    return this.#days.size === 0
  }

  get byDay(): ByDay {
    return Object.fromEntries(this.#days)
  }

  get whole(): Amounts {
    return [...this.#days.values()].reduce(add, NOTHING)
  }

  get days(): readonly LedgerDay[] {
    const known = [...this.#days]
      .filter(([day]) => isDay(day))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
    return known.map(([day, { injectedTokens, hooks, hookMs, saved }]) => ({
      day,
      injectedTokens: Math.round(injectedTokens),
      avoidedTokens: Math.round(tokensIn({ saved })),
      hooks: Math.round(hooks),
      hookMs: Math.round(hookMs),
    }))
  }
}

export function costsOf({ saved: _saved, ...amounts }: Amounts, bytes: number): Costs {
  const rounded = Object.fromEntries(
    Object.entries(amounts).map(([name, amount]) => [name, Math.round(amount)]),
  )
  return { ...(rounded as unknown as Omit<Amounts, 'saved'>), modelCalls: 0, bytes }
}

export function savingsOf({ saved }: Amounts): readonly Saving[] {
  return NAMES.flatMap((name) => {
    const found = saved[name]
    if (found === undefined || found.times === 0) return []
    // A share of one is still one.
    return [
      {
        name,
        tokens: Math.round(found.tokens),
        known: KNOWN[name],
        times: Math.max(1, Math.round(found.times)),
      },
    ]
  })
}

/** An invalid time has an empty day, and counts all the same. */
export function dayOf(at: string): string {
  const day = at.slice(0, 10)
  return isDay(day) ? day : 'unknown'
}

function isDay(day: string) {
  return /^\d{4}-\d\d-\d\d$/.test(day)
}
