import { sameFile, statOrUndefined } from '../../journal/read-files.ts'
import type { LogPaths } from '../../journal/log.ts'

type CheckStatus = 'ok' | 'note' | 'problem'

/** One check and its result. */
export interface DoctorCheck {
  readonly check: string
  /** A `problem` needs a person; a `note` is information, or was fixed. */
  readonly status: CheckStatus
  readonly summary: string
  readonly details: readonly string[]
}

export interface DoctorCounts {
  readonly sessions: {
    readonly logs: number
    readonly links: number
    readonly index: number
    readonly documents: number
  }
  readonly entries: { readonly read: number; readonly indexed: number }
  readonly tasks: { readonly backlog: number; readonly files: number }
  readonly damagedLines: number
  /** Logs that grew during the check, which explains small differences. */
  readonly grewMeanwhile: number
}

export interface Diagnosis {
  readonly isHealthy: boolean
  readonly checks: readonly DoctorCheck[]
  readonly counts: DoctorCounts
}

export function withChecks(diagnosis: Diagnosis, more: readonly DoctorCheck[]): Diagnosis {
  const checks = [...diagnosis.checks, ...more]
  return { ...diagnosis, checks, isHealthy: checks.every(({ status }) => status !== 'problem') }
}

/** There may be a hundred thousand sessions. */
const MAX_DETAILS = 100

export class CheckFindings {
  readonly #check: string
  readonly #details: string[] = []
  #leftOut = 0
  #status: CheckStatus = 'ok'

  constructor(check: string) {
    this.#check = check
  }

  note(detail: string): void {
    if (this.#status === 'ok') this.#status = 'note'
    this.#addDetail(detail)
  }

  problem(detail: string): void {
    this.#status = 'problem'
    this.#addDetail(detail)
  }

  get count(): number {
    return this.#details.length + this.#leftOut
  }

  check(ok: string, found: (count: number) => string = (count) => `${count} found`): DoctorCheck {
    const summary = this.count === 0 ? ok : found(this.count)
    const more = this.#leftOut === 0 ? [] : [`… and ${this.#leftOut} more`]
    return {
      check: this.#check,
      status: this.#status,
      summary,
      details: [...this.#details, ...more],
    }
  }

  #addDetail(detail: string) {
    if (this.#details.length < MAX_DETAILS) this.#details.push(detail)
    else this.#leftOut += 1
  }
}

export function pluralOf(number: number, noun: string, nouns = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : nouns}`
}

export type LogLinkStatus =
  | 'no log'
  | 'both'
  | 'log missing'
  | 'link missing'
  | 'different files'
  | 'no link wanted'

export function logLinkStatus({ path, link }: LogPaths): LogLinkStatus {
  const hasLog = statOrUndefined(path) !== undefined
  if (link === undefined) return hasLog ? 'no link wanted' : 'no log'
  const hasLink = statOrUndefined(link) !== undefined
  if (!hasLog) return hasLink ? 'log missing' : 'no log'
  if (!hasLink) return 'link missing'
  return sameFile(path, link) ? 'both' : 'different files'
}

export function describeRestoredLink(
  before: LogLinkStatus,
  after: LogLinkStatus,
): string | undefined {
  if (after !== 'both') return undefined
  if (before === 'log missing') return 'its log was gone and is back, from its second name'
  if (before === 'link missing') return 'its log had no second name and has it again'
  if (before === 'different files')
    return 'its two names were different files; everything in either is in the log'
  return undefined
}
