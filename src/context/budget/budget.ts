/** A figure and how it is known. One that is not known is absent, and never 0. */
export interface SourcedValue<T = number> {
  readonly value: T
  /** `measured`: counted, mostly by the harness. `estimated`: by a rule or a table. */
  readonly known: 'measured' | 'estimated'
  /** The source: `status line`, `transcript`, `settings`, `model table`, a rule. */
  readonly from: string
  /** When it was so. ISO. */
  readonly at: string
}

export function measured<T>(value: T, from: string, at: string): SourcedValue<T> {
  return { value, known: 'measured', from, at }
}

export function estimated<T>(value: T, from: string, at: string): SourcedValue<T> {
  return { value, known: 'estimated', from, at }
}

export interface Budget {
  /** Tokens that the next call of the model will carry. */
  readonly tokens?: SourcedValue
  readonly window?: SourcedValue
  /** How many there are when the harness compacts; where it does not, how many the model can take. */
  readonly point?: SourcedValue
  readonly startedAt?: SourcedValue<string>
  readonly cost?: SourcedValue
  /** What the account has used of its limits, in percent. */
  readonly fiveHour?: SourcedValue<RateLimit>
  readonly sevenDay?: SourcedValue<RateLimit>
}

export interface RateLimit {
  readonly percent: number
  readonly resetsAt?: string
}

/** Of two figures that are both right in their time, the later one. */
export function later<T>(
  a: SourcedValue<T> | undefined,
  b: SourcedValue<T> | undefined,
): SourcedValue<T> | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return b.at > a.at ? b : a
}
