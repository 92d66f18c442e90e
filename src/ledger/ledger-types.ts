type FigureCertainty = 'measured' | 'estimated'

/** What Stint injected, and what that cost. */
export interface Costs {
  readonly injections: number
  readonly injectedChars: number
  readonly injectedTokens: number
  readonly modelCalls: 0
  readonly hooks: number
  /** Inside the hook processes; starting and ending them is not measured. */
  readonly hookMs: number
  /** For commands only the entries count, not the views. */
  readonly writes: number
  readonly bytes: number
}

export type SavingName =
  | 'batching' // cache writes saved because one conversation took several tasks, as tokens of new input
  | 'toon' // state as TOON where that was shorter than JSON
  | 'digest' // command output that was kept and not printed
  | 'pointers' // what injected context names instead of including, without the savings of TOON
  | 'profiles' // profiles that were indexed and never loaded
  | 'resuming' // what a resumed conversation did not have to find out again

export interface Saving {
  readonly name: SavingName
  readonly tokens: number
  readonly known: FigureCertainty
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
  readonly day: string
  readonly injectedTokens: number
  readonly avoidedTokens: number
  readonly hooks: number
  readonly hookMs: number
}

/** One scope, its rows and its days. */
export interface Ledger {
  readonly whole: LedgerRow
  readonly rows: readonly LedgerRow[]
  readonly days: readonly LedgerDay[]
}

/** A maintenance suggestion with its command. */
export interface MaintenanceHint {
  readonly what: string
  readonly command: string
}

export interface Maintenance {
  readonly sessions: number
  readonly sinceLast: number
  readonly lastDoneAt?: string
  readonly every: number
  readonly isDue: boolean
  readonly hints: readonly MaintenanceHint[]
}
