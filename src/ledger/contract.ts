// What Stint itself cost and what it saved. Everything is counted from what was recorded; what is inferred says so.

export type Known = 'measured' | 'estimated'

/** What was put before a model by Stint, and what it took to be there. */
export interface Costs {
  /** Texts put before a model. */
  readonly injections: number
  readonly injectedChars: number
  /** Estimated from the characters. */
  readonly injectedTokens: number
  /** Stint calls no model: what people and runs ask of one is theirs. */
  readonly modelCalls: 0
  readonly hooks: number
  /** Inside the hooks' processes, until they answered. The agent waits a little longer: for a shell, the start and the end of each. */
  readonly hookMs: number
  /** Records appended and files written by hooks; of commands the entries alone, though they render views as well. */
  readonly writes: number
  readonly bytes: number
}

export type SavingName =
  | 'batching' // set-ups that were not written to a cache again because one conversation took several tasks, less what was read again for it, as tokens of new input
  | 'toon' // state as TOON where that was shorter than JSON
  | 'digest' // the output of commands that was kept and not printed
  | 'pointers' // what a context names instead of telling, without what its tables are shorter for being TOON
  | 'profiles' // profiles that were indexed and never loaded
  | 'resuming' // what a conversation that went on did not have to find out again, without what the others count for it

export interface Saving {
  readonly name: SavingName
  /** Negative where it cost more than it saved. */
  readonly tokens: number
  readonly known: Known
  /** How many times it was counted. */
  readonly times: number
}

export interface LedgerRow {
  readonly kind: 'session' | 'task' | 'run' | 'project'
  readonly id: string
  readonly name: string
  readonly updatedAt?: string
  readonly costs: Costs
  readonly savings: readonly Saving[]
}

export interface LedgerDay {
  /** As in `2026-11-16`. */
  readonly day: string
  readonly injectedTokens: number
  readonly avoidedTokens: number
  readonly hooks: number
  readonly hookMs: number
}

/** One scope whole, what it is made of, and how it went over time. */
export interface Ledger {
  readonly whole: LedgerRow
  /** The most expensive first. */
  readonly rows: readonly LedgerRow[]
  readonly days: readonly LedgerDay[]
}

/** Something that is worth doing now and then, with the command for it. */
export interface Hint {
  readonly what: string
  readonly command: string
}

export interface Maintenance {
  /** Sessions ever begun here. */
  readonly sessions: number
  /** Since maintenance was last said to be done, or ever. */
  readonly sinceLast: number
  readonly lastDoneAt?: string
  /** After how many sessions it is due. */
  readonly every: number
  readonly isDue: boolean
  readonly hints: readonly Hint[]
}
