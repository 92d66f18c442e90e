import { defined } from '../../text/defined.ts'
import { type TestSummary, failingTests, findSummary } from '../test-summary.ts'
import { type Finding, Recogniser } from './recogniser.ts'
import { mayMatter } from './output-rules.ts'
import { visibleLine } from '../../text/visible-line.ts'

export interface OutputLine {
  readonly number: number
  readonly text: string
  readonly times: number
}

export type OutputAnalysis = ReturnType<OutputReader['finish']>

const HEAD = 60
const TAIL = 200
const SUSPECTS = 12
/** A line is judged and kept by its beginning. */
const LONGEST = 1000
/** Of a line without end only so much is held. */
const LONGEST_OPEN = 65_536

const SUSPECT =
  /\b(?:errors?|fail(?:ed|ures?|s)?|fatal|exceptions?|panic|denied|refused|cannot|could not|couldn't|unable to|not found|no such|timed out|timeout|invalid|missing|unexpected|killed|abort(?:ed)?)\b/i
const ALL_WELL = /\b(?:0|no) (?:errors?|failures?|failed|warnings?)\b/i

/** Keeps what matters of an output in bounded memory. */
export class OutputReader {
  readonly #recogniser: Recogniser
  readonly #totals = new TotalsReader()
  readonly #head: OutputLine[] = []
  readonly #tail: OutputLine[] = []
  readonly #suspects: OutputLine[] = []
  #isBehindTrouble = false
  #open = ''
  #lines = 0

  constructor(base?: string) {
    this.#recogniser = new Recogniser(base)
  }

  add(text: string): void {
    let from = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      this.#line(this.#open + text.slice(from, end))
      this.#open = ''
      from = end + 1
    }
    this.#open += text.slice(from)
    if (this.#open.length <= LONGEST_OPEN) return
    // The beginning, or what it was last rewritten to.
    const start = this.#open.lastIndexOf('\r') + 1
    this.#open = this.#open.slice(start, start + LONGEST * 4)
  }

  finish() {
    if (this.#open !== '') this.#line(this.#open)
    this.#open = ''
    const totals = this.#totals.finish(this.#tail)
    const { findings, counts } = this.#recogniser.finish()
    const named = totals.tests?.isFailed === true && counts.failure === 0 ? this.#named() : []
    return {
      lines: this.#lines,
      findings: [...findings, ...named],
      counts: { ...counts, failure: counts.failure + named.length },
      totals,
      suspects: this.#suspects,
      /** The output itself, where it is short. */
      ...(this.#lines <= HEAD ? { whole: this.#head } : {}),
      tail: this.#tail,
    }
  }

  #named(): readonly Finding[] {
    const lines = this.#tail.map(({ text }) => text)
    return failingTests(lines, 20).map((title) => {
      const line = this.#tail.find(({ text }) => text.includes(title))?.number ?? this.#lines
      return { level: 'failure', title, detail: [], line, lastLine: line, times: 1 }
    })
  }

  #line(raw: string) {
    this.#lines += 1
    const text = visibleLine(raw).slice(0, LONGEST)
    const mayBegin = mayMatter(text)
    this.#recogniser.line(text, this.#lines, mayBegin)
    if (text === '') return
    this.#totals.line(text, this.#lines)
    const line = { number: this.#lines, text, times: 1 }
    if (this.#lines <= HEAD) keep(this.#head, line)
    keep(this.#tail, line)
    if (this.#tail.length > TAIL * 2) this.#tail.splice(0, TAIL)
    if (this.#suspects.length >= SUSPECTS) return
    // The line behind trouble often says why.
    const isTrouble = mayBegin && SUSPECT.test(text) && !ALL_WELL.test(text)
    if (isTrouble || this.#isBehindTrouble) keep(this.#suspects, line)
    this.#isBehindTrouble = isTrouble
  }
}

function keep(lines: OutputLine[], line: OutputLine) {
  const last = lines.at(-1)
  if (last?.text === line.text) lines[lines.length - 1] = { ...last, times: last.times + 1 }
  else lines.push(line)
}

const ADDED_UP =
  /^(?:test result: |(?:ok|FAIL)\s+\S+\s+(?:\(cached\)|[\d.]+s|\[)|\s*(?:Passed|Failed)!\s+-\s|(?:not )?ok \d+)/
/** More than the packages and tests of most projects, and a bound all the same. */
const MOST_ADDED = 5000

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
const BEGINNING =
  /^(?:\s*(?:\d|Passed!|Failed!|Finished |Compiled )|[✖✓] |ok|not ok|FAIL|test |Found |error|warning|Success|All |Checked |Formatted |added|removed|changed|up to|audited|\[INFO\] |BUILD|Build|webpack)/

class TotalsReader {
  readonly #added: Pick<OutputLine, 'number' | 'text'>[] = []
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

  finish(end: readonly OutputLine[]): {
    readonly tests?: TestSummary
    readonly others: readonly string[]
  } {
    const seen = new Set(end.map(({ number }) => number))
    const lines = [...this.#added.filter(({ number }) => !seen.has(number)), ...end]
    const found = findSummary(lines.map(({ text }) => text))
    // A sum that is too small is worse than none.
    const tests = this.#isCut && found?.isFailed === false ? undefined : found
    const isBuild = tests !== undefined && /^BUILD |^error: /.test(tests.text)
    const others = [...this.#others.values()]
      .filter((text) => text !== tests?.text)
      .slice(-MOST_OTHERS)
    return isBuild ? { others: [tests.text, ...others] } : { others, ...defined({ tests }) }
  }
}
