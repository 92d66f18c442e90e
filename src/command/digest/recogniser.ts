import { DIAGNOSIS_RULES } from './diagnosis-rules.ts'
import { type Finding, Findings, type Level } from './finding.ts'
import type { Rule } from './rule.ts'
import { EXAMPLE_ID, NODE_ID, NUMBERED, TEST_RULES } from './test-rules.ts'
import { TROUBLE_RULES } from './trouble-rules.ts'
import { defined } from '../../text/defined.ts'

const RULES: readonly Rule[] = [...TEST_RULES, ...DIAGNOSIS_RULES, ...TROUBLE_RULES]

const LONGEST = 300

/** What a tool calls a level, as one of ours. What is not here is told beside a finding and is none. */
const WORDS: Readonly<Record<string, Level>> = {
  error: 'error',
  'fatal error': 'error',
  fatal: 'error',
  e: 'error',
  '×': 'error',
  x: 'error',
  warning: 'warning',
  warn: 'warning',
  w: 'warning',
  '⚠': 'warning',
  '!': 'warning',
}

/** Places that are not in the reader's own code. */
const FOREIGN =
  /node_modules|(?:^|[/(])node:|\/rustc\/|\/(?:site|dist)-packages\/|\/lib\/python\d|\.cargo\/registry|\/usr\/(?:lib|local\/go|share)\/|\/go\/pkg\/mod\/|\bat (?:\S+\/\/)?(?:org\.junit|org\.opentest4j|org\.hamcrest|org\.assertj|java|jdk|sun|kotlin)\./

/** A path and nothing else. */
const PATH = /^[^\s:'"]+\.[A-Za-z]\w{0,5}$/

/** A finding that is still being told. */
interface Open {
  readonly rule: Rule
  readonly line: number
  lastLine: number
  level: Level
  title: string | undefined
  where: string | undefined
  readonly detail: string[]
  /** How many lines are still looked at. */
  left: number
}

type Groups = Readonly<Record<string, string | undefined>>

/** Finds what a tool complains of, line by line, whatever tool it is. Keeps a bounded number of findings. */
export class Recogniser {
  readonly #findings = new Findings()
  /** Failures that a runner only names in passing; used when it never came to tell more of them. */
  readonly #echoes = new Findings()
  readonly #base: string | undefined
  #open: Open | undefined
  /** The last line that was a path and nothing else: a linter's heading. */
  #path: string | undefined
  #numbered: 'mocha' | 'other' | undefined
  #lineBefore = ''

  /** `base` is the folder that places are told from. */
  constructor(base?: string) {
    this.#base = base === undefined || base === '/' ? undefined : `${base}/`
  }

  /** `isBeginner` says whether it may be the beginning of anything. */
  line(written: string, number: number, isBeginner: boolean): void {
    // BuildKit writes before each line which step it is from, and when.
    const text = written.startsWith('#') ? written.replace(/^#\d+ [\d.]+ /, '') : written
    const isBeginning = isBeginner && (this.#sumsUp(text, number) || this.#begins(text, number))
    if (!isBeginning) this.#follow(text, number)
    if (NUMBERED.test(text)) this.#numbered = text.endsWith('failing') ? 'mocha' : 'other'
    if (PATH.test(text)) this.#path = text
    if (text !== '') this.#lineBefore = text
  }

  finish(): { findings: readonly Finding[]; counts: Readonly<Record<Level, number>> } {
    this.#close()
    // A test whose parts failed says nothing that they do not.
    this.#findings.remove(({ level, title, detail }, all) => {
      return (
        level === 'failure' &&
        detail.length === 0 &&
        all.some((other) => other.title.startsWith(`${title}/`))
      )
    })
    if (this.#findings.counts.failure === 0)
      for (const echo of this.#echoes.all()) this.#findings.add(echo)
    return { findings: this.#findings.all(), counts: this.#findings.counts }
  }

  /** A line at the end of a run that gives a failure told before its best name. */
  #sumsUp(text: string, number: number): boolean {
    const groups = (NODE_ID.exec(text) ?? EXAMPLE_ID.exec(text))?.groups as Groups | undefined
    if (groups?.title === undefined) return false
    this.#close()
    const { title, message, where } = groups
    const name = title.includes('::') ? title.split('::').slice(1).join('.') : title
    const isKnown = this.#findings.refine(
      (known) => known.title === name || known.title === title,
      (known) => ({ ...known, title, ...defined({ where }) }),
    )
    if (!isKnown) {
      const detail = message === undefined ? [] : [message]
      this.#findings.add({
        level: 'failure',
        title,
        detail,
        line: number,
        lastLine: number,
        times: 1,
        ...defined({ where }),
      })
    }
    return true
  }

  #begins(text: string, number: number): boolean {
    for (const rule of RULES) {
      if (
        this.#open !== undefined &&
        (rule.isWeak === true || (rule.isEcho === true && this.#open.rule.isEcho !== true))
      )
        continue
      const match = rule.pattern.exec(text)
      if (match === null || !this.#isExpected(rule)) continue
      if (rule.isContinued === true && this.#open?.rule === rule) return false
      this.#openWith(rule, match.groups ?? {}, number)
      return true
    }
    return false
  }

  #isExpected({ needs }: Rule): boolean {
    if (needs === 'numbered') return this.#numbered !== undefined
    return needs === undefined || this.#path !== undefined
  }

  #openWith(rule: Rule, groups: Groups, number: number): void {
    // What belongs to another finding is not taken from it.
    const before =
      this.#open === undefined ? rule.before?.exec(this.#lineBefore)?.groups : undefined
    this.#close()
    const level = groups.level === undefined ? rule.level : WORDS[groups.level.toLowerCase()]
    // A note belongs to what was told before it.
    if (level === undefined) return
    const where =
      rule.needs === 'path'
        ? `${this.#path}:${groups.line}:${groups.col}`
        : placeIn(before ?? groups)
    const detail = [groups.message ?? before?.d ?? []].flat()
    this.#open = {
      rule,
      line: number,
      lastLine: number,
      level,
      title: groups.title,
      where,
      detail,
      left: rule.follow?.lines ?? 0,
    }
    if (this.#open.left === 0) this.#close()
  }

  /** Takes from a line behind the beginning what belongs to it. */
  #follow(text: string, number: number): void {
    const open = this.#open
    const follow = open?.rule.follow
    if (open === undefined || follow === undefined) return
    if (follow.drop?.test(text) === true) {
      this.#open = undefined
      return
    }
    if (follow.until?.test(text) === true) return this.#close()
    open.left -= 1
    open.lastLine = number
    const wasNamed = open.title !== undefined
    this.#take(open, text)
    const isNamedAtEnd = !wasNamed && open.title !== undefined && follow.detail === undefined
    if (open.left <= 0 || isNamedAtEnd) this.#close()
  }

  #take(open: Open, text: string): void {
    const { title, detail, where, isLastPlace, most = 1 } = open.rule.follow!
    const place = where?.exec(text)?.groups
    if (place !== undefined && (open.where === undefined || isLastPlace === true)) {
      const found = placeIn(place)
      if (found !== undefined && !FOREIGN.test(text)) open.where = found
    }
    if (title !== undefined && open.title === undefined) {
      open.title = title.exec(text)?.groups?.title
      return
    }
    if (this.#goesOnWithTitle(open, text)) return
    const said = detail === undefined || open.detail.length >= most ? null : detail.exec(text)
    if (said !== null) open.detail.push((said.groups?.d ?? said[0]).trim())
  }

  /** Mocha writes each part of a name on a line of its own, the last with a colon. */
  #goesOnWithTitle(open: Open, text: string): boolean {
    if (open.rule.needs !== 'numbered' || this.#numbered !== 'mocha' || open.detail.length > 0)
      return false
    if (open.title === undefined || open.title.endsWith(':') || text.trim() === '') return false
    open.title = `${open.title} > ${text.trim()}`
    return true
  }

  #close(): void {
    const open = this.#open
    this.#open = undefined
    if (open?.title === undefined) return
    const { located, needsPlace } = open.rule.follow ?? {}
    if (needsPlace === true && open.where === undefined) return
    const isLocated = located !== undefined && open.where !== undefined
    const findings = open.rule.isEcho === true && !isLocated ? this.#echoes : this.#findings
    findings.add({
      level: isLocated ? located : open.level,
      title: this.#told(open.title.replace(/:$/, '')),
      detail: open.detail.map((line) => this.#told(line)),
      line: open.line,
      lastLine: open.lastLine,
      times: 1,
      ...(open.where === undefined ? {} : { where: this.#told(open.where) }),
    })
  }

  /** Short, and with paths from the folder that the command was run in. */
  #told(text: string): string {
    const local = text.replaceAll('file:///', '/')
    return (this.#base === undefined ? local : local.replaceAll(this.#base, '')).slice(0, LONGEST)
  }
}

function placeIn({ where, file, line, col }: Groups): string | undefined {
  if (where !== undefined) return where
  if (file === undefined || line === undefined) return undefined
  return col === undefined ? `${file}:${line}` : `${file}:${line}:${col}`
}
