// What the study takes as measured of Stint, and what it finds for each way of keeping a session's state. Shares are from 0 to 1.

export type Complexity = 'simple' | 'medium' | 'complex'

export interface Rate {
  readonly happened: number
  readonly trials: number
}

/** Means over the sessions of one complexity that were really worked through. */
export interface MeasuredSessions {
  readonly sessions: number
  readonly tasks: number
  /** Files written and records appended, without those of the SQLite index. */
  readonly writes: number
  /** On disk at the end, under `.sessions` and `.git/stint`. */
  readonly bytes: number
  readonly commands: number
  /** Injected by hooks and printed by commands, including the two conversations that resumed it. */
  readonly tokens: number
  /** Recorded facts that a fresh conversation was injected. */
  readonly givenBack: Rate
  /** Facts not injected that a command named there shows. */
  readonly shownOnDemand: Rate
}

export interface Failures {
  /** After a kill, something acknowledged is missing or something done counts as not done. */
  readonly stale: Rate
  /** After writing at once, something acknowledged is missing or there twice. */
  readonly conflicts: Rate
  /** A write that was cut short cannot be read, or hides something else. */
  readonly unreadable: Rate
}

export interface Measurement extends Failures {
  readonly at: string
  readonly version: string
  readonly machine: string
  /** The same trials of a session.json that is written back in place: they find what they look for. */
  readonly control: Failures
  readonly sessions: Readonly<Record<Complexity, MeasuredSessions>>
}

export type ArmName = 'none' | 'session-json' | 'enhanced-log' | 'plan-once' | 'stint'

export interface Figures {
  readonly sessions: number
  readonly writes: number
  readonly tokens: number
  readonly totalTokens: number
  readonly apiCalls: number
  readonly minutes: { readonly mean: number; readonly p50: number; readonly p95: number }
  readonly cognitiveLoad: number
  readonly traceability: number
  readonly success: number
  readonly stale: number
  readonly conflicts: number
  readonly unreadable: number
}

export interface Arm {
  readonly name: ArmName
  /** Where its parameters come from: assumed by the study, a column of its matrix, or measured. */
  readonly basis: 'assumed' | 'matrix' | 'measured'
  readonly figures: Figures
  readonly byComplexity: Readonly<Record<Complexity, Figures>>
  /** Costs to benefits against `none`, which has none itself. */
  readonly ratio?: Ratio
}

/** Relative changes, each without its sign as the study counts it. */
export interface Costs {
  readonly writes: number
  readonly tokens: number
  readonly cognitiveLoad: number
  readonly success: number
}

export interface Ratio {
  /** The study had two: one for the file in real time, and a later one for the plan written once. */
  readonly form: 'first' | 'second'
  readonly costs: Costs
  readonly benefit: number
  readonly value: number
  readonly verdict: 'do not implement' | 'marginal' | 'optional' | 'consider'
}

export interface Study {
  readonly sessions: number
  readonly seed: number
  readonly arms: readonly Arm[]
  readonly measurement: Measurement
  /** Upper bounds of the measured rates (95 %), at which the failures of `stint` are drawn. */
  readonly bounds: Readonly<Record<keyof Failures, number>>
  readonly measured: 'shipped'
}

export interface SensitivityRow {
  readonly id: string
  readonly what: string
  readonly arms: readonly {
    readonly name: ArmName
    readonly tokens: number
    readonly success: number
    readonly ratio: number
    readonly verdict: Ratio['verdict']
  }[]
}

export interface Sensitivity {
  readonly shares: readonly (Costs & { readonly name: ArmName })[]
  /** Interruptions a session from which an arm saves more tokens than it takes; without arms that give nothing back. */
  readonly paysFrom: readonly { readonly name: ArmName; readonly share: number }[]
  readonly rows: readonly SensitivityRow[]
}
