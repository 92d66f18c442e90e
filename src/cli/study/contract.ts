// What the study is told about Stint, and what it says of each way of keeping a session's state.

export type Complexity = 'simple' | 'medium' | 'complex'

/** How often something happened of the times it was tried. */
export interface Rate {
  readonly happened: number
  readonly trials: number
}

/** What sessions of one complexity came to, on average, as they were really worked through. */
export interface MeasuredSessions {
  readonly sessions: number
  readonly tasks: number
  /** Files written and records appended, but for those of the SQLite index, which nothing depends on. */
  readonly writes: number
  /** On disk at the end, under `.sessions` and `.git/stint`. */
  readonly bytes: number
  /** Of Stint's, that the agent ran. */
  readonly commands: number
  /** Put before the model: at the start, on the way, by the commands it ran, and in the two conversations that went on with it. */
  readonly tokens: number
  /** Of the facts that were recorded, how many a fresh conversation was given. `happened` is that it was. */
  readonly givenBack: Rate
  /** Of those it was not given, how many were shown by a command that it was told of. */
  readonly shownOnDemand: Rate
}

/** What went wrong of the times it was tried. */
export interface Failures {
  /** Something acknowledged was not there after a kill, or something done was told as not done. */
  readonly stale: Rate
  /** Something acknowledged was not there, or there twice, after several wrote at once. */
  readonly conflicts: Rate
  /** A write that was cut short left something that could not be read, or hid something else. */
  readonly unreadable: Rate
}

/** What was measured of Stint: by killing it, by writing at once, by interrupting writes, by working through sessions. */
export interface Measurement extends Failures {
  readonly at: string
  readonly version: string
  /** As in `Node v20.20.2, linux x64, 2 cores`. */
  readonly machine: string
  /** The same trials of a session.json that is read, changed and written back in place, to show that they find what they look for. */
  readonly control: Failures
  readonly sessions: Readonly<Record<Complexity, MeasuredSessions>>
}

export type ArmName = 'none' | 'session-json' | 'enhanced-log' | 'plan-once' | 'stint'

/** What was found of the sessions of one arm. Shares are from 0 to 1. */
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
  /** Where its parameters come from: assumed by the study, taken from its matrix, or measured. */
  readonly basis: 'assumed' | 'matrix' | 'measured'
  readonly figures: Figures
  readonly byComplexity: Readonly<Record<Complexity, Figures>>
  /** Costs to benefits against `none`, as the study weighs them. Absent of `none` itself. */
  readonly ratio?: Ratio
}

/** Relative changes, each as the study counts it: without its sign. */
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
  /** What the measured rates are at most, with 95 % confidence; with these the failures of `stint` are drawn. */
  readonly bounds: {
    readonly stale: number
    readonly conflicts: number
    readonly unreadable: number
  }
  /** Whether the measurement came with Stint or was made on this machine. */
  readonly measured: 'shipped' | 'here'
}

export interface ComparedArm {
  readonly name: ArmName
  readonly tokens: number
  readonly success: number
  readonly ratio: number
  readonly verdict: Ratio['verdict']
}

/** Every arm with one assumption changed. */
export interface SensitivityRow {
  readonly id:
    | 'as-weighed'
    | 'writes-only'
    | 'tool-written'
    | 'writes-by-cost'
    | 'tool-written-by-cost'
    | 'real-tokens'
    | 'same-load'
    | 'crashes'
    | 'interrupted'
    | 'all'
  readonly what: string
  readonly arms: readonly ComparedArm[]
}

/** What the ratios depend on. */
export interface Sensitivity {
  /** Which part of an arm's costs each of them is, from 0 to 1. */
  readonly shares: readonly (Costs & { readonly name: ArmName })[]
  /** How often a session has to be interrupted until an arm saves as many tokens as it takes. Absent of those that give nothing back. */
  readonly paysFrom: readonly { readonly name: ArmName; readonly share: number }[]
  readonly rows: readonly SensitivityRow[]
}
