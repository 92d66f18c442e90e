/** A value and its source. An unknown value is absent, never 0. */
export interface SourcedValue<T = number> {
  readonly value: T
  /** `measured` by the harness or counted; `estimated` by a rule or a table. */
  readonly known: 'measured' | 'estimated'
  /** `status line`, `transcript`, `settings`, `model table`, or a rule. */
  readonly from: string
  /** ISO time of the measurement. */
  readonly at: string
}

export function measured<T>(value: T, from: string, at: string): SourcedValue<T> {
  return { value, known: 'measured', from, at }
}

export function estimated<T>(value: T, from: string, at: string): SourcedValue<T> {
  return { value, known: 'estimated', from, at }
}

export interface Budget {
  /** Tokens in the next model call. */
  readonly tokens?: SourcedValue
  readonly window?: SourcedValue
  /** The compaction point; the window size if the harness does not compact. */
  readonly point?: SourcedValue
  readonly startedAt?: SourcedValue<string>
  readonly cost?: SourcedValue
  /** Used share of the rate limits of the account. */
  readonly fiveHour?: SourcedValue<RateLimit>
  readonly sevenDay?: SourcedValue<RateLimit>
}

export interface RateLimit {
  readonly percent: number
  readonly resetsAt?: string
}

export function newerOf<T>(
  a: SourcedValue<T> | undefined,
  b: SourcedValue<T> | undefined,
): SourcedValue<T> | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return b.at > a.at ? b : a
}
