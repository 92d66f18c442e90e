export type CheckStatus = 'ok' | 'note' | 'problem'

/** One thing that was looked at, and what was found. */
export interface Check {
  readonly check: string
  /** A `problem` needs a person; a `note` is good to know, or was put right. */
  readonly status: CheckStatus
  readonly summary: string
  readonly details: readonly string[]
}

/** What must agree: the same thing counted in every place that has it. */
export interface Counts {
  readonly sessions: {
    readonly logs: number
    readonly links: number
    readonly index: number
    readonly documents: number
  }
  readonly entries: { readonly read: number; readonly indexed: number }
  readonly tasks: { readonly backlog: number; readonly files: number }
  readonly damagedLines: number
  /** Logs that somebody appended to while this was going on, which explains counts that differ by a little. */
  readonly grewMeanwhile: number
}

export interface Diagnosis {
  readonly isHealthy: boolean
  readonly checks: readonly Check[]
  readonly counts: Counts
}

/** The same, with what was looked at elsewhere. */
export function withChecks(diagnosis: Diagnosis, more: readonly Check[]): Diagnosis {
  const checks = [...diagnosis.checks, ...more]
  return { ...diagnosis, checks, isHealthy: checks.every(({ status }) => status !== 'problem') }
}

/** Every session may have something to say, and there may be a hundred thousand. */
const DETAILS_KEPT = 100

/** Collects what one check finds while sessions pass by. */
export class Findings {
  readonly #check: string
  readonly #details: string[] = []
  #leftOut = 0
  #status: CheckStatus = 'ok'

  constructor(check: string) {
    this.#check = check
  }

  note(detail: string): void {
    if (this.#status === 'ok') this.#status = 'note'
    this.#keep(detail)
  }

  problem(detail: string): void {
    this.#status = 'problem'
    this.#keep(detail)
  }

  get count(): number {
    return this.#details.length + this.#leftOut
  }

  /** The check, with one sentence for when nothing was found and one for when something was. */
  check(ok: string, found: (count: number) => string = (count) => `${count} found`): Check {
    const summary = this.count === 0 ? ok : found(this.count)
    const more = this.#leftOut === 0 ? [] : [`… and ${this.#leftOut} more`]
    return {
      check: this.#check,
      status: this.#status,
      summary,
      details: [...this.#details, ...more],
    }
  }

  #keep(detail: string): void {
    if (this.#details.length < DETAILS_KEPT) this.#details.push(detail)
    else this.#leftOut += 1
  }
}

export function plural(number: number, noun: string, nouns = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : nouns}`
}
