import { defined } from '../../text/defined.ts'
import { type TestSummary, failingTests, findSummary } from '../test-summary.ts'
import { type Finding, Recogniser } from '../recogniser.ts'
import { mayMatter } from '../output-rules.ts'
import { visibleLine } from '../../text/visible-line.ts'

export interface OutputLine {
  readonly number: number
  readonly text: string
  readonly times: number
}

export type OutputAnalysis = ReturnType<OutputReader['finish']>

const HEAD_LINES = 60
const TAIL_LINES = 200
const MAX_SUSPECTS = 12
/** Only the start of a line is examined and stored. */
const MAX_LINE_LENGTH = 1000
/** Limit for a line that never ends. */
const MAX_OPEN_LENGTH = 65_536

const SUSPECT =
  /\b(?:errors?|fail(?:ed|ures?|s)?|fatal|exceptions?|panic|denied|refused|cannot|could not|couldn't|unable to|not found|no such|timed out|timeout|invalid|missing|unexpected|killed|abort(?:ed)?)\b/i
const NO_ERRORS = /\b(?:0|no) (?:errors?|failures?|failed|warnings?)\b/i

/** Extracts what matters of an output in bounded memory. */
export class OutputReader {
  readonly #recogniser: Recogniser
  readonly #totals = new TotalsReader()
  readonly #head: OutputLine[] = []
  readonly #tail: OutputLine[] = []
  readonly #suspects: OutputLine[] = []
  #isAfterError = false
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
    if (this.#open.length <= MAX_OPEN_LENGTH) return
    // The start of the line, or of its last carriage-return rewrite.
    const start = this.#open.lastIndexOf('\r') + 1
    this.#open = this.#open.slice(start, start + MAX_LINE_LENGTH * 4)
  }

  finish() {
    if (this.#open !== '') this.#line(this.#open)
    this.#open = ''
    const totals = this.#totals.finish(this.#tail)
    const { findings, counts } = this.#recogniser.finish()
    const namedFailures =
      totals.tests?.isFailed === true && counts.failure === 0 ? this.#namedFailures() : []
    return {
      lines: this.#lines,
      findings: [...findings, ...namedFailures],
      counts: { ...counts, failure: counts.failure + namedFailures.length },
      totals,
      suspects: this.#suspects,
      /** The complete output, if it is short. */
      ...(this.#lines <= HEAD_LINES ? { allLines: this.#head } : {}),
      tail: this.#tail,
    }
  }

  #namedFailures(): readonly Finding[] {
    const lines = this.#tail.map(({ text }) => text)
    return failingTests(lines, 20).map((title) => {
      const line = this.#tail.find(({ text }) => text.includes(title))?.number ?? this.#lines
      return { level: 'failure', title, detail: [], line, lastLine: line, times: 1 }
    })
  }

  #line(raw: string) {
    this.#lines += 1
    const text = visibleLine(raw).slice(0, MAX_LINE_LENGTH)
    const mayBegin = mayMatter(text)
    this.#recogniser.line(text, this.#lines, mayBegin)
    if (text === '') return
    this.#totals.line(text, this.#lines)
    const line = { number: this.#lines, text, times: 1 }
    if (this.#lines <= HEAD_LINES) addLine(this.#head, line)
    addLine(this.#tail, line)
    if (this.#tail.length > TAIL_LINES * 2) this.#tail.splice(0, TAIL_LINES)
    if (this.#suspects.length >= MAX_SUSPECTS) return
    // The line after an error often gives the reason.
    const isError = mayBegin && SUSPECT.test(text) && !NO_ERRORS.test(text)
    if (isError || this.#isAfterError) addLine(this.#suspects, line)
    this.#isAfterError = isError
  }
}

function addLine(lines: OutputLine[], line: OutputLine) {
  const last = lines.at(-1)
  if (last?.text === line.text) lines[lines.length - 1] = { ...last, times: last.times + 1 }
  else lines.push(line)
}

const SUMMED_LINE =
  /^(?:test result: |(?:ok|FAIL)\s+\S+\s+(?:\(cached\)|[\d.]+s|\[)|\s*(?:Passed|Failed)!\s+-\s|(?:not )?ok \d+)/
/** A bound above the packages and tests of most projects. */
const MAX_SUMMED = 5000

const OTHER_TOTALS: readonly RegExp[] = [
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
const MAX_OTHERS = 3
const MAY_BE_TOTAL =
  /^(?:\s*(?:\d|Passed!|Failed!|Finished |Compiled )|[✖✓] |ok|not ok|FAIL|test |Found |error|warning|Success|All |Checked |Formatted |added|removed|changed|up to|audited|\[INFO\] |BUILD|Build|webpack)/

class TotalsReader {
  readonly #summed: Pick<OutputLine, 'number' | 'text'>[] = []
  #isCut = false
  readonly #others = new Map<RegExp, string>()

  line(text: string, number: number): void {
    if (!MAY_BE_TOTAL.test(text)) return
    if (SUMMED_LINE.test(text)) {
      if (this.#summed.length < MAX_SUMMED) this.#summed.push({ number, text: text.slice(0, 200) })
      else this.#isCut = true
    }
    const pattern = OTHER_TOTALS.find((one) => one.test(text))
    if (pattern === undefined) return
    this.#others.delete(pattern)
    this.#others.set(pattern, text.trim())
  }

  finish(end: readonly OutputLine[]): {
    readonly tests?: TestSummary
    readonly others: readonly string[]
  } {
    const seen = new Set(end.map(({ number }) => number))
    const lines = [...this.#summed.filter(({ number }) => !seen.has(number)), ...end]
    const found = findSummary(lines.map(({ text }) => text))
    // An incomplete total is worse than none.
    const tests = this.#isCut && found?.isFailed === false ? undefined : found
    const isBuild = tests !== undefined && /^BUILD |^error: /.test(tests.text)
    const others = [...this.#others.values()]
      .filter((text) => text !== tests?.text)
      .slice(-MAX_OTHERS)
    return isBuild ? { others: [tests.text, ...others] } : { others, ...defined({ tests }) }
  }
}
