/** A test that failed, or what a compiler, a linter or a crash complains of. */
export type Level = 'failure' | 'error' | 'warning'

export const LEVELS: readonly Level[] = ['failure', 'error', 'warning']

export interface Finding {
  readonly level: Level
  readonly title: string
  /** `path:line` or `path:line:column`. */
  readonly where?: string
  /** What it said: an assertion, an exception's message. */
  readonly detail: readonly string[]
  /** The line of the output it begins at, from 1. */
  readonly line: number
  /** The last line that belongs to it. */
  readonly lastLine: number
  /** How often the same was said. */
  readonly times: number
}

/** Enough to fill any digest many times over. */
const MOST_OF_A_LEVEL = 200

/** The findings of an output: each once, counted, and never more than a fixed number of them kept. */
export class Findings {
  readonly #kept = new Map<string, Finding>()
  readonly #room: Record<Level, number> = {
    failure: MOST_OF_A_LEVEL,
    error: MOST_OF_A_LEVEL,
    warning: MOST_OF_A_LEVEL,
  }
  readonly counts: Record<Level, number> = { failure: 0, error: 0, warning: 0 }

  add(finding: Finding): void {
    const { level, title, where, times } = finding
    const key = `${level}\0${title}\0${where ?? ''}`
    const known = this.#kept.get(key)
    // A runner that tells a failure again at its end has not failed twice.
    if (known !== undefined && level === 'failure') return
    this.counts[level] += times
    if (known !== undefined) this.#kept.set(key, { ...known, times: known.times + times })
    else if (this.#room[level] > 0) {
      this.#room[level] -= 1
      this.#kept.set(key, finding)
    }
  }

  /** Replaces the failure that is meant by another telling of it. Answers false when there is none. */
  refine(isMeant: (finding: Finding) => boolean, refined: (finding: Finding) => Finding): boolean {
    for (const [key, finding] of this.#kept) {
      if (finding.level !== 'failure' || !isMeant(finding)) continue
      this.#kept.set(key, refined(finding))
      return true
    }
    return false
  }

  remove(isMeant: (finding: Finding, all: readonly Finding[]) => boolean): void {
    const all = this.all()
    for (const [key, finding] of this.#kept) {
      if (!isMeant(finding, all)) continue
      this.#kept.delete(key)
      this.counts[finding.level] -= finding.times
    }
  }

  all(): readonly Finding[] {
    return [...this.#kept.values()]
  }
}
