import { findSummary } from '../test-summary.ts'

export interface Totals {
  /** What a test runner said at its end. */
  readonly tests?: { readonly isFailed: boolean; readonly text: string }
  /** What other tools say they found or made. */
  readonly others: readonly string[]
}

interface Numbered {
  readonly number: number
  readonly text: string
}

/** The lines that every package or suite prints for itself, of which the sum is wanted. */
const ADDED_UP =
  /^(?:test result: |(?:ok|FAIL)\s+\S+\s+(?:\(cached\)|[\d.]+s|\[)|\s*(?:Passed|Failed)!\s+-\s|(?:not )?ok \d+)/
/** More than the packages and tests of most projects, and a bound all the same. */
const MOST_ADDED = 5000

/** What tools that run no tests say at their end. */
const OTHERS: readonly RegExp[] = [
  /^Found (?:\d+|no) (?:errors?|warnings?|issues?|fixable)\b.*$/i,
  /^✖ \d+ problems? \(.*\)$/,
  /^error: (?:could not compile|aborting due to|test failed|build failed).*$/,
  /^warning: .* generated \d+ warnings?.*$/,
  /^\d+ (?:errors?|warnings?)(?: and \d+ (?:errors?|warnings?))?(?: generated\.?)?$/,
  /^Success: no issues found.*$/,
  /^All checks passed!$/,
  /^\s*(?:Finished|Compiled) .* in [\d.]+ ?m?s\b.*$/,
  /^(?:Checked|Formatted) \d+ files? in .*$/,
  /^(?:added|removed|changed|up to date|audited) ?.* in [\d.]+m?s$/,
  /^\d+ (?:\w+ severity )?vulnerabilit(?:y|ies)\b.*$/,
  /^(?:\[INFO\] )?BUILD (?:SUCCESS(?:FUL)?|FAIL(?:ED|URE))\b.*$/,
  /^Build (?:succeeded|FAILED)\.?$/,
  /^\s+\d+ (?:Warning|Error)\(s\)$/,
  /^✓ built in .*$/,
  /^webpack .*compiled .*$/,
]
const MOST_OTHERS = 3
/** How any of these lines begins. */
const BEGINNING =
  /^(?:\s*(?:\d|Passed!|Failed!|Finished |Compiled )|[✖✓] |ok|not ok|FAIL|test |Found |error|warning|Success|All |Checked |Formatted |added|removed|changed|up to|audited|\[INFO\] |BUILD|Build|webpack)/

/** Finds how a run sums itself up, while it is read. */
export class TotalsReader {
  readonly #added: Numbered[] = []
  #isCut = false
  readonly #others = new Map<RegExp, string>()

  line(text: string, number: number): void {
    if (!BEGINNING.test(text)) return
    if (ADDED_UP.test(text)) {
      if (this.#added.length < MOST_ADDED) this.#added.push({ number, text: text.slice(0, 200) })
      else this.#isCut = true
    }
    const pattern = OTHERS.find((one) => one.test(text))
    if (pattern === undefined) return
    this.#others.delete(pattern)
    this.#others.set(pattern, text.trim())
  }

  /** `end` are the last lines of the output. */
  finish(end: readonly Numbered[]): Totals {
    const seen = new Set(end.map(({ number }) => number))
    const lines = [...this.#added.filter(({ number }) => !seen.has(number)), ...end]
    const found = findSummary(lines.map(({ text }) => text))
    // What was not kept is missing in a sum, and a number that is too small is worse than none.
    const tests = found !== undefined && this.#isCut && !found.isFailed ? undefined : found
    const isMaking = tests !== undefined && /^BUILD |^error: /.test(tests.text)
    const others = [...this.#others.values()]
      .filter((text) => text !== tests?.text)
      .slice(-MOST_OTHERS)
    return {
      others: isMaking ? [tests.text, ...others] : others,
      ...(tests === undefined || isMaking ? {} : { tests }),
    }
  }
}
