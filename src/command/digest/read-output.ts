import { failingTests } from '../failing-tests.ts'
import type { Finding, Level } from './finding.ts'
import { Recogniser } from './recogniser.ts'
import { mayMatter } from './signs.ts'
import { type Totals, TotalsReader } from './totals.ts'
import { visibleLine } from '../../text/visible-line.ts'

/** A line that is kept, and how often it stood there in a row. */
export interface KeptLine {
  readonly number: number
  readonly text: string
  readonly times: number
}

/** What there is to say about an output. */
export interface Reading {
  readonly lines: number
  readonly findings: readonly Finding[]
  readonly counts: Readonly<Record<Level, number>>
  readonly totals: Totals
  /** Lines that sound like trouble where nothing was recognised. */
  readonly suspects: readonly KeptLine[]
  /** The output itself, where it is short. */
  readonly whole?: readonly KeptLine[]
  readonly tail: readonly KeptLine[]
}

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

/** Reads an output piece by piece and keeps what matters of it, in a memory that does not grow with it. */
export class OutputReader {
  readonly #recogniser: Recogniser
  readonly #totals = new TotalsReader()
  readonly #head: KeptLine[] = []
  readonly #tail: KeptLine[] = []
  readonly #suspects: KeptLine[] = []
  #isBehindTrouble = false
  #open = ''
  #lines = 0

  /** `base` is the folder that places are told from. */
  constructor(base?: string) {
    this.#recogniser = new Recogniser(base)
  }

  /** The next piece of the output, which may end anywhere. */
  add(text: string): void {
    let from = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      const line = text.slice(from, end)
      this.#line(this.#open === '' ? line : this.#open + line)
      this.#open = ''
      from = end + 1
    }
    this.#open += text.slice(from)
    if (this.#open.length > LONGEST_OPEN) this.#open = shortened(this.#open)
  }

  finish(): Reading {
    if (this.#open !== '') this.#line(this.#open)
    this.#open = ''
    const totals = this.#totals.finish(this.#tail)
    const { findings, counts } = this.#recogniser.finish()
    const isShort = this.#lines <= HEAD
    const named = totals.tests?.isFailed === true && counts.failure === 0 ? this.#named() : []
    return {
      lines: this.#lines,
      findings: [...findings, ...named],
      counts: { ...counts, failure: counts.failure + named.length },
      totals,
      suspects: this.#suspects,
      ...(isShort ? { whole: this.#head } : {}),
      tail: this.#tail,
    }
  }

  /** Failures of runners that are known by nothing but how they name them. */
  #named(): readonly Finding[] {
    const lines = this.#tail.map(({ text }) => text)
    return failingTests(lines, 20).map((title) => {
      const line = this.#tail.find(({ text }) => text.includes(title))?.number ?? this.#lines
      return { level: 'failure', title, detail: [], line, lastLine: line, times: 1 }
    })
  }

  /** Keeps a line that sounds like trouble, and the one behind it, which often says why. */
  #suspect(line: KeptLine, isTelling: boolean): void {
    const isTrouble = isTelling && SUSPECT.test(line.text) && !ALL_WELL.test(line.text)
    if (isTrouble || this.#isBehindTrouble) keep(this.#suspects, line)
    this.#isBehindTrouble = isTrouble
  }

  #line(raw: string): void {
    this.#lines += 1
    const text = visibleLine(raw).slice(0, LONGEST)
    const isTelling = mayMatter(text)
    this.#recogniser.line(text, this.#lines, isTelling)
    if (text === '') return
    this.#totals.line(text, this.#lines)
    const line = { number: this.#lines, text, times: 1 }
    if (this.#lines <= HEAD) keep(this.#head, line)
    keep(this.#tail, line)
    if (this.#tail.length > TAIL * 2) this.#tail.splice(0, TAIL)
    if (this.#suspects.length < SUSPECTS) this.#suspect(line, isTelling)
  }
}

/** Counts a line that is the same as the one before it instead of keeping it. */
function keep(lines: KeptLine[], line: KeptLine): void {
  const last = lines.at(-1)
  if (last?.text === line.text) lines[lines.length - 1] = { ...last, times: last.times + 1 }
  else lines.push(line)
}

/** The beginning of a line, or of what it was last rewritten to. */
function shortened(line: string): string {
  const rewritten = line.lastIndexOf('\r')
  return line.slice(rewritten + 1, rewritten + 1 + LONGEST * 4)
}
